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

use opentelemetry::Context;
use opentelemetry::trace::{SpanKind, TraceContextExt as _};
use toolplane_records::vocabulary::{AbortReason, ErrorClass, InvocationStatus, ResultStatus};

use super::context::CarriedContext;
use super::semconv::{agenttool, gen_ai, general, messaging};
use super::span::{Attributes, Span};
use crate::config::observe::QueueParenting;

pub mod http;
pub mod mcp;
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

/// A span below that of the code that makes it.
fn below_current(kind: &SpanKind, name: &[&str], attributes: impl FnOnce(&mut Attributes<'_>)) -> Span {
    Context::map_current(|parent| Span::start(kind, parent, name, attributes))
}

/// The same for one that may be too slow.
fn timed_below_current(kind: &SpanKind, name: &[&str], attributes: impl FnOnce(&mut Attributes<'_>)) -> Span {
    Context::map_current(|parent| Span::start_timed(kind, parent, name, attributes))
}

/// `agenttool.invocation {tool}`: from acceptance to the terminal state. A child of the current span.
pub fn invocation(call: &CallFacts<'_>) -> Span {
    timed_below_current(&SpanKind::Internal, &["agenttool.invocation ", call.tool_name], |attributes| {
        attributes
            .text(gen_ai::TOOL_NAME, call.tool_name)
            .present(gen_ai::TOOL_CALL_ID, call.native_call_id)
            .text(agenttool::INVOCATION_ID, call.invocation_id)
            .present(agenttool::TOOL_ID, call.tool_id)
            .text(agenttool::TENANT, call.tenant);
    })
}

/// `send agenttool.invocations`: putting the call into the queue. Its context is what the queue entry carries.
pub fn enqueue(call: &CallFacts<'_>) -> Span {
    below_current(&SpanKind::Producer, &["send ", QUEUE], |attributes| {
        attributes
            .text(messaging::SYSTEM, "toolplane")
            .text(messaging::OPERATION_NAME, "send")
            .text(messaging::OPERATION_TYPE, "send")
            .text(messaging::DESTINATION_NAME, QUEUE)
            .text(messaging::MESSAGE_ID, call.invocation_id)
            .text(agenttool::INVOCATION_ID, call.invocation_id)
            .text(gen_ai::TOOL_NAME, call.tool_name);
    })
}

/// `process agenttool.invocations`: one attempt by a worker.
///
/// Always linked to the span that queued the call; also its child for a first attempt soon after, unless the
/// configuration says otherwise.
pub fn process(call: &CallFacts<'_>, attempt: &AttemptFacts<'_>) -> Span {
    let queued = attempt.queued_in.parent();
    let soon = attempt.attempt <= 1 && attempt.waited <= MAX_PARENTED_WAIT;
    let below = queued.as_ref().filter(|_| soon && attempt.parenting == QueueParenting::Parent);
    // Else no parent, because a worker's loop is no context of the call.
    let parent = below.cloned().unwrap_or_default();
    let span = Span::start_timed(&SpanKind::Consumer, &parent, &["process ", QUEUE], |attributes| {
        attributes
            .text(messaging::SYSTEM, "toolplane")
            .text(messaging::OPERATION_NAME, "process")
            .text(messaging::OPERATION_TYPE, "process")
            .text(messaging::DESTINATION_NAME, QUEUE)
            .text(messaging::MESSAGE_ID, call.invocation_id)
            .text(agenttool::INVOCATION_ID, call.invocation_id)
            .text(agenttool::TENANT, call.tenant)
            .number(agenttool::ATTEMPT, i64::from(attempt.attempt))
            .number(agenttool::QUEUE_WAIT_MS, i64::try_from(attempt.waited.as_millis()).unwrap_or(i64::MAX))
            .text(gen_ai::TOOL_NAME, call.tool_name);
    });
    if let Some(queued) = queued {
        span.link(queued.span().span_context());
    }
    span
}

/// `execute_tool {tool}`: the tool itself. Make it only when native execution starts: a refused call did not run.
pub fn execute_tool(call: &CallFacts<'_>) -> Span {
    timed_below_current(&SpanKind::Internal, &["execute_tool ", call.tool_name], |attributes| {
        attributes
            .text(gen_ai::OPERATION_NAME, "execute_tool")
            .text(gen_ai::TOOL_NAME, call.tool_name)
            .text(gen_ai::TOOL_TYPE, "function")
            .present(gen_ai::TOOL_CALL_ID, call.native_call_id)
            .text(agenttool::INVOCATION_ID, call.invocation_id)
            .present(agenttool::TOOL_ID, call.tool_id);
    })
}

/// `agenttool.post_hooks`: the hooks after a call, asked once its worker has reported. Below the span of the call as far as that
/// is known from its record.
pub fn post_hooks(call: &CallFacts<'_>, of_call: &CarriedContext) -> Span {
    // Else no parent, because a worker's stream is no context of the call.
    let parent = of_call.parent().unwrap_or_default();
    Span::start(&SpanKind::Internal, &parent, &["agenttool.post_hooks"], |attributes| {
        attributes
            .text(gen_ai::TOOL_NAME, call.tool_name)
            .text(agenttool::INVOCATION_ID, call.invocation_id)
            .text(agenttool::TENANT, call.tenant);
    })
}

/// Any other step of ours within a call, e.g. `agenttool.permission`.
pub fn step(name: &'static str, call: &CallFacts<'_>) -> Span {
    below_current(&SpanKind::Internal, &[name], |attributes| {
        attributes.text(agenttool::INVOCATION_ID, call.invocation_id).text(gen_ai::TOOL_NAME, call.tool_name);
    })
}

/// Records how the call ended on its invocation span, and ends the span.
pub fn end_invocation(span: &Span, ending: &CallEnding<'_>) {
    if span.is_disabled() {
        return;
    }
    span.set(agenttool::INVOCATION_STATUS, ending.status.as_str());
    span.set(agenttool::RESULT_STATUS, ending.result_status.as_str());
    if let Some(class) = ending.error_class {
        span.set(agenttool::ERROR_CLASS, class.as_str());
    }
    if !ending.error_code.is_empty() {
        span.set(agenttool::ERROR_CODE, ending.error_code);
    }
    if let Some(error_type) = fault(ending) {
        set_error(span, error_type);
    }
    span.end();
}

/// Records how the tool ended on its `execute_tool` or `process` span; `None` is success.
pub fn end_execution(span: &Span, error_class: Option<ErrorClass>) {
    if let Some(class) = error_class.filter(|_| !span.is_disabled()) {
        span.set(agenttool::ERROR_CLASS, class.as_str());
        // Being stopped by its user is not a fault of the tool.
        if !matches!(class, ErrorClass::Canceled | ErrorClass::PartialFailure) {
            set_error(span, class.as_str());
        }
    }
}

/// An event on a span, e.g. `agenttool.permission.requested`.
pub fn event(span: &Span, name: &'static str, attributes: &[(&'static str, &str)]) {
    span.event(name, attributes);
}

/// A late attribute, e.g. the size of a result. Never arguments or results: see [`content`].
pub fn attribute(span: &Span, key: &'static str, value: impl Into<opentelemetry::Value>) {
    if !span.is_disabled() {
        span.set_value(key, &value.into());
    }
}

/// Arguments or result of a tool, only when `telemetry.capture_content` is on.
pub fn content(span: &Span, capture: bool, key: &'static str, json: &str) {
    if capture {
        span.set(key, json);
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
    span.set(general::ERROR_TYPE, error_type);
    span.set_error();
}
