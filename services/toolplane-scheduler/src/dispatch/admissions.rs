//! Accepting calls within the bounds. A call that finds a free slot and no other call before it is claimed by the commit that
//! accepts it: one durable write instead of two.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use toolplane_lifecycle::{LeaseGrant, Transition, Unclaimed};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::QueueState;
use toolplane_store::Commit;

use super::gate::StartGate;
use super::grant::Grants;
use super::queues::ReadyQueues;
use crate::calls::{Admission, Admitted, AdmittedTogether, Attempt, CacheEntry, Calls};
use crate::limits::Rates;
use crate::storage::RecordError;

/// Grants the locks of a call that is about to be accepted, where they are free.
pub(crate) trait LocksAtOnce: Debug + Send + Sync {
    /// The acceptance with its locks; nothing for a call that waits for none, or that has to wait for its own. Returns an error when
    /// the store does.
    fn grant<'a>(
        &'a self,
        accepted: &'a Transition,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Granted>, RecordError>>;
}

/// An acceptance whose locks are granted.
#[derive(Debug)]
pub(crate) struct Granted {
    /// The acceptance, and the grant.
    pub(crate) transition: Transition,
    /// What else belongs to the commit. It fails when the locks are not free any more.
    pub(crate) rest: Commit,
    /// Kept until it is stored.
    pub(crate) turn: Box<dyn Debug + Send>,
}

/// Accepts calls. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Admissions {
    calls: Calls,
    locks: Arc<dyn LocksAtOnce>,
    rates: Arc<Rates>,
    queues: Arc<ReadyQueues>,
    grants: Arc<Grants>,
    gate: StartGate,
}

/// What storing an admission came to.
enum Stored {
    Admitted(Admitted),
    /// What was to be stored beside it does not hold any more; nothing was written.
    Overtaken(Box<Admission>),
}

/// A claim in the acceptance, and what the transition was before.
struct Express {
    /// Absent when no bound can forbid the claim.
    before: Option<Box<Transition>>,
}

impl Admissions {
    pub(crate) fn new(
        calls: Calls,
        locks: Arc<dyn LocksAtOnce>,
        rates: Arc<Rates>,
        queues: Arc<ReadyQueues>,
        grants: Arc<Grants>,
        gate: StartGate,
    ) -> Self {
        Self { calls, locks, rates, queues, grants, gate }
    }

    /// Accepts a call durably, unless an invocation of this id exists.
    ///
    /// Fails with [`RecordError::TooFast`], [`RecordError::QueueFull`] and [`RecordError::Full`] beyond the bounds, with
    /// [`RecordError::KeyExpired`] and [`RecordError::KeyReused`] for ids that were used before, and when the store does. Must
    /// run in a task that is not dropped half way.
    pub(crate) async fn admit(&self, mut admission: Box<Admission>) -> Result<Admitted, RecordError> {
        crate::mutants::admission(&mut admission.transition);
        let id = admission.transition.key();
        let mut entry = match self.calls.begin(&id).await {
            Ok(entry) => entry,
            Err(known) => return Ok(Admitted::Exists(known)),
        };
        let outcome = self.admit_into(&mut entry, admission).await;
        if entry.is_none() {
            self.calls.forget(&id, entry);
        }
        outcome
    }

    async fn admit_into(&self, entry: &mut CacheEntry, mut admission: Box<Admission>) -> Result<Admitted, RecordError> {
        let now = self.calls.now().await?;
        let id = admission.transition.key();
        if self.calls.is_too_old(&admission.transition.invocation, now) {
            let asked = self.calls.records().asked(&admission.transition.invocation);
            let accepted = Box::pin(self.calls.records().accepted(&asked)).await?;
            return accepted.map(Admitted::Exists).ok_or(RecordError::KeyExpired { id: id.id });
        }
        self.rates.admit(&admission.transition.invocation, admission.plan.as_deref())?;
        if let Some(Granted { transition, rest, turn }) = self.locks.grant(&admission.transition, now).await? {
            let waits = std::mem::replace(&mut admission.transition, transition);
            match Box::pin(self.store(entry, admission, rest, now)).await? {
                Stored::Admitted(admitted) => return Ok(admitted),
                // Somebody else was faster with the locks: it waits for them.
                Stored::Overtaken(again) => {
                    admission = again;
                    admission.transition = waits;
                }
            }
            drop(turn);
        }
        match self.store(entry, admission, Commit::default(), now).await? {
            Stored::Admitted(admitted) => Ok(admitted),
            Stored::Overtaken(_) => Err(RecordError::NotFound),
        }
    }

    /// Stores an admission together with `rest`, claimed where it may be.
    async fn store(
        &self,
        entry: &mut CacheEntry,
        admission: Box<Admission>,
        rest: Commit,
        now: Timestamp,
    ) -> Result<Stored, RecordError> {
        let id = admission.transition.key();
        let places_left = self.queues.places();
        let (admission, express) = self.claim(admission, now);
        let Some(express) = express else {
            return match self.calls.admit(entry, admission, rest).await? {
                Attempt::Settled(admitted) => Ok(Stored::Admitted(admitted)),
                Attempt::Overtaken(admission) => Ok(Stored::Overtaken(admission)),
                Attempt::Full(_, admission) => Err(self.rates.queue_full(&admission.transition.invocation.tenant)),
            };
        };
        let again = express.before.is_some().then(|| rest.clone());
        let outcome = self.calls.admit(entry, admission, rest).await;
        if !matches!(outcome, Ok(Attempt::Settled(Admitted::New(_)))) {
            self.grants.give_back(&id);
            self.queues.ring();
        }
        match (outcome?, express.before) {
            (Attempt::Settled(admitted), _) => Ok(Stored::Admitted(admitted)),
            (Attempt::Overtaken(admission), _) => Ok(Stored::Overtaken(admission)),
            (Attempt::Full(index, _), None) => Err(RecordError::Full { index }),
            (Attempt::Full(permit, mut admission), Some(unclaimed)) => {
                self.queues.full(&permit, places_left);
                admission.transition = *unclaimed;
                match Box::pin(self.calls.admit(entry, admission, again.unwrap_or_default())).await? {
                    Attempt::Settled(admitted) => Ok(Stored::Admitted(admitted)),
                    Attempt::Overtaken(admission) => Ok(Stored::Overtaken(admission)),
                    Attempt::Full(_, refused) => Err(self.rates.queue_full(&refused.transition.invocation.tenant)),
                }
            }
        }
    }

    /// Claims a call in the same commit that accepts it, when it may be.
    fn claim(&self, mut admission: Box<Admission>, now: Timestamp) -> (Box<Admission>, Option<Express>) {
        let Some(grant) = self.reserve(&admission, now) else { return (admission, None) };
        // Only a claim that takes places in counted indexes can find no place left.
        let before = (!grant.permits.is_empty()).then(|| Box::new(admission.transition.clone()));
        match toolplane_lifecycle::claim(admission.transition.invocation, grant, now) {
            Ok(claimed) => {
                admission.transition.invocation = claimed.invocation;
                admission.transition.events.extend(claimed.events);
                admission.transition.effects.extend(claimed.effects);
                (admission, Some(Express { before }))
            }
            Err(unclaimed) => {
                let Unclaimed { invocation, .. } = *unclaimed;
                self.grants.give_back(&invocation.key());
                admission.transition.invocation = invocation;
                (admission, None)
            }
        }
    }

    /// Takes a slot for a call that is about to be accepted, when one is free and no other call waits before it.
    fn reserve(&self, admission: &Admission, now: Timestamp) -> Option<LeaseGrant> {
        let Admission { transition: accepted, plan, decided, .. } = admission;
        let record = &accepted.invocation;
        let ready = record.queue_state == Some(QueueState::Queued) && record.holds.is_empty();
        let pool = &record.dispatch.as_ref().filter(|_| ready)?.pool;
        if !self.queues.is_clear(pool) {
            return None;
        }
        if self.gate.kept_out(record, now).is_some() || !self.gate.may_start(record, plan.as_deref(), *decided, now) {
            return None;
        }
        self.grants.reserve(pool, record, plan.as_deref(), now)
    }

    /// Accepts several calls, and stores `rest`, in one commit: all of it, or nothing. The ages of keys are not looked at
    /// here. Returns an error as [`Admissions::admit`] does.
    pub(crate) async fn admit_together(
        &self,
        admissions: &[Admission],
        rest: Commit,
    ) -> Result<AdmittedTogether, RecordError> {
        for admission in admissions {
            self.rates.admit(&admission.transition.invocation, admission.plan.as_deref())?;
        }
        match self.calls.admit_together(admissions, rest).await {
            Err(RecordError::Full { index }) => {
                Err(self.rates.full(index, admissions.iter().map(|admission| &admission.transition.invocation)))
            }
            Err(error) => Err(error),
            Ok(admitted) => {
                self.queues.ring();
                Ok(admitted)
            }
        }
    }
}
