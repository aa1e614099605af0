//! The span tree of a call, each span with the names and the status rules of its convention.
//!
//! ```text
//! SERVER   toolplane.v1.InvocationService/Invoke
//! └─ INTERNAL agenttool.invocation {tool}
//!    ├─ PRODUCER send agenttool.invocations
//!    ├─ INTERNAL agenttool.post_hooks                             only where hooks are asked about the ending
//!    └─ (parent or link) CONSUMER process agenttool.invocations     one per attempt
//!         └─ INTERNAL execute_tool {tool}                           only when the tool really starts
//! ```
//!
//! A correct refusal is not a fault: denied, rejected and user-canceled calls leave their span's status unset.

use std::time::Duration;

use opentelemetry::trace::{Status, TraceContextExt};
use opentelemetry::{Context, KeyValue};
use toolplane_records::vocabulary::{AbortReason, ErrorClass, InvocationStatus, ResultStatus};
use tracing::{Level, Span, span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::context::CarriedContext;
use super::semconv::{agenttool, gen_ai, general, messaging};
use super::target::SPAN_TARGET;
use crate::config::observe::QueueParenting;

pub mod rpc;

/// Name of the queue in spans.
pub const QUEUE: &str = "agenttool.invocations";
/// Work that waited longer than this is only linked, so that traces stay bounded.
pub const MAX_PARENTED_WAIT: Duration = Duration::from_secs(15 * 60);

/// What the spans of one call share.
#[derive(Clone, Copy, Debug)]
pub struct CallFacts<'a> {
    /// The call.
    pub invocation_id: &'a str,
    /// Name of the tool, as called.
    pub tool_name: &'a str,
    /// The tool's id; empty while it is not resolved.
    pub tool_id: &'a str,
    /// The tenant.
    pub tenant: &'a str,
    /// The model's own id of the call; empty when it gave none.
    pub native_call_id: &'a str,
}

/// How a call ended, as far as its spans care.
#[derive(Clone, Copy, Debug)]
pub struct CallEnding<'a> {
    /// Terminal status of the call.
    pub status: InvocationStatus,
    /// Status of its result.
    pub result_status: ResultStatus,
    /// Class of its error, if it has one.
    pub error_class: Option<ErrorClass>,
    /// Finer code of its error; empty when it has none.
    pub error_code: &'a str,
    /// Why it was aborted, if it was.
    pub abort_reason: Option<AbortReason>,
}

/// One attempt at a queued call.
#[derive(Clone, Copy, Debug)]
pub struct AttemptFacts<'a> {
    /// Counted from 1.
    pub attempt: u32,
    /// Time since the call was queued.
    pub waited: Duration,
    /// The context written when it was queued.
    pub queued_in: &'a CarriedContext,
    /// What the configuration wants.
    pub parenting: QueueParenting,
}

/// `agenttool.invocation {tool}`: from acceptance to the terminal state. A child of the current span.
pub fn invocation(call: &CallFacts<'_>) -> Span {
    span!(
        target: SPAN_TARGET,
        Level::INFO,
        "agenttool.invocation",
        otel.name = %format_args!("agenttool.invocation {}", call.tool_name),
        otel.kind = "internal",
        { gen_ai::TOOL_NAME } = call.tool_name,
        { gen_ai::TOOL_CALL_ID } = present(call.native_call_id),
        { agenttool::INVOCATION_ID } = call.invocation_id,
        { agenttool::TOOL_ID } = present(call.tool_id),
        { agenttool::TENANT } = call.tenant,
    )
}

/// `send agenttool.invocations`: putting the call into the queue. Its context is what the queue entry carries.
pub fn enqueue(call: &CallFacts<'_>) -> Span {
    span!(
        target: SPAN_TARGET,
        Level::INFO,
        "send",
        otel.name = %format_args!("send {QUEUE}"),
        otel.kind = "producer",
        { messaging::SYSTEM } = "toolplane",
        { messaging::OPERATION_NAME } = "send",
        { messaging::OPERATION_TYPE } = "send",
        { messaging::DESTINATION_NAME } = QUEUE,
        { messaging::MESSAGE_ID } = call.invocation_id,
        { agenttool::INVOCATION_ID } = call.invocation_id,
        { gen_ai::TOOL_NAME } = call.tool_name,
    )
}

/// `process agenttool.invocations`: one attempt by a worker.
///
/// Always linked to the span that queued the call; also its child for a first attempt soon after, unless the
/// configuration says otherwise.
pub fn process(call: &CallFacts<'_>, attempt: &AttemptFacts<'_>) -> Span {
    // `parent: None` because a worker's loop is no context of the call.
    let span = span!(
        target: SPAN_TARGET,
        parent: None,
        Level::INFO,
        "process",
        otel.name = %format_args!("process {QUEUE}"),
        otel.kind = "consumer",
        { messaging::SYSTEM } = "toolplane",
        { messaging::OPERATION_NAME } = "process",
        { messaging::OPERATION_TYPE } = "process",
        { messaging::DESTINATION_NAME } = QUEUE,
        { messaging::MESSAGE_ID } = call.invocation_id,
        { agenttool::INVOCATION_ID } = call.invocation_id,
        { agenttool::TENANT } = call.tenant,
        { agenttool::ATTEMPT } = i64::from(attempt.attempt),
        { agenttool::QUEUE_WAIT_MS } = i64::try_from(attempt.waited.as_millis()).unwrap_or(i64::MAX),
        { gen_ai::TOOL_NAME } = call.tool_name,
    );
    if span.is_disabled() {
        return span;
    }
    if let Some(parent) = attempt.queued_in.parent() {
        span.add_link(parent.span().span_context().clone());
        let soon = attempt.attempt <= 1 && attempt.waited <= MAX_PARENTED_WAIT;
        if soon && attempt.parenting == QueueParenting::Parent {
            set_parent(&span, parent);
        }
    }
    span
}

/// `execute_tool {tool}`: the tool itself. Make it only when native execution starts: a refused call did not run.
pub fn execute_tool(call: &CallFacts<'_>) -> Span {
    span!(
        target: SPAN_TARGET,
        Level::INFO,
        "execute_tool",
        otel.name = %format_args!("execute_tool {}", call.tool_name),
        otel.kind = "internal",
        { gen_ai::OPERATION_NAME } = "execute_tool",
        { gen_ai::TOOL_NAME } = call.tool_name,
        { gen_ai::TOOL_TYPE } = "function",
        { gen_ai::TOOL_CALL_ID } = present(call.native_call_id),
        { agenttool::INVOCATION_ID } = call.invocation_id,
        { agenttool::TOOL_ID } = present(call.tool_id),
    )
}

/// `agenttool.post_hooks`: the hooks after a call, asked once its worker has reported. Below the span of the call as far as that
/// is known from its record.
pub fn post_hooks(call: &CallFacts<'_>, of_call: &CarriedContext) -> Span {
    // `parent: None` because a worker's stream is no context of the call.
    let span = span!(
        target: SPAN_TARGET,
        parent: None,
        Level::INFO,
        "agenttool.post_hooks",
        otel.kind = "internal",
        { gen_ai::TOOL_NAME } = call.tool_name,
        { agenttool::INVOCATION_ID } = call.invocation_id,
        { agenttool::TENANT } = call.tenant,
    );
    if let Some(parent) = of_call.parent().filter(|_| !span.is_disabled()) {
        set_parent(&span, parent);
    }
    span
}

/// Any other step of ours within a call, e.g. `agenttool.permission`.
pub fn step(name: &'static str, call: &CallFacts<'_>) -> Span {
    span!(
        target: SPAN_TARGET,
        Level::INFO,
        "step",
        otel.name = name,
        otel.kind = "internal",
        { agenttool::INVOCATION_ID } = call.invocation_id,
        { gen_ai::TOOL_NAME } = call.tool_name,
    )
}

/// Records how the call ended on its invocation span.
pub fn end_invocation(span: &Span, ending: &CallEnding<'_>) {
    if span.is_disabled() {
        return;
    }
    span.set_attribute(agenttool::INVOCATION_STATUS, ending.status.as_str());
    span.set_attribute(agenttool::RESULT_STATUS, ending.result_status.as_str());
    if let Some(class) = ending.error_class {
        span.set_attribute(agenttool::ERROR_CLASS, class.as_str());
    }
    if !ending.error_code.is_empty() {
        span.set_attribute(agenttool::ERROR_CODE, ending.error_code.to_owned());
    }
    if let Some(error_type) = fault(ending) {
        set_error(span, error_type);
    }
}

/// Records how the tool ended on its `execute_tool` or `process` span; `None` is success.
pub fn end_execution(span: &Span, error_class: Option<ErrorClass>) {
    if let Some(class) = error_class.filter(|_| !span.is_disabled()) {
        span.set_attribute(agenttool::ERROR_CLASS, class.as_str());
        // Being stopped by its user is not a fault of the tool.
        if !matches!(class, ErrorClass::Canceled | ErrorClass::PartialFailure) {
            set_error(span, class.as_str());
        }
    }
}

/// An event on a span, e.g. `agenttool.permission.requested`.
pub fn event(span: &Span, name: &'static str, attributes: &[(&'static str, &str)]) {
    if !span.is_disabled() {
        let attributes = attributes.iter().map(|(key, value)| KeyValue::new(*key, (*value).to_owned())).collect();
        span.add_event(name, attributes);
    }
}

/// A late attribute, e.g. the size of a result. Never arguments or results: see [`content`].
pub fn attribute(span: &Span, key: &'static str, value: impl Into<opentelemetry::Value>) {
    if !span.is_disabled() {
        span.set_attribute(key, value);
    }
}

/// Arguments or result of a tool, only when `telemetry.capture_content` is on.
pub fn content(span: &Span, capture: bool, key: &'static str, json: &str) {
    if capture && !span.is_disabled() {
        span.set_attribute(key, json.to_owned());
    }
}

/// The `error.type` of an ending that is a fault; `None` for success and correct refusals.
fn fault(ending: &CallEnding<'_>) -> Option<&'static str> {
    let class = ending.error_class.map_or(general::OTHER, ErrorClass::as_str);
    match ending.status {
        InvocationStatus::TimedOut => Some(ErrorClass::Timeout.as_str()),
        InvocationStatus::Failed => match ending.result_status {
            ResultStatus::Redacted | ResultStatus::TooLarge => None,
            _ => Some(class),
        },
        InvocationStatus::Blocked => match ending.error_class {
            Some(ErrorClass::SetupRequired | ErrorClass::CredentialMissing) => Some(class),
            _ => None,
        },
        InvocationStatus::Canceled => match ending.abort_reason {
            Some(AbortReason::RuntimeShutdown) => Some(class),
            _ => None,
        },
        _ => None,
    }
}

pub(crate) fn set_error(span: &Span, error_type: &'static str) {
    span.set_attribute(general::ERROR_TYPE, error_type);
    span.set_status(Status::error(""));
}

pub(crate) fn set_parent(span: &Span, parent: Context) {
    // The only failures are a disabled span (nothing to do) and a started one (ours are new).
    let _ = span.set_parent(parent);
}

fn present(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
