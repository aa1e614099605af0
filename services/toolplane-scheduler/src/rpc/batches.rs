//! Batches: accepting, following, canceling and listing them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use prost::Message as _;
use tonic::Code;
use toolplane_forms::Asked;
use toolplane_lifecycle::Command;
use toolplane_proto::v1;
use toolplane_records::batch::Batch;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{AbortReason, InterruptBehavior, InvocationStatus};
use toolplane_runtime::telemetry::Instrument as _;
use toolplane_runtime::{Caller, page};

use super::accept::look_after;
use super::cancel::{check_request_id, short};
use super::encode;
use super::find;
use super::follow::{self, Following, Messages};
use super::forms::{Forms, Telling, asked};
use super::list;
use crate::calls::{Admission, Calls, is_race};
use crate::error::CallError;
use crate::groups::{AdmittedBatch, BatchAdmission, BatchFilter, BatchStart, Groups};
use crate::intake::{BatchSpec, Preparer, SpecLimits};
use crate::recheck::Approvals;
use crate::storage::RecordError;
use crate::trace::CallTrace;

/// The handlers of batches.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    pub(super) calls: Calls,
    pub(super) groups: Groups,
    pub(super) preparer: Arc<Preparer>,
    pub(super) approvals: Approvals,
    pub(super) forms: Forms,
    pub(super) limits: SpecLimits,
}

/// An accepted batch and how to follow it.
struct AcceptedBatch {
    batch: Batch,
    /// Its calls in the declared order, as they are now or were at acceptance.
    records: Vec<Arc<Invocation>>,
    duplicate: bool,
    traces: Vec<CallTrace>,
}

impl Batches {
    /// Accepts all calls of a batch or none, or finds the batch that was accepted for the same request.
    async fn accept(&self, caller: &Arc<Caller>, spec: Option<v1::BatchSpec>) -> Result<AcceptedBatch, CallError> {
        let spec = BatchSpec::decode(spec, caller, &self.limits)?;
        if spec.may_exist
            && let Some(batch) =
                self.groups.accepted(&spec.tenant, &spec.batch_id, spec.idempotency_key.as_deref()).await?
        {
            return self.attach(&spec, batch).await;
        }
        let traces: Vec<CallTrace> = spec.calls.iter().map(|call| CallTrace::start(&call.spec)).collect();
        let admission = self.prepare(&spec, &traces).await?;
        match Box::pin(self.groups.admit_batch(admission)).await? {
            AdmittedBatch::New(batch, records) => {
                records.iter().for_each(|record| look_after(&self.calls, &self.approvals, record));
                Ok(AcceptedBatch { batch: *batch, records, duplicate: false, traces })
            }
            AdmittedBatch::Exists(batch) => self.attach(&spec, *batch).await,
            AdmittedBatch::Taken(id) => Err(CallError::Reused { id: id.to_string() }),
        }
    }

    /// Prepares all calls at the same time. A call that is refused is a call that has ended; only a failure to find out ends
    /// the whole request, and then no question is left behind.
    async fn prepare(&self, spec: &BatchSpec, traces: &[CallTrace]) -> Result<BatchAdmission, CallError> {
        let prepared = spec.calls.iter().zip(traces).map(|(call, trace)| {
            let preparing = self.preparer.prepare(&call.spec, trace.telemetry_refs());
            preparing.instrument(trace.span())
        });
        let (mut admissions, mut failure) = (Vec::with_capacity(spec.calls.len()), None);
        for (index, prepared) in join_all(prepared).await.into_iter().enumerate() {
            match prepared {
                Ok(admission) => admissions.push(*admission),
                Err(error) => failure = failure.or(Some(within(index, error))),
            }
        }
        if let Some(error) = failure {
            for approval in admissions.iter().filter_map(|one| one.transition.invocation.approval_request_ref.as_ref())
            {
                self.approvals.withdraw(&spec.tenant, approval, "the batch was not accepted").await;
            }
            return Err(error);
        }
        for ((call, trace), admission) in spec.calls.iter().zip(traces).zip(&mut admissions) {
            drop(trace.send(&call.spec, admission));
        }
        Ok(BatchAdmission { batch: batch_of(spec, &admissions, self.calls.now().await?), admissions })
    }

    async fn attach(&self, spec: &BatchSpec, batch: Batch) -> Result<AcceptedBatch, CallError> {
        if batch.request_digest != spec.digest || batch.tenant != spec.tenant {
            return Err(CallError::Reused { id: batch.batch_id.to_string() });
        }
        let records = self.members_of(&batch).await?;
        Ok(AcceptedBatch { batch, records, duplicate: true, traces: Vec::new() })
    }

    /// The calls of a batch as they are now, in the declared order.
    async fn members_of(&self, batch: &Batch) -> Result<Vec<Arc<Invocation>>, CallError> {
        let records = join_all(members(batch).map(|key| async move { self.calls.records().get(&key).await })).await;
        Ok(records.into_iter().collect::<Result<_, RecordError>>()?)
    }

    /// Accepts a batch and follows it to its end.
    pub(super) async fn invoke(
        &self,
        caller: &Arc<Caller>,
        request: v1::InvokeBatchRequest,
    ) -> Result<Messages<v1::InvokeBatchResponse>, CallError> {
        let asked = form_of_each(request.form)?;
        let accepted = self.accept(caller, request.spec).await?;
        let first = self.acceptance(&accepted);
        let AcceptedBatch { batch, records, traces, .. } = accepted;
        let start = BatchStart { traces, ..Default::default() };
        let tellings = self.tellings(caller, &records, asked.as_ref(), &start.from);
        let following = Following { watch: self.groups.watch_batch(&batch, start), records, tellings };
        Ok(follow::batch_invoked(first, following))
    }

    /// The batch as it is now.
    pub(super) async fn show(
        &self,
        caller: &Caller,
        request: v1::GetBatchRequest,
    ) -> Result<v1::GetBatchResponse, CallError> {
        let batch = find::batch(&self.groups, caller, &request.batch_id).await?;
        let policy_json = encode::json(request.view(), &batch.policy);
        Ok(v1::GetBatchResponse { batch: Some((&batch).into()), policy_json })
    }

    /// Accepts a batch and answers at once.
    pub(super) async fn submit(
        &self,
        caller: &Arc<Caller>,
        request: v1::SubmitBatchRequest,
    ) -> Result<v1::SubmitBatchResponse, CallError> {
        let accepted = self.accept(caller, request.spec).await?;
        let calls = accepted.records.iter().map(|record| v1::Invocation::from(&**record));
        Ok(v1::SubmitBatchResponse {
            accepted: Some(self.acceptance(&accepted)),
            batch: Some((&accepted.batch).into()),
            invocations: page::fill(calls, accepted.records.len(), v1::Invocation::encoded_len),
        })
    }

    /// What the caller is told of the acceptance.
    fn acceptance(&self, accepted: &AcceptedBatch) -> v1::BatchAcceptance {
        let durability = self.calls.storage().durability();
        v1::BatchAcceptance {
            batch_id: accepted.batch.batch_id.to_string(),
            durability: durability.as_str().to_owned(),
            durability_code: encode::durability(durability).into(),
            duplicate: accepted.duplicate,
        }
    }

    /// Follows a batch from where the caller left off.
    pub(super) async fn watch(
        &self,
        caller: &Arc<Caller>,
        request: v1::WatchBatchRequest,
    ) -> Result<Messages<v1::WatchBatchResponse>, CallError> {
        let asked = form_of_each(request.form)?;
        let batch = find::batch(&self.groups, caller, &request.batch_id).await?;
        if let Some(place) = request.from.iter().position(|cursor| cursor.index as usize >= batch.members.len()) {
            let field = format!("from[{place}].index");
            return Err(CallError::invalid(&field, format!("must be below {}", batch.members.len())));
        }
        let from = request.from.iter().map(|cursor| (cursor.index, cursor.from_seq.max(1))).collect();
        let start = BatchStart { from, after_yield_seq: request.after_yield_seq, traces: Vec::new() };
        let records = self.members_of(&batch).await?;
        let tellings = self.tellings(caller, &records, asked.as_ref(), &start.from);
        Ok(follow::batch_watched(Following { watch: self.groups.watch_batch(&batch, start), records, tellings }))
    }

    /// Tells each call in the form that was asked for, from where the caller left off; none when no form was.
    fn tellings(
        &self,
        caller: &Arc<Caller>,
        records: &[Arc<Invocation>],
        asked: Option<&Asked>,
        from: &BTreeMap<u32, u64>,
    ) -> Vec<Telling> {
        let tell = |(index, record): (u32, &Arc<Invocation>), asked: &Asked| {
            let from_seq = from.get(&index).copied().unwrap_or(1);
            Telling::new(self.forms.clone(), Arc::clone(caller), Arc::clone(record), asked.clone(), from_seq)
        };
        asked.map(|asked| (0..).zip(records).map(|call| tell(call, asked)).collect()).unwrap_or_default()
    }

    /// Asks every call of a batch that has not ended to stop, each as if it alone were canceled.
    pub(super) async fn cancel(
        &self,
        caller: &Caller,
        request: v1::CancelBatchRequest,
    ) -> Result<v1::CancelBatchResponse, CallError> {
        check_request_id(&request.request_id)?;
        let batch = find::batch(&self.groups, caller, &request.batch_id).await?;
        // The last first: the end of a call lets those run that wait for it.
        for member in batch.members.iter().rev().filter(|member| member.ended.is_none()) {
            let command = |_: &Invocation| Command::RequestCancel {
                requested_by: short(caller.doer(&request.requested_by), 256),
                message: short(&request.reason, 1024),
                abort_reason: AbortReason::UserInterruption,
            };
            let call = InvocationKey::new(&batch.tenant, &member.invocation_id);
            let waited = self.calls.records().get(&call).await?;
            match self.calls.command(&call, command).await {
                Ok(_) => {}
                // It has ended, or was asked before.
                Err(RecordError::Refused { refusal, .. }) if is_race(&refusal) => continue,
                Err(error) => return Err(error.into()),
            }
            if waited.status == InvocationStatus::AwaitingApproval
                && let Some(approval) = &waited.approval_request_ref
            {
                self.approvals.withdraw(&batch.tenant, approval, "the batch was canceled").await;
            }
        }
        let batch = find::batch(&self.groups, caller, &request.batch_id).await?;
        Ok(v1::CancelBatchResponse { batch: Some((&batch).into()) })
    }

    /// One page of batches, newest first.
    pub(super) async fn list(
        &self,
        caller: &Caller,
        request: v1::ListBatchesRequest,
    ) -> Result<v1::ListBatchesResponse, CallError> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let filter = BatchFilter {
            session_ref: given(&request.session_ref),
            idempotency_key: given(&request.idempotency_key),
            created_after: list::instant(request.created_after),
            created_before: list::instant(request.created_before),
        };
        let scope = format!("batches/{}/{filter:?}", caller.tenant);
        let after = page::position(&scope, &request.page_token)?.as_deref().and_then(list::read_place);
        let found = self.groups.list_batches(&caller.tenant, &filter, after, page::size(request.page_size)?).await?;
        Ok(v1::ListBatchesResponse {
            batches: found.batches.iter().map(Into::into).collect(),
            next_page_token: list::next_token(&scope, found.next),
            damaged_ids: found.damaged,
        })
    }
}

/// The form each call of a batch is told in. One name cannot be that of all its calls.
fn form_of_each(form: Option<v1::FormSpec>) -> Result<Option<Asked>, CallError> {
    if form.as_ref().is_some_and(|form| !form.call_id.is_empty()) {
        let rule = "names one call; those of a batch are named by their `native_call_id`";
        return Err(CallError::invalid("form.call_id", rule));
    }
    asked(form)
}

/// The failure of one call's preparation, told so that the call can be found.
fn within(index: usize, error: CallError) -> CallError {
    let place = format!("spec.calls[{index}]");
    match error {
        CallError::Invalid(mut faults) => {
            for fault in &mut faults {
                fault.field = format!("{place}.{}", fault.field);
            }
            CallError::Invalid(faults)
        }
        // The peer meant the surface this call names.
        CallError::Peer { status, .. } if matches!(status.code(), Code::NotFound | Code::InvalidArgument) => {
            CallError::invalid(&format!("{place}.spec.surface_id"), status.message())
        }
        error => error,
    }
}

/// The calls of a batch in the declared order.
fn members(batch: &Batch) -> impl Iterator<Item = InvocationKey> {
    batch.members.iter().map(|member| InvocationKey::new(&batch.tenant, &member.invocation_id))
}

fn batch_of(spec: &BatchSpec, admissions: &[Admission], now: toolplane_records::time::Timestamp) -> Batch {
    let interrupt = |admission: &Admission| {
        let dispatch = admission.transition.invocation.dispatch.as_ref();
        dispatch.map_or(InterruptBehavior::Block, |dispatch| dispatch.interrupt_behavior)
    };
    let interrupts: Vec<InterruptBehavior> = admissions.iter().map(interrupt).collect();
    Batch {
        schema_version: toolplane_records::schema_version(),
        batch_id: spec.batch_id.clone(),
        tenant: spec.tenant.clone(),
        policy: spec.policy.clone(),
        session_ref: spec.session_ref.as_deref().map(str::to_owned),
        lock_domain: spec.lock_domain.as_deref().map(str::to_owned),
        request_digest: spec.digest,
        idempotency_key: spec.idempotency_key.as_deref().map(str::to_owned),
        created_at: now,
        members: spec.members(&interrupts),
        next_yield: 0,
        yields: 0,
        ended_at: None,
    }
}
