//! The record cache: living invocations in memory, so that no read comes before a write, and so that this process changes a
//! record once at a time.

use std::sync::Arc;

use crate::hash::DashMap;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;
use toolplane_lifecycle::LeaseKey;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::stored::{self, StoredError};

use toolplane_store::Versioned;

use crate::plan::DispatchPlan;

/// A point in what has been heard of rules and tools. What is decided after it does not rest on anything older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Changes of the rules heard of.
    pub(crate) policy: u64,
    /// Changes of the tools heard of.
    pub(crate) catalog: u64,
    /// When it was.
    pub(crate) at: Instant,
}

/// A record as last stored, with what its dispatch needs.
#[derive(Clone, Debug)]
pub(crate) struct CachedCall {
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
    /// The number of the last lease whose offer is known to have arrived; 0 when none is. See `dispatch/receipts.rs`.
    pub(crate) received: u32,
    /// A moment before the decision in force was made, when that is known. Not stored.
    pub(crate) decided: Option<Moment>,
}

impl CachedCall {
    /// A record as it is stored, with nothing cached beside it. Returns an error when it is not a record.
    pub(crate) fn read(stored: &Versioned) -> Result<Self, StoredError> {
        let record: Arc<Invocation> = Arc::new(stored::read(&stored.bytes)?);
        let version = stored.version;
        Ok(Self { version, record, plan: None, input: None, traceparent: None, received: 0, decided: None })
    }

    /// What is cached after `record` took the place of the record: no plan or input that it no longer names.
    pub(crate) fn after(self, record: Arc<Invocation>) -> Self {
        let plan_of = |record: &Invocation| record.dispatch.as_ref().map(|dispatch| dispatch.plan_digest);
        let input_of = |record: &Invocation| record.inputs.call.as_ref().map(|call| call.digest);
        Self {
            version: self.version + 1,
            plan: self.plan.filter(|_| plan_of(&self.record) == plan_of(&record)),
            input: self.input.filter(|_| input_of(&self.record) == input_of(&record)),
            record,
            ..self
        }
    }

    /// Whether the record has a lease whose offer, as far as the record says, may not have arrived.
    fn is_unconfirmed(&self) -> bool {
        self.record.lease.as_ref().is_some_and(|lease| !lease.confirmed)
    }
}

/// The locked entry of one record; empty when the record has to be read from the store.
pub(crate) type CacheEntry = OwnedMutexGuard<Option<CachedCall>>;

/// Waiting calls kept in memory. More than these wait in the store only, and are read when their turn comes.
const MAX_WAITING: usize = 20_000;

/// All entries. It may always be emptied: the store has the truth, and compares versions.
#[derive(Debug, Default)]
pub(crate) struct RecordCache {
    slots: DashMap<InvocationKey, Arc<Mutex<Option<CachedCall>>>>,
}

impl RecordCache {
    /// The entry of `id`; lock it to change the record.
    pub(crate) fn slot(&self, id: &InvocationKey) -> Arc<Mutex<Option<CachedCall>>> {
        self.slots.entry(id.clone()).or_default().clone()
    }

    /// The record of `id`, if it is cached.
    pub(crate) async fn peek(&self, id: &InvocationKey) -> Option<Arc<Invocation>> {
        let slot = self.slots.get(id)?.clone();
        let guard = slot.lock().await;
        guard.as_ref().map(|hot| hot.record.clone())
    }

    /// The record of `id` with the moment of its decision, if it is cached.
    pub(crate) async fn decision(&self, id: &InvocationKey) -> Option<(Arc<Invocation>, Option<Moment>)> {
        let slot = self.slots.get(id)?.clone();
        let guard = slot.lock().await;
        guard.as_ref().map(|hot| (hot.record.clone(), hot.decided))
    }

    /// Whether the record of `id` may be cached.
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

    /// Lets the cached record say what is known of the receipt of its lease, before that lease is called lost.
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

    /// Whether there is room for one more waiting call.
    pub(crate) fn has_room(&self) -> bool {
        self.slots.len() < MAX_WAITING
    }

    /// Drops the entry of `id`. A task that still waits for its lock goes on with an empty one: compares keep that
    /// right.
    pub(crate) fn forget(&self, id: &InvocationKey) {
        self.slots.remove(id);
    }
}
