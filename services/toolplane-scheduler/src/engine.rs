//! The scheduler's core: it applies lifecycle commands to stored invocations, one atomic commit at a time.

mod commit;
mod dispatch;
mod error;
mod hot;
mod hub;
mod keys;
mod plan;
mod read;
mod sweep;
#[cfg(test)]
mod tests;
mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use dashmap::DashSet;
use toolplane_lifecycle::{Command, Effect, LeaseKey, Refusal, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::QueueState;
use toolplane_store::{CommitOutcome, Durability, Expect, Store};

pub use error::EngineError;
pub use plan::DispatchPlan;
pub use read::{InvocationFilter, Page, Watch, WatchItem};
pub use workers::{Message, Placement, PoolGap, WorkerInfo, WorkerLink};

pub(crate) use hub::Update;
pub(crate) use keys::payload_uri;
pub(crate) use sweep::gap_error;

use commit::Extras;
use hot::{Hot, HotSlot};

/// Settings of the engine; durations in milliseconds.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// A full lease.
    pub lease_ms: i64,
    /// How long an offered lease waits for its receipt.
    pub offer_ms: i64,
    /// How often due timers are looked for.
    pub tick_ms: u64,
    /// How long a ready call waits for any worker of its pool to exist.
    pub placement_grace_ms: i64,
    /// Most calls of one tenant that wait in one ready queue.
    pub max_waiting: u64,
}

/// A call ready to be accepted: the decided transition and what is stored with it.
#[derive(Debug)]
pub struct Admission {
    /// The first transition.
    pub transition: Transition,
    /// The distinct input payloads of the call.
    pub payloads: Vec<JsonPayload>,
    /// Decisions behind the transition.
    pub decisions: Vec<PermissionDecision>,
    /// How it runs, when it may run.
    pub plan: Option<Arc<DispatchPlan>>,
    /// W3C `traceparent` that workers continue.
    pub traceparent: Option<String>,
}

/// What became of an admission.
#[derive(Debug)]
pub enum Admitted {
    /// The call was accepted; this is its record.
    New(Arc<Invocation>),
    /// A call with this id exists; nothing was written.
    Exists(Arc<Invocation>),
}

/// The scheduler's state and rules behind one cheap handle.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    options: EngineOptions,
    hub: hub::Hub,
    hot: hot::HotTable,
    workers: workers::Workers,
    dispatch: dispatch::Bell,
    /// Plans this process knows to be stored.
    plans: DashSet<Digest>,
    fence: AtomicU64,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine over `store`. Nothing runs until [`Engine::run`].
    pub async fn open(store: Arc<dyn Store>, options: EngineOptions) -> Result<Self, EngineError> {
        // Fences must grow over restarts: time in microseconds leaves room for a million leases a second.
        let now = store.now().await?;
        let fence = AtomicU64::new(commit::score(now).saturating_mul(1000));
        let engine = Self(Arc::new(Inner {
            store,
            options,
            hub: hub::Hub::default(),
            hot: hot::HotTable::default(),
            workers: workers::Workers::default(),
            dispatch: dispatch::Bell::default(),
            plans: DashSet::default(),
            fence,
        }));
        Ok(engine)
    }

    /// Runs dispatch and timers until `stop` resolves.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = stop => {}
            () = self.dispatch_loop() => {}
            () = self.sweep_loop() => {}
        }
    }

    /// What an answered acceptance survives.
    pub fn durability(&self) -> Durability {
        self.0.store.durability()
    }

    /// The store's clock.
    pub async fn now(&self) -> Result<Timestamp, EngineError> {
        Ok(self.0.store.now().await?)
    }

    /// Connected workers.
    pub fn workers(&self) -> &workers::Workers {
        &self.0.workers
    }

    /// Makes a worker available for calls.
    pub(crate) fn connect_worker(&self, link: Arc<WorkerLink>) {
        self.0.workers.connect(link);
        self.0.dispatch.ring();
    }

    /// The record of a call whose current lease is `lease`; refused as fenced when it is another.
    pub(crate) async fn leased(&self, lease: &LeaseKey) -> Result<Arc<Invocation>, EngineError> {
        let hot = self.0.hot.peek(&lease.invocation_id).await;
        let record = match hot {
            Some(record) => record,
            None => self.load(&lease.invocation_id).await?.record,
        };
        match &record.lease {
            Some(current) if lease.names(current) => Ok(record),
            _ if record.status.is_terminal() => {
                let refusal = Refusal::Terminal(record.status);
                Err(EngineError::Refused { refusal, record })
            }
            _ => Err(EngineError::Refused { refusal: Refusal::Fenced, record }),
        }
    }

    /// Accepts a call durably, unless an invocation of this id exists.
    ///
    /// When a worker with a free slot is there and nobody waits before it, the call is claimed in the same commit: one
    /// durable write instead of two.
    pub async fn admit(&self, admission: Admission) -> Result<Admitted, EngineError> {
        let Admission { mut transition, payloads, decisions, plan, traceparent } = admission;
        let id = transition.id().clone();
        let slot = self.0.hot.slot(&id);
        let mut guard = slot.lock().await;
        if let Some(hot) = guard.as_ref() {
            return Ok(Admitted::Exists(hot.record.clone()));
        }
        let now = self.now().await?;
        let mut extras = Extras { records: Vec::new(), decisions };
        for payload in &payloads {
            extras.records.push((keys::payload(&id, &payload.digest()), payload.bytes().clone()));
        }
        // Plans are shared by all calls of a version: stored with the first call, known from then on.
        let plan_digest = transition.invocation.dispatch.as_ref().map(|dispatch| dispatch.plan_digest);
        let plan_digest = plan_digest.filter(|digest| !self.0.plans.contains(digest));
        if let Some(plan) = plan.as_ref().filter(|_| plan_digest.is_some()) {
            let (bytes, digest) = plan.encode()?;
            extras.records.push((keys::plan(&digest), Bytes::from(bytes)));
        }
        let express = self.express_claim(&mut transition, now);
        if !express && let Err(error) = self.check_room(&transition.invocation).await {
            drop(guard);
            self.0.hot.forget(&id);
            return Err(error);
        }
        let commit = commit::of(&transition, Expect::Absent, extras)?;
        let outcome = self.0.store.commit(commit).await;
        if !matches!(outcome, Ok(CommitOutcome::Applied | CommitOutcome::Replayed)) {
            if express {
                self.0.workers.unassign(&id);
                self.0.dispatch.ring();
            }
        }
        match outcome? {
            CommitOutcome::Applied | CommitOutcome::Replayed => {
                if let (Some(digest), Some(_)) = (plan_digest, &plan) {
                    self.0.plans.insert(digest);
                }
                let Transition { invocation, events, terminal, effects } = transition;
                let call = invocation.inputs.call.as_ref().map(|call| call.digest);
                let input = call.and_then(|digest| payloads.into_iter().find(|input| input.digest() == digest));
                let record = Arc::new(invocation);
                let hot = Hot { version: 1, record: record.clone(), plan, input, traceparent };
                let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
                self.settle(&mut guard, hot, update, &effects);
                Ok(Admitted::New(record))
            }
            CommitOutcome::Lost { .. } | CommitOutcome::Full { .. } => {
                drop(guard);
                self.0.hot.forget(&id);
                Ok(Admitted::Exists(self.load(&id).await?.record))
            }
        }
    }

    /// Applies a command to an invocation, however often another change gets in between.
    ///
    /// Returns the record after the command. A refusal of the lifecycle is [`EngineError::Refused`].
    pub async fn command(
        &self,
        id: &InvocationId,
        decisions: Vec<PermissionDecision>,
        command: impl Fn(&Invocation) -> Command,
    ) -> Result<Arc<Invocation>, EngineError> {
        let slot = self.0.hot.slot(id);
        let mut guard = slot.lock().await;
        loop {
            let hot = match guard.take() {
                Some(hot) => hot,
                None => match self.load(id).await {
                    Ok(hot) => hot,
                    Err(error) => {
                        drop(guard);
                        self.0.hot.forget(id);
                        return Err(error);
                    }
                },
            };
            let now = self.now().await?;
            let transition = match toolplane_lifecycle::apply(&hot.record, command(&hot.record), now) {
                Ok(transition) => transition,
                Err(refusal) => {
                    let record = hot.record.clone();
                    self.keep(&mut guard, id, hot);
                    return Err(EngineError::Refused { refusal, record });
                }
            };
            let extras = Extras { records: Vec::new(), decisions: decisions.clone() };
            let commit = commit::of(&transition, Expect::Version(hot.version), extras)?;
            match self.0.store.commit(commit).await? {
                CommitOutcome::Applied | CommitOutcome::Replayed => {
                    let Transition { invocation, events, terminal, effects } = transition;
                    let record = Arc::new(invocation);
                    let hot = Hot { version: hot.version + 1, record: record.clone(), ..hot };
                    let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
                    self.settle(&mut guard, hot, update, &effects);
                    return Ok(record);
                }
                CommitOutcome::Lost { .. } | CommitOutcome::Full { .. } => {}
            }
        }
    }

    /// After a commit: remember the record, tell watchers, carry out the effects that are messages.
    fn settle(&self, guard: &mut HotSlot<'_>, hot: Hot, update: Update, effects: &[Effect]) {
        let id = hot.record.invocation_id.clone();
        if hot.record.lease.is_none() {
            self.0.workers.unassign(&id);
        }
        self.send_messages(&hot, effects);
        let (ended, waits) = (hot.record.status.is_terminal(), hot.record.queue_state == Some(QueueState::Queued));
        self.keep(guard, &id, hot);
        self.0.hub.publish(&id, update);
        if waits || (ended && self.0.dispatch.may_have_waiting()) {
            self.0.dispatch.ring();
        }
    }

    fn send_messages(&self, hot: &Hot, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::SendCancel { worker_id, lease, abort_reason } => {
                    let message = Message::Cancel { lease: lease.clone(), abort_reason: *abort_reason };
                    self.0.workers.send(worker_id, message);
                }
                Effect::SendFenced { worker_id, lease } => {
                    self.0.workers.send(worker_id, Message::Fenced { lease: lease.clone() });
                }
                Effect::SetTimer(toolplane_lifecycle::Timer::Lease, _) => self.offer_if_fresh(hot),
                _ => {}
            }
        }
    }

    /// Keeps a living record at hand; an ended or parked one is left to the store.
    fn keep(&self, guard: &mut HotSlot<'_>, id: &InvocationId, hot: Hot) {
        let active = hot.record.lease.is_some() || hot.record.queue_state == Some(QueueState::Queued);
        if active {
            **guard = Some(hot);
        } else {
            **guard = None;
            self.0.hot.forget(id);
        }
    }

    /// Reads one invocation from the store.
    async fn load(&self, id: &InvocationId) -> Result<Hot, EngineError> {
        let stored = self.0.store.get(&keys::invocation(id)).await?.ok_or(EngineError::NotFound)?;
        let record: Invocation = serde_json::from_slice(&stored.bytes)?;
        Ok(Hot { version: stored.version, record: Arc::new(record), plan: None, input: None, traceparent: None })
    }

    fn next_fence(&self) -> u64 {
        self.0.fence.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Whether a refusal only says that somebody else was faster.
pub(crate) fn is_race(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Terminal(_) | Refusal::Fenced | Refusal::NothingToDo)
}
