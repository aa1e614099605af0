//! The terminal result of a call as the result of `tools/call`.

use bytes::Bytes;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::read_payload_request::Selector;

use super::begin::LET_GO;
use super::content::{self, Part};
use super::follow::Begun;
use super::remedy;
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
        return Err(Fault::params(format!("{message} (`tool_search` finds tools)")).with(told));
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
        let said = |what: &str| contents.iter().filter_map(|one| one["text"].as_str()).any(|text| text.contains(what));
        let explained = explained(error, said);
        if !explained.is_empty() {
            contents.push(json!({ "type": "text", "text": explained }));
        }
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
fn explained(error: &v1::ToolError, said: impl Fn(&str) -> bool) -> String {
    let code = Some(&error.error_code).filter(|code| !said(code) && !error.message.contains(code.as_str()));
    let message = Some(&error.message).filter(|message| !said(message));
    let first: Vec<&str> = [code, message].into_iter().flatten().map(String::as_str).collect();
    let mut lines = if first.is_empty() { Vec::new() } else { vec![first.join(": ")] };
    for violation in &error.field_violations {
        if !error.message.contains(&violation.description) {
            lines.push(format!("`{}` {}", violation.field, violation.description));
        }
    }
    lines.extend(remedy::of(error).map(|what| format!("What to do: {what}")));
    lines.join("\n")
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
        let text = explained(&error, |_| false);
        assert!(text.starts_with("surface.unknown_tool: no such tool\n`/a` is required\nWhat to do: "), "{text}");
    }

    #[test]
    fn nothing_is_said_twice() {
        let error = |message: &str| v1::ToolError {
            error_code: "exec.timeout".to_owned(),
            message: message.to_owned(),
            ..Default::default()
        };
        let first = |error: &v1::ToolError, contents: &str| {
            let text = explained(error, |what| contents.contains(what));
            text.lines().next().unwrap_or_default().to_owned()
        };
        // The contents of a failure that has no others are its message and its code.
        assert!(first(&error("no page"), "no page [exec.timeout]").starts_with("What to do: "));
        assert_eq!(first(&error("no page"), "no page, and what the tool wrote"), "exec.timeout");
        assert_eq!(first(&error("no page"), "something else"), "exec.timeout: no page");
        assert_eq!(first(&error("no page [exec.timeout]"), ""), "no page [exec.timeout]");
    }
}
