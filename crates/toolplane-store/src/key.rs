//! What a record is called and what a read of it gives back.

use std::fmt;

use bytes::Bytes;

/// The kinds of record a store keeps. The set is closed: a new kind is a change of this contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// One tool invocation's state.
    Invocation,
    /// Bytes kept apart from the record that names them, such as an immutable input.
    Payload,
    /// A plan of several invocations.
    Plan,
    /// A terminal result.
    Result,
    /// A tool declaration.
    Declaration,
    /// A tool surface.
    Surface,
    /// A pending or resolved approval.
    Approval,
    /// A permission decision.
    Decision,
    /// A worker and what it offers.
    Worker,
    /// Anything the cluster keeps about itself: dedupe entries, counters, generations.
    Meta,
    /// Several invocations accepted together.
    Batch,
    /// The lock tickets of one session or workspace.
    LockDomain,
    /// What is known of one execution of an invocation.
    Evidence,
}

impl Family {
    /// Every family, in the order of their declaration.
    pub const ALL: [Self; 13] = [
        Self::Invocation,
        Self::Payload,
        Self::Plan,
        Self::Result,
        Self::Declaration,
        Self::Surface,
        Self::Approval,
        Self::Decision,
        Self::Worker,
        Self::Meta,
        Self::Batch,
        Self::LockDomain,
        Self::Evidence,
    ];

    /// The family's stable name, fit for keys, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invocation => "invocation",
            Self::Payload => "payload",
            Self::Plan => "plan",
            Self::Result => "result",
            Self::Declaration => "declaration",
            Self::Surface => "surface",
            Self::Approval => "approval",
            Self::Decision => "decision",
            Self::Worker => "worker",
            Self::Meta => "meta",
            Self::Batch => "batch",
            Self::LockDomain => "lock_domain",
            Self::Evidence => "evidence",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of one record: unique in its family.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// The kind of record.
    pub family: Family,
    /// The record's id: 1 to [`MAX_NAME_BYTES`](crate::commit::MAX_NAME_BYTES) bytes, without a nul.
    pub id: String,
}

impl RecordKey {
    /// The key of `id` in `family`.
    pub fn new(family: Family, id: impl Into<String>) -> Self {
        Self { family, id: id.into() }
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.family, self.id)
    }
}

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// 1 after the first write, one more after each further write. Deleting a record forgets its version.
    pub version: u64,
    /// The bytes of the last write, exactly.
    pub bytes: Bytes,
}
