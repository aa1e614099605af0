//! Why a store did not do what it was asked, and whether asking again is safe.

use std::path::PathBuf;
use toolplane_records::codes;

use crate::damage::Damage;

/// What a caller may conclude from an error, and do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Nothing was written; the same call may be made again later.
    Definite,
    /// The commit may or may not have been applied; repeat it under the same operation id to find out.
    Ambiguous,
    /// Nothing was written and the same call can never succeed.
    Never,
    /// This store answers nothing more in this process. A commit that failed with it may or may not have been applied;
    /// the stored state is known after the store was opened again.
    Fatal,
}

/// A refused or failed store call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot take the call now: not connected, overloaded, closing. Nothing was written.
    #[error("the store is unavailable: {reason}")]
    Unavailable {
        /// The reason why not.
        reason: String,
    },
    /// The store is there and not fit for the call: it would lose what it is given, or has lost what it was given. Nothing was
    /// written, and nothing new should be accepted.
    #[error("the store is not safe to use: {reason}")]
    Unsafe {
        /// What is wrong with it, and what puts it right.
        reason: String,
    },
    /// The answer was lost after the commit was sent, so it may have been applied.
    #[error("the outcome of the commit is unknown: {reason}")]
    OutcomeUnknown {
        /// What was seen instead of an answer.
        reason: String,
    },
    /// A write or flush failed earlier. What reached the disk is unknown, so the store refuses every call and its
    /// process should end.
    #[error("the store stopped after a failed write: {reason}")]
    Poisoned {
        /// The first failure.
        reason: String,
    },
    /// Events were offered at a sequence that is not the next one of their stream. Nothing was written.
    #[error("stream `{stream}` continues at sequence {expected}, not {offered}")]
    SequenceGap {
        /// The stream.
        stream: String,
        /// The sequence the next event of the stream has.
        expected: u64,
        /// The sequence the commit offered.
        offered: u64,
    },
    /// The commit contradicts itself or names something badly. Nothing was written.
    #[error("the commit is invalid: {reason}")]
    InvalidCommit {
        /// What is wrong with it.
        reason: String,
    },
    /// One stored thing is not what was written. It is set aside: reading it, or a commit that depends on it, is refused,
    /// and everything else is answered as ever.
    #[error("{0}")]
    Damaged(Damage),
    /// The store as a whole does not hold what was written.
    #[error("stored data is corrupt: {reason}")]
    Corrupt {
        /// Where, and what was found there.
        reason: String,
    },
    /// The room that is left is kept for [essential](crate::Commit::essential) commits. Nothing was written.
    #[error(
        "the disk of `{}` is short: {free} bytes are free, {} more are needed; the last {reserve} bytes are kept for work \
         that is under way", path.display(), reserve.saturating_sub(*free)
    )]
    DiskShort {
        /// The store's directory.
        path: PathBuf,
        /// The room left, in bytes.
        free: u64,
        /// The reserve, in bytes.
        reserve: u64,
    },
    /// The commit is larger than a store takes. Nothing was written.
    #[error("{what} of {bytes} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The largest size allowed.
        limit: usize,
    },
}

impl StoreError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => codes::STORE_OFFLINE.as_str(),
            Self::Unsafe { .. } => codes::STORE_NOT_SAFE.as_str(),
            Self::OutcomeUnknown { .. } => codes::STORE_OUTCOME_UNKNOWN.as_str(),
            Self::Poisoned { .. } => codes::STORE_POISONED.as_str(),
            Self::SequenceGap { .. } => codes::STORE_SEQUENCE_GAP.as_str(),
            Self::InvalidCommit { .. } => codes::STORE_INVALID_COMMIT.as_str(),
            Self::Damaged(_) => codes::STORE_RECORD_DAMAGED.as_str(),
            Self::Corrupt { .. } => codes::STORE_CORRUPT.as_str(),
            Self::DiskShort { .. } => codes::STORE_DISK_SHORT.as_str(),
            Self::TooLarge { .. } => codes::STORE_TOO_LARGE.as_str(),
        }
    }

    /// What the caller may conclude and do.
    ///
    /// A sequence gap is [`Retry::Definite`]: nothing was written, and a caller that reads the stream's head and
    /// decides again may succeed.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Unavailable { .. } | Self::Unsafe { .. } | Self::SequenceGap { .. } | Self::DiskShort { .. } => {
                Retry::Definite
            }
            Self::OutcomeUnknown { .. } => Retry::Ambiguous,
            Self::InvalidCommit { .. } | Self::TooLarge { .. } | Self::Damaged(_) => Retry::Never,
            Self::Poisoned { .. } | Self::Corrupt { .. } => Retry::Fatal,
        }
    }

    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::InvalidCommit { reason: reason.into() }
    }
}
