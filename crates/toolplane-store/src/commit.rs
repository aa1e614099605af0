//! The one way to change anything: a set of compares, writes, index moves and events, applied all or nothing.

mod validate;

use bytes::Bytes;

use crate::key::{RecordKey, Versioned};

/// The longest id, index name, member, stream name or operation id, in bytes.
pub const MAX_NAME_BYTES: usize = 1024;

/// The largest commit, counting names, record bytes and events.
pub const MAX_COMMIT_BYTES: usize = 16 * 1024 * 1024;

/// For how long an applied operation id answers [`CommitOutcome::Replayed`], at least, by the store's clock.
pub const OPERATION_MEMORY_MILLIS: i64 = 120_000;

/// What a compared record must be for the commit to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No record under this key.
    Absent,
    /// A record at exactly this version.
    Version(u64),
}

impl Expect {
    /// True when `current` is what was expected.
    pub fn holds(self, current: Option<&Versioned>) -> bool {
        match self {
            Self::Absent => current.is_none(),
            Self::Version(version) => current.is_some_and(|found| found.version == version),
        }
    }
}

/// A change of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Replaces the record, or creates it at version 1.
    Put {
        /// The record.
        key: RecordKey,
        /// Its new bytes.
        bytes: Bytes,
    },
    /// Removes the record. Removing what is absent changes nothing. A later put starts at version 1 again.
    Delete {
        /// The record.
        key: RecordKey,
    },
}

impl Write {
    /// The record this write changes.
    pub fn key(&self) -> &RecordKey {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => key,
        }
    }
}

/// A change of one index: a set of members, each with one score, ordered by (score, member).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexOp {
    /// Adds the member, or moves it to a new score.
    Put {
        /// The index.
        index: String,
        /// What the index is ordered by.
        score: u64,
        /// The member.
        member: String,
    },
    /// Takes the member out. Taking out what is absent changes nothing.
    Remove {
        /// The index.
        index: String,
        /// The member.
        member: String,
    },
}

impl IndexOp {
    /// The index and member this operation changes.
    pub fn target(&self) -> (&str, &str) {
        match self {
            Self::Put { index, member, .. } | Self::Remove { index, member } => (index, member),
        }
    }
}

/// Events added to the end of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    /// The stream.
    pub stream: String,
    /// The sequence of the first event: one more than the stream's head, 1 for a new stream.
    pub first_seq: u64,
    /// At least one event; they take the following sequences.
    pub events: Vec<Bytes>,
}

/// The most members an index may have for a commit to apply: how permits and queue bounds are kept exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The index.
    pub index: String,
    /// The commit applies only while the index, as the commit finds it, has fewer members than this.
    pub below: u64,
}

/// Tells other processes of the cluster that something happened. A hint is sent after its commit was applied, may be
/// lost, and is never needed for correctness: every process also looks by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// What it is about: 1 to [`MAX_NAME_BYTES`] bytes.
    pub topic: String,
    /// What happened, at most [`MAX_HINT_BYTES`].
    pub body: Bytes,
}

/// The largest body of one hint, in bytes.
pub const MAX_HINT_BYTES: usize = 64 * 1024;

/// The highest score of an index entry: every backend keeps integers up to here exactly.
pub const MAX_SCORE: u64 = (1 << 53) - 1;

/// One atomic change.
///
/// Order of judgement: the commit must be well formed ([`Commit::validate`]); a remembered operation id is
/// [`CommitOutcome::Replayed`]; then every compare must hold, else [`CommitOutcome::Lost`]; then every bound must
/// hold, else [`CommitOutcome::Full`]; then every append must continue its stream, else
/// [`StoreError::SequenceGap`](crate::StoreError::SequenceGap); only then all of it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Names the change, so that repeating it after a lost answer applies it only once. Remembered when, and only
    /// when, the commit was applied, for at least [`OPERATION_MEMORY_MILLIS`].
    pub operation_id: Option<String>,
    /// What must be true of records, each key at most once.
    pub compare: Vec<(RecordKey, Expect)>,
    /// How full indexes may be, each index at most once.
    pub bounds: Vec<Bound>,
    /// Record changes, each key at most once.
    pub writes: Vec<Write>,
    /// Index changes, each (index, member) at most once.
    pub index: Vec<IndexOp>,
    /// Events, each stream at most once.
    pub events: Vec<Append>,
    /// Streams that are forgotten with all their events, none of them appended to in the same commit. Forgetting what
    /// is not there changes nothing; a stream of that name starts at sequence 1 again.
    pub forget: Vec<String>,
    /// What other processes are told once all of this is applied; see [`Store::hints`](crate::Store::hints).
    pub hints: Vec<Hint>,
    /// The commit may use the room a store keeps in reserve: set it on what finishes or frees work, never on what
    /// takes on more. Where nothing is short it makes no difference.
    pub essential: bool,
}

/// The outcome of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// All of it is applied and durable.
    Applied,
    /// This operation id was applied before; nothing was done now.
    Replayed,
    /// A compare did not hold; nothing was written.
    Lost {
        /// The keys whose compare did not hold, in the order they were given, each with what is there now.
        current: Vec<(RecordKey, Option<Versioned>)>,
    },
    /// Every compare held, but a bound did not; nothing was written.
    Full {
        /// The first index, in the order they were given, that has too many members.
        index: String,
    },
}

#[cfg(test)]
mod tests;
