//! Cancellation as separate facts: requested, acknowledged, canceled or failed to cancel.
//!
//! One rule for every cancellation, by a caller, of its batch or by a failed sibling: what has not started ends at
//! once, what runs is stopped if its tool can be canceled, and goes on to its own end if it cannot.
//! `interrupt_behavior` is not asked: it tells an agent's runtime whether to cancel a call when its user interrupts.

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::invocation::{CancelFacts, Invocation};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{
    AbortReason, ErrorClass, EventClass, InvocationStatus as Status, Recoverability, ResultStatus,
};

use crate::command::{LeaseKey, SiblingCause};
use crate::data::data;
use crate::draft::Draft;
use crate::lease::{has_started, held};
use crate::synthetic::failure;
use crate::transition::{Effect, Refusal, Timer, Transition};

pub(crate) fn request(
    invocation: &Invocation,
    requested_by: String,
    message: String,
    abort_reason: AbortReason,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    stop(invocation, CancelReason { requested_by, message, abort_reason }, now)
}

/// A sibling ended so that this call must not run, or must stop.
pub(crate) fn sibling(invocation: &Invocation, cause: &SiblingCause, now: Timestamp) -> Result<Transition, Refusal> {
    let SiblingCause { invocation_id, index, tool_name, status } = cause;
    let message = format!("sibling {index} `{tool_name}` ({invocation_id}) is {status}");
    let request =
        CancelReason { requested_by: "scheduler".to_owned(), message, abort_reason: AbortReason::SiblingError };
    stop(invocation, request, now)
}

struct CancelReason {
    requested_by: String,
    message: String,
    abort_reason: AbortReason,
}

fn stop(invocation: &Invocation, request: CancelReason, now: Timestamp) -> Result<Transition, Refusal> {
    if invocation.cancel.is_some() {
        return Err(Refusal::NothingToDo);
    }
    let CancelReason { requested_by, message, abort_reason } = request;
    let mut draft = Draft::of(invocation.clone(), now);
    draft.event(
        EventClass::ExtCancelRequested,
        data! { "requested_by": requested_by, "message": message, "abort_reason": abort_reason },
    );
    let failed = match invocation.status {
        // Its effect is done; only its hooks are still asked.
        Status::PostHooksRunning => Some("completed_first"),
        _ => (has_started(invocation) && !can_be_stopped(invocation)).then_some("unsupported"),
    };
    draft.invocation.cancel = Some(CancelFacts {
        requested_at: now,
        requested_by,
        message,
        abort_reason,
        acknowledged_at: None,
        failed: failed.map(str::to_owned),
    });
    if !has_started(invocation) {
        draft.fence_off();
        end(&mut draft, codes::CANCELED, "canceled before it started", "none", now)?;
    } else if let Some(reason) = failed {
        draft.event(EventClass::ExtCancelFailed, data! { "reason": reason });
    } else {
        draft.send_cancel(abort_reason);
        draft.effect(Effect::SetTimer(Timer::Cancel, now.plus_millis(crate::times::CANCEL_BACKSTOP_MS)));
    }
    Ok(draft.done())
}

/// Whether a running execution can be told to stop.
fn can_be_stopped(invocation: &Invocation) -> bool {
    invocation.dispatch.as_ref().is_some_and(|dispatch| dispatch.supports_cancel)
}

pub(crate) fn acknowledge(
    invocation: &Invocation,
    lease: &LeaseKey,
    supported: bool,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, lease)?;
    let mut draft = Draft::of(invocation.clone(), now);
    let Some(cancel) = &mut draft.invocation.cancel else { return Err(Refusal::NothingToDo) };
    if cancel.acknowledged_at.is_some() || cancel.failed.is_some() {
        return Err(Refusal::NothingToDo);
    }
    if supported {
        cancel.acknowledged_at = Some(now);
        draft.event(EventClass::ExtCancelAcknowledged, data! { "lease_no": lease.lease_no });
    } else {
        cancel.failed = Some("unsupported".to_owned());
        draft.event(EventClass::ExtCancelFailed, data! { "reason": "unsupported" });
        draft.effect(Effect::ClearTimer(Timer::Cancel));
    }
    Ok(draft.done())
}

/// The worker should have stopped long ago: end the call and void its lease.
pub(crate) fn backstop(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    let due = invocation.cancel.as_ref().is_some_and(|cancel| {
        cancel.failed.is_none()
            && invocation.post_hooks.is_none()
            && now.since_millis(cancel.requested_at) >= crate::times::CANCEL_BACKSTOP_MS
    });
    if !due {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.fence_off();
    end(
        &mut draft,
        codes::CANCEL_UNACKNOWLEDGED,
        "canceled; the worker never confirmed that it stopped",
        "unknown",
        now,
    )?;
    Ok(draft.done())
}

/// Ends the invocation as canceled, without an execution's own word.
pub(crate) fn end(
    draft: &mut Draft,
    code: codes::Code,
    message: &str,
    side_effects: &str,
    now: Timestamp,
) -> Result<(), Refusal> {
    let abort_reason = draft.invocation.cancel.as_ref().map(|cancel| cancel.abort_reason);
    let mut error = match &draft.invocation.cancel {
        // What kept it from running is named, so that no reader takes it for the tool's own failure.
        Some(cancel) if cancel.abort_reason == AbortReason::SiblingError && side_effects == "none" => {
            ToolError::of(codes::SIBLING_CANCELED, format!("not executed: {}", cancel.message))
        }
        _ => ToolError::new(code, class_of(abort_reason), Recoverability::RetrySafe, message),
    };
    error.side_effects = Some(side_effects.to_owned());
    error.abort_reason = abort_reason;
    let result = failure(&draft.invocation, status_of(abort_reason), error, now);
    draft.end(Status::Canceled, "cancel", result, Vec::new())
}

/// The class of a canceled call, by why it was.
pub(crate) fn class_of(abort_reason: Option<AbortReason>) -> ErrorClass {
    match abort_reason {
        Some(AbortReason::SiblingError) => ErrorClass::SiblingCanceled,
        Some(AbortReason::Fallback) => ErrorClass::StreamingFallbackDiscarded,
        _ => ErrorClass::Canceled,
    }
}

/// The status of its result: what was called by a model stream that is thrown away has no reader.
pub(crate) fn status_of(abort_reason: Option<AbortReason>) -> ResultStatus {
    match abort_reason {
        Some(AbortReason::Fallback) => ResultStatus::Discarded,
        _ => ResultStatus::Canceled,
    }
}
