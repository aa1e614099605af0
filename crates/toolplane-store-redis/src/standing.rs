//! What is known of the server at the moment.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use toolplane_store::Durability;

use crate::facts::Facts;

/// The last facts that were found; see [`Facts`].
#[derive(Debug)]
pub(crate) struct Standing {
    durability: AtomicU8,
    waits_for_flush: AtomicBool,
}

const CLASSES: [Durability; 3] = [Durability::Buffered, Durability::Fsynced, Durability::FsyncedReplicated];

impl Standing {
    /// Nothing is known, so nothing is promised.
    pub(crate) fn unknown() -> Self {
        Self { durability: AtomicU8::new(0), waits_for_flush: AtomicBool::new(false) }
    }

    /// Takes in what a server said about itself.
    pub(crate) fn found(&self, facts: &Facts) {
        let class = CLASSES.iter().position(|class| *class == facts.durability).unwrap_or(0);
        let before = self.durability.swap(u8::try_from(class).unwrap_or(0), Ordering::AcqRel);
        self.waits_for_flush.store(facts.waits_for_flush, Ordering::Release);
        if usize::from(before) > class {
            tracing::warn!(durability = %facts.durability, "the Redis server keeps commits less safely than before");
        }
    }

    /// What an answered commit survives.
    pub(crate) fn durability(&self) -> Durability {
        CLASSES.get(usize::from(self.durability.load(Ordering::Acquire))).copied().unwrap_or(Durability::Buffered)
    }

    /// Whether the server can wait for the flush of replicas.
    pub(crate) fn waits_for_flush(&self) -> bool {
        self.waits_for_flush.load(Ordering::Acquire)
    }
}
