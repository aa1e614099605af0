//! Living invocations at hand: no read before a write, and one local change of a record at a time.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{Mutex, OwnedMutexGuard};
use toolplane_lifecycle::LeaseKey;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;

use super::plan::DispatchPlan;
use super::standing::Moment;

/// A record as last stored, with what its dispatch needs.
#[derive(Clone, Debug)]
pub(crate) struct Hot {
    /// Version in the store.
    pub(crate) version: u64,
    /// The record.
    pub(crate) record: Arc<Invocation>,
    /// How it runs, when already read.
    pub(crate) plan: Option<Arc<DispatchPlan>>,
    /// Its call input, when already read.
    pub(crate) input: Option<JsonPayload>,
    /// The trace a worker continues.
    pub(crate) traceparent: Option<String>,
    /// The number of the last lease whose offer is known to have arrived; 0 when none is. See [`super::receipts`].
    pub(crate) received: u32,
    /// A moment before the decision in force was made, when that is known. Not stored.
    pub(crate) decided: Option<Moment>,
}

impl Hot {
    /// Whether the record has a lease whose offer, as far as the record says, may not have arrived.
    fn is_unconfirmed(&self) -> bool {
        self.record.lease.as_ref().is_some_and(|lease| !lease.confirmed)
    }
}

/// A locked place for one record; empty when the record has to be read from the store.
pub(crate) type Place = OwnedMutexGuard<Option<Hot>>;

/// Waiting calls kept at hand. More than these wait in the store only, and are read when their turn comes.
const MAX_WAITING: usize = 20_000;

/// All places. It may always be emptied: the store has the truth, and compares versions.
#[derive(Debug, Default)]
pub(crate) struct HotTable {
    slots: DashMap<InvocationKey, Arc<Mutex<Option<Hot>>>>,
}

impl HotTable {
    /// The place of `id`; lock it to change the record.
    pub(crate) fn slot(&self, id: &InvocationKey) -> Arc<Mutex<Option<Hot>>> {
        self.slots.entry(id.clone()).or_default().clone()
    }

    /// The record of `id`, if it is at hand.
    pub(crate) async fn peek(&self, id: &InvocationKey) -> Option<Arc<Invocation>> {
        let slot = self.slots.get(id)?.clone();
        let guard = slot.lock().await;
        guard.as_ref().map(|hot| hot.record.clone())
    }

    /// The record of `id` with the moment of its decision, if it is at hand.
    pub(crate) async fn decision(&self, id: &InvocationKey) -> Option<(Arc<Invocation>, Option<Moment>)> {
        let slot = self.slots.get(id)?.clone();
        let guard = slot.lock().await;
        guard.as_ref().map(|hot| (hot.record.clone(), hot.decided))
    }

    /// Whether the record of `id` may be at hand.
    pub(crate) fn holds(&self, id: &InvocationKey) -> bool {
        self.slots.contains_key(id)
    }

    /// Takes note that the offer of this lease arrived at its holder.
    pub(crate) async fn received(&self, lease: &LeaseKey) {
        let Some(slot) = self.slots.get(&lease.call()).map(|slot| slot.clone()) else { return };
        if let Some(hot) = slot.lock().await.as_mut()
            && hot.record.lease.as_ref().is_some_and(|held| lease.names(held))
        {
            hot.received = lease.lease_no;
        }
    }

    /// Whether the offer of this lease is known to have arrived, and the record does not say so.
    pub(crate) async fn was_received(&self, lease: &LeaseKey) -> bool {
        let Some(slot) = self.slots.get(&lease.call()).map(|slot| slot.clone()) else { return false };
        let place = slot.lock().await;
        place.as_ref().is_some_and(|hot| hot.received == lease.lease_no && hot.is_unconfirmed())
    }

    /// Lets the record at hand say what is known of the receipt of its lease, before that lease is called lost.
    pub(crate) async fn tell_receipt(&self, id: &InvocationKey) {
        let Some(slot) = self.slots.get(id).map(|slot| slot.clone()) else { return };
        if let Some(hot) = slot.lock().await.as_mut()
            && hot.is_unconfirmed()
            && hot.record.lease_no == hot.received
            && let Some(lease) = &mut Arc::make_mut(&mut hot.record).lease
        {
            lease.confirmed = true;
        }
    }

    /// Whether one more waiting call may be kept at hand.
    pub(crate) fn has_room(&self) -> bool {
        self.slots.len() < MAX_WAITING
    }

    /// Drops the place of `id`. Whoever still waits for its lock goes on with an empty one: compares keep that right.
    pub(crate) fn forget(&self, id: &InvocationKey) {
        self.slots.remove(id);
    }
}
