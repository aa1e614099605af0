//! What others wrote goes when it is deleted: nothing that a store keeps for longer holds it.

use bytes::Bytes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::stored;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;

use super::checks::must_be;
use crate::{Append, Commit, Family, RecordKey, Write};

/// What somebody wrote.
const TEXT: &str = "what nobody may keep";
/// Facts of log entries, as tools, callers and people fill them.
const FACTS: [(EventClass, &str); 8] = [
    (EventClass::Planned, r#"{"tool_name":"TEXT"}"#),
    (EventClass::Progress, r#"{"stream":"stdout","message":"TEXT","data":{"TEXT":"TEXT","tool_id":"TEXT"}}"#),
    (EventClass::ExtNeedsInput, r#"{"input_id":"TEXT","prompt":"TEXT","schema":{"properties":{"TEXT":{}}}}"#),
    (EventClass::ExtInputProvided, r#"{"input_id":"TEXT","answer":{"call":{"tool_id":"TEXT"}},"provided_by":"TEXT"}"#),
    (
        EventClass::PermissionDecided,
        r#"{"behavior":"allow","reason":{"type":"hook","message":"TEXT"},"accept_feedback":"TEXT"}"#,
    ),
    (EventClass::ExtCancelRequested, r#"{"requested_by":"TEXT","message":"TEXT","labels":["TEXT"]}"#),
    (EventClass::ExtRequeued, r#"{"reason":"TEXT"}"#),
    (EventClass::Failed, r#"{"result_id":"res_1","error":{"error_code":"TEXT","message":"TEXT"},"reason":["TEXT"]}"#),
];
const INVOCATION: &str = r#"{"invocation_id":"inv_ID","tenant":"default","tool_id":"tool_files_read_file",
    "tool_name":"files.read_file","surface_id":"surf_01a1fe71cac9728c8278967361aa04a9","status":"running",
    "inputs":{"model":{"uri":"payload:inv_ID","media_type":"TEXT","size_bytes":2,
        "digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}},
    "request_digest":"sha256:e593fedcbff67e29259bf85ceab299b859bc1fae2afab15e440a6e4e063f0e69",
    "native_call_id":"TEXT","actor_ref":"TEXT","session_ref":"TEXT","idempotency_key":"TEXT","runtime_refs":["TEXT"],
    "cancel":{"requested_at":"2026-05-17T04:40:00.500Z","requested_by":"TEXT","message":"TEXT","abort_reason":"user_interruption"},
    "pending_input":{"input_id":"TEXT","prompt":"TEXT","schema":{"title":"TEXT"},
        "requested_at":"2026-05-17T04:40:00.500Z","expires_at":"2026-05-17T04:40:00.500Z"},
    "created_at":"2026-05-17T04:40:00.500Z"}"#;
const DECISION: &str = r#"{"decision_id":"perm_inv_ID","invocation_id":"inv_ID","behavior":"allow",
    "decided_at":"2026-05-17T06:40:00.000Z","reason":{"type":"rule","rule_ref":"config/0",
        "message":"the rule `config/0` says allow: TEXT"},"rule_refs":["config/0"],"accept_feedback":"TEXT",
    "policy_digest":"sha256:3c33bb5922bcf059b10aaca0e8aad7704790823f2dbbab01f824abc60788d052"}"#;
const DECLARATION: &str = r#"{"tool_id":"tool_ID","pool":"native","surface_id":"surf_01a1fe71cac9728c8278967361aa04a9",
    "policy_digest":"sha256:3c33bb5922bcf059b10aaca0e8aad7704790823f2dbbab01f824abc60788d052","description":"TEXT"}"#;

/// A call much like those of other numbers, with what somebody wrote wherever its records and its log have room for it.
pub fn call_with_texts(number: u64) -> Commit {
    let id = format!("{number:09}");
    let told = |template: &str| template.replace("TEXT", TEXT).replace("ID", &id);
    let invocation = must_be("an invocation", stored::read::<Invocation>(told(INVOCATION).as_bytes()));
    let decision = must_be("a decision", stored::read::<PermissionDecision>(told(DECISION).as_bytes()));
    let event = |(seq, (class, facts)): (u64, (EventClass, &str))| {
        let data = Some(JsonPayload::from_checked(told(facts)));
        bytes_of(&LogEvent { seq, class, at: Timestamp::from_millis(1_790_000_000_000), data })
    };
    let put = |family, bytes| Write::Put { key: RecordKey::new(family, id.clone()), bytes };
    Commit {
        writes: vec![
            put(Family::Invocation, bytes_of(&invocation)),
            put(Family::Decision, bytes_of(&decision)),
            put(Family::Declaration, told(DECLARATION).into()),
            put(Family::Result, Bytes::from_static(TEXT.as_bytes())),
        ],
        events: vec![Append { stream: id.clone(), first_seq: 1, events: (1..).zip(FACTS).map(event).collect() }],
        ..Commit::default()
    }
}

/// Panics when `kept`, which a store keeps for longer than calls, has a part of what somebody wrote in such a call.
#[track_caller]
pub fn check_no_text(kept: &[u8]) {
    let has = |part: &[u8]| kept.windows(part.len()).any(|at| at == part);
    assert!(!TEXT.as_bytes().windows(6).any(has), "kept: {}", String::from_utf8_lossy(kept));
}

fn bytes_of(value: &impl serde::Serialize) -> Bytes {
    let mut bytes = Vec::new();
    must_be("a stored value", stored::write(value, &mut bytes));
    bytes.into()
}
