//! The calls this worker holds: the one place that says which may run and which may still be reported.

mod assignment;
mod grant;
mod moment;
mod question;
mod renewal;
mod stop;
mod terms;
#[cfg(test)]
mod tests;
mod tool_clock;
mod unheard;

use foldhash::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use toolplane_runtime::client::Backoff;

pub(crate) use assignment::Assignment;
pub(crate) use moment::Moment;
pub(crate) use stop::{StopReason, StopSignal};
pub(crate) use terms::Terms;

use unheard::Unheard;

use crate::messages::{CallTraits, Ended, InputRequest, Lease, ReleaseReason};

/// Offers taken beyond the free slots, as a share of all slots: a well-behaved scheduler is at most a few cancels ahead of the
/// worker, and one that is not gets the rest back.
const MOST_PER_SLOT: usize = 2;

#[derive(Debug)]
enum Phase {
    /// Nothing has happened yet; the lease can be given back.
    Waiting,
    /// The tool runs, or its output is being kept.
    Running,
    /// Ended, and said so; the scheduler has not confirmed that it knows.
    Ended(Arc<Ended>, Unheard),
}

impl Phase {
    fn is_open(&self) -> bool {
        !matches!(self, Self::Ended(..))
    }
}

#[derive(Debug)]
struct HeldLease {
    assignment: Arc<Assignment>,
    phase: Phase,
}

/// What to say first on a new stream.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Every lease whose call has not ended.
    pub(crate) held: Vec<Lease>,
    /// Those that were asked to start.
    pub(crate) asked: Vec<Lease>,
    /// Questions without an answer.
    pub(crate) questions: Vec<InputRequest>,
    /// Ends that were not acknowledged.
    pub(crate) ended: Vec<Arc<Ended>>,
}

#[derive(Debug, Default)]
struct Table {
    held: HashMap<Lease, HeldLease>,
    /// How many of them wait or run.
    busy: usize,
    /// No new ones are taken.
    closed: bool,
}

impl Table {
    fn remove(&mut self, lease: &Lease) -> Option<Arc<Assignment>> {
        let removed = self.held.remove(lease)?;
        self.busy -= usize::from(removed.phase.is_open());
        Some(removed.assignment)
    }

    /// Holds a lease that is not held. A newer one of a call ends the older.
    fn insert(&mut self, assignment: Arc<Assignment>, phase: Phase) -> OfferTaken {
        let other = self.held.keys().find(|lease| lease.is_of_same_call(&assignment.lease)).cloned();
        if other.as_ref().is_some_and(|other| other.number > assignment.lease.number) {
            return OfferTaken::Stale;
        }
        let replaced = other.and_then(|other| self.remove(&other));
        self.held.insert(assignment.lease.clone(), HeldLease { assignment, phase });
        self.busy += 1;
        OfferTaken::Taken { replaced }
    }

    fn running(&self) -> impl Iterator<Item = &Arc<Assignment>> {
        self.held.values().filter(|held| matches!(held.phase, Phase::Running)).map(|held| &held.assignment)
    }
}

/// The outcome of an offer.
#[derive(Debug)]
pub(crate) enum OfferTaken {
    /// It is held now. An earlier lease of the same call that was still held is this one; it is no longer.
    Taken { replaced: Option<Arc<Assignment>> },
    /// It came before, and the call has not ended.
    Known(Arc<Assignment>),
    /// It came before, and the call has ended like this.
    Ended(Arc<Ended>),
    /// A later lease of the same call is held.
    Stale,
    /// It is to be given back.
    Refused(ReleaseReason),
}

/// All calls this worker holds.
#[derive(Debug)]
pub(crate) struct Assignments {
    table: Mutex<Table>,
    slots: usize,
    changed: Notify,
    renewal_wanted: Notify,
}

impl Assignments {
    /// None yet, with room for `slots` at once.
    pub(crate) fn new(slots: usize) -> Self {
        Self { table: Mutex::default(), slots, changed: Notify::new(), renewal_wanted: Notify::new() }
    }

    /// Takes an offer, once per lease. A newer lease of a call ends the older one: two executions of a call are one too many.
    pub(crate) fn take(&self, assignment: Arc<Assignment>) -> OfferTaken {
        let mut table = self.table.lock();
        if let Some(held) = table.held.get(&assignment.lease) {
            return match &held.phase {
                Phase::Ended(ended, _) => OfferTaken::Ended(ended.clone()),
                Phase::Waiting | Phase::Running => OfferTaken::Known(held.assignment.clone()),
            };
        }
        if table.closed {
            return OfferTaken::Refused(ReleaseReason::Draining);
        }
        if table.busy >= self.slots.saturating_mul(MOST_PER_SLOT) {
            return OfferTaken::Refused(ReleaseReason::NoFreeSlot);
        }
        table.insert(assignment, Phase::Waiting)
    }

    /// Holds a call of an earlier start of this worker, which has ended and is to be reported. False when the lease, or a later
    /// one of the same call, is held.
    pub(crate) fn take_recovered(&self, lease: &Lease) -> bool {
        let mut table = self.table.lock();
        // Its time is over, so of its traits none matters any more.
        let assignment = Arc::new(Assignment::new(lease.clone(), CallTraits::default()));
        !table.held.contains_key(lease) && matches!(table.insert(assignment, Phase::Running), OfferTaken::Taken { .. })
    }

    /// Takes no new offers, for good.
    pub(crate) fn close(&self) {
        self.table.lock().closed = true;
    }

    /// Whether no new offers are taken.
    pub(crate) fn is_closed(&self) -> bool {
        self.table.lock().closed
    }

    /// The call of a lease, while it is held.
    pub(crate) fn get(&self, lease: &Lease) -> Option<Arc<Assignment>> {
        self.table.lock().held.get(lease).map(|held| held.assignment.clone())
    }

    /// Whether the lease is held.
    pub(crate) fn is_held(&self, lease: &Lease) -> bool {
        self.table.lock().held.contains_key(lease)
    }

    /// The call of a lease that is still to begin or to end, and whether it runs.
    pub(crate) fn open(&self, lease: &Lease) -> Option<(Arc<Assignment>, bool)> {
        let table = self.table.lock();
        let held = table.held.get(lease).filter(|held| held.phase.is_open())?;
        Some((held.assignment.clone(), matches!(held.phase, Phase::Running)))
    }

    /// The execution begins now. False when it must not: the lease was taken away or given back.
    pub(crate) fn begin(&self, lease: &Lease) -> bool {
        match self.table.lock().held.get_mut(lease) {
            Some(held) if matches!(held.phase, Phase::Waiting) && held.assignment.stop.reason().is_none() => {
                held.phase = Phase::Running;
                true
            }
            _ => false,
        }
    }

    /// The execution ended; kept until it is acknowledged. False when the lease is no longer held: then it must not be reported.
    pub(crate) fn end(&self, ended: Arc<Ended>) -> bool {
        let mut table = self.table.lock();
        let Some(held) = table.held.get_mut(&ended.lease) else { return false };
        let before = std::mem::replace(&mut held.phase, Phase::Ended(ended, Unheard::said_now()));
        table.busy -= usize::from(before.is_open());
        drop(table);
        self.changed.notify_waiters();
        true
    }

    /// The lease is no longer this worker's, for whatever reason.
    pub(crate) fn forget(&self, lease: &Lease) -> Option<Arc<Assignment>> {
        let forgotten = self.table.lock().remove(lease)?;
        self.changed.notify_waiters();
        Some(forgotten)
    }

    /// Removes every call that has not begun, to be given back.
    pub(crate) fn take_waiting(&self) -> Vec<Arc<Assignment>> {
        let mut table = self.table.lock();
        let waiting = table.held.extract_if(|_, held| matches!(held.phase, Phase::Waiting));
        let waiting: Vec<_> = waiting.map(|(_, held)| held.assignment).collect();
        table.busy -= waiting.len();
        drop(table);
        self.changed.notify_waiters();
        waiting
    }

    /// Ends that were not acknowledged in the time `again` gives each try, to be said again now: those that wait longest, and no more
    /// than `most`.
    pub(crate) fn unacknowledged(&self, again: Backoff, most: usize) -> Vec<Arc<Ended>> {
        let mut table = self.table.lock();
        let mut due: Vec<_> = table
            .held
            .values_mut()
            .filter_map(|held| match &mut held.phase {
                Phase::Ended(ended, unheard) => unheard.due_since(again).map(|since| (since, ended, unheard)),
                Phase::Waiting | Phase::Running => None,
            })
            .collect();
        due.sort_by_key(|(since, ..)| *since);
        due.truncate(most);
        let said = due.into_iter().map(|(_, ended, unheard)| {
            unheard.say_again();
            ended.clone()
        });
        said.collect()
    }

    /// Questions that were said at least `patience` ago and not answered, to be said again now.
    pub(crate) fn unanswered(&self, patience: Duration) -> Vec<InputRequest> {
        let table = self.table.lock();
        table.running().filter_map(|assignment| assignment.question.said_before(patience)).collect()
    }

    /// Calls whose lease is to be renewed at `now`: those that are here for a while, and those whose start waits for it.
    pub(crate) fn due(&self, terms: &Terms, now: Moment) -> Vec<Arc<Assignment>> {
        let table = self.table.lock();
        let due = table.held.values().filter(|held| {
            let assignment = &held.assignment;
            let waits = matches!(held.phase, Phase::Waiting)
                && (assignment.must_be_renewed_first() || terms.too_doubtful_to_start(assignment.silent_for(now)));
            waits || assignment.renewal.taken().age(now) >= terms.renew_from()
        });
        due.map(|held| held.assignment.clone()).collect()
    }

    /// Running calls that hold an exclusive lock under a lease that may be over at `now`.
    pub(crate) fn in_doubt(&self, terms: &Terms, now: Moment) -> Vec<Arc<Assignment>> {
        let table = self.table.lock();
        let holders = table.running().filter(|assignment| assignment.traits.exclusive_lock);
        let doubtful = holders.filter(|assignment| terms.too_doubtful_to_hold(assignment.silent_for(now)));
        let told = |reason| matches!(reason, Some(StopReason::InDoubt | StopReason::Fenced));
        doubtful.filter(|assignment| !told(assignment.stop.reason())).cloned().collect()
    }

    /// Calls whose execution runs now.
    pub(crate) fn running(&self) -> Vec<Arc<Assignment>> {
        self.table.lock().running().cloned().collect()
    }

    /// How many wait or run.
    pub(crate) fn busy(&self) -> usize {
        self.table.lock().busy
    }

    /// How many are held, ended ones included.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().held.len()
    }

    /// How many could be taken now.
    pub(crate) fn free_slots(&self) -> u32 {
        let table = self.table.lock();
        let free = if table.closed { 0 } else { self.slots.saturating_sub(table.busy) };
        u32::try_from(free).unwrap_or(u32::MAX)
    }

    /// Every lease, ended ones included.
    pub(crate) fn leases(&self) -> Vec<Lease> {
        self.table.lock().held.keys().cloned().collect()
    }

    /// Everything a new stream must know, taken at one instant. The ends in it count as said again.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut table = self.table.lock();
        let mut snapshot = Snapshot::default();
        for (lease, held) in &mut table.held {
            match &mut held.phase {
                Phase::Waiting if held.assignment.grant.awaited_since().is_some() => snapshot.asked.push(lease.clone()),
                Phase::Running => {
                    snapshot.questions.extend(held.assignment.question.said_before(Duration::ZERO));
                }
                Phase::Ended(ended, unheard) => {
                    unheard.say_again();
                    snapshot.ended.push(ended.clone());
                    continue;
                }
                Phase::Waiting => {}
            }
            snapshot.held.push(lease.clone());
        }
        snapshot
    }

    /// Resolves at the next change that can end a wait for [`Self::busy`] or [`Self::len`], from when this was called.
    pub(crate) fn changed(&self) -> impl Future<Output = ()> {
        self.changed.notified()
    }

    /// A lease should be renewed at once.
    pub(crate) fn want_renewal(&self) {
        self.renewal_wanted.notify_one();
    }

    /// Resolves when a lease should be renewed at once.
    pub(crate) async fn renewal_wanted(&self) {
        self.renewal_wanted.notified().await;
    }
}
