//! Why a text is no pattern.

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
