use serde_json::Value;
use toolplane_matching::ToolFacts;
use toolplane_records::decision_request::CallerContext;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::mode::Mode;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{ErrorClass, HookEvent, Recoverability, ToolKind};

use super::{is_name_of, name_of, told};
use crate::hook_meta::HookMeta;
use crate::input::{HookInput, HookOutcome};

fn input() -> HookInput {
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool:shell"), "shell.exec", "shell");
    tool.kind = Some(ToolKind::ShellCommand);
    let json = r#"{"command":"ls","n":123456789012345678901234567890}"#;
    let caller = CallerContext {
        session_ref: "s1".into(),
        mode: Some(Mode::AcceptEdits),
        ..CallerContext::of(TenantId::unauthenticated())
    };
    HookInput::new(InvocationId::from_trusted("inv_1"), caller, tool, JsonPayload::from_checked(json))
}

fn read(event: HookEvent, input: &HookInput) -> (String, Value) {
    let hook = HookMeta { hook_id: "h".to_owned(), ..HookMeta::default() };
    let text = String::from_utf8(told(event, &hook, input, "/workspace")).unwrap();
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

#[test]
fn programs_read_the_shape_users_know() {
    let (text, said) = read(HookEvent::PreToolUse, &input());
    assert!(text.contains("123456789012345678901234567890"), "numbers keep their digits: {text}");
    for (key, wanted) in [
        ("session_id", "s1"),
        ("transcript_path", ""),
        ("cwd", "/workspace"),
        ("permission_mode", "acceptEdits"),
        ("hook_event_name", "PreToolUse"),
        ("tool_name", "shell.exec"),
        ("tool_use_id", "inv_1"),
        ("invocation_id", "inv_1"),
        ("hook_id", "h"),
    ] {
        assert_eq!(said[key], wanted, "{key}");
    }
    assert_eq!(said["tool_input"]["command"], "ls");
    assert_eq!(said["tool_families"][0], "Bash");
    assert!(said.get("tool_response").is_none() && said.get("error").is_none());
    let mut named = input();
    named.native_call_id = "toolu_7".to_owned();
    assert_eq!(read(HookEvent::PostToolUse, &named).1["tool_use_id"], "toolu_7");
    assert!(read(HookEvent::PermissionRequest, &named).1.get("tool_use_id").is_none());
}

#[test]
fn after_the_call_they_read_what_came_of_it() {
    let mut input = input();
    let text = |text: &str| ContentBlock::Text { text: text.to_owned() };
    let log = ContentBlock::Log { text: "warned".to_owned(), stream: "stderr".to_owned() };
    let mut outcome = HookOutcome { content: vec![text("a"), log], duration_ms: 7, ..HookOutcome::default() };
    input.outcome = Some(outcome.clone());
    let (_, said) = read(HookEvent::PostToolUse, &input);
    assert_eq!((&said["tool_response"], &said["duration_ms"]), (&Value::from("a\nwarned"), &Value::from(7)));
    assert_eq!(said["tool_content"][1]["stream"], "stderr");
    outcome.structured_content = Some(JsonPayload::from_checked(r#"{"rows":1.50}"#));
    let class = ErrorClass::ExecutionFailed;
    outcome.error =
        Some(ToolError::new(toolplane_records::codes::EXIT_CODE, class, Recoverability::NotRetryable, "exit code 3"));
    outcome.interrupted = true;
    input.outcome = Some(outcome);
    let (text, said) = read(HookEvent::PostToolUseFailure, &input);
    assert!(text.contains(r#""tool_response":{"rows":1.50}"#), "{text}");
    assert_eq!((&said["error"], &said["is_interrupt"]), (&Value::from("exit code 3"), &Value::from(true)));
    assert_eq!(said["tool_error"]["error_code"], "exec.exit_code");
}

#[test]
fn every_point_has_a_name_that_comes_back() {
    for event in HookEvent::ALL {
        assert!(is_name_of(name_of(*event, &input()), *event));
        assert!(is_name_of(event.as_str(), *event));
        assert!(!is_name_of("Stop", *event));
    }
    assert!(is_name_of("PermissionDenied", HookEvent::PermissionDecision));
    assert!(!is_name_of("PostToolUse", HookEvent::PreToolUse));
}
