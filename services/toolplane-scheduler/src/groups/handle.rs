//! The handle: batches as they are accepted, read and followed.

use crate::calls::Calls;
use crate::dispatch::Admissions;
use crate::storage::Shards;
use crate::watch::Watchers;

/// Batches. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    pub(super) calls: Calls,
    pub(super) admissions: Admissions,
    pub(super) watchers: Watchers,
}

impl Groups {
    pub(crate) fn new(calls: Calls, admissions: Admissions, watchers: Watchers) -> Self {
        Self { calls, admissions, watchers }
    }

    /// The shards their records lie in.
    pub(crate) fn shards(&self) -> Shards {
        self.calls.storage().shards()
    }
}
