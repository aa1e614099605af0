//! What a program reads on standard input: the JSON users of coding agents know, with what Toolplane knows beside it.

use serde_json::{Map, Value, json};
use toolplane_matching::{Family, Fit, ToolFacts};
use toolplane_proto::convert::field;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{Behavior, HookEvent};

use crate::hook_meta::HookMeta;
use crate::input::{HookInput, HookOutcome};

/// The name of a point as users of coding agents know it.
pub(crate) fn name_of(event: HookEvent, input: &HookInput) -> &'static str {
    match event {
        HookEvent::PreToolUse => "PreToolUse",
        HookEvent::PostToolUse => "PostToolUse",
        HookEvent::PostToolUseFailure => "PostToolUseFailure",
        HookEvent::PermissionRequest => "PermissionRequest",
        HookEvent::PermissionDecision => {
            let denied = input.decision.as_ref().is_some_and(|decision| decision.behavior == Behavior::Deny);
            if denied { "PermissionDenied" } else { "PermissionDecision" }
        }
        HookEvent::ResultPersistence => "ResultPersistence",
    }
}

/// Whether an answer that names its point by `name` is one for `event`.
pub(crate) fn is_name_of(name: &str, event: HookEvent) -> bool {
    let known: &[&str] = match event {
        HookEvent::PreToolUse => &["PreToolUse"],
        HookEvent::PostToolUse => &["PostToolUse"],
        HookEvent::PostToolUseFailure => &["PostToolUseFailure"],
        HookEvent::PermissionRequest => &["PermissionRequest"],
        HookEvent::PermissionDecision => &["PermissionDecision", "PermissionDenied"],
        HookEvent::ResultPersistence => &["ResultPersistence"],
    };
    known.contains(&name) || name == event.as_str()
}

/// The families a rule that denies would find the tool in, by all their names.
fn families(tool: &ToolFacts) -> Vec<&'static str> {
    let holds = |family: &Family| family.fit(Behavior::Deny, tool) != Fit::No;
    Family::WORDS.iter().filter(|(_, family)| holds(family)).map(|(word, _)| *word).collect()
}

/// The whole text a program is given. `cwd` is where it runs.
pub(crate) fn told(event: HookEvent, hook: &HookMeta, input: &HookInput, cwd: &str) -> Vec<u8> {
    let id = if input.native_call_id.is_empty() { input.invocation_id.as_str() } else { &input.native_call_id };
    let caller = &input.caller;
    let mut said = Map::new();
    let mut say = |key: &str, value: Value| said.insert(key.to_owned(), value);
    say("session_id", json!(caller.session_ref));
    say("transcript_path", json!(""));
    say("cwd", json!(cwd));
    say("permission_mode", json!(caller.mode.unwrap_or_default().agent_word()));
    say("hook_event_name", json!(name_of(event, input)));
    say("tool_name", json!(input.tool.full_name));
    // The request to ask a person is not a use of a tool yet.
    if event != HookEvent::PermissionRequest {
        say("tool_use_id", json!(id));
    }
    say("hook_id", json!(hook.hook_id));
    say("invocation_id", json!(input.invocation_id));
    say("tenant", json!(caller.tenant));
    say("actor_ref", json!(caller.actor_ref));
    say("surface_id", json!(field::text(&caller.surface_id)));
    say("tool_id", json!(input.tool.tool_id));
    say("tool_aliases", json!(input.tool.aliases));
    say("tool_families", json!(families(&input.tool)));
    if let Some(decision) = &input.decision {
        say(
            "permission_suggestions",
            json!(decision.suggested_updates.iter().map(JsonPayload::to_value).collect::<Vec<_>>()),
        );
    }
    if let Some(outcome) = &input.outcome {
        say("duration_ms", json!(outcome.duration_ms));
        if let Some(error) = &outcome.error {
            say("error", json!(error.message));
            say("is_interrupt", json!(outcome.interrupted));
        }
    }
    // Values of callers and tools go in as they are written: no number may change on the way.
    let mut text = serde_json::to_string(&said).unwrap_or_else(|_| "{}".to_owned());
    text.pop();
    let mut add = |key: &str, value: &JsonPayload| {
        text.push_str(&format!(",\"{key}\":{}", value.text()));
    };
    add("tool_input", &input.input);
    if let Some(decision) = &input.decision {
        add("decision", &JsonPayload::of(decision));
    }
    if let Some(outcome) = &input.outcome {
        add("tool_response", &response(outcome));
        add("tool_content", &JsonPayload::of(&outcome.content));
        if let Some(error) = &outcome.error {
            add("tool_error", &JsonPayload::of(error));
        }
    }
    text.push_str("}\n");
    text.into_bytes()
}

/// What the tool gave, in one value: its structured content, else its text.
fn response(outcome: &HookOutcome) -> JsonPayload {
    if let Some(structured) = &outcome.structured_content {
        return structured.clone();
    }
    let texts = outcome.content.iter().filter_map(ContentBlock::text);
    JsonPayload::of(&texts.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests;
