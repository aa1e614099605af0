//! Locks of several tickets together.

use std::collections::HashMap;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::vocabulary::LockMode;

/// Locks of several tickets together, so that one pass over a domain is enough: it may have thousands of tickets.
#[derive(Default)]
pub(crate) struct LockSet<'a>(HashMap<&'a str, LockMode>);

impl<'a> LockSet<'a> {
    /// Adds the locks of one more ticket.
    pub(crate) fn add(&mut self, locks: &'a [ResourceLock]) {
        for lock in locks {
            let mode = self.0.entry(&lock.key).or_insert(lock.mode);
            if lock.mode == LockMode::Exclusive {
                *mode = LockMode::Exclusive;
            }
        }
    }

    /// Whether one of these locks conflicts with one of `locks`.
    pub(crate) fn excludes(&self, locks: &[ResourceLock]) -> bool {
        let exclusive = |mode: LockMode| mode == LockMode::Exclusive;
        locks.iter().any(|lock| self.0.get(&*lock.key).is_some_and(|mode| exclusive(*mode) || exclusive(lock.mode)))
    }
}
