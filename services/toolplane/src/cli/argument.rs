//! What is wrong with one argument as typed. clap shows it behind the argument's name.

use std::fmt;

/// The rule that an argument breaks.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    #[error("is not a number from 0 to 1")]
    NotAShare,
    #[error("a lock needs a key")]
    LockWithoutKey,
    #[error("is not a time such as `30s`, `10m` or `12h`")]
    NotASpan,
    #[error("is neither a time such as `30m`, `12h` or `7d` nor an instant such as `2026-12-24T18:00:00Z`")]
    NotAnExpiry,
    #[error("is too far away")]
    TooFarAway,
    #[error("is not KEY=VALUE with a key of {0}")]
    NotAScope(Words),
    #[error("has no comparison: write POINTER=OP:VALUE with one of {0}, or POINTER=exists, POINTER=absent")]
    NoComparison(Words),
    #[error("`{0}` is no JSON pointer: it starts with `/`, e.g. `/path`")]
    NotAPointer(String),
}

/// Words one of which is needed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Words(pub(crate) Vec<&'static str>);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}
