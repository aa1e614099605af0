//! The text between the brackets of a rule, `Bash(git diff:*)`: one kind for commands, one for paths, one for URLs.
//!
//! All three are read the same way. An allow must fit surely, so what is unknown does not fit. A deny or an ask must not be
//! got around, so what may fit is [`Fit::Unknown`](crate::Fit::Unknown), never [`Fit::No`](crate::Fit::No).

mod command;
mod path;
#[cfg(test)]
mod tests;
mod url;

pub use command::CommandPattern;
pub use path::PathPattern;
pub use url::UrlPattern;

/// Longest pattern, in bytes.
pub const MAX_PATTERN: usize = 4096;

/// A text that is not a pattern, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPattern(pub String);

impl From<crate::glob::InvalidGlob> for InvalidPattern {
    fn from(fault: crate::glob::InvalidGlob) -> Self {
        Self(fault.0)
    }
}
