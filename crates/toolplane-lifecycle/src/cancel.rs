//! Cancellation as separate facts: requested, acknowledged, canceled or failed to cancel.

use serde_json::json;
use toolplane_records::error::ToolError;
use toolplane_records::invocation::{CancelFacts, Invocation};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{
    AbortReason, ErrorClass, EventClass, InvocationStatus as Status, Recoverability, ResultStatus,
};

use crate::command::LeaseKey;
use crate::draft::Draft;
use crate::lease::{has_started, held};
use crate::synthetic::{codes, failure};
use crate::transition::{Effect, Refusal, Timer, Transition};

pub(crate) fn request(
    invocation: &Invocation,
    requested_by: String,
    message: String,
    abort_reason: AbortReason,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    if invocation.cancel.is_some() {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.event(
        EventClass::ExtCancelRequested,
        json!({ "requested_by": requested_by, "message": message, "abort_reason": abort_reason }),
    );
    let supported = invocation.dispatch.as_ref().is_some_and(|dispatch| dispatch.supports_cancel);
    let running = has_started(invocation);
    let failed = (running && !supported).then(|| "unsupported".to_owned());
    draft.invocation.cancel =
        Some(CancelFacts { requested_at: now, requested_by, message, abort_reason, acknowledged_at: None, failed });
    if !running {
        draft.fence_off();
        end(&mut draft, codes::CANCELED, "canceled before it started", "none", now)?;
    } else if supported {
        draft.send_cancel(abort_reason);
        draft.effect(Effect::SetTimer(Timer::Cancel, now.plus_millis(crate::CANCEL_BACKSTOP_MS)));
    } else {
        draft.event(EventClass::ExtCancelFailed, json!({ "reason": "unsupported" }));
    }
    Ok(draft.done())
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
        draft.event(EventClass::ExtCancelAcknowledged, json!({ "lease_no": lease.lease_no }));
    } else {
        cancel.failed = Some("unsupported".to_owned());
        draft.event(EventClass::ExtCancelFailed, json!({ "reason": "unsupported" }));
        draft.effect(Effect::ClearTimer(Timer::Cancel));
    }
    Ok(draft.done())
}

/// The worker should have stopped long ago: end the call and void its lease.
pub(crate) fn backstop(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    let due = invocation.cancel.as_ref().is_some_and(|cancel| {
        cancel.failed.is_none() && now.since_millis(cancel.requested_at) >= crate::CANCEL_BACKSTOP_MS
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
    code: &str,
    message: &str,
    side_effects: &str,
    now: Timestamp,
) -> Result<(), Refusal> {
    let mut error = ToolError::new(code, ErrorClass::Canceled, Recoverability::RetrySafe, message);
    if side_effects != "none" {
        error.recoverability = Recoverability::VerifyBeforeRetry;
    }
    error.side_effects = Some(side_effects.to_owned());
    error.abort_reason = draft.invocation.cancel.as_ref().map(|cancel| cancel.abort_reason);
    let result = failure(&draft.invocation, ResultStatus::Canceled, error, now);
    draft.end(Status::Canceled, "cancel", result, None)
}
