//! Changing stored invocations: decide on the record as it is, commit, and decide again when somebody was faster.

use std::sync::Arc;

use bytes::Bytes;
use toolplane_lifecycle::{Command, Effect, Refusal, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::QueueState;
use toolplane_store::{Expect, RecordKey, Versioned};

use super::commit::{Builder, Extras};
use super::hot::Hot;
use super::hub::Update;
use super::keys::QueueName;
use super::plan::DispatchPlan;
use super::relay::Relay;
use super::write::Written;
use super::{Engine, EngineError, keys, mutants};

/// What is stored together with a command's transition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attached {
    /// Decisions the command is based on.
    pub(crate) decisions: Vec<PermissionDecision>,
    /// Inputs the record names from then on.
    pub(crate) payloads: Vec<JsonPayload>,
    /// How the call runs from then on, when that changes.
    pub(crate) plan: Option<Arc<DispatchPlan>>,
    /// What hooks did while it was decided.
    pub(crate) hooks: Vec<ToolHook>,
    /// The ending that waits for its hooks from then on.
    pub(crate) ending: Option<Bytes>,
}

impl Attached {
    fn extras(&self, id: &InvocationKey) -> Result<Extras, EngineError> {
        let mut extras = Extras { records: Vec::new(), decisions: self.decisions.clone() };
        for payload in &self.payloads {
            extras.records.push((keys::payload(id, &payload.digest()), payload.bytes().clone()));
        }
        if let Some(ending) = &self.ending {
            extras.records.push((keys::ending(id), ending.clone()));
        }
        if let Some(plan) = &self.plan {
            let (bytes, digest) = plan.encode()?;
            extras.records.push((keys::plan(&digest), Bytes::from(bytes)));
        }
        Ok(extras)
    }
}

impl Engine {
    /// Applies a command to an invocation, however often another change gets in between.
    ///
    /// Returns the record after the command. A refusal of the lifecycle is [`EngineError::Refused`], and is always that of
    /// the stored record.
    pub async fn command(
        &self,
        id: &InvocationKey,
        decisions: Vec<PermissionDecision>,
        command: impl Fn(&Invocation) -> Command,
    ) -> Result<Arc<Invocation>, EngineError> {
        self.command_with(id, Attached { decisions, ..Attached::default() }, command).await
    }

    /// The same, with more to be stored.
    pub(crate) async fn command_with(
        &self,
        id: &InvocationKey,
        attached: Attached,
        command: impl Fn(&Invocation) -> Command,
    ) -> Result<Arc<Invocation>, EngineError> {
        let hooks = attached.hooks.clone();
        let decide = |record: &Invocation, now| {
            if hooks.is_empty() {
                return toolplane_lifecycle::apply(record, mutants::fence(command(record), record), now);
            }
            let kept = toolplane_lifecycle::hooks_ran(record, hooks.clone(), now);
            let next = toolplane_lifecycle::apply(&kept.invocation, command(record), now)?;
            Ok(kept.then(next))
        };
        self.change(id, attached, decide).await
    }

    /// Stores what `decide` makes of an invocation, however often another change gets in between.
    pub(crate) async fn change(
        &self,
        id: &InvocationKey,
        attached: Attached,
        decide: impl Fn(&Invocation, Timestamp) -> Result<Transition, Refusal>,
    ) -> Result<Arc<Invocation>, EngineError> {
        let slot = self.0.hot.slot(id);
        let mut guard = slot.lock().await;
        loop {
            let (hot, remembered) = match guard.take() {
                Some(hot) => (hot, true),
                None => match self.load(id).await {
                    Ok(hot) => (hot, false),
                    Err(error) => {
                        drop(guard);
                        self.0.hot.forget(id);
                        return Err(error);
                    }
                },
            };
            let transition = match decide(&hot.record, self.now().await?) {
                Ok(transition) => transition,
                // Another process may have changed what this one remembers.
                Err(_) if remembered && self.0.shared => continue,
                Err(refusal) => {
                    let record = hot.record.clone();
                    self.keep(&mut guard, id, hot);
                    return Err(EngineError::Refused { refusal, record });
                }
            };
            let queue = match &attached.plan {
                Some(plan) => self.queue_with(&transition.invocation, Some(plan)),
                None => self.queue_for(&transition).await?,
            };
            let mut builder = Builder::default();
            let extras = attached.extras(id)?;
            builder.transition(&transition, Expect::Version(hot.version), queue.as_ref(), extras)?;
            self.hint_about(&mut builder, &transition, queue.as_ref());
            match self.write(builder.done(true)).await? {
                Written::Applied => {
                    let Transition { invocation, events, terminal, effects } = transition;
                    let record = Arc::new(invocation);
                    let hot = hot.after(record.clone());
                    let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
                    self.settle(&mut guard, hot, update, &effects, queue.as_ref());
                    return Ok(record);
                }
                Written::Lost(current) => *guard = standing(&current, hot)?,
                Written::Full(index) => return Err(EngineError::Full { index }),
            }
        }
    }

    /// Where the call of `transition` is or was ready, if its place there changes.
    pub(crate) async fn queue_for(&self, transition: &Transition) -> Result<Option<QueueName>, EngineError> {
        let moves = |effect: &Effect| matches!(effect, Effect::Enqueue | Effect::Dequeue);
        if transition.effects.iter().any(moves) { self.queue_of(&transition.invocation).await } else { Ok(None) }
    }

    /// After a commit: remember the record, tell watchers, carry out the effects that are messages.
    pub(crate) fn settle(
        &self,
        guard: &mut Option<Hot>,
        hot: Hot,
        update: Update,
        effects: &[Effect],
        queue: Option<&QueueName>,
    ) {
        let id = hot.record.key();
        if hot.record.lease.is_none() {
            self.0.workers.unassign(&id);
        }
        self.carry_out(&hot, effects);
        let ended = hot.record.status.is_terminal();
        if let Some(queue) =
            queue.filter(|_| effects.contains(&Effect::Enqueue) && hot.record.lease.is_none() && !ended)
        {
            self.0.backlog.note(queue);
            self.0.bell.ring();
        } else if ended && !self.0.backlog.is_empty() {
            self.0.bell.ring();
        }
        self.keep(guard, &id, hot);
        self.0.hub.publish(&id, update);
    }

    fn carry_out(&self, hot: &Hot, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::SetTimer(toolplane_lifecycle::Timer::Lease, _) => self.offer_if_fresh(hot),
                Effect::ReturnPermit { index } => self.0.backlog.given_back(index),
                Effect::Quarantine { key, until } => self.0.quarantine.add(*key, *until),
                Effect::Settle(scope) => self.0.scopes.ring(scope.clone()),
                effect => {
                    if let Some((worker_id, relay)) = Relay::of(effect) {
                        self.0.workers.send(worker_id, relay.into());
                    }
                }
            }
        }
    }

    /// Keeps a living record at hand; an ended or parked one is left to the store.
    pub(crate) fn keep(&self, guard: &mut Option<Hot>, id: &InvocationKey, hot: Hot) {
        let leased = hot.record.lease.is_some();
        let waits = hot.record.queue_state == Some(QueueState::Queued) && self.0.hot.has_room();
        if leased || waits {
            *guard = Some(hot);
        } else {
            *guard = None;
            self.0.hot.forget(id);
        }
    }

    /// Reads one invocation from the store.
    pub(crate) async fn load(&self, id: &InvocationKey) -> Result<Hot, EngineError> {
        let stored = self.0.store.get(&keys::invocation(id)).await?.ok_or(EngineError::NotFound)?;
        Ok(Hot::read(&stored)?)
    }
}

impl Hot {
    /// A record as it is stored, with nothing at hand beside it.
    pub(crate) fn read(stored: &Versioned) -> Result<Self, serde_json::Error> {
        let record: Invocation = serde_json::from_slice(&stored.bytes)?;
        let record = Arc::new(record);
        let version = stored.version;
        Ok(Self { version, record, plan: None, input: None, traceparent: None, received: 0, decided: None })
    }
}

impl Hot {
    /// What is at hand after `record` took the place of the record: nothing of a plan or an input it no longer names.
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
}

/// What a lost commit found in place of `hot`: the next decision needs no further read.
pub(crate) fn standing(current: &[(RecordKey, Option<Versioned>)], hot: Hot) -> Result<Option<Hot>, EngineError> {
    let key = keys::invocation(&hot.record.key());
    let found = current.iter().find(|(found, _)| *found == key).and_then(|(_, stored)| stored.as_ref());
    match found {
        Some(stored) => {
            let now = Hot::read(stored)?;
            Ok(Some(Hot { version: now.version, record: now.record, ..hot }))
        }
        None => Ok(None),
    }
}

/// Whether a refusal only says that somebody else was faster.
pub(crate) fn is_race(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Terminal(_) | Refusal::Fenced | Refusal::NothingToDo)
}
