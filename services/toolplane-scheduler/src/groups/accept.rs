//! Accepting a batch: all its calls in one commit, or none.

use std::sync::Arc;

use toolplane_lifecycle::{Effect, Known, batch};
use toolplane_records::batch::Batch;
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_store::{Expect, Family, RecordKey, Versioned};

use super::handle::Groups;
use super::keys;
use crate::calls::{Admission, AdmittedTogether, Records, Remembered};
use crate::identity::batch_of_key;
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Shards, keys as store_keys};

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
            let found = self.accepted(&batch.tenant, &batch.batch_id, batch.idempotency_key.as_deref()).await?;
            return found.map(|batch| AdmittedBatch::Exists(Box::new(batch))).ok_or(RecordError::KeyExpired { id });
        }
        let batch = settle_first(batch, &mut admissions, now);
        let mut rest = Builder::default();
        let key = keys::batch(&batch.tenant, &batch.batch_id);
        self.claim_names(&mut rest, &batch)?;
        rest.put_json(key.clone(), &batch)?;
        rest.enter(keys::batches(&batch.tenant), key.id.clone(), score(batch.created_at));
        if let Some(ended_at) = batch.ended_at {
            rest.enter(keys::ENDED_BATCHES, key.id.clone(), score(ended_at));
        }
        match self.admissions.admit_together(&admissions, rest.done(false)).await? {
            AdmittedTogether::New(records) => Ok(AdmittedBatch::New(Box::new(batch), records)),
            AdmittedTogether::Lost(current) => {
                match self.accepted(&batch.tenant, &batch.batch_id, batch.idempotency_key.as_deref()).await? {
                    Some(batch) => Ok(AdmittedBatch::Exists(Box::new(batch))),
                    None => taken(self.calls.records(), &admissions, &current),
                }
            }
        }
    }

    /// The commit fails when something was accepted under the id or the key of `batch`; else its key leads to it.
    fn claim_names(&self, builder: &mut Builder, batch: &Batch) -> Result<(), RecordError> {
        builder.compare(keys::batch(&batch.tenant, &batch.batch_id), Expect::Absent);
        builder.compare(store_keys::tombstone(&note(&batch.tenant, &batch.batch_id)), Expect::Absent);
        if let Some(note) = key_note(self.calls.storage().shards(), batch) {
            builder.compare(RecordKey::new(Family::Batch, note.to_string()), Expect::Absent);
            builder.compare(store_keys::tombstone(&note), Expect::Absent);
            let held_by = batch.batch_id.to_string();
            builder.put_json(store_keys::tombstone(&note), &Remembered::Key { held_by })?;
        }
        Ok(())
    }

    /// The batch that was accepted under `id`, or under `key`. Fails with [`RecordError::KeyExpired`] when the batch that holds
    /// the key is no longer kept, and when the store does.
    pub(crate) async fn accepted(
        &self,
        tenant: &TenantId,
        id: &BatchId,
        key: Option<&str>,
    ) -> Result<Option<Batch>, RecordError> {
        let of_key = key.and_then(|key| batch_of_key(self.calls.storage().shards(), tenant, id, key));
        for name in std::iter::once(id).chain(&of_key) {
            if let Some(batch) = self.batch(tenant, name).await? {
                return Ok(Some(batch));
            }
            let Some(stored) = self.calls.storage().get(&store_keys::tombstone(&note(tenant, name))).await? else {
                continue;
            };
            if let Remembered::Key { held_by } = serde_json::from_slice(&stored.bytes)? {
                let holder = self.batch(tenant, &BatchId::from_trusted(&held_by)).await?;
                return holder.map(Some).ok_or(RecordError::KeyExpired { id: InvocationId::from_trusted(held_by) });
            }
        }
        Ok(None)
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

/// Under which name it is noted that the key of `batch` was used, where the batch has an id of its own.
pub(super) fn key_note(shards: Shards, batch: &Batch) -> Option<InvocationKey> {
    let key = batch.idempotency_key.as_deref()?;
    Some(note(&batch.tenant, &batch_of_key(shards, &batch.tenant, &batch.batch_id, key)?))
}

/// Notes of batches are beside those of calls: no call has the id that the key of a batch makes.
fn note(tenant: &TenantId, batch: &BatchId) -> InvocationKey {
    InvocationKey::new(tenant, &InvocationId::from_trusted(batch))
}

/// A lost acceptance of a batch that is not there: one of its calls is, or was.
fn taken(
    records: &Records,
    admissions: &[Admission],
    current: &[(RecordKey, Option<Versioned>)],
) -> Result<AdmittedBatch, RecordError> {
    let found = |key: &RecordKey| current.iter().find(|(at, _)| at == key).and_then(|(_, stored)| stored.as_ref());
    for record in admissions.iter().map(|admission| &admission.transition.invocation) {
        let id = record.invocation_id.clone();
        if found(&store_keys::invocation(&record.key())).is_some() {
            return Ok(AdmittedBatch::Taken(id));
        }
        if let Some(stored) = found(&store_keys::tombstone(&record.key())) {
            return match serde_json::from_slice(&stored.bytes)? {
                Remembered::Call(tombstone) => Err(tombstone.refuses(&records.asked(record))),
                Remembered::Key { .. } => Ok(AdmittedBatch::Taken(id)),
            };
        }
    }
    Err(RecordError::NotFound)
}
