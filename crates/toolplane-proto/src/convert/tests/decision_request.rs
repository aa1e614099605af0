use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;
use toolplane_records::assurance::{CallAssurance, Confidence};
use toolplane_records::decision_request::{
    CallSignals, CalledTool, CallerContext, DecidedInput, DecisionRequest, SafetyClaims,
};
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::ids::{ApprovalId, InvocationId, ProfileId, SurfaceId, TenantId, ToolId};
use toolplane_records::invocation::InputSafety;
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::taint::Taint;
use toolplane_records::time::Timestamp;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, RiskLevel, ToolKind};

use crate::v1;
use crate::v1::json_payload::Body;

const REGISTRATION: &str = r#"{"declaration":{}}"#;

/// A request of which nothing is said that may be left out.
fn minimal() -> DecisionRequest {
    let facts = ToolFacts::named(ToolId::from_trusted("tool:1"), "demo.sh", "demo");
    let tool = CalledTool::of(facts, Digest::of(REGISTRATION.as_bytes()));
    let caller = CallerContext { can_ask: false, ..CallerContext::of(TenantId::unauthenticated()) };
    DecisionRequest::new(InvocationId::from_trusted("inv_1"), caller, tool, JsonPayload::from_checked("{}"))
}

/// A request that says everything.
fn full() -> DecisionRequest {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let facts = ToolFacts {
        aliases: words(&["sh", "demo__sh"]),
        kind: Some(ToolKind::ShellCommand),
        permission_matcher: "shell_pattern".to_owned(),
        profile: Some(PermissionProfile::new(ProfileId::from_trusted("perm_1"), RiskLevel::High)),
        ..ToolFacts::clone(&minimal().tool.facts)
    };
    let verdict = |behavior| HookVerdict {
        hook_id: "h".to_owned(),
        behavior,
        message: "because".to_owned(),
        authoritative: true,
    };
    DecisionRequest {
        caller: CallerContext {
            tenant: TenantId::from_trusted("acme"),
            actor_ref: "ann".into(),
            caller_ref: "key:agent".into(),
            roles: words(&["agent", "peer"]),
            session_ref: "s1".into(),
            surface_id: Some(SurfaceId::from_trusted("surf_1")),
            surface_policies: vec!["strict".into()],
            mode: Some(Mode::AcceptEdits),
            can_ask: true,
        },
        tool: CalledTool {
            facts: Arc::new(facts),
            registration_json: Some(Bytes::from_static(REGISTRATION.as_bytes())),
            ..minimal().tool
        },
        input: DecidedInput {
            shown: JsonPayload::from_checked(r#"{"key":"[redacted]"}"#),
            redacted: words(&["/key"]),
            call_digest: Digest::of(br#"{"key":"hunter2"}"#),
        },
        safety: SafetyClaims {
            facts: Some(InputSafety { is_read_only: true, ..InputSafety::default() }),
            unknown: words(&["is_open_world"]),
            trusted: words(&["is_read_only"]),
        },
        signals: CallSignals {
            hooks: vec![verdict(Behavior::Ask), verdict(Behavior::Deny)],
            classifier: Some(ClassifierCheck {
                classifier_ref: "guard".to_owned(),
                pending: true,
                confidence: Confidence::new(0.5),
                reason: "odd".to_owned(),
                behavior: Some(Behavior::Ask),
                authority: ClassifierAuthority::Deny,
            }),
            assurance: Some(CallAssurance { confidence: Confidence::new(0.3), ..CallAssurance::default() }),
            taints: Some(vec![Taint {
                label: "markup".into(),
                invocation_ids: vec![InvocationId::from_trusted("inv_0")],
                since: Timestamp::from_millis(3),
            }]),
        },
        asked_at: Some(Timestamp::from_millis(1_700_000_000_001)),
        deadline_at: Some(Timestamp::from_millis(1_700_000_000_002)),
        approval_ref: Some(ApprovalId::from_trusted("appr_1")),
        dry_run: true,
        ..minimal()
    }
}

fn sent(record: &DecisionRequest) -> v1::DecideRequest {
    let bytes = v1::DecideRequest::from(record).encode_to_vec();
    v1::DecideRequest::decode(Bytes::from(bytes)).unwrap()
}

#[test]
fn everything_that_is_asked_arrives() {
    for record in [minimal(), full()] {
        assert_eq!(DecisionRequest::try_from(sent(&record)).unwrap(), record);
    }
    let input_alone = v1::DecideRequest { call_input_digest: String::new(), ..sent(&full()) };
    let read = DecisionRequest::try_from(input_alone).unwrap().input;
    assert_eq!(read.call_digest, read.shown.digest(), "without a digest the input is what is shown");
}

#[test]
fn what_is_wrong_is_named_by_its_field() {
    let inline = |json: &'static [u8]| Some(Body::Inline(Bytes::from_static(json)));
    let payload = |body| Some(v1::JsonPayload { body, ..Default::default() });
    let many = || vec![String::new(); 1_025];
    let good = || sent(&full());
    let check = |field: &str, rule: &str, message: v1::DecideRequest| {
        let error = DecisionRequest::try_from(message).unwrap_err();
        assert_eq!(error.field, field);
        assert!(error.rule.contains(rule), "{error}");
    };
    let by_ref = payload(Some(Body::Ref("payload:x".to_owned())));
    check("invocation_id", "", v1::DecideRequest { invocation_id: "in v".to_owned(), ..good() });
    check("tenant", "required", v1::DecideRequest { tenant: String::new(), ..good() });
    check("tool_name", "required", v1::DecideRequest { tool_name: String::new(), ..good() });
    check("tool_kind", "", v1::DecideRequest { tool_kind: "kind".to_owned(), ..good() });
    check("declaration_digest", "SHA-256", v1::DecideRequest { declaration_digest: "abc".to_owned(), ..good() });
    check("call_input_digest", "SHA-256", v1::DecideRequest { call_input_digest: "abc".to_owned(), ..good() });
    check("permission_input", "required", v1::DecideRequest { permission_input: None, ..good() });
    check("permission_input", "inline", v1::DecideRequest { permission_input: by_ref, ..good() });
    check("permission_input", "", v1::DecideRequest { permission_input: payload(inline(b"{")), ..good() });
    check("mode", "must be one of default, manual", v1::DecideRequest { mode: "yolo".to_owned(), ..good() });
    check("aliases", "at most 1024", v1::DecideRequest { aliases: many(), ..good() });
    check("caller_roles", "at most 1024", v1::DecideRequest { caller_roles: many(), ..good() });
    check("redacted_fields", "at most 1024", v1::DecideRequest { redacted_fields: many(), ..good() });
    check("unknown_facts", "at most 1024", v1::DecideRequest { unknown_facts: many(), ..good() });
    check("trusted_facts", "at most 1024", v1::DecideRequest { trusted_facts: many(), ..good() });
    let verdict = v1::HookVerdict::default();
    check("hook_verdicts", "at most 1024", v1::DecideRequest { hook_verdicts: vec![verdict; 1_025], ..good() });
}

/// A registration is looked at when people are asked, and is then the one of the digest, or none.
#[test]
fn a_registration_that_is_not_the_one_of_the_digest_is_none() {
    let registration = |change: &dyn Fn(&mut v1::JsonPayload)| {
        let mut message = sent(&full());
        change(message.tool_registration.as_mut().unwrap());
        DecisionRequest::try_from(message).unwrap().tool.registration()
    };
    let whole = Some(JsonPayload::from_checked(REGISTRATION));
    assert_eq!(registration(&|_| {}), whole);
    assert_eq!(registration(&|json| (json.sha256, json.size_bytes) = (Bytes::new(), 0)), whole, "both may be left out");
    assert_eq!(registration(&|json| json.media_type.clear()), whole);
    assert_eq!(registration(&|json| json.media_type = "text/plain".to_owned()), None);
    assert_eq!(registration(&|json| json.size_bytes += 1), None);
    assert_eq!(registration(&|json| json.sha256 = Bytes::from_static(&[0; 32])), None);
    assert_eq!(registration(&|json| json.body = Some(Body::Ref("payload:x".to_owned()))), None);
    let other = |json: &mut v1::JsonPayload| {
        json.body = Some(Body::Inline(Bytes::from_static(br#"{"declaration":[]}"#)));
    };
    assert_eq!(registration(&other), None, "of the same length, and with the digest beside it");
}

#[test]
fn any_bytes_are_refused_or_read_as_they_are_sent() {
    let corpus = [minimal(), full()].map(|record| v1::DecideRequest::from(&record).encode_to_vec());
    toolplane_fuzz::fuzz!("decision-request", corpus, |bytes: &[u8]| {
        let Ok(message) = v1::DecideRequest::decode(bytes) else { return };
        let Ok(record) = DecisionRequest::try_from(message) else { return };
        assert_eq!(DecisionRequest::try_from(sent(&record)).as_ref(), Ok(&record));
    });
}
