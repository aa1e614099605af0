//! Accepting calls: durable, once, and within the bounds.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_faultpoint::point;
use toolplane_lifecycle::{Effect, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::InvocationStatus;
use toolplane_store::{Commit, Expect, RecordKey, Versioned};

use super::commit::{Builder, Extras};
use super::hot::Hot;
use super::hub::Update;
use super::keys::QueueName;
use super::limits::TooFast;
use super::plan::DispatchPlan;
use super::standing::Moment;
use super::write::Written;
use super::{Engine, EngineError, keys, mutants};

/// A call ready to be accepted: the decided transition and what is stored with it.
#[derive(Clone, Debug)]
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
    /// What a later decision about the call is made from beside the record; kept with it.
    pub facts: Option<JsonPayload>,
    /// A moment before the decisions were made.
    pub decided: Option<Moment>,
}

/// What became of an admission.
#[derive(Debug)]
pub enum Admitted {
    /// The call was accepted; this is its record.
    New(Arc<Invocation>),
    /// A call with this id exists; nothing was written.
    Exists(Arc<Invocation>),
}

/// What became of a joint admission.
#[derive(Debug)]
pub(crate) enum AdmittedTogether {
    /// All calls were accepted; their records, in the order given.
    New(Vec<Arc<Invocation>>),
    /// One of the records exists already, or a compare did not hold: what stands there. Nothing was written.
    Lost(Vec<(RecordKey, Option<Versioned>)>),
}

/// What is remembered of an invocation that is no longer kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    /// Digest of what the caller asked for.
    pub(crate) request_digest: Digest,
    /// How it ended.
    pub(crate) status: InvocationStatus,
    /// When it ended.
    pub(crate) ended_at: Option<Timestamp>,
}

/// What became of one try.
enum Stored {
    /// Accepted; where the call waits, if it does.
    Done(Option<QueueName>),
    /// The call exists, or existed: what stands there.
    Lost(Vec<(RecordKey, Option<Versioned>)>),
    /// A counted index has no place.
    Full(String),
}

impl Engine {
    /// Accepts a call durably, unless an invocation of this id exists.
    ///
    /// When a worker with a free slot is there and nobody waits before it, the call is claimed in the same commit: one
    /// durable write instead of two. Must run in a task that nobody drops half way.
    pub async fn admit(&self, mut admission: Admission) -> Result<Admitted, EngineError> {
        mutants::admission(&mut admission.transition);
        let id = admission.transition.key();
        let slot = self.0.hot.slot(&id);
        let mut guard = slot.lock().await;
        if let Some(hot) = guard.as_ref() {
            return Ok(Admitted::Exists(hot.record.clone()));
        }
        let outcome = self.admit_into(&mut guard, admission).await;
        if !matches!(outcome, Ok(Admitted::New(_))) {
            drop(guard);
            self.0.hot.forget(&id);
        }
        outcome
    }

    async fn admit_into(&self, guard: &mut Option<Hot>, mut admission: Admission) -> Result<Admitted, EngineError> {
        let now = self.now().await?;
        let id = admission.transition.key();
        if self.is_too_old(&admission.transition.invocation, now) {
            return match self.load(&id).await {
                Ok(hot) => Ok(Admitted::Exists(hot.record)),
                Err(EngineError::NotFound) => Err(EngineError::KeyExpired { id: id.id }),
                Err(error) => Err(error),
            };
        }
        self.check_rate(&admission)?;
        let places_left = self.0.backlog.places();
        if let Some(unclaimed) =
            self.express_claim(&mut admission.transition, admission.plan.as_deref(), admission.decided, now)
        {
            let outcome = self.commit_admission(&admission).await;
            if !matches!(outcome, Ok(Stored::Done(_))) {
                self.0.workers.unassign(&id);
                self.0.bell.ring();
            }
            match (outcome?, unclaimed) {
                (Stored::Done(queue), _) => {
                    return Ok(Admitted::New(self.accept_here(guard, admission, queue.as_ref())));
                }
                (Stored::Lost(current), _) => return self.standing_call(&admission, &current).await,
                (Stored::Full(permit), Some(unclaimed)) => {
                    self.0.backlog.full(&permit, places_left);
                    admission.transition = unclaimed;
                }
                (Stored::Full(index), None) => return Err(EngineError::Full { index }),
            }
        }
        match self.commit_admission(&admission).await? {
            Stored::Done(queue) => Ok(Admitted::New(self.accept_here(guard, admission, queue.as_ref()))),
            Stored::Full(_) => Err(self.queue_full(&admission.transition.invocation)),
            Stored::Lost(current) => self.standing_call(&admission, &current).await,
        }
    }

    fn check_rate(&self, admission: &Admission) -> Result<(), EngineError> {
        // Only calls that are to run are counted: a refused one costs nothing worth counting.
        if admission.transition.invocation.status.is_terminal() {
            return Ok(());
        }
        let tenant = &admission.transition.invocation.tenant;
        let early = self.0.limits.admit(tenant, admission.plan.as_deref());
        early.map_err(|TooFast { subject, retry_after }| EngineError::TooFast { subject, retry_after })
    }

    fn queue_full(&self, record: &Invocation) -> EngineError {
        let tenant = record.tenant.clone();
        let retry_after = self.0.limits.pushback.refused(&tenant);
        EngineError::QueueFull { tenant, waiting: self.0.limits.bounds.max_waiting, retry_after }
    }

    /// Whether the call's idempotency key says that it was made before anything is remembered that long.
    pub(crate) fn is_too_old(&self, record: &Invocation, now: Timestamp) -> bool {
        let key = record.idempotency_key.as_deref().and_then(|key| uuid::Uuid::try_parse(key).ok());
        let made = key.filter(|key| key.get_version_num() == 7).and_then(|key| key.get_timestamp());
        let millis = made.and_then(|made| i64::try_from(u128::from(made.to_unix().0) * 1000).ok());
        millis.is_some_and(|made| now.since_millis(Timestamp::from_millis(made)) > self.0.options.key_window_ms)
    }

    /// One try.
    async fn commit_admission(&self, admission: &Admission) -> Result<Stored, EngineError> {
        let mut builder = Builder::default();
        let queue = self.stage(&mut builder, admission)?;
        point("scheduler.before_admit");
        let written = self.write(builder.done(false)).await;
        point("scheduler.after_admit");
        Ok(match written? {
            Written::Applied => Stored::Done(queue),
            Written::Lost(current) => Stored::Lost(current),
            Written::Full(index) => Stored::Full(index),
        })
    }

    /// Adds everything an accepted call stores.
    fn stage(&self, builder: &mut Builder, admission: &Admission) -> Result<Option<QueueName>, EngineError> {
        let transition = &admission.transition;
        let id = &transition.key();
        let mut extras = Extras { records: Vec::new(), decisions: admission.decisions.clone() };
        for payload in &admission.payloads {
            extras.records.push((keys::payload(id, &payload.digest()), payload.bytes().clone()));
        }
        if let Some(facts) = &admission.facts {
            extras.records.push((keys::facts(id), facts.bytes().clone()));
        }
        // Plans are shared by all calls of a version: stored with the first call, known from then on.
        let digest = transition.invocation.dispatch.as_ref().map(|dispatch| dispatch.plan_digest);
        if let (Some(plan), Some(digest)) = (&admission.plan, digest)
            && !self.0.plans.knows(&digest)
        {
            let (bytes, digest) = plan.encode()?;
            extras.records.push((keys::plan(&digest), Bytes::from(bytes)));
        }
        let queue = self.queue_with(&transition.invocation, admission.plan.as_deref());
        builder.transition(transition, Expect::Absent, queue.as_ref(), extras)?;
        builder.compare(keys::tombstone(id), Expect::Absent);
        if builder.enters_waiting(&transition.invocation) {
            builder.bound(keys::waiting(&transition.invocation.tenant), self.0.limits.bounds.max_waiting);
        }
        self.hint_about(builder, transition, queue.as_ref());
        Ok(queue)
    }

    /// What follows a durable acceptance: `guard` holds what is at hand of the call, if it is kept at hand.
    fn accept_here(&self, guard: &mut Option<Hot>, admission: Admission, queue: Option<&QueueName>) -> Arc<Invocation> {
        let Admission { transition, payloads, plan, traceparent, decided, .. } = admission;
        let Transition { invocation, events, terminal, effects } = transition;
        if let (Some(plan), Some(dispatch)) = (&plan, &invocation.dispatch)
            && !self.0.plans.knows(&dispatch.plan_digest)
        {
            self.0.plans.keep(dispatch.plan_digest, plan.clone());
        }
        let call = invocation.inputs.call.as_ref().map(|call| call.digest);
        let input = call.and_then(|digest| payloads.into_iter().find(|input| input.digest() == digest));
        let record = Arc::new(invocation);
        let hot = Hot { version: 1, record: record.clone(), plan, input, traceparent, received: 0, decided };
        let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
        self.settle(guard, hot, update, &effects, queue);
        record
    }

    /// A lost admission: the call exists, or existed.
    async fn standing_call(
        &self,
        admission: &Admission,
        current: &[(RecordKey, Option<Versioned>)],
    ) -> Result<Admitted, EngineError> {
        let id = &admission.transition.key();
        for (key, stored) in current {
            let Some(stored) = stored else { continue };
            if *key == keys::invocation(id) {
                return Ok(Admitted::Exists(Hot::read(stored)?.record));
            }
            if *key == keys::tombstone(id) {
                let tombstone: Tombstone = serde_json::from_slice(&stored.bytes)?;
                let same = tombstone.request_digest == admission.transition.invocation.request_digest;
                let id = id.id.clone();
                return Err(if same { EngineError::KeyExpired { id } } else { EngineError::KeyReused { id } });
            }
        }
        Ok(Admitted::Exists(self.load(id).await?.record))
    }

    /// Accepts several calls, and stores `rest`, in one commit: all of it, or nothing.
    ///
    /// Rates and the age of keys are not looked at here, because a batch is one request: see [`Engine::check_rate_of`].
    pub(crate) async fn admit_together(
        &self,
        admissions: &[Admission],
        rest: Commit,
    ) -> Result<AdmittedTogether, EngineError> {
        let mut builder = Builder::with(rest);
        let mut queues = Vec::with_capacity(admissions.len());
        for admission in admissions {
            queues.push(self.stage(&mut builder, admission)?);
        }
        match self.write(builder.done(false)).await? {
            Written::Lost(current) => Ok(AdmittedTogether::Lost(current)),
            Written::Full(index) => {
                let full = admissions.iter().map(|admission| &admission.transition.invocation);
                let full = full.into_iter().find(|record| keys::waiting(&record.tenant) == index);
                Err(full.map_or(EngineError::Full { index }, |record| self.queue_full(record)))
            }
            Written::Applied => {
                let mut records = Vec::with_capacity(admissions.len());
                for (admission, queue) in admissions.iter().zip(queues) {
                    let slot = self.0.hot.slot(&admission.transition.key());
                    // Whoever has the place already works with what was just stored.
                    if let Ok(mut guard) = slot.try_lock() {
                        self.accept_here(&mut guard, admission.clone(), queue.as_ref());
                    }
                    if let Some(queue) = queue.filter(|_| admission.transition.effects.contains(&Effect::Enqueue)) {
                        self.0.backlog.note(&queue);
                    }
                    records.push(Arc::new(admission.transition.invocation.clone()));
                }
                self.0.bell.ring();
                Ok(AdmittedTogether::New(records))
            }
        }
    }

    /// Counts `calls` against the rates of their tenant and tools.
    pub(crate) fn check_rate_of(&self, admissions: &[Admission]) -> Result<(), EngineError> {
        admissions.iter().try_for_each(|admission| self.check_rate(admission))
    }
}
