//! The handle: stored invocations, the cache over them, and what every change goes through.

use std::sync::Arc;

use toolplane_lifecycle::{Effect, LeaseKey, Refusal, Transition};
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::QueueState;

use super::cache::{CacheEntry, CachedCall, Moment, RecordCache};
use super::effects::{EffectHandler, Update};
use super::plans::Plans;
use super::read::Records;
use crate::limits::CallLimits;
use crate::storage::keys::QueueName;
use crate::storage::{RecordError, Storage};

/// Stored invocations and what changes them. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Calls(pub(super) Arc<CallParts>);

pub(super) struct CallParts {
    pub(super) records: Records,
    pub(super) plans: Plans,
    pub(super) limits: Arc<CallLimits>,
    pub(super) effects: Arc<dyn EffectHandler>,
    pub(super) cache: RecordCache,
    /// How long idempotency keys are remembered after their calls ended, milliseconds.
    pub(super) key_window_ms: i64,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("records", &self.0.records).finish_non_exhaustive()
    }
}

impl Calls {
    /// The calls of `records`; `limits` name the queues they wait in, `effects` hears of every change.
    pub(crate) fn new(
        records: Records,
        plans: Plans,
        limits: Arc<CallLimits>,
        effects: Arc<dyn EffectHandler>,
        key_window_ms: i64,
    ) -> Self {
        Self(Arc::new(CallParts { records, plans, limits, effects, cache: RecordCache::default(), key_window_ms }))
    }

    /// What is stored of calls, for reading.
    pub(crate) fn records(&self) -> &Records {
        &self.0.records
    }

    /// How calls are run.
    pub(crate) fn plans(&self) -> &Plans {
        &self.0.plans
    }

    pub(crate) fn storage(&self) -> &Storage {
        self.0.records.storage()
    }

    /// The store's clock. Returns an error when the store does not answer.
    pub(crate) async fn now(&self) -> Result<Timestamp, RecordError> {
        self.storage().now().await
    }

    /// Where `record` is ready, when it is. The plan is looked up where it matters.
    pub(crate) async fn queue_of(&self, record: &Invocation) -> Result<Option<QueueName>, RecordError> {
        let plan = if self.0.limits.cap_tools() { self.0.plans.of(record).await? } else { None };
        Ok(self.0.limits.queue_of(record, plan.as_deref()))
    }

    /// Where the call of `transition` is or was ready, if its place there changes.
    pub(super) async fn queue_for(&self, transition: &Transition) -> Result<Option<QueueName>, RecordError> {
        let moves = |effect: &Effect| matches!(effect, Effect::Enqueue | Effect::Dequeue);
        if transition.effects.iter().any(moves) { self.queue_of(&transition.invocation).await } else { Ok(None) }
    }

    /// Locks the cache entry of a call: no other task of this process changes it meanwhile.
    pub(crate) async fn lock(&self, id: &InvocationKey) -> CacheEntry {
        self.0.cache.slot(id).lock_owned().await
    }

    /// The same, unless another task changes the call right now.
    pub(crate) fn try_lock(&self, id: &InvocationKey) -> Option<CacheEntry> {
        self.0.cache.slot(id).try_lock_owned().ok()
    }

    /// Waits until no other task changes the call.
    pub(crate) async fn let_go(&self, id: &InvocationKey) {
        drop(self.0.cache.slot(id).lock_owned().await);
    }

    /// Unlocks entries; those with nothing to remember are dropped.
    pub(crate) fn release(&self, entries: Vec<(InvocationKey, CacheEntry)>) {
        for (id, mut entry) in entries {
            match entry.take() {
                Some(call) => self.keep(&mut entry, &id, call),
                None => self.0.cache.forget(&id),
            }
        }
    }

    /// Unlocks an entry, and forgets what is remembered there: it may be old.
    pub(crate) fn forget(&self, id: &InvocationKey, mut entry: CacheEntry) {
        *entry = None;
        drop(entry);
        self.0.cache.forget(id);
    }

    /// What follows a durable change of `before`: the effects are carried out and the record is remembered.
    pub(super) fn settle(
        &self,
        entry: &mut Option<CachedCall>,
        before: CachedCall,
        transition: Transition,
        queue: Option<&QueueName>,
    ) -> Arc<Invocation> {
        let Transition { invocation, events, terminal, effects } = transition;
        let record = Arc::new(invocation);
        let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
        self.remember(entry, before.after(record.clone()), &effects, queue, update);
        record
    }

    pub(super) fn remember(
        &self,
        entry: &mut Option<CachedCall>,
        call: CachedCall,
        effects: &[Effect],
        queue: Option<&QueueName>,
        update: Update,
    ) {
        self.0.effects.carry_out(&call, effects, queue, update);
        let id = call.record.key();
        self.keep(entry, &id, call);
    }

    /// Caches a living record; an ended or parked one is kept in the store only.
    pub(super) fn keep(&self, entry: &mut Option<CachedCall>, id: &InvocationKey, call: CachedCall) {
        let leased = call.record.lease.is_some();
        let waits = call.record.queue_state == Some(QueueState::Queued) && self.0.cache.has_room();
        if leased || waits {
            *entry = Some(call);
        } else {
            *entry = None;
            self.0.cache.forget(id);
        }
    }

    /// The record of `id` as it is cached here, else as it is stored. What never changes of a leased call may be read from it.
    /// Fails with [`RecordError::NotFound`], or when the store does.
    pub(crate) async fn cached(&self, id: &InvocationKey) -> Result<Arc<Invocation>, RecordError> {
        match self.0.cache.peek(id).await {
            Some(record) => Ok(record),
            None => self.records().get(id).await,
        }
    }

    /// Whether the record of `id` may be cached here.
    pub(crate) fn is_cached(&self, id: &InvocationKey) -> bool {
        self.0.cache.holds(id)
    }

    /// The record of a call whose current lease is `lease`; refused as fenced when it is another.
    pub(crate) async fn leased(&self, lease: &LeaseKey) -> Result<Arc<Invocation>, RecordError> {
        // What another scheduler changed is only in the store.
        let cached = if self.storage().is_shared() { None } else { self.0.cache.peek(&lease.call()).await };
        let record = match cached {
            Some(record) => record,
            None => self.records().get(&lease.call()).await?,
        };
        match &record.lease {
            Some(current) if lease.names(current) => Ok(record),
            _ if record.status.is_terminal() => {
                let refusal = Refusal::Terminal(record.status);
                Err(RecordError::Refused { refusal, record })
            }
            _ => Err(RecordError::Refused { refusal: Refusal::Fenced, record }),
        }
    }

    /// The cached record of `id`, with the moment of its decision where that is known.
    pub(crate) async fn decision(&self, id: &InvocationKey) -> Option<(Arc<Invocation>, Option<Moment>)> {
        self.0.cache.decision(id).await
    }

    /// The decision about a waiting call was found to hold as of `decided`.
    pub(crate) async fn found_to_hold(&self, id: &InvocationKey, decided: Moment) {
        let mut entry = self.lock(id).await;
        if entry.is_none() {
            match self.records().load(id).await {
                Ok(call) => self.keep(&mut entry, id, call),
                Err(_) => self.0.cache.forget(id),
            }
        }
        if let Some(call) = entry.as_mut() {
            call.decided = Some(decided);
        }
    }

    /// Takes note that the offer of this lease arrived at its holder. Nothing is stored.
    pub(crate) async fn note_receipt(&self, lease: &LeaseKey) {
        self.0.cache.received(lease).await;
    }

    /// Whether the offer of this lease is known to have arrived, and the record does not say so.
    pub(crate) async fn has_receipt(&self, lease: &LeaseKey) -> bool {
        self.0.cache.was_received(lease).await
    }

    /// Lets the cached record say whether the offer of its lease arrived, before that lease is called lost.
    pub(crate) async fn tell_receipt(&self, id: &InvocationKey) {
        self.0.cache.tell_receipt(id).await;
    }
}
