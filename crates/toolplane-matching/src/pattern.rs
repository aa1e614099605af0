//! The text between the brackets of a rule, `Bash(git diff:*)`: one kind for commands, one for paths, one for URLs.
//!
//! All three are read the same way. An allow must fit surely, so what is unknown does not fit. A deny or an ask must not be
//! got around, so what may fit is [`Fit::Unknown`](crate::Fit::Unknown), never [`Fit::No`](crate::Fit::No).

mod command;
mod invalid;
mod path;
#[cfg(test)]
mod tests;
mod url;

pub use invalid::{InvalidPattern, MAX_PATTERN};

pub use command::CommandPattern;
pub use path::PathPattern;
pub use url::UrlPattern;
