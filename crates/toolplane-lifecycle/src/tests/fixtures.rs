//! Calls, grants and outcomes that tests are made of.

use toolplane_records::SmolStr;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::ids::*;
use toolplane_records::invocation::{DispatchFacts, InputRefs, InputSafety, Invocation};
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_records::progress::ToolProgress;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::*;

use crate::*;

pub(crate) const LEASE_MS: i64 = 15_000;

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + millis)
}

pub(crate) fn decision(behavior: Behavior) -> PermissionDecision {
    PermissionDecision::new(DecisionId::from_trusted("perm_1"), InvocationId::from_trusted("inv_1"), behavior, at(0))
}

pub(crate) fn acceptance(idempotent: bool) -> Acceptance {
    let digest = Digest::of(b"{}");
    let model = PayloadRef { uri: "payload:x".into(), media_type: "application/json".into(), digest, size_bytes: 2 };
    Acceptance {
        invocation_id: InvocationId::from_trusted("inv_1"),
        tenant: TenantId::unauthenticated(),
        tool_id: ToolId::from_trusted("tool_1"),
        tool_name: "t".into(),
        surface_id: None,
        surface_moment: None,
        native_call_id: None,
        native_ids: Default::default(),
        inputs: InputRefs { permission: Some(model.clone()), observable: None, call: Some(model.clone()), model },
        actor_ref: None,
        runtime_refs: vec![],
        telemetry_refs: vec![],
        scheduler_policy_ref: None,
        idempotency_key: None,
        request_digest: digest,
        deadline_at: Some(at(600_000)),
        safety: InputSafety { is_idempotent: idempotent, ..InputSafety::default() },
        mutations: vec![],
        session_ref: None,
        band: Default::default(),
        resource_locks: vec![],
        lock_domain: None,
        batch: None,
        background: false,
        held_by_batch: false,
        hooks: vec![],
        caller_ref: None,
        caller_actor: None,
        keeping: Default::default(),
        assurance: None,
        inherited_taints: Vec::new(),
        permission_mode: None,
    }
}

pub(crate) fn dispatch(idempotent: bool, supports_cancel: bool) -> DispatchFacts {
    DispatchFacts {
        pool: "native".into(),
        plan_digest: Digest::of(b"plan"),
        timeout_ms: 30_000,
        supports_cancel,
        interrupt_behavior: InterruptBehavior::Block,
        max_attempts: if idempotent { 3 } else { 1 },
        start_guard: StartGuard::Store,
        retry_on_timeout: false,
        quarantine_key: None,
        context_modifier_policy: None,
        policy_digest: SmolStr::default(),
        permit_until: None,
        denied_paths: toolplane_records::decision::DeniedPaths::default(),
    }
}

pub(crate) fn ready(idempotent: bool, supports_cancel: bool) -> Transition {
    let preparation =
        Preparation::Ready { decision: decision(Behavior::Allow), dispatch: dispatch(idempotent, supports_cancel) };
    accept(acceptance(idempotent), preparation, at(0)).unwrap()
}

pub(crate) fn error(class: ErrorClass) -> ToolError {
    ToolError::new(toolplane_records::codes::EXIT_CODE, class, Recoverability::NotRetryable, "no")
}

pub(crate) fn outcome(status: ResultStatus, error: Option<ToolError>) -> Box<ReportedOutcome> {
    Box::new(ReportedOutcome {
        status,
        content: vec![],
        model_facing_content: vec![],
        structured_content: None,
        ui_facing_summary: String::new(),
        error,
        persistence: Vec::new(),
        resource_refs: vec![],
        artifact_refs: vec![],
        evidence_refs: vec![],
        context_modifiers: vec![],
        hooks: vec![],
        undeclared_modifiers: 0,
        redaction_state: None,
        cleaned: Vec::new(),
        rendering_hints: None,
        taints: Vec::new(),
        execution: None,
    })
}

pub(crate) fn grant(number: u64) -> LeaseGrant {
    grant_to("w", number)
}

pub(crate) fn grant_to(worker: &str, number: u64) -> LeaseGrant {
    LeaseGrant {
        lease_id: LeaseId::from_trusted(format!("lease_{number}")),
        fence: number,
        worker_id: WorkerId::from_trusted(worker),
        incarnation: "1".into(),
        offer_ms: 5_000,
        permits: vec![Permit { index: "running/tenant/default".into(), below: 10 }],
    }
}

pub(crate) fn key(invocation: &Invocation) -> LeaseKey {
    let stale = LeaseKey {
        tenant: invocation.tenant.clone(),
        invocation_id: invocation.invocation_id.clone(),
        lease_no: 0,
        lease_id: LeaseId::from_trusted("none"),
        holder: Holder { worker_id: "nobody".parse().unwrap(), incarnation: None },
    };
    invocation.lease.as_ref().map_or(stale, |lease| LeaseKey::of(invocation, lease))
}

pub(crate) fn progress() -> ToolProgress {
    serde_json::from_str(
        r#"{"progress_id":"p","invocation_id":"inv_1","sequence":99,"status":"running","timestamp":"2026-01-01T00:00:00Z"}"#,
    )
    .unwrap()
}

pub(crate) fn asked(acceptance: Acceptance, dispatch: DispatchFacts) -> Transition {
    let preparation = Preparation::Asked {
        decision: decision(Behavior::Ask),
        approval_id: ApprovalId::from_trusted("apr_1"),
        expires_at: at(60_000),
        dispatch,
    };
    accept(acceptance, preparation, at(0)).unwrap()
}

/// The question `record` waits for, or one that was never asked.
pub(crate) fn question(record: &Invocation) -> ApprovalId {
    record.approval_request_ref.clone().unwrap_or_else(|| ApprovalId::from_trusted("apr_none"))
}

pub(crate) fn approve(record: &Invocation) -> Command {
    Command::Approve { approval_id: question(record), decision: decision(Behavior::Allow), edit: None }
}

pub(crate) fn reject(record: &Invocation, expired: bool) -> Command {
    Command::Reject { approval_id: question(record), decision: decision(Behavior::Deny), expired }
}

/// The answer changed the input; policy may have a question about that.
pub(crate) fn edited(record: &Invocation, idempotent: bool, again: Option<ApprovalId>) -> Command {
    let mut inputs = record.inputs.clone();
    let call = PayloadRef { uri: "payload:y".into(), digest: Digest::of(b"{1}"), ..inputs.model.clone() };
    (inputs.call, inputs.permission) = (Some(call.clone()), Some(call.clone()));
    inputs.model = call;
    let edit = Edit {
        input: EditedInput {
            inputs,
            mutations: vec![mutation()],
            safety: InputSafety { is_idempotent: idempotent, ..record.safety },
        },
        dispatch: dispatch(idempotent, true),
        resource_locks: record.resource_locks.clone(),
        lock_domain: record.lock_domain.clone(),
        decision: PermissionDecision { policy_digest: "v2".into(), ..decision(Behavior::Allow) },
        again: again.map(|approval_id| (approval_id, at(2_000_000))),
    };
    Command::Approve { approval_id: question(record), decision: decision(Behavior::Allow), edit: Some(Box::new(edit)) }
}

pub(crate) fn mutation() -> toolplane_records::mutation::InputMutation {
    serde_json::from_str(
        r#"{"mutation_id":"m","invocation_id":"inv_1","source_type":"permission_prompt","created_at":"2026-01-01T00:00:00Z"}"#,
    )
    .unwrap()
}

pub(crate) fn hook(id: &str, event: HookEvent) -> toolplane_records::hook::ToolHook {
    serde_json::from_value(serde_json::json!({ "hook_id": id, "hook_event": event })).unwrap()
}

pub(crate) fn cancel_request() -> Command {
    Command::RequestCancel {
        requested_by: "someone".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    }
}

pub(crate) fn complete(record: &Invocation, status: ResultStatus, error: Option<ToolError>) -> Command {
    Command::Complete { lease: key(record), outcome: outcome(status, error) }
}

pub(crate) fn run(mut record: Invocation, commands: Vec<(i64, Command)>) -> Transition {
    let mut last = None;
    for (millis, command) in commands {
        let command = match command {
            Command::Start { lease_ms, .. } => Command::Start { lease: key(&record), lease_ms },
            Command::Complete { outcome, .. } => Command::Complete { lease: key(&record), outcome },
            command => command,
        };
        let transition = apply(&record, command, at(millis)).unwrap();
        record = transition.invocation.clone();
        last = Some(transition);
    }
    last.unwrap()
}

pub(crate) fn started(idempotent: bool) -> Vec<(i64, Command)> {
    let record = ready(idempotent, true).invocation;
    vec![(1, Command::Claim(grant(1))), (2, Command::Start { lease: key(&record), lease_ms: LEASE_MS })]
}
