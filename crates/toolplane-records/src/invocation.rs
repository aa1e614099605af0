//! The invocation record (contracts/invocation-lifecycle): the standard's fields, and what the scheduler needs beside them.

mod running;
mod view;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

pub use crate::invocation::running::{CancelFacts, InputAnswer, Lease, PendingInput, PostHooks};
pub use crate::invocation::view::InputBodies;
#[cfg(feature = "schema")]
pub(crate) use crate::invocation::view::invocation_schema;

use crate::assurance::CallAssurance;
use crate::batch::BatchPlace;
use crate::decision::DeniedPaths;
use crate::evidence::{ExecutionEvidence, NativeIds};
use crate::ids::{ApprovalId, DecisionId, InvocationId, ResultId, SurfaceId, TenantId, ToolId, WorkerId};
use crate::keeping::CallKeeping;
use crate::payload::{Digest, PayloadRef};
use crate::refs::{ArtifactRef, TelemetryRef};
use crate::scheduling::ResourceLock;
use crate::taint::Taint;
use crate::time::Timestamp;
use crate::vocabulary::{
    Band, ContextModifierPolicy, Hold, InterruptBehavior, InvocationStatus, QueueState, StartGuard,
};

/// One recorded change of status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub cause: SmolStr,
    /// The execution attempt it belongs to; 0 before the first start.
    #[serde(default)]
    pub attempt: u32,
}

/// The four inputs of a call, each with its digest. Equal digests mean the bytes are kept once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// May not run while another call of the same session or batch runs: it takes that context's lock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_exclusive_context: bool,
}

/// What was fixed at acceptance about how the call will run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchFacts {
    /// Execution class: only workers that serve this pool get the call.
    pub pool: SmolStr,
    /// Digest under which the dispatch plan is stored.
    pub plan_digest: Digest,
    /// Wall time of one execution, milliseconds.
    pub timeout_ms: u64,
    /// Whether a running execution can be canceled.
    pub supports_cancel: bool,
    /// What the agent's runtime does about it when its user interrupts.
    pub interrupt_behavior: InterruptBehavior,
    /// Most executions of an idempotent call, the first included.
    pub max_attempts: u32,
    /// Where the one start of a call that must not start twice is recorded.
    #[serde(default, skip_serializing_if = "StartGuard::is_default")]
    pub start_guard: StartGuard,
    /// An idempotent call that hit its timeout is executed again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_on_timeout: bool,
    /// Digest of the tool's version and this input: what is put under quarantine when workers keep dying of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine_key: Option<Digest>,
    /// Whether context modifiers are honoured, when the scheduler policy says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_modifier_policy: Option<ContextModifierPolicy>,
    /// Digest of the rule set that let it run; empty when no decision is in force.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub policy_digest: SmolStr,
    /// Until when that decision lets it start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit_until: Option<Timestamp>,
    /// Paths that decision keeps from the call, whatever it does.
    #[serde(default, skip_serializing_if = "DeniedPaths::is_empty")]
    pub denied_paths: DeniedPaths,
}

/// One tool call, from acceptance to its terminal result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Invocation {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the call.
    pub invocation_id: InvocationId,
    /// Owner.
    pub tenant: TenantId,
    /// The tool; for a tool that does not exist, `unknown:<name>`.
    pub tool_id: ToolId,
    /// The name the caller used.
    pub tool_name: SmolStr,
    /// The surface it was called in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_id: Option<SurfaceId>,
    /// The moment of that surface its caller went by (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_moment: Option<SmolStr>,
    /// The provider's id of the call, e.g. `tool_call_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_call_id: Option<SmolStr>,
    /// What the protocol the call came by calls it (ours).
    #[serde(default, skip_serializing_if = "NativeIds::is_empty")]
    pub native_ids: NativeIds,
    /// Lifecycle state.
    pub status: InvocationStatus,
    /// Place in its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_state: Option<QueueState>,
    /// The four inputs.
    pub inputs: InputRefs,
    /// Who called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_ref: Option<SmolStr>,
    /// Runtime refs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_refs: Vec<SmolStr>,
    /// Adjacent policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<SmolStr>,
    /// Decisions, oldest first: the first and the newest, see [`crate::trail::DECISIONS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permission_decision_refs: Vec<DecisionId>,
    /// Decisions between those that are no longer kept (ours).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub decisions_left_out: u64,
    /// Hooks that ran, oldest first: the first and the newest, see [`crate::trail::HOOKS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook_refs: Vec<SmolStr>,
    /// Hook runs between those that are no longer kept (ours).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hooks_left_out: u64,
    /// Evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_refs: Vec<SmolStr>,
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
    pub scheduler_policy_ref: Option<SmolStr>,
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
    pub idempotency_key: Option<SmolStr>,
    /// Digest of what the caller asked for; the same key with another digest is a mistake (ours).
    pub request_digest: Digest,
    /// The caller's deadline: a terminal `timed_out` at this instant (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// The current lease (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Leases granted so far (ours).
    #[serde(default)]
    pub lease_no: u32,
    /// Fence of the newest lease; every later one has a larger fence (ours).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub last_fence: u64,
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
    /// Sequence of the last partial result (ours).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial_seq: u64,
    /// What its tool said last of how to go on from there: given to the next execution of the call (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_token: Option<SmolStr>,
    /// Its caller does not wait for it: it is told when each stage begins (ours).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The one result, once there is one (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_id: Option<ResultId>,
    /// The session it belongs to (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<SmolStr>,
    /// How urgent it is (ours).
    #[serde(default, skip_serializing_if = "Band::is_default")]
    pub band: Band,
    /// Locks it needs before it may run (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_locks: Vec<ResourceLock>,
    /// Where those locks apply (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_domain: Option<SmolStr>,
    /// Fence of the grant of its locks: larger than that of every earlier holder it excludes (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_fence: Option<u64>,
    /// Its place in a batch (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchPlace>,
    /// What keeps it out of the ready queue (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
    /// When its result was released among the results of its batch, counted from 1 (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yield_seq: Option<u64>,
    /// The question it waits for, while it needs input (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_input: Option<PendingInput>,
    /// Since when its execution time is paused, while it needs input (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_stopped_at: Option<Timestamp>,
    /// For how long the execution time of the current attempt was paused in all, milliseconds (ours).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_paused_ms: u64,
    /// The hooks after the call, while they are asked (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_hooks: Option<PostHooks>,
    /// Workers that were lost while they ran it (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_workers: Vec<WorkerId>,
    /// Reports that came too late and were kept as evidence (ours).
    #[serde(default, skip_serializing_if = "is_zero_u32")]
    pub late_reports: u32,
    /// The authenticated caller; absent without authentication (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_ref: Option<SmolStr>,
    /// What the agent said of its own certainty (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<CallAssurance>,
    /// What taints it: what outputs had that its session was given before, or that it names (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherited_taints: Vec<Taint>,
    /// What its output has that taints what is made from it: labels of [`taint`](crate::taint) (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_taints: Vec<SmolStr>,
    /// Permission mode it was called in (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<SmolStr>,
    /// The actor the caller's credential names; absent without authentication, or when it names none (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_actor: Option<SmolStr>,
    /// Which data it is about, and what of it is gone already (ours).
    #[serde(default, skip_serializing_if = "CallKeeping::is_empty")]
    pub keeping: CallKeeping,
    /// What is known of the execution that ended it, unless a record of its own has that (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub last_execution: Option<Arc<ExecutionEvidence>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero_u32(value: &u32) -> bool {
    *value == 0
}
