//! The targeted cases, by the names they have in the test plan.

use std::future::Future;
use std::pin::Pin;

use super::outcome::Outcome;
use super::{approvals, fair, links, pauses, poison, races, store_faults, watching};
use crate::bed::StoreKind;
use crate::trouble::Trouble;

/// A run of one case.
type Run = fn(StoreKind) -> Pin<Box<dyn Future<Output = Result<Outcome, Trouble>>>>;

/// One targeted case.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name in the test plan.
    pub id: &'static str,
    /// What is done.
    pub what: &'static str,
    /// It needs a store that is a process of its own.
    pub shared_only: bool,
    /// Does it.
    pub run: Run,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.id, self.what)
    }
}

const fn case(id: &'static str, what: &'static str, run: Run) -> Case {
    Case { id, what, shared_only: false, run }
}

const fn shared(id: &'static str, what: &'static str, run: Run) -> Case {
    Case { id, what, shared_only: true, run }
}

/// All of them.
pub const CASES: &[Case] = &[
    case("F13", "a worker stands still for longer than a lease", |store| Box::pin(pauses::worker_longer(store, 30))),
    case("F14", "a worker stands still for less than a lease", |store| Box::pin(pauses::worker_shorter(store, 8))),
    case("F15", "a scheduler stands still for longer than a lease", |store| Box::pin(pauses::scheduler(store, 5))),
    case("F16", "the store stands still for twice a lease", |store| Box::pin(pauses::store(store, 4))),
    case("F17", "tools keep every thread of a worker busy", |store| Box::pin(pauses::busy(store))),
    case("F18", "the store is killed", |store| Box::pin(store_faults::killed(store, 20))),
    shared("F23", "the store's answers vanish", |store| Box::pin(store_faults::swallowed(store, 100))),
    case("F24", "links hang for twice a lease", |store| Box::pin(links::partition(store, 3))),
    case("F25", "connections are reset", |store| Box::pin(links::resets(store, 60))),
    case("F34", "the same key many times at once", |store| Box::pin(races::duplicates(store, 250))),
    case("F36", "watchers come back at every event", |store| Box::pin(watching::reconnects(store, 5))),
    case("F37", "a worker comes and goes", |store| Box::pin(poison::flapping(store, 30))),
    case("F38", "a call kills its workers", |store| Box::pin(poison::poison(store))),
    shared("F42", "the store has no memory left", |store| Box::pin(store_faults::full(store))),
    case("F44", "a flood in one band, a trickle in another", |store| Box::pin(fair::bands(store))),
    case("F45", "a watcher does not read", |store| Box::pin(watching::unread(store))),
    case("F46", "questions outlive everybody, answers race", |store| Box::pin(approvals::approvals(store, 5))),
    case("F47", "cancels, ends and lapsing leases race", |store| Box::pin(races::endings(store, 2_000))),
];
