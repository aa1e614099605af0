//! Forms read into types that know every field and no other, and written again: to the byte what they were.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolplane_forms::mcp::{self, GivenContent};
use toolplane_forms::{FormedBody, Reader, View, acp, of_call};
use toolplane_records::approval::ApprovalOption;
use toolplane_records::payload::JsonPayload;

use crate::samples::{all, approval};

fn back<T: DeserializeOwned + Serialize>(name: &str, text: &str) -> T {
    let read: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error} in {text}"));
    assert_eq!(serde_json::to_string(&read).unwrap(), text, "{name}");
    read
}

/// Every result in the form.
fn told(view: View) -> Vec<(&'static str, String)> {
    let text = |body| match body {
        FormedBody::Json(json) => json.text().to_owned(),
        FormedBody::Bytes(_) => panic!("no JSON"),
    };
    let ended = all().into_iter().filter(|sample| sample.result.is_some());
    ended.map(|sample| (sample.name, text(of_call(view, &sample.story()).unwrap().body))).collect()
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    status: String,
    data: JsonPayload,
    warnings: Vec<String>,
    error: Option<Failure>,
    meta: Meta,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    recovery_suggestion: String,
    next_steps: Vec<String>,
    can_retry: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u64>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    cache_hit: bool,
    input_fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_fingerprint: Option<String>,
    redaction_applied: bool,
    tool: String,
    invocation_id: String,
    attempt: u32,
}

#[test]
fn a_tool_result() {
    for (name, text) in told(View::ToolResult) {
        let read: Contract = back(name, &text);
        assert_eq!(read.error.is_some(), read.status == "error", "{name}");
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CallToolResult {
    content: Vec<JsonPayload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<JsonPayload>,
    is_error: bool,
    #[serde(rename = "_meta")]
    meta: JsonPayload,
}

/// What clients read of a content, beside its facts, is all that was written in it.
fn written(content: &GivenContent) -> Vec<(&str, &str)> {
    match content {
        GivenContent::Text { text } => vec![("text", text)],
        GivenContent::Image { data, mime_type } | GivenContent::Audio { data, mime_type } => {
            vec![("data", data), ("mimeType", mime_type)]
        }
        GivenContent::ResourceLink { uri, name } => vec![("uri", uri), ("name", name)],
        GivenContent::Resource { resource } => {
            let body = [("text", resource.text.as_deref()), ("blob", resource.blob.as_deref())];
            let there = body.into_iter().filter_map(|(key, text)| Some((key, text?)));
            [("uri", resource.uri.as_str()), ("mimeType", resource.mime_type.as_str())]
                .into_iter()
                .chain(there)
                .collect()
        }
    }
}

#[test]
fn a_result_of_mcp() {
    for (name, text) in told(View::Mcp) {
        let (whole, given): (CallToolResult, _) = (back(name, &text), mcp::read(&text).unwrap());
        assert_eq!((whole.is_error, whole.structured_content), (given.is_error, given.structured_content), "{name}");
        assert_eq!(whole.content.len(), given.content.len(), "{name}");
        for (content, given) in whole.content.iter().zip(&given.content) {
            let value: serde_json::Value = serde_json::from_str(content.text()).unwrap();
            let inner = value.get("resource").unwrap_or(&value);
            for (key, text) in written(given) {
                assert_eq!(inner[key], text, "{name}: {key} of {value}");
            }
        }
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    jsonrpc: String,
    id: String,
    method: String,
    params: Params,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Params {
    session_id: String,
    tool_call: JsonPayload,
    options: Vec<Offered>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Offered {
    option_id: String,
    name: String,
    kind: String,
}

/// What a client of ACP answers.
#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'a str,
    id: &'a str,
    result: Chosen<'a>,
}

#[derive(Serialize)]
struct Chosen<'a> {
    outcome: Selected<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Selected<'a> {
    outcome: &'a str,
    option_id: &'a str,
}

/// A client reads the question, and each answer it can give to it is the option it means.
#[test]
fn a_question_and_each_of_its_answers() {
    let approval = approval();
    let asked: Asked = back("question", &acp::request(&approval, Reader::default()).json());
    assert_eq!(asked.params.options.len(), approval.options.len());
    for (offered, meant) in asked.params.options.iter().zip(&approval.options) {
        let outcome = Selected { outcome: "selected", option_id: &offered.option_id };
        let answer = Answer { jsonrpc: &asked.jsonrpc, id: &asked.id, result: Chosen { outcome } };
        let outcome = acp::Outcome::read(&serde_json::to_string(&answer).unwrap()).unwrap();
        let chosen: &ApprovalOption = acp::answer(&approval, &outcome).unwrap();
        assert_eq!((chosen, meant.name.as_str(), meant.kind.as_str()), (meant, &*offered.name, &*offered.kind));
    }
}
