//! Nothing that others wrote stays, wherever it stands; what is ours does.

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::{words, write};
use super::without_texts;
use crate::event::LogEvent;
use crate::payload::JsonPayload;
use crate::time::Timestamp;
use crate::vocabulary::EventClass;

/// What somebody wrote, and what somebody gave as an id.
const SECRET: &str = "what nobody may keep";
const SECRET_ID: &str = "sk-live-0123456789";

macro_rules! goldens {
    ($($name:literal),* $(,)?) => {
        [$(include_str!(concat!("../../../tests/golden/", $name, ".full.json"))),*]
    };
}

fn stored<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(value, &mut bytes).unwrap();
    bytes
}

fn holds(bytes: &[u8], text: &str) -> bool {
    // A part of it is told by a pattern as well.
    text.as_bytes().windows(6).any(|part| bytes.windows(6).any(|at| at == part))
}

fn event(class: EventClass, data: &Value) -> LogEvent {
    LogEvent { seq: 7, class, at: Timestamp::from_millis(1_790_000_000_000), data: Some(JsonPayload::of(data)) }
}

/// `value` with `other` in the place of one of its texts, for each of them, and the names that lead there.
fn replaced(value: &Value, other: &str) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    match value {
        Value::String(_) => all.push((String::new(), other.into())),
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                for (path, element) in replaced(element, other) {
                    let mut elements = elements.clone();
                    elements[at] = element;
                    all.push((path, elements.into()));
                }
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                for (path, member) in replaced(member, other) {
                    let mut members = members.clone();
                    members[name] = member;
                    all.push((format!("{name}.{path}"), members.into()));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    all
}

/// All forms in which stores have it.
fn forms(value: &Value) -> [Vec<u8>; 3] {
    [stored(value), serde_json::to_vec(value).unwrap(), stored(&event(EventClass::Progress, value))]
}

#[test]
fn no_text_of_any_record_stays_and_of_the_ids_only_those_of_the_list() {
    let records = goldens![
        "approval",
        "batch",
        "decision-explanation",
        "event",
        "hook",
        "input-mutation",
        "invocation-record",
        "log-event",
        "permission-decision",
        "permission-rule",
        "progress",
        "result",
        "result-persistence",
        "tool-declaration",
        "tool-surface",
    ];
    let mut kept = std::collections::BTreeSet::new();
    for record in records.map(|text| serde_json::from_str::<Value>(text).unwrap()) {
        for (path, changed) in replaced(&record, SECRET) {
            for bytes in forms(&changed) {
                assert!(!holds(&without_texts(&bytes).unwrap(), SECRET), "{path}");
            }
        }
        for (path, changed) in replaced(&record, SECRET_ID) {
            if forms(&changed).iter().any(|bytes| holds(&without_texts(bytes).unwrap(), SECRET_ID)) {
                kept.insert(path);
            }
        }
    }
    let kept: Vec<_> = kept.iter().map(|path| path.trim_end_matches('.')).collect();
    let digests = "dispatch.plan_digest dispatch.policy_digest dispatch.pool dispatch.quarantine_key inputs.call.digest \
         inputs.call.uri inputs.model.digest inputs.model.uri inputs.observable.digest inputs.observable.uri \
         inputs.permission.digest inputs.permission.uri";
    let ids = "permission_decision_refs policy_digest reason.rule_ref request_digest result_id reused_from rule_refs \
         schema_version surface_id tenant tool_id tool_name";
    let last = "invocation_id last_execution.invocation_id last_execution.site.incarnation \
         last_execution.site.sandbox.backend last_execution.site.sandbox.held last_execution.site.sandbox.missing \
         last_execution.site.sandbox.posture_digest last_execution.site.worker_id last_execution.site.worker_version \
         last_execution.tool.declaration_digest last_execution.tool.plan_digest last_execution.tool.pool \
         last_execution.tool.tool_id last_execution.tool.tool_name";
    let lease = "lease.incarnation lease.lease_id lease.worker_id";
    let all = ["approval_request_ref batch_id decision_id declaration_digest", digests, last, lease, ids].join(" ");
    assert_eq!(kept, all.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn what_is_ours_stays() {
    let digest = crate::payload::Digest::of(b"input").to_string();
    let decision = json!({
        "decision_id": "perm_inv_1_2", "behavior": "allow", "source": "project_settings",
        "reason": { "type": "rule", "rule_ref": "config/0", "message": "the rule `config/0` says allow" },
        "rule_refs": ["config/0"],
    });
    for (class, data) in [
        (EventClass::Planned, json!({ "tool_name": "files.read_file" })),
        (EventClass::Selected, json!({ "tool_id": "tool_files_read_file" })),
        (EventClass::ArgumentsReady, json!({ "model_input_digest": digest })),
        (EventClass::PermissionRequested, json!({ "permission_input_digest": digest })),
        (EventClass::PermissionDecided, decision),
        (EventClass::Queued, json!({ "pool": "native" })),
        (EventClass::Started, json!({ "attempt": 1, "lease_no": 1, "worker_id": "wkr_1" })),
        (EventClass::ResultCreated, json!({ "result_id": "res_1", "status": "succeeded", "is_error": false })),
        (EventClass::Succeeded, json!({ "result_id": "res_1" })),
    ] {
        let bytes = stored(&event(class, &data));
        assert_eq!(without_texts(&bytes), Some(bytes), "{class}");
    }
}

#[test]
fn of_a_message_only_what_names_the_rule_stays() {
    let of = |rule: &str, message: &str| {
        let reason = json!({ "reason": { "type": "rule", "rule_ref": rule, "message": message } });
        let bytes = without_texts(&stored(&event(EventClass::PermissionDecided, &reason))).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let kept = of("config/0", "the rule `config/0` says deny: what nobody may keep");
    assert!(kept.contains("the rule `config/0` says deny\0\0") && !holds(kept.as_bytes(), SECRET), "{kept:?}");
    for (rule, message) in [
        ("config/0", "`what nobody may keep`: the rule `config/0` says deny"),
        ("config/0", "the rule `what nobody may keep` says deny"),
        ("what nobody may keep", "the rule `what nobody may keep` says deny"),
        ("config/0", "the rule `config/0` says what nobody may keep"),
    ] {
        let kept = of(rule, message);
        assert!(!holds(kept.as_bytes(), SECRET) && !kept.contains("the rule"), "{kept:?}");
    }
}

#[test]
fn what_is_no_record_or_names_no_tool_has_nothing_that_stays() {
    for bytes in [&b""[..], b"\x01", b"text", b"{", b"\x01\x10\x10", b"{} {}", b"\xff{}"] {
        assert_eq!(without_texts(bytes), None, "{bytes:?}");
    }
    for value in [json!({ "tool_id": "unknown:sk-live", "tool_name": "sk-live" }), json!({ "tool_id": "unknown:" })] {
        assert!(forms(&value).iter().all(|bytes| without_texts(bytes).is_none()));
    }
    for deep in [format!("[{}", "[".repeat(100_000)), "[".repeat(100_000) + &"]".repeat(100_000)] {
        assert_eq!(without_texts(deep.as_bytes()), None);
    }
    // Numbers that are not ours may be answers.
    let kept = without_texts(br#"{"seq":12345678,"attempt":1,"pin":12345678}"#).unwrap();
    assert!(!holds(&kept, "12345678") && kept.starts_with(br#"{"seq":"#) && !holds(&kept, "\"pin\":"));
}

/// Values with what somebody wrote in any place and under any name.
fn written() -> impl Strategy<Value = Value> {
    let names = [words::WORDS, &["data", "model_input_digest", "the name", SECRET]].concat();
    let leaf = prop_oneof![
        Just(Value::from(SECRET)),
        Just(Value::from(format!("\"{SECRET}\n"))),
        Just(json!(1)),
        Just(json!("queued"))
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let name = prop::sample::select(names.clone()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_that_others_wrote_stays(value in written(), class in prop::sample::select(EventClass::ALL)) {
        let event = event(class, &value);
        for bytes in [stored(&event), stored(&value), serde_json::to_vec(&event).unwrap(), serde_json::to_vec_pretty(&value).unwrap()] {
            if let Some(kept) = without_texts(&bytes) {
                prop_assert_eq!(kept.len(), bytes.len());
                prop_assert!(!holds(&kept, SECRET), "{:?}", String::from_utf8_lossy(&kept));
            }
        }
    }
}
