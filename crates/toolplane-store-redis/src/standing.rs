//! What is known of the server at the moment.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;
use toolplane_store::Durability;

use crate::facts::Facts;
use crate::trouble::Trouble;

/// The last facts that were found; see [`Facts`].
#[derive(Debug)]
pub(crate) struct Standing {
    durability: AtomicU8,
    waits_for_flush: AtomicBool,
    refuse_buffered: bool,
    found: Mutex<ServerProblems>,
    trouble: watch::Sender<Option<Trouble>>,
}

/// What is wrong, each found in a way of its own.
#[derive(Debug, Default)]
struct ServerProblems {
    away: bool,
    emptied: bool,
    /// The server would lose records.
    loses: Option<Trouble>,
}

const CLASSES: [Durability; 3] = [Durability::Buffered, Durability::Fsynced, Durability::FsyncedReplicated];

impl Standing {
    /// Nothing is known, so nothing is promised. With `refuse_buffered` a server that may lose what it answers is a trouble.
    pub(crate) fn unknown(refuse_buffered: bool) -> Self {
        Self {
            durability: AtomicU8::new(0),
            waits_for_flush: AtomicBool::new(false),
            refuse_buffered,
            found: Mutex::default(),
            trouble: watch::Sender::new(None),
        }
    }

    /// Takes in what a server said about itself.
    pub(crate) fn found(&self, facts: &Facts) {
        let class = CLASSES.iter().position(|class| *class == facts.durability).unwrap_or(0);
        let before = self.durability.swap(u8::try_from(class).unwrap_or(0), Ordering::AcqRel);
        self.waits_for_flush.store(facts.waits_for_flush, Ordering::Release);
        if usize::from(before) > class {
            tracing::warn!(durability = %facts.durability, "the Redis server keeps commits less safely than before");
        }
        let buffered = facts.durability == Durability::Buffered && self.refuse_buffered;
        let evicts = facts.evicts.clone().map(|policy| Trouble::Evicts { policy });
        self.change(|found| found.loses = evicts.or(buffered.then_some(Trouble::Buffered)));
    }

    /// Whether a server answers.
    pub(crate) fn reached(&self, reached: bool) {
        self.change(|found| found.away = !reached);
    }

    /// Whether the records of this store are there.
    pub(crate) fn kept(&self, kept: bool) {
        self.change(|found| found.emptied = !kept);
    }

    fn change(&self, change: impl FnOnce(&mut ServerProblems)) {
        let mut found = self.found.lock();
        change(&mut found);
        let now = match (&found.loses, found.emptied, found.away) {
            (_, true, _) => Some(Trouble::Emptied),
            (Some(loses), ..) => Some(loses.clone()),
            (_, _, true) => Some(Trouble::Away),
            _ => None,
        };
        let changed = |before: &mut Option<Trouble>| {
            let differs = *before != now;
            before.clone_from(&now);
            differs
        };
        if self.trouble.send_if_modified(changed) {
            match &now {
                Some(trouble) => tracing::error!(code = trouble.code(), %trouble, "the store is in trouble"),
                None => tracing::info!("the store is as it should be again"),
            }
        }
    }

    /// What is wrong at the moment, and every change of it.
    pub(crate) fn trouble(&self) -> watch::Receiver<Option<Trouble>> {
        self.trouble.subscribe()
    }

    /// Why a commit must not be sent now.
    pub(crate) fn stops_commit(&self, essential: bool) -> Option<Trouble> {
        self.stops(|trouble| match trouble {
            Trouble::Emptied => true,
            Trouble::Buffered | Trouble::Evicts { .. } => !essential,
            Trouble::Away => false,
        })
    }

    /// Why nothing that is read now may be trusted.
    pub(crate) fn stops_read(&self) -> Option<Trouble> {
        self.stops(|trouble| *trouble == Trouble::Emptied)
    }

    fn stops(&self, stops: impl Fn(&Trouble) -> bool) -> Option<Trouble> {
        self.trouble.borrow().as_ref().filter(|trouble| stops(trouble)).cloned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_trouble_counts_and_each_ends_by_itself() {
        let standing = Standing::unknown(true);
        let facts = |durability| Facts { durability, waits_for_flush: false, evicts: None };
        let trouble = standing.trouble();
        let policy = "allkeys-lru".to_owned();
        let evicts = Facts { evicts: Some(policy.clone()), ..facts(Durability::Fsynced) };
        standing.reached(false);
        assert_eq!(*trouble.borrow(), Some(Trouble::Away));
        assert_eq!((standing.stops_commit(false), standing.stops_read()), (None, None), "calls find out themselves");
        standing.found(&evicts);
        assert_eq!(*trouble.borrow(), Some(Trouble::Evicts { policy }));
        assert!(standing.stops_commit(false).is_some() && standing.stops_commit(true).is_none());
        standing.found(&facts(Durability::Buffered));
        assert_eq!(standing.stops_commit(false), Some(Trouble::Buffered));
        standing.kept(false);
        assert_eq!(standing.stops_commit(true), Some(Trouble::Emptied));
        assert_eq!(standing.stops_read(), Some(Trouble::Emptied));
        standing.kept(true);
        standing.found(&facts(Durability::Fsynced));
        standing.reached(true);
        assert_eq!(*trouble.borrow(), None);

        let lenient = Standing::unknown(false);
        lenient.found(&facts(Durability::Buffered));
        assert_eq!(lenient.stops_commit(false), None);
    }
}
