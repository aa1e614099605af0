//! Users of their own for the sandboxes of a root worker.

use std::collections::BTreeSet;

use parking_lot::Mutex;

/// The first user number used: above what distributions, containers and services take, below 2^31.
const BASE: u32 = 1_900_000_000;
/// User numbers of one worker, and workers that do not share any.
const PER_WORKER: u32 = 1024;
const WORKERS: u32 = 65_536;

static TAKEN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A user number no other running sandbox of this worker has. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot(u32);

impl Slot {
    /// The lowest free one; `None` when all 1024 are taken.
    pub(crate) fn claim() -> Option<Self> {
        let first = BASE + (std::process::id() % WORKERS) * PER_WORKER;
        let mut taken = TAKEN.lock();
        let free = (first..first + PER_WORKER).find(|id| !taken.contains(id))?;
        taken.insert(free);
        Some(Self(free))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        TAKEN.lock().remove(&self.0);
    }
}
