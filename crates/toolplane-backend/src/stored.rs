//! What the roles of this machine keep, looked at and copied while they do not run: the doing of `toolplane store`.

mod backup;
mod check;
mod error;
mod files;
mod forget;
mod forgotten;
mod objects;
mod places;
mod references;
mod report;
mod restore;

pub use backup::backup;
pub use check::check;
pub use error::StoredError;
pub use files::Copied;
pub use forget::forget;
pub use forgotten::{Forgotten, Kept};
pub use references::PayloadsOf;
pub use report::{Named, Objects, Part, Report};
pub use restore::restore;
pub use toolplane_store::RecordKey;

#[cfg(test)]
mod tests;
