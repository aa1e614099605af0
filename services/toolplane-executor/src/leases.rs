//! The leases this worker holds: the one place that says who may run and who may still report.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_proto::v1::{ExecutionDone, LeaseRef};
use toolplane_records::vocabulary::AbortReason;

#[cfg(test)]
mod tests;

/// Why an execution is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The scheduler asks for it and wants to hear how it ended.
    Cancel(AbortReason),
    /// This worker ends.
    Shutdown,
    /// The lease is somebody else's: nothing may be reported any more.
    Fenced,
}

/// One call at this worker, from its offer to the acknowledgement of its end.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) lease: LeaseRef,
    /// May be repeated, so it starts without asking and can be given back while it runs.
    pub(crate) idempotent: bool,
    pub(crate) supports_cancel: bool,
    /// Cancelled with the first stop.
    pub(crate) stopped: CancellationToken,
    stop: Mutex<Option<Stop>>,
    grant: Mutex<Option<oneshot::Sender<()>>>,
}

impl Seat {
    pub(crate) fn new(lease: LeaseRef, idempotent: bool, supports_cancel: bool) -> Self {
        let stopped = CancellationToken::new();
        Self { lease, idempotent, supports_cancel, stopped, stop: Mutex::default(), grant: Mutex::default() }
    }

    /// Asks the execution to stop. The first reason stays.
    pub(crate) fn stop(&self, why: Stop) {
        self.stop.lock().get_or_insert(why);
        self.stopped.cancel();
    }

    /// Why the execution is to stop, if it is.
    pub(crate) fn stop_reason(&self) -> Option<Stop> {
        *self.stop.lock()
    }

    /// Resolves when the scheduler grants the start.
    pub(crate) fn expect_grant(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        *self.grant.lock() = Some(sender);
        receiver
    }

    /// The scheduler granted the start. A second grant changes nothing.
    pub(crate) fn granted(&self) {
        if let Some(sender) = self.grant.lock().take() {
            let _ = sender.send(());
        }
    }

    /// Whether the scheduler was asked for the start and has not answered.
    fn awaits_grant(&self) -> bool {
        self.grant.lock().is_some()
    }
}

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
    /// Every lease held.
    pub(crate) held: Vec<LeaseRef>,
    /// Those that were asked to start.
    pub(crate) asked: Vec<LeaseRef>,
    /// Ends that were not acknowledged.
    pub(crate) ended: Vec<ExecutionDone>,
}

#[derive(Debug, Default)]
struct Table {
    held: HashMap<LeaseRef, Held>,
    /// How many of them wait or run.
    busy: usize,
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

    /// Takes a seat; false when the lease has one already (a repeated offer).
    pub(crate) fn seat(&self, seat: Arc<Seat>) -> bool {
        let mut table = self.table.lock();
        let Entry::Vacant(place) = table.held.entry(seat.lease.clone()) else { return false };
        place.insert(Held { seat, phase: Phase::Waiting });
        table.busy += 1;
        true
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
        let mut table = self.table.lock();
        let forgotten = table.held.remove(lease)?;
        table.busy -= usize::from(forgotten.phase.is_open());
        drop(table);
        self.changed.notify_waiters();
        Some(forgotten.seat)
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
            snapshot.held.push(lease.clone());
            match &held.phase {
                Phase::Waiting if held.seat.awaits_grant() => snapshot.asked.push(lease.clone()),
                Phase::Ended(done, _) => snapshot.ended.push(done.as_ref().clone()),
                _ => {}
            }
        }
        snapshot
    }
}
