//! What ranged reads ask for and answer with.

use bytes::Bytes;

/// The most rows one ranged read answers with, however large its `limit`.
pub const MAX_PAGE: usize = 10_000;

/// Which entries of an index a scan wants, and from which end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreRange {
    /// Lowest score, inclusive.
    pub min: u64,
    /// Highest score, inclusive.
    pub max: u64,
    /// Only entries that come strictly after this (score, member) in the direction of the scan: the last entry of the
    /// previous page.
    pub after: Option<(u64, String)>,
    /// From the highest (score, member) down instead of from the lowest up.
    pub reverse: bool,
}

impl ScoreRange {
    /// Every entry, lowest first.
    pub fn all() -> Self {
        Self::between(0, u64::MAX)
    }

    /// Entries with a score of at most `max`, lowest first: what is due at `max`.
    pub fn up_to(max: u64) -> Self {
        Self::between(0, max)
    }

    /// Entries with a score in `min..=max`, lowest first.
    pub fn between(min: u64, max: u64) -> Self {
        Self { min, max, after: None, reverse: false }
    }

    /// The same range, continued after `entry`.
    pub fn after(mut self, entry: &IndexEntry) -> Self {
        self.after = Some((entry.score, entry.member.clone()));
        self
    }

    /// The same range, highest first.
    pub fn reversed(mut self) -> Self {
        self.reverse = true;
        self
    }
}

impl Default for ScoreRange {
    fn default() -> Self {
        Self::all()
    }
}

/// One entry of an index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexEntry {
    /// What entries are ordered by first.
    pub score: u64,
    /// Unique in its index; breaks ties of the score, in byte order.
    pub member: String,
}

/// A part of one event stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventPage {
    /// Sequence of the newest event of the stream; 0 when it has none.
    pub head_seq: u64,
    /// Sequence of the oldest event still kept; 0 when the stream has none.
    pub oldest_seq: u64,
    /// The events asked for with their sequences, ascending and without a gap.
    pub events: Vec<(u64, Bytes)>,
}
