//! The invocation record (contracts/invocation-lifecycle): the standard's fields, and what the scheduler needs beside them.

use serde::{Deserialize, Serialize};

use crate::ids::{ApprovalId, DecisionId, InvocationId, LeaseId, ResultId, SurfaceId, TenantId, ToolId, WorkerId};
use crate::payload::{Digest, JsonPayload, PayloadRef};
use crate::refs::{ArtifactRef, TelemetryRef};
use crate::time::Timestamp;
use crate::vocabulary::{AbortReason, InterruptBehavior, InvocationStatus, QueueState};

/// One recorded change of status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusTransition {
    /// Sequence of the log event it belongs to.
    pub seq: u64,
    /// Status before; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<InvocationStatus>,
    /// Status after.
    pub to: InvocationStatus,
    /// When, by the store's clock.
    pub at: Timestamp,
    /// What caused it, in one stable word.
    pub cause: String,
    /// The execution attempt it belongs to; 0 before the first start.
    #[serde(default)]
    pub attempt: u32,
}

/// The four inputs of a call, each with its digest. Equal digests mean the bytes are kept once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRefs {
    /// What the model emitted; never rewritten.
    pub model: PayloadRef,
    /// What hooks, prompts and transcripts see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observable: Option<PayloadRef>,
    /// What rules evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<PayloadRef>,
    /// What the executor gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<PayloadRef>,
}

/// Safety facts found for this very input. Unknown facts are unsafe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputSafety {
    /// Leaves no trace.
    pub is_read_only: bool,
    /// May run beside other calls.
    pub is_concurrency_safe: bool,
    /// May destroy something.
    pub is_destructive: bool,
    /// Touches the uncontrolled outside.
    pub is_open_world: bool,
    /// Running it again is harmless; decides whether a lost execution may be repeated.
    pub is_idempotent: bool,
}

/// What was fixed at acceptance about how the call will run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchFacts {
    /// Execution class: only workers that serve this pool get the call.
    pub pool: String,
    /// Digest under which the dispatch plan is stored.
    pub plan_digest: Digest,
    /// Wall time of one execution, milliseconds.
    pub timeout_ms: u64,
    /// Whether a running execution can be canceled.
    pub supports_cancel: bool,
    /// What an interruption does.
    pub interrupt_behavior: InterruptBehavior,
    /// Most executions of an idempotent call, the first included.
    pub max_attempts: u32,
}

/// The current lease of an invocation. It is the fence: reports under any other lease change nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Grows by one with every lease of this invocation, never given back.
    pub lease_no: u32,
    /// Random name of this lease.
    pub lease_id: LeaseId,
    /// Strictly increasing over all leases of the store; handed to tools as their fence.
    pub fence: u64,
    /// Who holds it.
    pub worker_id: WorkerId,
    /// Which start of that worker.
    pub incarnation: String,
    /// When it ends unless renewed, by the store's clock.
    pub expires_at: Timestamp,
    /// The worker has confirmed receipt.
    pub confirmed: bool,
}

/// The four facts of a cancellation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelFacts {
    /// When a caller asked.
    pub requested_at: Timestamp,
    /// Who asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub requested_by: String,
    /// Why, in the caller's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Why the execution is to stop.
    pub abort_reason: AbortReason,
    /// When the executor acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_at: Option<Timestamp>,
    /// Why the cancellation did not happen, when it did not (`unsupported`, `completed_first`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// One tool call, from acceptance to its terminal result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: String,
    /// Identifier of the call.
    pub invocation_id: InvocationId,
    /// Owner.
    pub tenant: TenantId,
    /// The tool; for a tool that does not exist, `unknown:<name>`.
    pub tool_id: ToolId,
    /// The name the caller used.
    pub tool_name: String,
    /// The surface it was called in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_id: Option<SurfaceId>,
    /// The provider's id of the call, e.g. `tool_call_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_call_id: Option<String>,
    /// Lifecycle state.
    pub status: InvocationStatus,
    /// Place in its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_state: Option<QueueState>,
    /// The four inputs.
    pub inputs: InputRefs,
    /// Who called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_ref: Option<String>,
    /// Runtime refs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_refs: Vec<String>,
    /// Adjacent policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<String>,
    /// Decisions, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permission_decision_refs: Vec<DecisionId>,
    /// Hooks that ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook_refs: Vec<String>,
    /// Evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_refs: Vec<String>,
    /// Where to find the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub telemetry_refs: Vec<TelemetryRef>,
    /// Deliverables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_refs: Vec<ArtifactRef>,
    /// The parked question, while or after there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_request_ref: Option<ApprovalId>,
    /// The scheduler policy that applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler_policy_ref: Option<String>,
    /// Every change of status.
    #[serde(default)]
    pub status_transitions: Vec<StatusTransition>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its (last) execution started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Safety facts of this input (ours).
    #[serde(default)]
    pub safety: InputSafety,
    /// How it will run; absent for calls refused before scheduling (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DispatchFacts>,
    /// The caller's idempotency key (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Digest of what the caller asked for; the same key with another digest is a mistake (ours).
    pub request_digest: Digest,
    /// The end of the caller's patience: a terminal `timed_out` at this instant (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// The current lease (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Leases granted so far (ours).
    #[serde(default)]
    pub lease_no: u32,
    /// Executions started so far (ours).
    #[serde(default)]
    pub attempt: u32,
    /// Leases that ended without a report after a confirmed receipt (ours).
    #[serde(default)]
    pub worker_losses: u32,
    /// Cancellation, when one was asked for (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelFacts>,
    /// Sequence of the last log event (ours).
    #[serde(default)]
    pub last_seq: u64,
    /// Sequence of the last progress record (ours).
    #[serde(default)]
    pub progress_seq: u64,
    /// The one result, once there is one (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_id: Option<ResultId>,
}

/// The bytes of the four inputs, for a reader who may see them.
#[derive(Clone, Debug, Default)]
pub struct InputBodies {
    /// What the model emitted.
    pub model: Option<JsonPayload>,
    /// What hooks, prompts and transcripts see.
    pub observable: Option<JsonPayload>,
    /// What rules evaluated.
    pub permission: Option<JsonPayload>,
    /// What the executor gets.
    pub call: Option<JsonPayload>,
}

impl Invocation {
    /// The standard's JSON of this record: inputs by value where `bodies` has them and by reference always; no lease secrets.
    pub fn to_json(&self, bodies: &InputBodies) -> JsonPayload {
        JsonPayload::of(&View {
            schema_version: &self.schema_version,
            invocation_id: &self.invocation_id,
            tenant: &self.tenant,
            tool_id: &self.tool_id,
            tool_name: &self.tool_name,
            surface_id: self.surface_id.as_ref(),
            native_call_id: self.native_call_id.as_deref(),
            status: self.status,
            queue_state: self.queue_state,
            model_input: bodies.model.as_ref(),
            model_input_ref: &self.inputs.model.uri,
            observable_input: bodies.observable.as_ref(),
            observable_input_ref: uri(&self.inputs.observable),
            permission_input: bodies.permission.as_ref(),
            permission_input_ref: uri(&self.inputs.permission),
            call_input: bodies.call.as_ref(),
            call_input_ref: uri(&self.inputs.call),
            actor_ref: self.actor_ref.as_deref(),
            runtime_refs: &self.runtime_refs,
            policy_refs: &self.policy_refs,
            permission_decision_refs: &self.permission_decision_refs,
            hook_refs: &self.hook_refs,
            evidence_refs: &self.evidence_refs,
            telemetry_refs: &self.telemetry_refs,
            artifact_refs: &self.artifact_refs,
            approval_request_ref: self.approval_request_ref.as_ref(),
            scheduler_policy_ref: self.scheduler_policy_ref.as_deref(),
            status_transitions: &self.status_transitions,
            created_at: self.created_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
            safety: self.safety,
            cancel: self.cancel.as_ref(),
            attempt: self.attempt,
            last_seq: self.last_seq,
            result_id: self.result_id.as_ref(),
        })
    }
}

/// The standard's JSON of an invocation, field by field.
#[derive(Serialize)]
struct View<'a> {
    schema_version: &'a str,
    invocation_id: &'a InvocationId,
    tenant: &'a TenantId,
    tool_id: &'a ToolId,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    surface_id: Option<&'a SurfaceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    native_call_id: Option<&'a str>,
    status: InvocationStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_state: Option<QueueState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_input: Option<&'a JsonPayload>,
    model_input_ref: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    observable_input: Option<&'a JsonPayload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observable_input_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_input: Option<&'a JsonPayload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_input_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_input: Option<&'a JsonPayload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_input_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_ref: Option<&'a str>,
    runtime_refs: &'a [String],
    policy_refs: &'a [String],
    permission_decision_refs: &'a [DecisionId],
    hook_refs: &'a [String],
    evidence_refs: &'a [String],
    telemetry_refs: &'a [TelemetryRef],
    artifact_refs: &'a [ArtifactRef],
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_request_ref: Option<&'a ApprovalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduler_policy_ref: Option<&'a str>,
    status_transitions: &'a [StatusTransition],
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    safety: InputSafety,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel: Option<&'a CancelFacts>,
    attempt: u32,
    last_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_id: Option<&'a ResultId>,
}

fn uri(payload: &Option<PayloadRef>) -> Option<&str> {
    payload.as_ref().map(|payload| payload.uri.as_str())
}
