//! The spans of one call on the scheduler's side.

use toolplane_records::refs::TelemetryRef;
use toolplane_records::result::ToolResult;
use toolplane_records::vocabulary::{InvocationStatus, QueueState, ResultStatus};
use toolplane_runtime::telemetry::{CarriedContext, Span, semconv, spans, telemetry_ref};

use crate::calls::Admission;
use crate::intake::CallSpec;

/// The `agenttool.invocation` span of one call. It ends with the call while the caller waits, else with the acceptance.
#[derive(Debug)]
pub(crate) struct CallTrace {
    span: Span,
}

impl CallTrace {
    pub(crate) fn start(spec: &CallSpec) -> Self {
        Self { span: spans::invocation(&facts(spec)) }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Where the call is in its trace, for its record.
    pub(crate) fn telemetry_refs(&self) -> Vec<TelemetryRef> {
        self.span.in_scope(telemetry_ref).into_iter().collect()
    }

    /// The span of queueing the call, whose context the worker continues; no span for a call that was refused.
    pub(crate) fn send(&self, spec: &CallSpec, admission: &mut Admission) -> Span {
        if admission.transition.invocation.queue_state != Some(QueueState::Queued) {
            return self.span.clone();
        }
        let (send, carried) = self.span.in_scope(|| {
            let send = spans::enqueue(&facts(spec));
            let carried = if send.is_disabled() { CarriedContext::current() } else { CarriedContext::of_span(&send) };
            (send, carried)
        });
        admission.traceparent = (!carried.traceparent.is_empty()).then_some(carried.traceparent);
        send
    }

    /// Records that nobody was asked about the call, because an earlier decision stands for it.
    pub(crate) fn decided(&self, admission: &Admission) {
        if admission.decisions.iter().any(|decision| decision.reused_from.is_some()) {
            spans::attribute(&self.span, semconv::agenttool::DECISION_REUSED, true);
        }
    }

    /// Records how the call ended.
    pub(crate) fn end(self, result: &ToolResult) {
        if self.span.is_disabled() {
            return;
        }
        let error = result.error.as_ref();
        spans::end_invocation(
            &self.span,
            &spans::CallEnding {
                status: status_of(result),
                result_status: result.status,
                error_class: error.map(|error| error.error_class),
                error_code: error.map_or("", |error| &error.error_code),
                abort_reason: error.and_then(|error| error.abort_reason),
            },
        );
    }
}

fn facts(spec: &CallSpec) -> spans::CallFacts<'_> {
    spans::CallFacts {
        invocation_id: spec.invocation_id.as_str(),
        tool_name: &spec.tool.name,
        tool_id: "",
        tenant: spec.caller.tenant.as_str(),
        native_call_id: spec.context.native_call_id.as_deref().unwrap_or_default(),
    }
}

/// The invocation status that goes with a result, as far as spans tell them apart.
fn status_of(result: &ToolResult) -> InvocationStatus {
    match result.status {
        ResultStatus::Denied | ResultStatus::Rejected => InvocationStatus::Denied,
        ResultStatus::Canceled | ResultStatus::Discarded => InvocationStatus::Canceled,
        ResultStatus::TimedOut => InvocationStatus::TimedOut,
        _ if result.is_error => InvocationStatus::Failed,
        _ => InvocationStatus::Succeeded,
    }
}
