//! Answers of hooks: programs write what they like.

use toolplane_fuzz::fuzz;
use toolplane_records::vocabulary::HookEvent;

use crate::output::{read, refused};

const EVENTS: [HookEvent; 5] = [
    HookEvent::PreToolUse,
    HookEvent::PermissionRequest,
    HookEvent::PostToolUse,
    HookEvent::PostToolUseFailure,
    HookEvent::ResultPersistence,
];

const ANSWERS: [&str; 6] = [
    r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": {"a": 1}}}"#,
    r#"{"decision": "block", "reason": "r", "continue": false, "stopReason": "s", "suppressOutput": true, "systemMessage": "m"}"#,
    r#"{"permission": {"behavior": "allow", "message": "x"}, "updated_input": {}, "additional_context": ["one"]}"#,
    r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "c", "updatedToolOutput": "t"}}"#,
    r#"{"persistence": {"strategy": "drop_with_reason", "reason": "r"}, "classifier": {"name": "n", "score": 0.5}}"#,
    "plain text",
];

#[test]
fn answers() {
    fuzz!("answers", ANSWERS, |bytes: &[u8]| {
        for event in EVENTS {
            if let Ok(output) = read(event, bytes) {
                assert_eq!(output.clone().fit(event), output, "an answer that fits its event fits it again");
            }
            let _ = refused(event, bytes);
        }
    });
}
