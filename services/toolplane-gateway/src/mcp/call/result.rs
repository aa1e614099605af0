//! The terminal result of a call as the result of `tools/call`.

use bytes::Bytes;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_records::codes::Code;

use super::begin::LET_GO;
use super::content::{self, Part};
use super::follow::Begun;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::resources;

/// Largest structured content that is sent along.
const STRUCTURED: u64 = 1 << 20;
/// Most bytes of contents that are sent along with one result, before they are coded.
const ALL: u64 = 3 << 20;

/// What a client is answered to a call that has ended. Fails where the protocol wants an error: there is no such tool.
pub(crate) async fn reply(x: &Exchange, begun: &Begun, result: &v1::ToolResult) -> Result<Reply, Fault> {
    let id = result.invocation_id.as_str();
    if result.error.as_ref().is_some_and(|error| error.error_class_code() == v1::ErrorClass::UnknownTool) {
        let message = result.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
        let told = json!({ "invocation_id": id, "code": result.error.as_ref().map(|error| &error.error_code) });
        return Err(Fault::params(message).with(told));
    }
    if result.status_code() == v1::ResultStatus::Canceled && was_let_go(x, id).await {
        // Nobody waits for this answer; where it is sent all the same, it says so.
        return Err(Fault::new(crate::mcp::fault::INTERNAL, LET_GO));
    }
    let mut contents = Vec::new();
    let mut left = ALL;
    for part in content::parts(id, result.content.clone()) {
        match part {
            Part::Ready(told) => contents.push(told),
            Part::Kept(kept, address) if kept.size_bytes <= left => {
                left -= kept.size_bytes;
                contents.push(
                    match resources::whole(&x.upstream, id, Selector::Uri(kept.uri.clone()), kept.size_bytes).await {
                        Ok(bytes) => content::enclosed(id, &kept, address.as_deref(), &bytes),
                        // It may be gone by now, by its retention.
                        Err(_) => content::link_to(id, &kept),
                    },
                );
            }
            Part::Kept(kept, _) => contents.push(content::link_to(id, &kept)),
            Part::Nothing => {}
        }
    }
    if let Some(error) = &result.error {
        let said =
            contents.iter().filter_map(|content| content["text"].as_str()).any(|text| text.contains(&error.message));
        contents.push(json!({ "type": "text", "text": explained(error, said) }));
    }
    let structured = structured(x, id, result).await;
    if let Some(structured) = &structured
        && !contents.iter().any(|content| content["type"] == "text")
    {
        contents.push(json!({ "type": "text", "text": structured }));
    }
    let mut reply = Reply::new().value("content", &contents);
    // Until 2025-11-25 it is an object or nothing.
    if let Some(structured) =
        structured.filter(|json| x.client.version.has_any_output() || json.trim_start().starts_with('{'))
    {
        reply = reply.raw("structuredContent", &structured);
    }
    Ok(facts(reply.value("isError", &result.is_error), begun, result))
}

/// Facts of the call beside its result.
fn facts(reply: Reply, begun: &Begun, result: &v1::ToolResult) -> Reply {
    let mut reply =
        reply.meta("toolplane/invocation_id", &result.invocation_id).meta("toolplane/status", &result.status);
    if let Some(error) = &result.error {
        let mut told =
            json!({ "code": error.error_code, "class": error.error_class, "recoverability": error.recoverability });
        if let Some(wait) = error.retry_after_ms {
            told["retry_after_ms"] = wait.into();
        }
        if let Some(effects) = &error.side_effects {
            told["side_effects"] = effects.as_str().into();
        }
        reply = reply.meta("toolplane/error", &told);
    }
    if !result.policy_refs.is_empty() {
        reply = reply.meta("toolplane/policy_refs", &result.policy_refs);
    }
    if begun.id != result.invocation_id {
        reply = reply.meta("toolplane/asked_for", &begun.id);
    }
    reply
}

/// What went wrong, in words a model can act on. What the contents have `said` already is not said again.
fn explained(error: &v1::ToolError, said: bool) -> String {
    let mut text = if said { error.error_code.clone() } else { format!("{}: {}", error.error_code, error.message) };
    for violation in &error.field_violations {
        if !error.message.contains(&violation.description) {
            text.push_str(&format!("\n`{}` {}", violation.field, violation.description));
        }
    }
    if let Some(code) = Code::find(&error.error_code) {
        text.push_str(&format!("\nWhat to do: {}", code.entry().cure));
    }
    text
}

/// The structured content as exact JSON.
async fn structured(x: &Exchange, id: &str, result: &v1::ToolResult) -> Option<String> {
    let payload = result.structured_content.as_ref()?;
    let bytes: Bytes = match payload.body.as_ref()? {
        Body::Inline(bytes) => bytes.clone(),
        Body::Ref(_) if payload.size_bytes > STRUCTURED => return None,
        Body::Ref(uri) => {
            resources::whole(&x.upstream, id, Selector::Uri(uri.clone()), payload.size_bytes).await.ok()?
        }
    };
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(&text).ok()?;
    Some(text)
}

/// Whether a call was canceled because this client let go of it.
async fn was_let_go(x: &Exchange, id: &str) -> bool {
    let request = v1::GetInvocationRequest { invocation_id: id.to_owned(), ..Default::default() };
    let found = x.upstream.invocations().get_invocation(request).await;
    let call = found.ok().and_then(|found| found.into_inner().invocation);
    call.and_then(|call| call.cancel).is_some_and(|cancel| cancel.message == LET_GO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_to_do() {
        let error = v1::ToolError {
            error_code: "surface.unknown_tool".to_owned(),
            message: "no such tool".to_owned(),
            field_violations: vec![v1::FieldViolation {
                field: "/a".to_owned(),
                description: "is required".to_owned(),
            }],
            ..Default::default()
        };
        assert!(explained(&error, true).starts_with("surface.unknown_tool\n"));
        let text = explained(&error, false);
        assert!(text.starts_with("surface.unknown_tool: no such tool\n`/a` is required\nWhat to do: "), "{text}");
    }
}
