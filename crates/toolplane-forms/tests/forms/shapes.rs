//! What each protocol demands of its form, whatever the call: fields that must be there, and words it knows.

use serde_json::Value;
use toolplane_forms::{FormedBody, Reader, Story, View, of_call, of_ending, of_event};

use crate::samples::all;

/// Every message of a form: of the calls, and of their streams.
fn every(view: View) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for sample in all() {
        let story = sample.story();
        let streamed = sample.events.iter().filter_map(|event| of_event(view, &story, event));
        let ended = sample.result.iter().flat_map(|result| of_ending(view, &story, result));
        for formed in of_call(view, &story).into_iter().chain(streamed).chain(ended) {
            let FormedBody::Json(json) = formed.body else { continue };
            found.push((sample.name.to_owned(), serde_json::from_str(json.text()).unwrap()));
        }
    }
    assert!(!found.is_empty());
    found
}

fn is_in(value: &Value, words: &[&str]) -> bool {
    value.as_str().is_some_and(|word| words.contains(&word))
}

const KINDS: &[&str] =
    &["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"];
const STATES: &[&str] = &["pending", "in_progress", "completed", "failed"];

#[test]
fn updates_of_acp_are_of_its_schema() {
    for (name, message) in every(View::Acp).into_iter().chain(every(View::AcpTerminal)) {
        let update = &message["params"]["update"];
        assert_eq!((&message["jsonrpc"], &message["method"]), (&"2.0".into(), &"session/update".into()));
        assert_eq!((&message["params"]["sessionId"], &update["toolCallId"]), (&"sess_1".into(), &"call_7".into()));
        match update["sessionUpdate"].as_str() {
            Some("tool_call") => {
                assert!(update["title"].is_string() && is_in(&update["kind"], KINDS), "{name}: {update}");
                assert!(is_in(&update["status"], STATES), "{name}: {update}");
            }
            Some("tool_call_update") => assert!(is_in(&update["status"], STATES), "{name}: {update}"),
            other => panic!("{name}: {other:?}"),
        }
        let places = update["locations"].as_array().cloned().unwrap_or_default();
        assert!(places.iter().all(|place| place["path"].as_str().unwrap().starts_with("/home/ann/project/")));
        for content in update["content"].as_array().into_iter().flatten() {
            match content["type"].as_str() {
                Some("content") => {
                    let kinds = ["text", "image", "audio", "resource_link", "resource"];
                    assert!(is_in(&content["content"]["type"], &kinds), "{name}: {content}");
                }
                Some("diff") => {
                    assert!(content["path"].as_str().unwrap().starts_with('/') && content["newText"].is_string());
                    assert!(content["oldText"].is_string() || content["oldText"].is_null());
                }
                Some("terminal") => assert_eq!(content["terminalId"], "call_7"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

#[test]
fn tasks_of_a2a_are_of_its_schema() {
    const STATES: &[&str] = &[
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
        "TASK_STATE_FAILED",
        "TASK_STATE_CANCELED",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_REJECTED",
    ];
    for (name, message) in every(View::A2a) {
        let task = message.get("task").unwrap_or(&message);
        if let Some(update) = message.get("artifactUpdate") {
            assert!(update["taskId"].is_string() && update["contextId"].is_string(), "{name}: {update}");
            assert!(update["artifact"]["artifactId"].is_string() && update["artifact"]["parts"].is_array());
        } else if let Some(update) = message.get("statusUpdate") {
            assert!(update["taskId"].is_string() && is_in(&update["status"]["state"], STATES), "{name}: {update}");
        } else {
            assert!(task["id"].is_string() && is_in(&task["status"]["state"], STATES), "{name}: {task}");
        }
        let said = message.pointer("/statusUpdate/status/message").or_else(|| message.pointer("/status/message"));
        if let Some(said) = said {
            assert!(said["messageId"].is_string() && said["role"] == "ROLE_AGENT" && said["parts"].is_array());
        }
    }
}

#[test]
fn a_task_of_a_peer_has_the_names_the_peer_gave_it() {
    let samples = all();
    let story = samples[0].story();
    let mut call = story.call.clone();
    call.native_ids.a2a_task_id = "task-9".into();
    call.native_ids.a2a_context_id = "ctx-3".into();
    call.native_ids.a2a_message_id = "msg-1".into();
    let told = |session| {
        let story = Story { call: &call, reader: Reader { session, ..Reader::default() }, ..story };
        match of_call(View::A2a, &story).map(|formed| formed.body) {
            Some(FormedBody::Json(json)) => serde_json::from_str::<Value>(json.text()).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let task = told(None);
    assert_eq!((&task["id"], &task["contextId"]), (&"task-9".into(), &"ctx-3".into()));
    assert_eq!(task["metadata"]["toolplane/invocation_id"], call.invocation_id.as_str());
    assert_eq!(task["metadata"]["toolplane/message_id"], "msg-1");
    assert_eq!(told(Some("mine"))["contextId"], "mine", "what the reader says counts first");
}

#[test]
fn cloudevents_have_what_they_must_have() {
    for (name, message) in every(View::CloudEvents) {
        let events = message.as_array().cloned().unwrap_or_else(|| vec![message]);
        for event in events {
            assert_eq!(event["specversion"], "1.0", "{name}");
            for field in ["id", "source", "type", "time", "sequence"] {
                assert!(event[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: {field}");
            }
            let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
            assert!(event.as_object().unwrap().keys().all(plain), "names of attributes are lower case: {event}");
        }
    }
}

#[test]
fn answers_to_models_are_of_their_schemas() {
    for (name, item) in every(View::OpenAiResponses) {
        assert_eq!((&item["type"], &item["call_id"]), (&"function_call_output".into(), &"call_7".into()), "{name}");
        assert!(item["output"].is_string() || item["output"].as_array().is_some_and(|parts| !parts.is_empty()));
    }
    for (name, message) in every(View::OpenAiChat) {
        assert!(message["role"] == "tool" && message["content"].is_string(), "{name}: {message}");
    }
    for (name, block) in every(View::Anthropic) {
        assert_eq!((&block["type"], &block["tool_use_id"]), (&"tool_result".into(), &"call_7".into()), "{name}");
        let empty = |text: &Value| text.as_str().is_some_and(str::is_empty);
        assert!(!empty(&block["content"]) && !block["content"].is_null(), "{name}: an empty text is refused");
    }
    for (name, part) in every(View::Gemini) {
        let answer = &part["functionResponse"];
        assert!(answer["name"].is_string() && answer["response"].is_object(), "{name}: {part}");
        let keys: Vec<&String> = answer["response"].as_object().unwrap().keys().collect();
        assert!(keys == ["output"] || keys == ["error"], "{name}: {keys:?}");
    }
}

#[test]
fn tool_results_are_of_their_contract() {
    for (name, result) in every(View::ToolResult) {
        let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["status", "data", "warnings", "error", "meta"], "{name}");
        assert!(is_in(&result["status"], &["ok", "degraded", "empty", "error"]), "{name}");
        assert!(result["data"].is_object() && result["warnings"].is_array() && result["meta"].is_object(), "{name}");
        assert_eq!(result["status"] == "error", !result["error"].is_null(), "{name}: an error says what it is");
        if let Some(error) = result["error"].as_object() {
            let code: Vec<&str> = error["code"].as_str().unwrap().split('.').collect();
            assert!(code.len() == 4 && code[0] == "tool" && code.iter().all(|part| !part.is_empty()), "{code:?}");
            assert!(error["can_retry"].is_boolean() && error["next_steps"].is_array(), "{name}");
        }
    }
    let status = |name: &str| {
        let found = every(View::ToolResult).into_iter().find(|(sample, _)| sample == name).unwrap();
        found.1["status"].as_str().unwrap().to_owned()
    };
    let found = ["success", "partial", "large", "empty", "denied"].map(status);
    assert_eq!(found, ["ok", "degraded", "degraded", "empty", "error"]);
}
