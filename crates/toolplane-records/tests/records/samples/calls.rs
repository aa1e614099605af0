//! Invocations, mutations, hooks, progress and events.

use std::sync::Arc;

use toolplane_records::assurance::{CallAssurance, Confidence};
use toolplane_records::batch::BatchPlace;
use toolplane_records::event::{LogEvent, ToolEvent};
use toolplane_records::evidence::{ExecutedTool, ExecutionEvidence, ExecutionSite, NativeIds, SandboxFacts};
use toolplane_records::hook::{HookPermission, HookStop, ToolHook};
use toolplane_records::invocation::{
    CancelFacts, DispatchFacts, InputAnswer, InputBodies, InputRefs, InputSafety, Invocation, Lease, PendingInput,
    PostHooks, StatusTransition,
};
use toolplane_records::keeping::{CallKeeping, RemovedRecords};
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::Digest;
use toolplane_records::progress::ToolProgress;
use toolplane_records::taint::Taint;
use toolplane_records::vocabulary::{
    AbortReason, Band, Behavior, ContextModifierPolicy, EventClass, ExecutionKind, Hold, HookEvent, InterruptBehavior,
    InvocationStatus, LockMode, MutationSource, ProgressStatus, QueueState, RecordClass, ResultStatus, RiskLevel,
    StartGuard,
};

use super::batches::lock;
use super::{Sample, artifact, at, id, json, ours, payload_ref, pretty, published, reread, some, strings, trace};

const VERSION: &str = "0.2.0";

pub(super) fn samples() -> Vec<Sample> {
    vec![
        invocation_view(),
        ours("invocation-record", &invocation(), INVOCATION),
        published("input-mutation", &mutation(), MUTATION),
        published("hook", &hook(), r#"{"hook_id":"h-1","hook_event":"pre_tool_use"}"#),
        published("progress", &progress(), PROGRESS),
        ours("execution-evidence", &execution(), EXECUTION),
        published("event", &event(), EVENT),
        ours("log-event", &log_event(), r#"{"seq":1,"class":"tool.declared","at":"2026-05-17T06:40:00Z"}"#),
    ]
}

const INVOCATION: &str = r#"{"invocation_id":"inv-2","tenant":"default","tool_id":"unknown:x","tool_name":"x",
    "status":"planned","inputs":{"model":{"uri":"payload:inv-2/m","media_type":"application/json",
    "digest":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size_bytes":2}},
    "created_at":"2026-05-17T06:40:00.5+02:00",
    "request_digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}"#;
const MUTATION: &str = r#"{"mutation_id":"m-1","invocation_id":"inv-1","source_type":"runtime",
    "created_at":"2026-05-17T06:40:00Z"}"#;
const EXECUTION: &str = r#"{"evidence_id":"execution:inv-1/1","invocation_id":"inv-1","attempt":1,"lease_no":1,"fence":1,
    "status":"failed","reported_at":"2026-05-17T06:40:00Z"}"#;
const PROGRESS: &str = r#"{"progress_id":"p-1","invocation_id":"inv-1","sequence":1,"status":"queued",
    "timestamp":"2026-05-17T06:40:00Z"}"#;
const EVENT: &str = r#"{"event_id":"e-1","event_type":"vendor.custom","source":"/x","time":"2026-05-17T06:40:00Z",
    "sequence":1}"#;

/// The form in which an invocation leaves the cluster; it is only written.
fn invocation_view() -> Sample {
    let bodies = InputBodies {
        model: Some(json(r#"{ "n": 18446744073709551617, "x": 1.0 }"#)),
        observable: Some(json(r#"{"n":18446744073709551617}"#)),
        permission: Some(json("[]")),
        call: Some(json("null")),
    };
    let minimal: Invocation = serde_json::from_str(INVOCATION).unwrap();
    Sample {
        name: "invocation",
        published_as: Some("invocation"),
        full: pretty(&invocation().to_json(&bodies)),
        minimal: Some(pretty(&minimal.to_json(&InputBodies::default()))),
        reread: None,
    }
}

fn assurance() -> CallAssurance {
    CallAssurance {
        confidence: Confidence::new(0.75),
        verdict: "uncertain".to_owned(),
        evidence_refs: strings(&["ev-1"]),
        missing_evidence: strings(&["diagram"]),
        taints: strings(&["web"]),
    }
}

fn native_ids() -> NativeIds {
    NativeIds {
        json_rpc_id: "7".into(),
        mcp_session_id: "mcp-1".into(),
        a2a_task_id: "task-1".into(),
        a2a_context_id: "context-1".into(),
        a2a_message_id: "message-1".into(),
        http_request_id: "req-1".into(),
    }
}

fn execution() -> ExecutionEvidence {
    let sandbox = SandboxFacts {
        backend: "bubblewrap 0.8.0".into(),
        available: true,
        held: strings(&["network_namespace"]),
        missing: strings(&["cgroup"]),
        posture_digest: Some(Digest::of(b"posture")),
    };
    ExecutionEvidence {
        evidence_id: "execution:inv-1/2".into(),
        invocation_id: id("inv-1"),
        attempt: 2,
        lease_no: 2,
        fence: 41,
        tool: Some(ExecutedTool {
            tool_id: id("tool:files/read"),
            tool_name: "files.read_file".to_owned(),
            declaration_digest: Digest::of(b"declaration"),
            plan_digest: Some(Digest::of(b"plan")),
            execution_kind: ExecutionKind::LocalProcess,
            pool: "process".into(),
            sandboxed: true,
            sandbox_profile: "default".to_owned(),
        }),
        site: Some(Arc::new(ExecutionSite {
            worker_id: id("worker-1"),
            incarnation: "0197".into(),
            worker_version: "0.1.0".into(),
            image: "registry.example/worker@sha256:44".into(),
            sandbox: Some(sandbox),
        })),
        status: ResultStatus::Succeeded,
        started_at: Some(at(20)),
        duration_ms: 10,
        reported_at: at(31),
        native_ids: native_ids(),
        detail: Some(json(r#"{"exit":0}"#)),
        detail_left_out: "too_large".into(),
    }
}

fn invocation() -> Invocation {
    Invocation {
        schema_version: VERSION.into(),
        invocation_id: id("inv-1"),
        tenant: id("acme"),
        tool_id: id("tool:files/read"),
        tool_name: "files.read_file".into(),
        surface_id: Some(id("srf-1")),
        surface_moment: some("2.41"),
        native_call_id: some("call_1"),
        native_ids: native_ids(),
        status: InvocationStatus::Running,
        queue_state: Some(QueueState::Executing),
        inputs: InputRefs {
            model: payload_ref("model"),
            observable: Some(payload_ref("observable")),
            permission: Some(payload_ref("permission")),
            call: Some(payload_ref("call")),
        },
        actor_ref: some("agent:1"),
        runtime_refs: strings(&["session:1"]),
        policy_refs: strings(&["policy:files"]),
        permission_decision_refs: vec![id("dec-1")],
        decisions_left_out: 3,
        hook_refs: strings(&["hook-1"]),
        hooks_left_out: 4,
        evidence_refs: strings(&["ev-1"]),
        telemetry_refs: vec![trace()],
        artifact_refs: vec![artifact()],
        approval_request_ref: Some(id("apr-1")),
        scheduler_policy_ref: some("policy-1"),
        status_transitions: transitions(),
        created_at: at(0),
        started_at: Some(at(20)),
        ended_at: Some(at(30)),
        safety: InputSafety {
            is_read_only: true,
            is_concurrency_safe: true,
            is_destructive: false,
            is_open_world: false,
            is_idempotent: true,
            requires_exclusive_context: true,
        },
        dispatch: Some(DispatchFacts {
            pool: "files".into(),
            plan_digest: Digest::of(b"plan"),
            timeout_ms: 30_000,
            supports_cancel: true,
            interrupt_behavior: InterruptBehavior::Block,
            max_attempts: 3,
            start_guard: StartGuard::Object,
            retry_on_timeout: true,
            quarantine_key: Some(Digest::of(b"version and input")),
            context_modifier_policy: Some(ContextModifierPolicy::Forbid),
            policy_digest: "v1:sha256:abc".into(),
            permit_until: Some(at(90_000)),
            denied_paths: toolplane_records::decision::DeniedPaths {
                read: vec!["./secrets/**".to_owned()],
                write: vec!["./docs/**".to_owned()],
            },
        }),
        idempotency_key: some("key-1"),
        request_digest: Digest::of(b"request"),
        deadline_at: Some(at(60_000)),
        lease: Some(Lease {
            lease_no: 2,
            lease_id: id("lease-secret"),
            fence: 99,
            worker_id: id("worker-1"),
            incarnation: "inc-1".into(),
            expires_at: at(15_000),
            confirmed: true,
            permits: strings(&["running/tenant/acme"]),
        }),
        lease_no: 2,
        last_fence: 99,
        attempt: 1,
        worker_losses: 1,
        cancel: Some(CancelFacts {
            requested_at: at(21),
            requested_by: "user:1".to_owned(),
            message: "changed my mind".to_owned(),
            abort_reason: AbortReason::UserInterruption,
            acknowledged_at: Some(at(22)),
            failed: some("completed_first"),
        }),
        last_seq: 6,
        progress_seq: 2,
        partial_seq: 3,
        resume_token: some("row 500"),
        background: true,
        result_id: Some(id("res-1")),
        session_ref: some("s-1"),
        band: Band::Interactive,
        resource_locks: vec![lock("repo", LockMode::Shared)],
        lock_domain: some("session:s-1"),
        lock_fence: Some(7),
        batch: Some(BatchPlace { batch_id: id("bat-1"), index: 3 }),
        holds: vec![Hold::Batch, Hold::Locks],
        yield_seq: Some(4),
        pending_input: Some(PendingInput {
            input_id: "in-1".to_owned(),
            prompt: "Which branch?".to_owned(),
            schema: Some(json(r#"{"type":"string"}"#)),
            requested_at: at(23),
            expires_at: at(86_400_023),
            answer: Some(InputAnswer {
                input: Some(json(r#""main""#)),
                provided_by: "user:1".to_owned(),
                expired: true,
                answered_at: at(24),
            }),
        }),
        clock_stopped_at: Some(at(23)),
        clock_paused_ms: 12,
        lost_workers: vec![id("worker-0")],
        late_reports: 1,
        caller_ref: some("key:ci"),
        caller_actor: some("ci-bot"),
        keeping: CallKeeping {
            risk_level: Some(RiskLevel::High),
            data_sensitivity: "personal".into(),
            retention_hint: "session".into(),
            removed: vec![RemovedRecords { class: RecordClass::Inputs, at: at(50) }],
        },
        assurance: Some(assurance()),
        inherited_taints: vec![Taint { label: "markup".into(), invocation_ids: vec![id("inv-0")], since: at(3) }],
        output_taints: vec!["instructions".into(), "untrusted".into()],
        permission_mode: some("plan"),
        post_hooks: Some(PostHooks { due_at: at(40), tries: 2 }),
        last_execution: Some(Arc::new(execution())),
    }
}

fn transitions() -> Vec<StatusTransition> {
    let planned = StatusTransition {
        seq: 1,
        from: None,
        to: InvocationStatus::Planned,
        at: at(0),
        cause: "accepted".into(),
        attempt: 0,
    };
    let running = StatusTransition {
        seq: 5,
        from: Some(InvocationStatus::Queued),
        to: InvocationStatus::Running,
        at: at(20),
        cause: "started".into(),
        attempt: 1,
    };
    vec![planned, running]
}

fn mutation() -> InputMutation {
    InputMutation {
        schema_version: VERSION.into(),
        mutation_id: "mut-1".to_owned(),
        invocation_id: id("inv-1"),
        source_type: MutationSource::PermissionPrompt,
        source_ref: "apr-1".to_owned(),
        from_input_ref: "payload:inv-1/model".to_owned(),
        to_input_ref: "payload:inv-1/call".to_owned(),
        changed_fields: strings(&["/path"]),
        reason: "narrowed by a person".to_owned(),
        created_at: at(5),
    }
}

fn hook() -> ToolHook {
    ToolHook {
        schema_version: VERSION.into(),
        hook_id: "hook-1".to_owned(),
        hook_event: HookEvent::PostToolUseFailure,
        invocation_id: Some(id("inv-1")),
        tool_id: Some(id("tool:files/read")),
        matcher: Some(json(r#"{"tool":"files.*"}"#)),
        outputs: vec![json(r#"{"message":"checked"}"#)],
        permission_result: Some(HookPermission { behavior: Behavior::Ask, message: "unsure".to_owned() }),
        updated_input: Some(json(r#"{"path":"b"}"#)),
        additional_context: vec![json(r#"{"note":"n"}"#)],
        stop: Some(HookStop { reason: "budget".to_owned() }),
        updated_output: Some(json(r#""shorter""#)),
        started_at: Some(at(1)),
        ended_at: Some(at(2)),
    }
}

fn progress() -> ToolProgress {
    ToolProgress {
        schema_version: VERSION.into(),
        progress_id: "prg-1".to_owned(),
        invocation_id: id("inv-1"),
        sequence: 2,
        status: ProgressStatus::Running,
        message: "half way".to_owned(),
        percent: Some(50.5),
        current_step: "read".to_owned(),
        total_steps: Some(4),
        elapsed_ms: Some(120),
        bytes_read: Some(1024),
        bytes_written: Some(2048),
        line_count: Some(7),
        task_id: "task-1".to_owned(),
        partial_result_refs: strings(&["part-1"]),
        artifact_refs: vec![artifact()],
        timestamp: at(21),
    }
}

fn log_event() -> LogEvent {
    LogEvent { seq: 5, class: EventClass::Started, at: at(20), data: Some(json(r#"{"attempt":1}"#)) }
}

fn event() -> ToolEvent {
    log_event().envelope(&id("acme"), &id("inv-1"), &id("tool:files/read"), &[trace()])
}

/// Reading the stored form is what a restart does; it must keep the lease.
#[test]
fn the_stored_form_keeps_the_lease() {
    let text = pretty(&invocation());
    assert!(text.contains("lease-secret"));
    assert_eq!(reread::<Invocation>(&text), text);
    assert!(!pretty(&invocation().to_json(&InputBodies::default())).contains("lease-secret"));
}
