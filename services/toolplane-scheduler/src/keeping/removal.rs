//! Taking a call out with everything that belongs to it.

use toolplane_lifecycle::RESULT_QUESTION;
use toolplane_lifecycle::Terminal;
use toolplane_records::evidence::ExecutionEvidence;
use toolplane_records::ids::ApprovalId;
use toolplane_records::invocation::Invocation;
use toolplane_records::keeping::RemovedRecords;
use toolplane_records::stored;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{RecordClass, StartGuard};
use toolplane_results::PayloadStore;
use toolplane_store::{Expect, RecordKey};

use super::holds::Holds;
use super::tombstone::LostOutput;
use super::unfinished::{Rest, Unfinished};
use crate::calls::{CachedCall, Calls, Remembered, Tombstone as RememberedCall};
use crate::originals::was_kept;
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, keys};

/// Removes calls. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Removal {
    pub(crate) calls: Calls,
    pub(crate) holds: Holds,
    /// What lies elsewhere and goes after the commit.
    pub(crate) unfinished: Unfinished,
    /// How long idempotency keys are remembered after their calls ended, milliseconds.
    pub(crate) key_window_ms: i64,
}

impl Removal {
    /// Where outputs are kept.
    pub(crate) fn objects(&self) -> &PayloadStore {
        &self.unfinished.objects
    }

    /// Writes into `builder` that `call` goes, with everything that belongs to it, unless a hold is on it: then false, and nothing is
    /// written. Its key is remembered until the window is over. `outputs` are those that are kept of it and go too.
    pub(crate) async fn take_out(
        &self,
        builder: &mut Builder,
        call: &CachedCall,
        outputs: Vec<LostOutput>,
        now: Timestamp,
    ) -> Result<bool, RecordError> {
        let record = &*call.record;
        if !self.compare(builder, call).await? {
            return Ok(false);
        }
        if record.dispatch.as_ref().is_some_and(|dispatch| dispatch.start_guard == StartGuard::Object) {
            self.unfinished.objects.forget_start(&record.key()).await?;
        }
        let rest = Rest { outputs, ..self.questions_about(record).await? };
        self.unfinished.note(builder, &record.key(), rest, now).await?;
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

    /// Writes into `builder` that the records of `classes` go while `call` stays and says so, unless a hold is on it: then `None`.
    pub(crate) async fn take_records(
        &self,
        builder: &mut Builder,
        call: &CachedCall,
        classes: &[RecordClass],
        now: Timestamp,
    ) -> Result<Option<Invocation>, RecordError> {
        if !self.compare(builder, call).await? {
            return Ok(None);
        }
        let mut record = Invocation::clone(&call.record);
        let mut rest = Rest::default();
        for class in classes {
            match class {
                RecordClass::Inputs => inputs_of(builder, &record),
                RecordClass::Events => builder.forget(keys::stream(&record.key())),
                RecordClass::Decisions => decisions_of(builder, &record),
                RecordClass::Evidence => {
                    evidence_of(builder, &record);
                    record.last_execution = None;
                }
                RecordClass::Outputs => rest.outputs = self.take_outputs(builder, &record, now).await?,
                RecordClass::Questions => {
                    let asked = self.questions_about(&record).await?;
                    (rest.questions, rest.approvals) = (asked.questions, asked.approvals);
                }
                RecordClass::Calls => continue,
            }
            record.keeping.removed.push(RemovedRecords { class: *class, at: now });
        }
        // The log alone says which inputs there were on the way: they go with whichever goes first.
        if classes.iter().any(|class| matches!(class, RecordClass::Inputs | RecordClass::Events)) {
            for input in self.former_inputs(&call.record).await? {
                builder.delete(input);
            }
        }
        self.unfinished.note(builder, &record.key(), rest, now).await?;
        builder.put_record(keys::invocation(&record.key()), &record)?;
        Ok(Some(record))
    }

    /// Lets the commit compare the record of `call` and the holds of its tenant; false when one is on it.
    async fn compare(&self, builder: &mut Builder, call: &CachedCall) -> Result<bool, RecordError> {
        let record = &*call.record;
        let shard = self.calls.storage().shards().of_call(&record.key());
        let (holds, (key, expect)) = self.holds.in_shard(&record.tenant, shard).await?;
        if holds.on(record).is_some() {
            return Ok(false);
        }
        builder.compare(key, expect);
        builder.compare(keys::invocation(&record.key()), Expect::Version(call.version));
        Ok(true)
    }

    /// The outputs that are kept of a call, unless they are gone already.
    pub(crate) async fn outputs(&self, record: &Invocation) -> Result<Vec<LostOutput>, RecordError> {
        if record.keeping.removed_at(RecordClass::Outputs).is_some() {
            return Ok(Vec::new());
        }
        let terminal = self.calls.records().result(&record.key()).await?;
        Ok(terminal.map(|terminal| LostOutput::all_of(&terminal.result)).unwrap_or_default())
    }

    /// Writes into `builder` that the outputs kept of a call are gone: its result names them, and they are not missed.
    async fn take_outputs(
        &self,
        builder: &mut Builder,
        record: &Invocation,
        now: Timestamp,
    ) -> Result<Vec<LostOutput>, RecordError> {
        let key = keys::result(&record.key());
        let Some(stored) = self.calls.storage().get(&key).await? else { return Ok(Vec::new()) };
        let mut terminal: Terminal = stored::read(&stored.bytes)?;
        let outputs = LostOutput::all_of(&terminal.result);
        if !outputs.is_empty() {
            terminal.outputs_removed_at = Some(now);
            builder.compare(key.clone(), Expect::Version(stored.version));
            builder.put_record(key, &terminal)?;
        }
        Ok(outputs)
    }

    /// What people were asked about a call, unless that is gone already.
    async fn questions_about(&self, record: &Invocation) -> Result<Rest, RecordError> {
        let of_result = record.evidence_refs.iter().any(|said| said.starts_with(RESULT_QUESTION));
        if record.approval_request_ref.is_none() && !of_result {
            return Ok(Rest::default());
        }
        if record.keeping.removed_at(RecordClass::Questions).is_some() {
            return Ok(Rest::default());
        }
        let decisions = self.calls.records().decisions_after(record, 0, usize::MAX).await?;
        let made = decisions.into_iter().filter_map(|(_, decision)| decision?.approval_request_ref);
        let mut approvals: Vec<_> = made.chain(record.approval_request_ref.clone()).collect();
        approvals.sort_unstable();
        approvals.dedup();
        Ok(Rest { questions: true, approvals, ..Rest::default() })
    }

    /// The questions a call is known to have been about, for its tombstone.
    pub(super) async fn approvals_of(&self, record: &Invocation) -> Result<Vec<ApprovalId>, RecordError> {
        Ok(self.questions_about(record).await?.approvals)
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
    decisions_of(builder, record);
    evidence_of(builder, record);
    inputs_of(builder, record);
    builder.forget(keys::stream(id));
    builder.leave(keys::ENDED, id.to_string());
    builder.leave(keys::listing(&record.tenant), id.to_string());
}

/// What was decided, and what it was decided from.
fn decisions_of(builder: &mut Builder, record: &Invocation) {
    for decision in &record.permission_decision_refs {
        builder.delete(keys::decision(&record.tenant, decision.as_str()));
    }
    builder.delete(keys::facts(&record.key()));
}

fn evidence_of(builder: &mut Builder, record: &Invocation) {
    for hook_ref in &record.hook_refs {
        builder.delete(keys::hook(&record.tenant, hook_ref));
    }
    for evidence_ref in record.evidence_refs.iter().filter(|named| ExecutionEvidence::is_named_by(named)) {
        builder.delete(keys::execution(&record.tenant, evidence_ref));
        builder.delete(keys::execution_before(&record.tenant, evidence_ref));
    }
}

fn inputs_of(builder: &mut Builder, record: &Invocation) {
    let inputs = &record.inputs;
    let optional = [&inputs.observable, &inputs.permission, &inputs.call].into_iter().flatten();
    for payload in std::iter::once(&inputs.model).chain(optional) {
        builder.delete(keys::payload(&record.key(), &payload.digest));
    }
}
