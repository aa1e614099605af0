//! The terminal result of a call as the result of `tools/call`.

use bytes::Bytes;
use serde_json::json;
use toolplane_forms::mcp::{CallToolResult, Door};
use toolplane_forms::{Kept, View, wanted};
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_records::result::ToolResult;

use super::begin::LET_GO;
use super::follow::Begun;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::resources;
use crate::mcp::tools::door;

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
        let message = match door(x).await {
            Door::Finding => format!("{message} (`tool_search` finds tools)"),
            Door::Listing => message,
        };
        return Err(Fault::params(message).with(told));
    }
    if result.status_code() == v1::ResultStatus::Canceled && was_let_go(x, id).await {
        // Nobody waits for this answer; where it is sent all the same, it says so.
        return Err(Fault::new(crate::mcp::fault::INTERNAL, LET_GO));
    }
    let record = record(x, result.clone()).await?;
    let mut kept = Kept::default();
    for payload in wanted(View::Mcp, &record, ALL) {
        let selector = Selector::Uri(payload.uri.to_string());
        // It may be gone by now, by its retention: then a link is left.
        if let Ok(bytes) = resources::whole(&x.upstream, id, selector, payload.size_bytes).await {
            kept.add(payload, bytes);
        }
    }
    let door = if record.error.is_some() { door(x).await } else { Door::Listing };
    let told = CallToolResult::of(&record, &kept, door);
    let mut reply = Reply::new().raw("content", &toolplane_forms::object::array(&told.content));
    // Until 2025-11-25 it is an object or nothing.
    let fits = |json: &&str| x.client.version.has_any_output() || json.trim_start().starts_with('{');
    if let Some(structured) = told.structured.as_ref().map(|structured| structured.text()).filter(fits) {
        reply = reply.raw("structuredContent", structured);
    }
    reply = reply.value("isError", &told.is_error);
    for (name, value) in &told.facts {
        reply = reply.meta(name, value);
    }
    if begun.id != result.invocation_id {
        reply = reply.meta("toolplane/asked_for", &begun.id);
    }
    Ok(reply)
}

/// The result as a record, with its structured content where that is not too large.
async fn record(x: &Exchange, mut result: v1::ToolResult) -> Result<ToolResult, Fault> {
    let structured = result.structured_content.take();
    if let Some(bytes) = structured_bytes(x, &result.invocation_id, structured).await {
        result.structured_content = Some(v1::JsonPayload { body: Some(Body::Inline(bytes)), ..Default::default() });
    }
    ToolResult::try_from(result).map_err(|wrong| {
        Fault::new(crate::mcp::fault::INTERNAL, format!("the result of the call cannot be read: {wrong}"))
    })
}

/// The structured content as exact JSON; nothing where it is too large, or cannot be read.
async fn structured_bytes(x: &Exchange, id: &str, payload: Option<v1::JsonPayload>) -> Option<Bytes> {
    let payload = payload?;
    let bytes = match payload.body? {
        Body::Inline(bytes) => bytes,
        Body::Ref(_) if payload.size_bytes > STRUCTURED => return None,
        Body::Ref(uri) => resources::whole(&x.upstream, id, Selector::Uri(uri), payload.size_bytes).await.ok()?,
    };
    serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).ok()?;
    Some(bytes)
}

/// Whether a call was canceled because this client let go of it.
async fn was_let_go(x: &Exchange, id: &str) -> bool {
    let request = v1::GetInvocationRequest { invocation_id: id.to_owned(), ..Default::default() };
    let found = x.upstream.invocations().get_invocation(request).await;
    let call = found.ok().and_then(|found| found.into_inner().invocation);
    call.and_then(|call| call.cancel).is_some_and(|cancel| cancel.message == LET_GO)
}
