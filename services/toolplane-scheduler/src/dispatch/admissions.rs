//! Accepting calls within the bounds. A call that finds a free slot and no other call before it is claimed by the commit that
//! accepts it: one durable write instead of two.

use std::sync::Arc;

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

/// Accepts calls. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Admissions {
    calls: Calls,
    rates: Arc<Rates>,
    queues: Arc<ReadyQueues>,
    grants: Arc<Grants>,
    gate: StartGate,
}

/// A claim in the acceptance, and what the transition was before.
struct Express {
    /// Absent when no bound can forbid the claim.
    before: Option<Box<Transition>>,
}

impl Admissions {
    pub(crate) fn new(
        calls: Calls,
        rates: Arc<Rates>,
        queues: Arc<ReadyQueues>,
        grants: Arc<Grants>,
        gate: StartGate,
    ) -> Self {
        Self { calls, rates, queues, grants, gate }
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
            let accepted = self.calls.records().accepted(&asked).await?;
            return accepted.map(Admitted::Exists).ok_or(RecordError::KeyExpired { id: id.id });
        }
        self.rates.admit(&admission.transition.invocation, admission.plan.as_deref())?;
        let places_left = self.queues.places();
        let express;
        (admission, express) = self.claim(admission, now);
        let Some(express) = express else {
            return match self.calls.admit(entry, admission).await? {
                Attempt::Settled(admitted) => Ok(admitted),
                Attempt::Full(_, admission) => Err(self.rates.queue_full(&admission.transition.invocation.tenant)),
            };
        };
        let outcome = self.calls.admit(entry, admission).await;
        if !matches!(outcome, Ok(Attempt::Settled(Admitted::New(_)))) {
            self.grants.give_back(&id);
            self.queues.ring();
        }
        match (outcome?, express.before) {
            (Attempt::Settled(admitted), _) => Ok(admitted),
            (Attempt::Full(index, _), None) => Err(RecordError::Full { index }),
            (Attempt::Full(permit, mut admission), Some(unclaimed)) => {
                self.queues.full(&permit, places_left);
                admission.transition = *unclaimed;
                match self.calls.admit(entry, admission).await? {
                    Attempt::Settled(admitted) => Ok(admitted),
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
