//! Permission decisions and approvals.

use toolplane_records::approval::Approval;
use toolplane_records::decision::{DecisionReason, PermissionDecision};
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::{ApprovalState, Behavior, ReasonType};

use super::{Sample, at, id, json, ours, published, some, strings};

const VERSION: &str = "0.2.0";

pub(super) fn samples() -> Vec<Sample> {
    vec![
        published("permission-decision", &decision(Behavior::Ask), DECISION),
        ours("approval", &approval(), &format!("{APPROVAL} \"request\": {DECISION}}}")),
    ]
}

const DECISION: &str = r#"{"decision_id":"dec-1","invocation_id":"inv-1","behavior":"passthrough",
    "decided_at":"2026-05-17T06:40:00Z"}"#;
const APPROVAL: &str = r#"{"approval_id":"apr-1","tenant":"default","invocation_id":"inv-1","tool_id":"t-1",
    "tool_name":"a.b","permission_input":{},"state":"pending",
    "declaration_digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    "input_digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    "created_at":"2026-05-17T06:40:00Z","expires_at":"2026-05-18T06:40:00Z","#;

fn decision(behavior: Behavior) -> PermissionDecision {
    PermissionDecision {
        schema_version: VERSION.to_owned(),
        decision_id: id("dec-1"),
        invocation_id: id("inv-1"),
        behavior,
        mode: some("default"),
        source: some("project_settings"),
        reason: Some(DecisionReason {
            reason_type: ReasonType::SafetyCheck,
            rule_ref: some("rule-1"),
            message: "writes outside the workspace".to_owned(),
        }),
        rule_refs: strings(&["rule-1", "rule-2"]),
        policy_refs: strings(&["policy:files"]),
        updated_input: Some(json(r#"{"path":"b"}"#)),
        updated_input_ref: some("payload:inv-1/updated"),
        user_modified: Some(true),
        suggested_updates: vec![json(r#"{"add":"allow files.*"}"#)],
        pending_classifier_check: Some(json(r#"{"classifier":"c"}"#)),
        blocked_path: some("/etc/shadow"),
        content_blocks: vec![json(r#"{"type":"text","text":"ok"}"#)],
        accept_feedback: some("only this once"),
        decided_at: at(10),
        expires_at: Some(at(1000)),
        approval_request_ref: Some(id("apr-1")),
        policy_digest: "sha256:abc".to_owned(),
    }
}

fn approval() -> Approval {
    Approval {
        schema_version: VERSION.to_owned(),
        approval_id: id("apr-1"),
        tenant: id("acme"),
        invocation_id: id("inv-1"),
        tool_id: id("tool:files/write"),
        tool_name: "files.write".to_owned(),
        declaration_digest: Digest::of(b"declaration"),
        input_digest: Digest::of(b"input"),
        permission_input: json(r#"{"path":"a"}"#),
        actor_ref: "agent:1".to_owned(),
        request: decision(Behavior::Ask),
        state: ApprovalState::Approved,
        resolution: Some(decision(Behavior::Allow)),
        resolved_by: "user:1".to_owned(),
        feedback: "only this once".to_owned(),
        created_at: at(10),
        expires_at: at(86_400_000),
        resolved_at: Some(at(20)),
    }
}
