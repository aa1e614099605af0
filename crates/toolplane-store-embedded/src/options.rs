//! How much the store may hold, and for how long.

use serde::{Deserialize, Serialize};

/// Settings of an embedded store. The defaults suit a server; every field may be left out of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddedOptions {
    /// A checkpoint starts when this many bytes were committed since the last one. Also bounds what opening replays;
    /// memory holds at most about three times as much.
    pub checkpoint_bytes: usize,
    /// A checkpoint starts this long after the first commit that followed the last one, in milliseconds.
    pub checkpoint_interval_ms: u64,
    /// The most commits one flush makes durable together.
    pub group_commits: usize,
    /// A group takes no further commit once it holds this many bytes.
    pub group_bytes: usize,
    /// How many bytes of commits may wait for the writer; further callers wait for their turn to be queued.
    pub waiting_bytes: usize,
    /// How large one file of the log becomes before the next is begun. A few of them exist at a time, enough for about
    /// three times `checkpoint_bytes`.
    pub segment_bytes: u64,
    /// When less than this is free on the disk, in bytes, only [essential](toolplane_store::Commit::essential) commits
    /// are taken; 0 turns that off.
    pub reserve_bytes: u64,
    /// Memory for pages of the tables that were read or written lately, in bytes.
    pub cache_bytes: usize,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            // Small enough that the memory of one checkpoint serves the next before the allocator has given it back.
            checkpoint_bytes: 16 * MIB,
            checkpoint_interval_ms: 5_000,
            group_commits: 256,
            group_bytes: 2 * MIB,
            waiting_bytes: 64 * MIB,
            segment_bytes: 8 * MIB as u64,
            reserve_bytes: 256 * MIB as u64,
            cache_bytes: 32 * MIB,
        }
    }
}
