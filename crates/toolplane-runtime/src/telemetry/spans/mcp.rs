//! Spans of requests over MCP, as their server sees them.

use opentelemetry::Context;
use opentelemetry::trace::{SpanKind, TraceContextExt as _};

use crate::telemetry::context::CarriedContext;
use crate::telemetry::semconv::{gen_ai, general, mcp};
use crate::telemetry::span::Span;

/// What is known of a request when its span begins. A text that is empty is not recorded.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The method.
    pub method: &'a str,
    /// The tool it is about.
    pub target: &'a str,
    /// Its id, as text.
    pub request_id: &'a str,
    /// The version that is spoken.
    pub version: &'a str,
    /// The session it belongs to.
    pub session: &'a str,
    /// `tcp` or `pipe`.
    pub transport: &'a str,
}

/// SERVER span `{method} {tool}`. Its parent is the position the client put into the request (`traceparent`, `tracestate`), with a link
/// to the span that is there already; else that span.
pub fn server(facts: &Facts<'_>, traceparent: Option<&str>, tracestate: Option<&str>) -> Span {
    let carried = CarriedContext {
        traceparent: traceparent.unwrap_or_default().to_owned(),
        tracestate: tracestate.unwrap_or_default().to_owned(),
    };
    let said = carried.parent();
    let around = Context::current();
    let named = [facts.method, " ", facts.target];
    let name = if facts.target.is_empty() { &named[..1] } else { &named[..] };
    let span = Span::start(&SpanKind::Server, said.as_ref().unwrap_or(&around), name, |attributes| {
        attributes
            .text(mcp::METHOD_NAME, facts.method)
            .present(gen_ai::TOOL_NAME, facts.target)
            .present(mcp::REQUEST_ID, facts.request_id)
            .present(mcp::PROTOCOL_VERSION, facts.version)
            .present(mcp::SESSION_ID, facts.session)
            .present(mcp::TRANSPORT, facts.transport);
        if !facts.target.is_empty() {
            attributes.text(gen_ai::OPERATION_NAME, "execute_tool");
        }
    });
    if said.is_some() && around.span().span_context().is_valid() {
        span.link(around.span().span_context());
    }
    span
}

/// Records how a request was answered, and ends its span. Requests that were wrong are no fault of the server.
pub fn end_server(span: &Span, code: Option<i64>, tool_error: bool) {
    if span.is_disabled() {
        return;
    }
    if let Some(code) = code {
        let text = code.to_string();
        span.set(mcp::STATUS_CODE, &text);
        span.set(general::ERROR_TYPE, &text);
        if !matches!(code, -32_700 | -32_602..=-32_600 | -32_002) {
            span.set_error();
        }
    } else if tool_error {
        span.set(general::ERROR_TYPE, mcp::TOOL_ERROR);
        span.set_error();
    }
    span.end();
}
