//! Counts of what the store did.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a store did since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Commits asked for and found well formed.
    pub commits: u64,
    /// Calls of scripts: one for each commit, scan, page of events and page of keys, and one for each repeat.
    pub scripts: u64,
    /// Requests that were sent and waited for, scripts among them; not the background reading of the clock.
    pub round_trips: u64,
    /// Attempts beyond the first, of commits and of reads.
    pub repeats: u64,
    /// Connections made for requests, the first one among them.
    pub connections: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) scripts: AtomicU64,
    pub(crate) round_trips: AtomicU64,
    pub(crate) repeats: AtomicU64,
    pub(crate) connections: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            commits: of(&self.commits),
            scripts: of(&self.scripts),
            round_trips: of(&self.round_trips),
            repeats: of(&self.repeats),
            connections: of(&self.connections),
        }
    }
}
