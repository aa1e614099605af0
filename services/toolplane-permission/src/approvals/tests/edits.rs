//! Inputs that people put in place, judged before the answer counts.

use serde_json::{Value, json};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;

use super::fixture::question;
use crate::approvals::edit::faults;

fn check(policy: &str, edited: Value, expected: &[&str]) {
    let registration = json!({
        "declaration": {
            "tool_id": "tool_w", "namespace": "files", "name": "files.write_file", "description": "d", "lifecycle": "available",
            "tool_kind": "file_operation",
            "input_contract": {
                "mutation_policy": policy,
                "sensitive_fields": ["/pin"],
                "model_input_schema": {
                    "type": "object",
                    "properties": { "path": { "type": "string" }, "pin": { "type": "integer" }, "times": { "type": "integer" } },
                    "required": ["path"]
                }
            }
        },
        "execution_profile": {
            "execution_profile_id": "e", "execution_kind": "embedded_runtime",
            "binding": { "type": "native", "name": "files.write_file" }
        }
    });
    let mut approval = question("inv_1", Timestamp::from_millis(0), 60_000);
    approval.tool_registration = Some(JsonPayload::of(&registration));
    let found = faults(&approval, &JsonPayload::of(&edited));
    let places: Vec<&str> = found.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(places, expected, "{edited}: {found:?}");
    approval.tool_registration = None;
    assert_eq!(faults(&approval, &JsonPayload::of(&edited)), [], "who does not know the tool does not judge");
}

#[test]
fn an_edit_is_held_against_schema_values_and_mutation_policy() {
    check("", json!({ "path": "a", "times": 2 }), &[]);
    check("", json!({ "path": "a", "times": "two" }), &["/times"]);
    check("", json!({ "times": 2 }), &["/path"]);
    check("", json!({ "path": "../a" }), &["path"]);
    check("", json!({ "path": ".git/config" }), &["path"]);
    check("hooks_only", json!({ "path": "a" }), &[""]);
}

#[test]
fn what_is_hidden_is_not_judged() {
    check("", json!({ "path": "a", "pin": "[redacted]" }), &[]);
    check("", json!({ "path": "[redacted]", "times": "two" }), &["/times"]);
}
