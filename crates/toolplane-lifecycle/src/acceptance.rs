//! What a call is accepted with, and how far its preparation came.

use toolplane_records::SmolStr;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::batch::BatchPlace;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::evidence::NativeIds;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::{ApprovalId, InvocationId, SurfaceId, TenantId, ToolId};
use toolplane_records::invocation::{DispatchFacts, InputRefs, InputSafety, Invocation};
use toolplane_records::keeping::CallKeeping;
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::Digest;
use toolplane_records::refs::TelemetryRef;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::taint::Taint;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Band, Hold, InvocationStatus as Status};

/// What is known about a call before its preparation is judged.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// Identifier of the call.
    pub invocation_id: InvocationId,
    /// Owner.
    pub tenant: TenantId,
    /// The tool; `unknown:<name>` when it does not exist.
    pub tool_id: ToolId,
    /// The name the caller used.
    pub tool_name: SmolStr,
    /// The surface it was called in.
    pub surface_id: Option<SurfaceId>,
    /// The moment of that surface its caller goes by.
    pub surface_moment: Option<SmolStr>,
    /// The provider's id of the call.
    pub native_call_id: Option<SmolStr>,
    /// What the protocol the call came by calls it.
    pub native_ids: NativeIds,
    /// The inputs known so far.
    pub inputs: InputRefs,
    /// Who called.
    pub actor_ref: Option<SmolStr>,
    /// Runtime refs.
    pub runtime_refs: Vec<SmolStr>,
    /// Where to find the trace.
    pub telemetry_refs: Vec<TelemetryRef>,
    /// The scheduler policy that applies.
    pub scheduler_policy_ref: Option<SmolStr>,
    /// The caller's idempotency key.
    pub idempotency_key: Option<SmolStr>,
    /// Digest of what the caller asked for.
    pub request_digest: Digest,
    /// The caller's deadline.
    pub deadline_at: Option<Timestamp>,
    /// Safety facts of this input.
    pub safety: InputSafety,
    /// Changes of the input on its way to the executor, oldest first.
    pub mutations: Vec<InputMutation>,
    /// The session it belongs to.
    pub session_ref: Option<SmolStr>,
    /// How urgent it is.
    pub band: Band,
    /// Locks it needs before it may run, the implicit ones included. With locks there must be a `lock_domain`.
    pub resource_locks: Vec<ResourceLock>,
    /// Where those locks apply.
    pub lock_domain: Option<SmolStr>,
    /// Its place in a batch.
    pub batch: Option<BatchPlace>,
    /// The authenticated caller.
    pub caller_ref: Option<SmolStr>,
    /// The actor its credential names.
    pub caller_actor: Option<SmolStr>,
    /// What its tool says of its data.
    pub keeping: CallKeeping,
    /// What the agent said of its own certainty.
    pub assurance: Option<CallAssurance>,
    /// What taints it.
    pub inherited_taints: Vec<Taint>,
    /// Permission mode it was called in.
    pub permission_mode: Option<SmolStr>,
    /// Its caller does not wait for it.
    pub background: bool,
    /// The batch does not let it run yet. The hold of its locks follows from `resource_locks`.
    pub held_by_batch: bool,
    /// What hooks did before the decision and while it was made, in order.
    pub hooks: Vec<ToolHook>,
}

/// How far the preparation came (pipeline phases 1 to 7).
#[derive(Clone, Debug)]
pub enum Preparation {
    /// No such callable tool in the surface: `unknown_tool`, `schema_not_loaded`, or blocked by the surface.
    Unresolved {
        /// Why.
        error: ToolError,
        /// The surface hides the tool on purpose.
        blocked: bool,
    },
    /// The input does not fit the model-facing schema.
    SchemaRefused {
        /// Why.
        error: ToolError,
    },
    /// The values cannot be used although the schema allows them.
    ValuesRefused {
        /// Why.
        error: ToolError,
    },
    /// The tool cannot run here: no executor, credential or sandbox for it.
    Blocked {
        /// Why.
        error: ToolError,
    },
    /// A hook ended the call, or left it in a state nothing can be done with.
    Stopped {
        /// Why.
        error: ToolError,
    },
    /// A decision says no.
    Denied {
        /// The decision.
        decision: PermissionDecision,
        /// The same as an error.
        error: ToolError,
    },
    /// A person has to be asked.
    Asked {
        /// The decision.
        decision: PermissionDecision,
        /// The parked question.
        approval_id: ApprovalId,
        /// When the question becomes a refusal.
        expires_at: Timestamp,
        /// How the call will run if the answer is yes.
        dispatch: DispatchFacts,
    },
    /// The call may run.
    Ready {
        /// The decision.
        decision: PermissionDecision,
        /// How the call will run.
        dispatch: DispatchFacts,
    },
}

/// The record of a call nothing has happened to yet.
pub(crate) fn planned(acceptance: Acceptance, now: Timestamp) -> Invocation {
    let locks = !acceptance.resource_locks.is_empty() && acceptance.lock_domain.is_some();
    let holds = [(Hold::Batch, acceptance.held_by_batch), (Hold::Locks, locks)];
    let holds = holds.into_iter().filter_map(|(hold, holds)| holds.then_some(hold)).collect();
    Invocation {
        schema_version: toolplane_records::schema_version(),
        invocation_id: acceptance.invocation_id,
        tenant: acceptance.tenant,
        tool_id: acceptance.tool_id,
        tool_name: acceptance.tool_name,
        surface_id: acceptance.surface_id,
        surface_moment: acceptance.surface_moment,
        native_call_id: acceptance.native_call_id,
        native_ids: acceptance.native_ids,
        status: Status::Planned,
        queue_state: None,
        inputs: acceptance.inputs,
        actor_ref: acceptance.actor_ref,
        runtime_refs: acceptance.runtime_refs,
        policy_refs: Vec::new(),
        permission_decision_refs: Vec::new(),
        decisions_left_out: 0,
        hook_refs: Vec::new(),
        hooks_left_out: 0,
        evidence_refs: Vec::new(),
        telemetry_refs: acceptance.telemetry_refs,
        artifact_refs: Vec::new(),
        approval_request_ref: None,
        scheduler_policy_ref: acceptance.scheduler_policy_ref,
        status_transitions: Vec::new(),
        created_at: now,
        started_at: None,
        ended_at: None,
        safety: acceptance.safety,
        dispatch: None,
        idempotency_key: acceptance.idempotency_key,
        request_digest: acceptance.request_digest,
        deadline_at: acceptance.deadline_at,
        lease: None,
        lease_no: 0,
        last_fence: 0,
        attempt: 0,
        worker_losses: 0,
        cancel: None,
        last_seq: 0,
        progress_seq: 0,
        partial_seq: 0,
        resume_token: None,
        background: acceptance.background,
        result_id: None,
        session_ref: acceptance.session_ref,
        band: acceptance.band,
        resource_locks: acceptance.resource_locks,
        lock_domain: acceptance.lock_domain,
        lock_fence: None,
        batch: acceptance.batch,
        holds,
        yield_seq: None,
        pending_input: None,
        clock_stopped_at: None,
        clock_paused_ms: 0,
        lost_workers: Vec::new(),
        late_reports: 0,
        caller_ref: acceptance.caller_ref,
        caller_actor: acceptance.caller_actor,
        keeping: acceptance.keeping,
        assurance: acceptance.assurance,
        inherited_taints: acceptance.inherited_taints,
        output_taints: Vec::new(),
        permission_mode: acceptance.permission_mode,
        post_hooks: None,
        last_execution: None,
    }
}
