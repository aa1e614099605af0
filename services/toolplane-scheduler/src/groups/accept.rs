//! Accepting a batch: all its calls in one commit, or none.

use std::sync::Arc;

use toolplane_lifecycle::{Effect, Known, batch};
use toolplane_records::batch::Batch;
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_store::{Expect, RecordKey, Versioned};

use super::handle::Groups;
use super::keys;
use crate::calls::{Admission, AdmittedTogether, Tombstone};
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, keys as store_keys};

/// A batch ready to be accepted.
#[derive(Debug)]
pub(crate) struct BatchAdmission {
    /// The batch; nothing of it is released yet.
    pub(crate) batch: Batch,
    /// Its calls in the declared order, each held by the batch or ended in its preparation.
    pub(crate) admissions: Vec<Admission>,
}

/// Its outcome.
#[derive(Debug)]
pub(crate) enum AdmittedBatch {
    /// The batch and its calls as accepted.
    New(Box<Batch>, Vec<Arc<Invocation>>),
    /// A batch with this id exists; nothing was written.
    Exists(Box<Batch>),
    /// A call with the id of a member exists that belongs to something else; nothing was written.
    Taken(InvocationId),
}

impl Groups {
    /// Accepts a batch durably, unless one of this id exists. What may run at once is released in the same commit.
    ///
    /// Must run in a task that is not dropped half way.
    pub(crate) async fn admit_batch(&self, admission: BatchAdmission) -> Result<AdmittedBatch, RecordError> {
        let BatchAdmission { batch, mut admissions } = admission;
        let now = self.calls.now().await?;
        if let Some(first) = admissions.first().map(|first| &first.transition.invocation)
            && self.calls.is_too_old(first, now)
        {
            let id = first.invocation_id.clone();
            let found = self.batch(&batch.tenant, &batch.batch_id).await?;
            return found.map(|batch| AdmittedBatch::Exists(Box::new(batch))).ok_or(RecordError::KeyExpired { id });
        }
        let batch = settle_first(batch, &mut admissions, now);
        let mut rest = Builder::default();
        let key = keys::batch(&batch.tenant, &batch.batch_id);
        rest.compare(key.clone(), Expect::Absent);
        rest.put_json(key.clone(), &batch)?;
        rest.enter(keys::batches(&batch.tenant), key.id.clone(), score(batch.created_at));
        if let Some(ended_at) = batch.ended_at {
            rest.enter(keys::ENDED_BATCHES, key.id.clone(), score(ended_at));
        }
        match self.admissions.admit_together(&admissions, rest.done(false)).await? {
            AdmittedTogether::New(records) => Ok(AdmittedBatch::New(Box::new(batch), records)),
            AdmittedTogether::Lost(current) => existing(&key, &admissions, &current),
        }
    }
}

/// Decides about the batch for the first time, before anything of it is stored.
fn settle_first(batch: Batch, admissions: &mut [Admission], now: toolplane_records::time::Timestamp) -> Batch {
    let record = |admission: &Admission| admission.transition.invocation.clone();
    let known: Known =
        admissions.iter().map(|admission| (admission.transition.id().clone(), Some(record(admission)))).collect();
    let step = batch::settle(&batch, &known, now);
    let own = Effect::Settle(batch::scope_of(&batch));
    for admission in admissions.iter_mut() {
        admission.transition.effects.retain(|effect| *effect != own);
    }
    for next in step.transitions {
        if let Some(admission) = admissions.iter_mut().find(|admission| admission.transition.id() == next.id()) {
            let first = admission.transition.clone();
            admission.transition = first.then(next);
        }
    }
    step.batch
}

/// A lost acceptance: the batch exists, or one of its calls does, or did.
fn existing(
    key: &RecordKey,
    admissions: &[Admission],
    current: &[(RecordKey, Option<Versioned>)],
) -> Result<AdmittedBatch, RecordError> {
    let found = |key: &RecordKey| current.iter().find(|(at, _)| at == key).and_then(|(_, stored)| stored.as_ref());
    if let Some(stored) = found(key) {
        return Ok(AdmittedBatch::Exists(serde_json::from_slice(&stored.bytes)?));
    }
    for record in admissions.iter().map(|admission| &admission.transition.invocation) {
        let id = record.invocation_id.clone();
        if found(&store_keys::invocation(&record.key())).is_some() {
            return Ok(AdmittedBatch::Taken(id));
        }
        if let Some(stored) = found(&store_keys::tombstone(&record.key())) {
            let tombstone: Tombstone = serde_json::from_slice(&stored.bytes)?;
            return Err(tombstone.refuses(record));
        }
    }
    Err(RecordError::NotFound)
}
