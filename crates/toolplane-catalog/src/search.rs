//! Finding tools by what they are called and what they do.

pub(crate) mod index;
mod query;
#[cfg(test)]
mod tests;
mod text;

pub use index::{SearchHit, SearchIndex};
pub use query::search;
