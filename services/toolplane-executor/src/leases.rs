//! The leases this worker holds: the one place that says who may run and who may still report.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolplane_proto::v1::{ExecutionDone, InputRequested, LeaseRef};
use toolplane_records::ids::LeaseId;

use crate::clock::Moment;
use crate::seat::{Seat, Stop};
use crate::terms::Terms;

#[cfg(test)]
mod tests;

#[derive(Debug)]
enum Phase {
    /// Nothing has happened yet; the lease can be given back.
    Waiting,
    /// The tool runs, or its output is being kept.
    Running,
    /// Ended, and said so then; the scheduler has not confirmed that it knows.
    Ended(Box<ExecutionDone>, Instant),
}

impl Phase {
    fn is_open(&self) -> bool {
        !matches!(self, Self::Ended(..))
    }
}

#[derive(Debug)]
struct Held {
    seat: Arc<Seat>,
    phase: Phase,
}

/// What to say first on a new stream.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Every lease whose call has not ended.
    pub(crate) held: Vec<LeaseRef>,
    /// Those that were asked to start.
    pub(crate) asked: Vec<LeaseRef>,
    /// Questions without an answer.
    pub(crate) questions: Vec<InputRequested>,
    /// Ends that were not acknowledged.
    pub(crate) ended: Vec<ExecutionDone>,
}

#[derive(Debug, Default)]
struct Table {
    held: HashMap<LeaseRef, Held>,
    /// How many of them wait or run.
    busy: usize,
}

impl Table {
    fn remove(&mut self, lease: &LeaseRef) -> Option<Arc<Seat>> {
        let removed = self.held.remove(lease)?;
        self.busy -= usize::from(removed.phase.is_open());
        Some(removed.seat)
    }
}

/// Whether both are leases of one call: an invocation id means something within its tenant only, and the lease names that.
fn is_same_call(one: &LeaseRef, other: &LeaseRef) -> bool {
    let tenant = |lease: &LeaseRef| LeaseId::parse(&lease.lease_id).map(|id| id.tenant());
    one.invocation_id == other.invocation_id && tenant(one) == tenant(other)
}

/// What became of an offer.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It has a seat now. An earlier lease of the same call that was still held is this one; it is no longer.
    Seated { earlier: Option<Arc<Seat>> },
    /// It came before, and the call has not ended.
    Again(Arc<Seat>),
    /// It came before, and the call has ended like this.
    Over(Box<ExecutionDone>),
    /// A later lease of the same call is held.
    Stale,
}

/// All seats.
#[derive(Debug)]
pub(crate) struct Leases {
    table: Mutex<Table>,
    slots: usize,
    /// Rings at every change that can end a wait for [`Leases::busy`] or [`Leases::len`].
    pub(crate) changed: Notify,
}

impl Leases {
    pub(crate) fn new(slots: usize) -> Self {
        Self { table: Mutex::default(), slots, changed: Notify::new() }
    }

    /// Takes a seat, once per lease. A newer lease of a call ends the older one: two executions of a call are one too
    /// many.
    pub(crate) fn seat(&self, seat: Arc<Seat>) -> Taken {
        let mut table = self.table.lock();
        if let Some(held) = table.held.get(&seat.lease) {
            return match &held.phase {
                Phase::Ended(done, _) => Taken::Over(done.clone()),
                _ => Taken::Again(held.seat.clone()),
            };
        }
        let other = table.held.keys().find(|lease| is_same_call(lease, &seat.lease)).cloned();
        if other.as_ref().is_some_and(|other| other.lease_no > seat.lease.lease_no) {
            return Taken::Stale;
        }
        let earlier = other.and_then(|other| table.remove(&other));
        if let Entry::Vacant(place) = table.held.entry(seat.lease.clone()) {
            place.insert(Held { seat, phase: Phase::Waiting });
            table.busy += 1;
        }
        Taken::Seated { earlier }
    }

    /// The seat of a lease, while it is held.
    pub(crate) fn get(&self, lease: &LeaseRef) -> Option<Arc<Seat>> {
        self.table.lock().held.get(lease).map(|held| held.seat.clone())
    }

    /// Whether the execution of `lease` has begun and has not ended.
    pub(crate) fn is_running(&self, lease: &LeaseRef) -> bool {
        matches!(self.table.lock().held.get(lease), Some(Held { phase: Phase::Running, .. }))
    }

    /// Whether the execution of `lease` is still to begin or to end.
    pub(crate) fn is_open(&self, lease: &LeaseRef) -> bool {
        self.table.lock().held.get(lease).is_some_and(|held| held.phase.is_open())
    }

    /// The execution begins now. False when it must not: the lease was taken away or given back.
    pub(crate) fn begin(&self, lease: &LeaseRef) -> bool {
        match self.table.lock().held.get_mut(lease) {
            Some(held) if matches!(held.phase, Phase::Waiting) && held.seat.stop_reason().is_none() => {
                held.phase = Phase::Running;
                true
            }
            _ => false,
        }
    }

    /// The execution ended; kept until it is acknowledged. False when the lease is no longer held: nobody may hear of it.
    pub(crate) fn end(&self, lease: &LeaseRef, done: ExecutionDone) -> bool {
        let mut table = self.table.lock();
        let Some(held) = table.held.get_mut(lease) else { return false };
        let before = std::mem::replace(&mut held.phase, Phase::Ended(Box::new(done), Instant::now()));
        table.busy -= usize::from(before.is_open());
        drop(table);
        self.changed.notify_waiters();
        true
    }

    /// Ends that were said at least `patience` ago and not acknowledged, to be said again now.
    pub(crate) fn unheard(&self, patience: Duration) -> Vec<ExecutionDone> {
        let mut table = self.table.lock();
        let unheard = table.held.values_mut().filter_map(|held| match &mut held.phase {
            Phase::Ended(done, said) if said.elapsed() >= patience => {
                *said = Instant::now();
                Some(done.as_ref().clone())
            }
            _ => None,
        });
        unheard.collect()
    }

    /// The lease is no longer ours, for whatever reason.
    pub(crate) fn forget(&self, lease: &LeaseRef) -> Option<Arc<Seat>> {
        let forgotten = self.table.lock().remove(lease)?;
        self.changed.notify_waiters();
        Some(forgotten)
    }

    /// Questions that were said at least `patience` ago and not answered, to be said again now.
    pub(crate) fn unanswered(&self, patience: Duration) -> Vec<InputRequested> {
        let table = self.table.lock();
        let running = table.held.values().filter(|held| matches!(held.phase, Phase::Running));
        running.filter_map(|held| held.seat.questions.said_before(patience)).collect()
    }

    /// Removes every seat that has not begun, to be given back.
    pub(crate) fn take_waiting(&self) -> Vec<Arc<Seat>> {
        let mut table = self.table.lock();
        let waiting = table.held.extract_if(|_, held| matches!(held.phase, Phase::Waiting));
        let waiting: Vec<_> = waiting.map(|(_, held)| held.seat).collect();
        table.busy -= waiting.len();
        drop(table);
        self.changed.notify_waiters();
        waiting
    }

    /// Seats whose lease is to be renewed at `now`: those of calls that are here for a while, and those whose start waits
    /// for it.
    pub(crate) fn due(&self, terms: &Terms, now: Moment) -> Vec<Arc<Seat>> {
        let table = self.table.lock();
        let due = table.held.values().filter(|held| {
            let seat = &held.seat;
            let waits = matches!(held.phase, Phase::Waiting)
                && (seat.must_be_renewed_first() || terms.too_doubtful_to_start(seat.last_renewed().age(now)));
            waits || seat.taken().age(now) >= terms.renew_from()
        });
        due.map(|held| held.seat.clone()).collect()
    }

    /// Seats of running calls that hold an exclusive lock under a lease nobody can be sure of at `now`.
    pub(crate) fn in_doubt(&self, terms: &Terms, now: Moment) -> Vec<Arc<Seat>> {
        let table = self.table.lock();
        let running = table.held.values().filter(|held| matches!(held.phase, Phase::Running));
        let holders = running.map(|held| &held.seat).filter(|seat| seat.nature.exclusive_lock);
        holders
            .filter(|seat| terms.too_doubtful_to_hold(seat.last_renewed().age(now)))
            .filter(|seat| !matches!(seat.stop_reason(), Some(Stop::InDoubt | Stop::Fenced)))
            .cloned()
            .collect()
    }

    /// Seats whose execution runs now.
    pub(crate) fn running(&self) -> Vec<Arc<Seat>> {
        let table = self.table.lock();
        table.held.values().filter(|held| matches!(held.phase, Phase::Running)).map(|held| held.seat.clone()).collect()
    }

    /// Calls that wait or run.
    pub(crate) fn busy(&self) -> usize {
        self.table.lock().busy
    }

    /// Leases held, ended ones included.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().held.len()
    }

    /// Calls that can wait or run at once without one being too many.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Calls that could be taken now.
    pub(crate) fn free_slots(&self) -> u32 {
        u32::try_from(self.slots.saturating_sub(self.busy())).unwrap_or(u32::MAX)
    }

    /// Leases to renew.
    pub(crate) fn refs(&self) -> Vec<LeaseRef> {
        self.table.lock().held.keys().cloned().collect()
    }

    /// Everything a new stream must know, taken at one instant.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let table = self.table.lock();
        let mut snapshot = Snapshot::default();
        for (lease, held) in &table.held {
            match &held.phase {
                Phase::Waiting if held.seat.awaits_grant() => snapshot.asked.push(lease.clone()),
                Phase::Running => snapshot.questions.extend(held.seat.questions.unanswered()),
                Phase::Ended(done, _) => {
                    snapshot.ended.push(done.as_ref().clone());
                    continue;
                }
                Phase::Waiting => {}
            }
            snapshot.held.push(lease.clone());
        }
        snapshot
    }
}
