//! The first transition: from a prepared request to a durable invocation.

use serde_json::json;
use toolplane_records::batch::BatchPlace;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{ApprovalId, InvocationId, SurfaceId, TenantId, ToolId};
use toolplane_records::invocation::{DispatchFacts, InputRefs, InputSafety, Invocation};
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::Digest;
use toolplane_records::refs::TelemetryRef;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Band, ErrorClass, EventClass, Hold, InvocationStatus as Status, ResultStatus};

use crate::draft::Draft;
use crate::synthetic::failure;
use crate::transition::{Effect, Refusal, Timer, Transition};

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
    pub tool_name: String,
    /// The surface it was called in.
    pub surface_id: Option<SurfaceId>,
    /// The provider's id of the call.
    pub native_call_id: Option<String>,
    /// The inputs known so far.
    pub inputs: InputRefs,
    /// Who called.
    pub actor_ref: Option<String>,
    /// Runtime refs.
    pub runtime_refs: Vec<String>,
    /// Where to find the trace.
    pub telemetry_refs: Vec<TelemetryRef>,
    /// The scheduler policy that applies.
    pub scheduler_policy_ref: Option<String>,
    /// The caller's idempotency key.
    pub idempotency_key: Option<String>,
    /// Digest of what the caller asked for.
    pub request_digest: Digest,
    /// The end of the caller's patience.
    pub deadline_at: Option<Timestamp>,
    /// Safety facts of this input.
    pub safety: InputSafety,
    /// Changes of the input on its way to the executor, oldest first.
    pub mutations: Vec<InputMutation>,
    /// The session it belongs to.
    pub session_ref: Option<String>,
    /// How urgent it is.
    pub band: Band,
    /// Locks it needs before it may run, the implicit ones included. With locks there must be a `lock_domain`.
    pub resource_locks: Vec<ResourceLock>,
    /// Where those locks apply.
    pub lock_domain: Option<String>,
    /// Its place in a batch.
    pub batch: Option<BatchPlace>,
    /// The batch does not let it run yet. The hold of its locks follows from `resource_locks`.
    pub held_by_batch: bool,
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

/// Makes the invocation, with every state it passed through on the way to where its preparation leads.
pub fn accept(mut acceptance: Acceptance, preparation: Preparation, now: Timestamp) -> Result<Transition, Refusal> {
    let mutations = std::mem::take(&mut acceptance.mutations);
    let mut draft = Draft::of(planned(acceptance, now), now);
    let tool_name = draft.invocation.tool_name.clone();
    draft.status(Status::Planned, EventClass::Planned, "submitted", json!({ "tool_name": tool_name }))?;
    match preparation {
        Preparation::Unresolved { error, blocked } => {
            let (to, status) = if blocked {
                (Status::Blocked, ResultStatus::Failed)
            } else {
                (Status::Failed, ResultStatus::SyntheticError)
            };
            refuse(&mut draft, to, status, "resolve_tool", error, now)?;
        }
        Preparation::SchemaRefused { error } => {
            select(&mut draft)?;
            refuse(&mut draft, Status::SchemaParseFailed, ResultStatus::Failed, "parse_schema", error, now)?;
        }
        Preparation::ValuesRefused { error } => {
            arguments_ready(&mut draft, &mutations)?;
            refuse(&mut draft, Status::ValidationFailed, ResultStatus::Failed, "validate_values", error, now)?;
        }
        Preparation::Blocked { error } => {
            arguments_ready(&mut draft, &mutations)?;
            refuse(&mut draft, Status::Blocked, ResultStatus::Failed, "preflight", error, now)?;
        }
        Preparation::Denied { decision, error } => {
            arguments_ready(&mut draft, &mutations)?;
            decided(&mut draft, &decision);
            let status = match error.error_class {
                ErrorClass::ApprovalRejected => ResultStatus::Rejected,
                _ => ResultStatus::Denied,
            };
            refuse(&mut draft, Status::Denied, status, "permission", error, now)?;
        }
        Preparation::Asked { decision, approval_id, expires_at, dispatch } => {
            arguments_ready(&mut draft, &mutations)?;
            decided(&mut draft, &decision);
            draft.invocation.dispatch = Some(dispatch);
            crate::approval::park(&mut draft, approval_id, expires_at)?;
            set_deadline(&mut draft);
        }
        Preparation::Ready { decision, dispatch } => {
            arguments_ready(&mut draft, &mutations)?;
            decided(&mut draft, &decision);
            draft.silent_status(Status::Approved, "permission")?;
            let data = json!({ "pool": dispatch.pool });
            draft.invocation.dispatch = Some(dispatch);
            draft.enqueue(EventClass::Queued, "schedule", data)?;
            set_deadline(&mut draft);
        }
    }
    let transition = draft.done();
    debug_assert_eq!(crate::check(&transition.invocation), Ok(()), "after acceptance");
    Ok(transition)
}

fn planned(acceptance: Acceptance, now: Timestamp) -> Invocation {
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
        native_call_id: acceptance.native_call_id,
        status: Status::Planned,
        queue_state: None,
        inputs: acceptance.inputs,
        actor_ref: acceptance.actor_ref,
        runtime_refs: acceptance.runtime_refs,
        policy_refs: Vec::new(),
        permission_decision_refs: Vec::new(),
        hook_refs: Vec::new(),
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
    }
}

fn select(draft: &mut Draft) -> Result<(), Refusal> {
    let data = json!({ "tool_id": draft.invocation.tool_id });
    draft.status(Status::Selected, EventClass::Selected, "resolve_tool", data)
}

fn arguments_ready(draft: &mut Draft, mutations: &[InputMutation]) -> Result<(), Refusal> {
    select(draft)?;
    let data = json!({ "model_input_digest": draft.invocation.inputs.model.digest });
    draft.status(Status::ArgumentsReady, EventClass::ArgumentsReady, "validate_values", data)?;
    for mutation in mutations {
        draft.event(EventClass::ExtInputMutated, serde_json::to_value(mutation).unwrap_or_else(|_| json!({})));
    }
    Ok(())
}

/// Records that the permission service was asked and what it said.
pub(crate) fn decided(draft: &mut Draft, decision: &PermissionDecision) {
    draft.event(
        EventClass::PermissionRequested,
        json!({ "permission_input_digest": draft.invocation.inputs.permission.as_ref().map(|input| input.digest) }),
    );
    draft.event(EventClass::PermissionDecided, decision_data(decision));
    draft.invocation.permission_decision_refs.push(decision.decision_id.clone());
    draft.invocation.policy_refs.extend(decision.policy_refs.iter().cloned());
}

/// What the log says about a decision.
pub(crate) fn decision_data(decision: &PermissionDecision) -> serde_json::Value {
    json!({
        "decision_id": decision.decision_id,
        "behavior": decision.behavior,
        "source": decision.source,
        "reason": decision.reason,
        "rule_refs": decision.rule_refs,
    })
}

fn refuse(
    draft: &mut Draft,
    to: Status,
    status: ResultStatus,
    cause: &str,
    error: ToolError,
    now: Timestamp,
) -> Result<(), Refusal> {
    let result = failure(&draft.invocation, status, error, now);
    draft.end(to, cause, result, None)
}

fn set_deadline(draft: &mut Draft) {
    if let Some(deadline) = draft.invocation.deadline_at {
        draft.effect(Effect::SetTimer(Timer::Deadline, deadline));
    }
}
