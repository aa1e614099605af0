//! Storing calls that were not there before: durable, and once.

use std::sync::Arc;

use bytes::Bytes;
use toolplane_lifecycle::Transition;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_store::{Commit, Expect, RecordKey, Versioned};

use super::cache::{CacheEntry, CachedCall, Moment};
use super::effects::Update;
use super::handle::Calls;
use crate::plan::DispatchPlan;
use crate::storage::commit::{Builder, Extras};
use crate::storage::keys::QueueName;
use crate::storage::{RecordError, Written, keys};

/// A call ready to be accepted: the decided transition and what is stored with it. It is large, and handed on in a box.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    /// The first transition.
    pub(crate) transition: Transition,
    /// The distinct input payloads of the call.
    pub(crate) payloads: Vec<JsonPayload>,
    /// Decisions behind the transition.
    pub(crate) decisions: Vec<PermissionDecision>,
    /// How it runs, when it may run.
    pub(crate) plan: Option<Arc<DispatchPlan>>,
    /// W3C `traceparent` that workers continue.
    pub(crate) traceparent: Option<String>,
    /// What a later decision about the call is made from beside the record; kept with it.
    pub(crate) facts: Option<JsonPayload>,
    /// A moment before the decisions were made.
    pub(crate) decided: Option<Moment>,
}

/// The outcome of an admission.
#[derive(Debug)]
pub(crate) enum Admitted {
    /// The call was accepted; this is its record.
    New(Arc<Invocation>),
    /// A call with this id or key exists; nothing was written.
    Exists(Arc<Invocation>),
}

/// The outcome of one try to store an admission.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// It is stored, or a call with its id is.
    Settled(Admitted),
    /// This counted index has no place left; nothing was written.
    Full(String, Box<Admission>),
    /// What else belonged to the commit was decided on something that has changed; nothing was written.
    Overtaken(Box<Admission>),
}

/// The outcome of a joint admission.
#[derive(Debug)]
pub(crate) enum AdmittedTogether {
    /// All calls were accepted; their records, in the order given.
    New(Vec<Arc<Invocation>>),
    /// One of the records exists already, or a compare did not hold: the records as they are. Nothing was written.
    Lost(Vec<(RecordKey, Option<Versioned>)>),
}

impl Calls {
    /// Locks the entry of a call that is about to be accepted. Its record comes back instead when this process knows it.
    pub(crate) async fn begin(&self, id: &InvocationKey) -> Result<CacheEntry, Arc<Invocation>> {
        let entry = self.lock(id).await;
        match entry.as_ref() {
            Some(call) => Err(call.record.clone()),
            None => Ok(entry),
        }
    }

    /// Stores an admission under its locked entry, and `rest`, unless a call of its id exists.
    ///
    /// Fails with [`RecordError::KeyExpired`] or [`RecordError::KeyReused`] when the call existed and is no longer kept, and
    /// when the store does. Must run in a task that is not dropped half way.
    pub(crate) async fn admit(
        &self,
        entry: &mut CacheEntry,
        admission: Box<Admission>,
        rest: Commit,
    ) -> Result<Attempt, RecordError> {
        let mut builder = Builder::with(rest);
        let queue = self.stage(&mut builder, &admission)?;
        Ok(match self.storage().write(builder.done(false)).await? {
            Written::Applied => Attempt::Settled(Admitted::New(self.accepted(entry, *admission, queue.as_ref()))),
            Written::Lost(current) => {
                let asked = self.records().asked(&admission.transition.invocation);
                match Box::pin(self.records().accepted_of(&asked, &current)).await? {
                    Some(existing) => Attempt::Settled(Admitted::Exists(existing)),
                    None => Attempt::Overtaken(admission),
                }
            }
            Written::Full(index) => Attempt::Full(index, admission),
        })
    }

    /// Stores several admissions, and `rest`, in one commit: all of it, or nothing. Returns an error when the store does, and
    /// [`RecordError::Full`] when a counted index has no place left.
    pub(crate) async fn admit_together(
        &self,
        admissions: &[Admission],
        rest: Commit,
    ) -> Result<AdmittedTogether, RecordError> {
        let mut builder = Builder::with(rest);
        let mut queues = Vec::with_capacity(admissions.len());
        for admission in admissions {
            queues.push(self.stage(&mut builder, admission)?);
        }
        match self.storage().write(builder.done(false)).await? {
            Written::Lost(current) => Ok(AdmittedTogether::Lost(current)),
            Written::Full(index) => Err(RecordError::Full { index }),
            Written::Applied => {
                let settled = admissions.iter().zip(queues).map(|(admission, queue)| {
                    // The task that holds the entry already works with what was just stored.
                    let mut entry = self.try_lock(&admission.transition.key());
                    let mut elsewhere = None;
                    let entry = entry.as_deref_mut().unwrap_or(&mut elsewhere);
                    self.accepted(entry, admission.clone(), queue.as_ref())
                });
                Ok(AdmittedTogether::New(settled.collect()))
            }
        }
    }

    /// Whether the call's idempotency key says that it was made before anything is remembered that long.
    pub(crate) fn is_too_old(&self, record: &Invocation, now: Timestamp) -> bool {
        let made = record.idempotency_key.as_deref().and_then(made_at);
        made.is_some_and(|made| now.since_millis(made) > self.0.key_window_ms)
    }

    /// Adds everything an accepted call stores.
    fn stage(&self, builder: &mut Builder, admission: &Admission) -> Result<Option<QueueName>, RecordError> {
        let transition = &admission.transition;
        let id = &transition.key();
        let mut extras = Extras { records: Vec::new(), decisions: &admission.decisions };
        for payload in &admission.payloads {
            extras.records.push((keys::payload(id, &payload.digest()), payload.bytes().clone()));
        }
        if let Some(facts) = &admission.facts {
            extras.records.push((keys::facts(id), facts.bytes().clone()));
        }
        // Plans are shared by all calls of a version: stored with the first call of a shard, known from then on.
        let digest = transition.invocation.dispatch.as_ref().map(|dispatch| dispatch.plan_digest);
        if let (Some(plan), Some(digest)) = (&admission.plan, digest)
            && !self.0.plans.knows(id, &digest)
        {
            let (bytes, digest) = plan.encode()?;
            extras.records.push((keys::plan(&digest), Bytes::from(bytes)));
        }
        let queue = self.0.limits.queue_of(&transition.invocation, admission.plan.as_deref());
        builder.transition(transition, Expect::Absent, queue.as_ref(), extras)?;
        self.records().asked(&transition.invocation).claim(builder)?;
        if builder.enters_waiting(&transition.invocation) {
            builder.bound(keys::waiting(&transition.invocation.tenant), self.0.limits.max_waiting());
        }
        self.0.effects.announce(builder, transition, queue.as_ref());
        Ok(queue)
    }

    /// What follows a durable acceptance.
    fn accepted(
        &self,
        entry: &mut Option<CachedCall>,
        admission: Admission,
        queue: Option<&QueueName>,
    ) -> Arc<Invocation> {
        let Admission { transition, payloads, decisions, plan, traceparent, decided, .. } = admission;
        let Transition { invocation, events, terminal, effects } = transition;
        if let (Some(plan), Some(dispatch)) = (&plan, &invocation.dispatch)
            && !self.0.plans.knows(&invocation.key(), &dispatch.plan_digest)
        {
            self.0.plans.keep(&invocation.key(), dispatch.plan_digest, plan.clone());
        }
        let call = invocation.inputs.call.as_ref().map(|call| call.digest);
        let input = call.and_then(|digest| payloads.into_iter().find(|input| input.digest() == digest));
        let record = Arc::new(invocation);
        let call = CachedCall { version: 1, record: record.clone(), plan, input, traceparent, received: 0, decided };
        let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
        self.0.effects.decided(&record, &decisions);
        self.remember(entry, call, &effects, queue, update);
        record
    }
}

/// When a key says that it was made: a UUID of version 7, spelled as one. Any 32 hexadecimal digits could be read so, and of those that
/// mean no UUID at all, one in some thousands would be of this version by chance.
fn made_at(key: &str) -> Option<Timestamp> {
    const SPELLED: usize = uuid::fmt::Hyphenated::LENGTH;
    let key = uuid::Uuid::try_parse(key).ok().filter(|_| key.len() == SPELLED)?;
    let made = Some(key).filter(|key| key.get_version_num() == 7)?.get_timestamp()?;
    i64::try_from(u128::from(made.to_unix().0) * 1000).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_key_that_is_spelled_as_a_uuid_says_when_it_was_made() {
        let key = uuid::Uuid::now_v7();
        assert!(made_at(&key.hyphenated().to_string()).is_some());
        assert_eq!(made_at(&key.simple().to_string()), None, "32 digits are anybody's");
        assert_eq!(made_at(&key.urn().to_string()), None);
        assert_eq!(made_at(&uuid::Uuid::new_v4().to_string()), None);
        assert_eq!(made_at("an order, and not the time of one"), None);
    }
}
