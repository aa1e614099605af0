//! Safety facts: defaults fail closed.

use serde_json::json;

use super::*;
use crate::fixtures::{payload, registration, shell_json, tool, tool_with};

#[test]
fn facts_of_the_shell_tool_follow_the_command() {
    let shell = registration(&shell_json());
    let reading = evaluate_safety(&shell, &payload(r#"{"command":"ls -l"}"#));
    assert_eq!(reading.unknown, []);
    let expected = InputSafety {
        is_read_only: true,
        is_concurrency_safe: true,
        is_destructive: false,
        is_open_world: true,
        is_idempotent: true,
        requires_exclusive_context: false,
    };
    assert_eq!(reading.safety, expected);
    let destroying = evaluate_safety(&shell, &payload(r#"{"command":"rm a"}"#));
    assert!(destroying.safety.is_destructive && !destroying.safety.is_read_only && !destroying.safety.is_idempotent);
    assert_eq!(destroying.unknown, [SafetyFactName::Idempotent]);
    for untold in [r#"{"command":"make"}"#, r#"{}"#, r#"{"command":7}"#, "[]"] {
        let untold = evaluate_safety(&shell, &payload(untold));
        assert_eq!(
            untold.safety,
            InputSafety { is_open_world: true, requires_exclusive_context: true, ..InputSafety::default() }
        );
        assert_eq!(
            untold.unknown,
            [
                SafetyFactName::ReadOnly,
                SafetyFactName::ConcurrencySafe,
                SafetyFactName::Destructive,
                SafetyFactName::Idempotent
            ]
        );
    }
}

#[test]
fn absent_facts_fail_closed() {
    let bare = evaluate_safety(&tool("a", "b"), &payload("{}"));
    assert_eq!(
        bare.safety,
        InputSafety { is_open_world: true, requires_exclusive_context: true, ..InputSafety::default() }
    );
    assert_eq!(bare.unknown, SafetyFactName::ALL);
    let declared =
        tool_with("a", "b", json!({ "is_read_only": true, "is_open_world": false, "is_concurrency_safe": false }));
    let declared = evaluate_safety(&declared, &payload("{}"));
    assert!(declared.safety.is_read_only && declared.safety.is_idempotent && !declared.safety.is_open_world);
    assert_eq!(declared.unknown, [SafetyFactName::Destructive]);
}

#[test]
fn a_profile_without_network_is_not_open_world() {
    let mut json = crate::fixtures::tool_json("a", "b");
    json["permission_profile"] = json!({ "permission_profile_id": "p", "risk_level": "low", "network_scope": "none" });
    let scoped = evaluate_safety(&registration(&json), &payload("{}"));
    assert!(!scoped.safety.is_open_world && !scoped.unknown.contains(&SafetyFactName::OpenWorld));
}

#[test]
fn a_destructive_call_is_not_read_only_whatever_is_declared() {
    let tool = tool_with("a", "b", json!({ "is_read_only": true, "is_destructive": true }));
    let found = evaluate_safety(&tool, &payload("{}"));
    assert!(found.safety.is_destructive && !found.safety.is_read_only && !found.safety.is_idempotent);
}

#[test]
fn a_switch_of_the_tool_is_read_from_the_input() {
    let tool = tool_with("files", "write", json!({ "is_destructive": "input.overwrite", "is_open_world": false }));
    let check = |input: &str, expected: bool, known: bool| {
        let found = evaluate_safety(&tool, &payload(input));
        assert_eq!(found.safety.is_destructive, expected, "{input}");
        assert_eq!(!found.unknown.contains(&SafetyFactName::Destructive), known, "{input}");
    };
    check(r#"{"overwrite":true}"#, true, true);
    check(r#"{"overwrite":false}"#, false, true);
    check(r#"{"overwrite":"yes"}"#, false, false);
    check(r#"{}"#, false, false);
    check(r#"[true]"#, false, false);
}
