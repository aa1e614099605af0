//! Taking a call out with everything that belongs to it.

use toolplane_records::evidence::ExecutionEvidence;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::StartGuard;
use toolplane_results::PayloadStore;
use toolplane_store::{Expect, RecordKey};

use super::holds::Holds;
use crate::calls::{CachedCall, Calls, Remembered, Tombstone as RememberedCall};
use crate::originals::was_kept;
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, keys};

/// Removes calls. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Removal {
    pub(crate) calls: Calls,
    pub(crate) objects: PayloadStore,
    pub(crate) holds: Holds,
    /// How long idempotency keys are remembered after their calls ended, milliseconds.
    pub(crate) key_window_ms: i64,
}

impl Removal {
    /// Whether a hold is on `record` now.
    pub(crate) async fn is_held(&self, record: &Invocation) -> Result<bool, RecordError> {
        let shard = self.calls.storage().shards().of_call(&record.key());
        Ok(self.holds.in_shard(&record.tenant, shard).await?.0.on(record).is_some())
    }

    /// Writes into `builder` that `call` goes, with everything that belongs to it, unless a hold is on it: then false, and nothing is
    /// written. Its key is remembered until the window is over.
    pub(crate) async fn take_out(
        &self,
        builder: &mut Builder,
        call: &CachedCall,
        now: Timestamp,
    ) -> Result<bool, RecordError> {
        let record = &*call.record;
        let shard = self.calls.storage().shards().of_call(&record.key());
        let (holds, (key, expect)) = self.holds.in_shard(&record.tenant, shard).await?;
        if holds.on(record).is_some() {
            return Ok(false);
        }
        builder.compare(key, expect);
        if record.dispatch.as_ref().is_some_and(|dispatch| dispatch.start_guard == StartGuard::Object) {
            self.objects.forget_start(&record.key()).await?;
        }
        builder.compare(keys::invocation(&record.key()), Expect::Version(call.version));
        everything_of(builder, record);
        if was_kept(record) {
            // Its sealed parts go with the next round; nobody finds them without the call.
            builder.enter(keys::ORIGINALS, record.key().to_string(), score(now));
        }
        for input in self.former_inputs(record).await? {
            builder.delete(input);
        }
        let remembered = record.ended_at.unwrap_or(record.created_at).plus_millis(self.key_window_ms);
        if remembered > now {
            let (request_digest, status) = (record.request_digest, record.status);
            let tombstone = RememberedCall { request_digest, status, ended_at: record.ended_at };
            builder.put_json(keys::tombstone(&record.key()), &Remembered::Call(tombstone))?;
            builder.enter(keys::TOMBSTONES, record.key().to_string(), score(remembered));
        }
        let asked = self.calls.records().asked(record);
        if let Some(key) = &asked.key
            && self.calls.records().holds_key(&asked).await?
        {
            builder.enter(keys::TOMBSTONES, key.to_string(), score(remembered));
        }
        Ok(true)
    }

    /// Inputs the call had on the way to the one it ran with.
    async fn former_inputs(&self, record: &Invocation) -> Result<Vec<RecordKey>, RecordError> {
        let inputs = &record.inputs;
        if inputs.call.as_ref().is_none_or(|call| call.digest == inputs.model.digest) {
            return Ok(Vec::new());
        }
        let mutations = self.calls.records().mutations(record).await?;
        let places = mutations.iter().flat_map(|mutation| [&mutation.from_input_ref, &mutation.to_input_ref]);
        Ok(places.filter_map(|uri| keys::input_at(&record.tenant, uri)).collect())
    }
}

fn everything_of(builder: &mut Builder, record: &Invocation) {
    let id = &record.key();
    builder.delete(keys::invocation(id));
    builder.delete(keys::result(id));
    for decision in &record.permission_decision_refs {
        builder.delete(keys::decision(&record.tenant, decision.as_str()));
    }
    for hook_ref in &record.hook_refs {
        builder.delete(keys::hook(&record.tenant, hook_ref));
    }
    for evidence_ref in record.evidence_refs.iter().filter(|named| ExecutionEvidence::is_named_by(named)) {
        builder.delete(keys::execution(&record.tenant, evidence_ref));
    }
    builder.delete(keys::facts(id));
    let inputs = &record.inputs;
    let optional = [&inputs.observable, &inputs.permission, &inputs.call].into_iter().flatten();
    for payload in std::iter::once(&inputs.model).chain(optional) {
        builder.delete(keys::payload(id, &payload.digest));
    }
    builder.forget(keys::stream(id));
    builder.leave(keys::ENDED, id.to_string());
    builder.leave(keys::listing(&record.tenant), id.to_string());
}
