//! Permission decisions and approvals.

use toolplane_records::approval::{Approval, ApprovalOption, DefinitionChange};
use toolplane_records::assurance::Confidence;
use toolplane_records::decision::{DecisionReason, PermissionDecision};
use toolplane_records::explanation::{
    ClassifierCheck, DecisionExplanation, HookVerdict, PartExplanation, RuleExplanation,
};
use toolplane_records::payload::Digest;
use toolplane_records::rule::{ArgumentCondition, PermissionRule, RulePin, RuleScope};
use toolplane_records::vocabulary::{
    ApprovalState, Behavior, ClassifierAuthority, PermissionOption, ReasonType, RiskLevel, RuleFit, RuleSource,
};

use super::{Sample, at, id, json, ours, published, some, strings};

const VERSION: &str = "0.2.0";

pub(super) fn samples() -> Vec<Sample> {
    vec![
        published("permission-decision", &decision(Behavior::Ask), DECISION),
        ours("permission-rule", &rule(), RULE),
        ours("hook-verdict", &verdict(), r#"{"hook_id":"h-1","behavior":"passthrough"}"#),
        ours("classifier-check", &classifier(), r#"{"classifier_ref":"c-1","authority":"recommend"}"#),
        ours(
            "decision-explanation",
            &explanation(),
            r#"{"rules":[],"parts":[{"text":"ls","behavior":"ask"}],"notes":[],"policy_digest":""}"#,
        ),
        ours("approval", &approval(), &format!("{APPROVAL} \"request\": {DECISION}}}")),
    ]
}

const DECISION: &str = r#"{"decision_id":"dec-1","invocation_id":"inv-1","behavior":"passthrough",
    "decided_at":"2026-05-17T06:40:00Z"}"#;
const RULE: &str = r#"{"source":"session","behavior":"deny","matcher":"*"}"#;
const APPROVAL: &str = r#"{"approval_id":"apr-1","tenant":"default","invocation_id":"inv-1","tool_id":"t-1",
    "tool_name":"a.b","permission_input":{},"state":"pending",
    "declaration_digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    "input_digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    "created_at":"2026-05-17T06:40:00Z","expires_at":"2026-05-18T06:40:00Z","#;

fn decision(behavior: Behavior) -> PermissionDecision {
    PermissionDecision {
        schema_version: VERSION.into(),
        decision_id: id("dec-1"),
        invocation_id: id("inv-1"),
        behavior,
        mode: some("default"),
        source: some("project_settings"),
        reason: Some(DecisionReason {
            reason_type: ReasonType::SafetyCheck,
            rule_ref: some("rule-1"),
            message: "writes outside the workspace".into(),
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
        policy_digest: "sha256:abc".into(),
        denied_paths: toolplane_records::decision::DeniedPaths {
            read: vec!["./secrets/**".to_owned()],
            write: Vec::new(),
        },
        reused_from: Some(toolplane_records::ids::DecisionId::from_trusted("perm_inv_0_1")),
    }
}

fn approval() -> Approval {
    Approval {
        schema_version: VERSION.into(),
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
        call_input_digest: Some(Digest::of(b"call input")),
        options: vec![ApprovalOption {
            option_id: "allow_always".to_owned(),
            name: "Allow `files.write` from now on".to_owned(),
            kind: PermissionOption::AllowAlways,
            suggestion_id: "s1".to_owned(),
        }],
        queue: "review".to_owned(),
        session_ref: some("s-1"),
        surface_id: Some(id("srf-1")),
        caller_ref: "key:ci".to_owned(),
        risk_level: Some(RiskLevel::High),
        chosen_option: Some(PermissionOption::AllowOnce),
        updated_input: Some(json(r#"{"path":"b"}"#)),
        tool_registration: Some(json(r#"{"declaration":{}}"#)),
        outdated_rule: "rule-1".to_owned(),
        definition_changes: vec![DefinitionChange {
            field: "declaration/description".to_owned(),
            before: "reads".to_owned(),
            after: "writes".to_owned(),
        }],
    }
}

fn rule() -> PermissionRule {
    PermissionRule {
        rule_id: "rule-1".to_owned(),
        source: RuleSource::ProjectSettings,
        behavior: Behavior::Allow,
        matcher: "Bash(git diff:*)".to_owned(),
        facts: strings(&["!destructive"]),
        arguments: vec![ArgumentCondition {
            pointer: "/limit".to_owned(),
            op: "le".to_owned(),
            value: Some(json("5")),
        }],
        scope: RuleScope {
            tenant: "acme".to_owned(),
            namespace: "shell".to_owned(),
            actor: "agent:1".to_owned(),
            role: "agent".to_owned(),
            session: "s-1".to_owned(),
            surface: "srf-1".to_owned(),
        },
        reason: "reading is harmless".to_owned(),
        author: "user:1".to_owned(),
        created_at: Some(at(10)),
        expires_at: Some(at(1000)),
        matches: vec![json(r#""git diff --stat""#)],
        not_matches: vec![json(r#"{"input":{"command":"git push"}}"#)],
        shadow: true,
        origin: "stored".to_owned(),
        revoked_at: Some(at(20)),
        revoked_by: "user:2".to_owned(),
        pin: Some(RulePin {
            declaration_digest: Digest::of(br#"{"declaration":{}}"#),
            registration: Some(json(r#"{"declaration":{}}"#)),
        }),
    }
}

fn verdict() -> HookVerdict {
    HookVerdict {
        hook_id: "h-1".to_owned(),
        behavior: Behavior::Deny,
        message: "not on a Friday".to_owned(),
        authoritative: true,
    }
}

fn classifier() -> ClassifierCheck {
    ClassifierCheck {
        classifier_ref: "c-1".to_owned(),
        pending: true,
        confidence: Confidence::new(0.5),
        reason: "looks like an upload".to_owned(),
        behavior: Some(Behavior::Ask),
        authority: ClassifierAuthority::Deny,
    }
}

fn explanation() -> DecisionExplanation {
    DecisionExplanation {
        rules: vec![RuleExplanation {
            rule_id: "rule-1".to_owned(),
            source: "project_settings".to_owned(),
            behavior: Behavior::Allow,
            matcher: "Bash(git diff:*)".to_owned(),
            fit: RuleFit::Maybe,
            decided: true,
            shadow: true,
            why: "the command begins so".to_owned(),
        }],
        parts: vec![PartExplanation {
            text: "git diff".to_owned(),
            behavior: Behavior::Allow,
            rule_ref: "rule-1".to_owned(),
            why: "allowed by the rule".to_owned(),
        }],
        notes: strings(&["mode default"]),
        policy_digest: "v1:sha256:abc".to_owned(),
    }
}
