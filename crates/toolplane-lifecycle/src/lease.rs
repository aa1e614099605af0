//! Leases: who may run an invocation, until when, and what follows when the holder is lost.

use serde_json::json;
use toolplane_records::error::ToolError;
use toolplane_records::ids::WorkerId;
use toolplane_records::invocation::{Invocation, Lease};
use toolplane_records::progress::ToolProgress;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{
    ErrorClass, EventClass, InvocationStatus as Status, QueueState, Recoverability, ResultStatus,
};

use crate::command::{LeaseGrant, LeaseKey};
use crate::draft::Draft;
use crate::synthetic::{codes, failure};
use crate::transition::{Effect, Refusal, Timer, Transition};

/// First wait before a lost or failed idempotent execution is repeated; doubles with every attempt.
const RETRY_BASE_MS: i64 = 200;
/// Longest wait before a repetition.
const RETRY_MAX_MS: i64 = 30_000;

/// The current lease, if `key` names it: the fence every worker report passes.
pub(crate) fn held<'a>(invocation: &'a Invocation, key: &LeaseKey) -> Result<&'a Lease, Refusal> {
    match &invocation.lease {
        Some(lease) if key.names(lease) => Ok(lease),
        _ => Err(Refusal::Fenced),
    }
}

/// Whether an execution may have had an effect under the current lease.
pub(crate) fn has_started(invocation: &Invocation) -> bool {
    matches!(invocation.status, Status::Running | Status::PartialResult | Status::NeedsInput | Status::PostHooksRunning)
}

pub(crate) fn claim(invocation: &Invocation, grant: LeaseGrant, now: Timestamp) -> Result<Transition, Refusal> {
    if invocation.status != Status::Queued || invocation.lease.is_some() {
        return Err(Refusal::Illegal { command: "claim", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    let expires_at = now.plus_millis(grant.offer_ms);
    draft.invocation.lease_no += 1;
    draft.invocation.lease = Some(Lease {
        lease_no: draft.invocation.lease_no,
        lease_id: grant.lease_id,
        fence: grant.fence,
        worker_id: grant.worker_id,
        incarnation: grant.incarnation,
        expires_at,
        confirmed: false,
    });
    draft.invocation.queue_state = Some(QueueState::Executing);
    draft.effect(Effect::Dequeue);
    draft.effect(Effect::SetTimer(Timer::Lease, expires_at));
    if invocation.safety.is_idempotent {
        begin(&mut draft, now)?;
    }
    Ok(draft.done())
}

pub(crate) fn start(
    invocation: &Invocation,
    key: &LeaseKey,
    lease_ms: i64,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if has_started(invocation) {
        return renew(invocation, key, lease_ms, now);
    }
    if invocation.cancel.is_some() {
        return Err(Refusal::Illegal { command: "start", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    begin(&mut draft, now)?;
    extend(&mut draft, lease_ms, now);
    Ok(draft.done())
}

/// Records that an execution begins: after this, a non-idempotent call never runs again by itself.
fn begin(draft: &mut Draft, now: Timestamp) -> Result<(), Refusal> {
    draft.invocation.attempt += 1;
    draft.invocation.started_at = Some(now);
    let data = match &draft.invocation.lease {
        Some(lease) => json!({
            "attempt": draft.invocation.attempt, "lease_no": lease.lease_no, "worker_id": lease.worker_id,
        }),
        None => json!({}),
    };
    draft.status(Status::Running, EventClass::Started, "execute", data)?;
    if let Some(dispatch) = &draft.invocation.dispatch {
        let timeout = i64::try_from(dispatch.timeout_ms).unwrap_or(i64::MAX / 4);
        let backstop = now.plus_millis(timeout).plus_millis(crate::TIMEOUT_BACKSTOP_MS);
        draft.effect(Effect::SetTimer(Timer::Execution, backstop));
    }
    Ok(())
}

fn extend(draft: &mut Draft, lease_ms: i64, now: Timestamp) {
    let until = now.plus_millis(lease_ms);
    if let Some(lease) = &mut draft.invocation.lease {
        lease.confirmed = true;
        // A lease never shrinks: a slow renewal must not undo a later one.
        lease.expires_at = lease.expires_at.max(until);
        let at = lease.expires_at;
        draft.effect(Effect::SetTimer(Timer::Lease, at));
    }
}

pub(crate) fn renew(
    invocation: &Invocation,
    key: &LeaseKey,
    lease_ms: i64,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    let mut draft = Draft::of(invocation.clone(), now);
    extend(&mut draft, lease_ms, now);
    Ok(draft.done())
}

pub(crate) fn progress(
    invocation: &Invocation,
    key: &LeaseKey,
    mut progress: ToolProgress,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if !has_started(invocation) {
        return Err(Refusal::Illegal { command: "progress", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.progress_seq += 1;
    progress.sequence = draft.invocation.progress_seq;
    progress.invocation_id = invocation.invocation_id.clone();
    progress.progress_id = format!("{}:p{}", invocation.invocation_id, progress.sequence);
    draft.event(EventClass::Progress, serde_json::to_value(&progress).unwrap_or_else(|_| json!({})));
    if let Some(lease) = &mut draft.invocation.lease {
        lease.confirmed = true;
    }
    Ok(draft.done())
}

pub(crate) fn release(
    invocation: &Invocation,
    key: &LeaseKey,
    reason: &str,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if has_started(invocation) && !invocation.safety.is_idempotent {
        return Err(Refusal::Illegal { command: "release", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    if invocation.cancel.as_ref().is_some_and(|cancel| cancel.failed.is_none()) {
        // The cancel request met the call before its first effect: nothing is left to be done.
        crate::cancel::end(&mut draft, codes::CANCELED, "canceled before it had an effect", "none", now)?;
        return Ok(draft.done());
    }
    give_back(&mut draft, reason)?;
    Ok(draft.done())
}

/// Back to the queue at its old place; the attempt is not charged.
fn give_back(draft: &mut Draft, reason: &str) -> Result<(), Refusal> {
    draft.drop_lease();
    if has_started(&draft.invocation) {
        draft.invocation.attempt -= 1;
    }
    draft.enqueue(EventClass::ExtRequeued, "release", json!({ "reason": reason }))
}

pub(crate) fn worker_gone(
    invocation: &Invocation,
    worker_id: &WorkerId,
    incarnation: &str,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    match &invocation.lease {
        Some(lease) if lease.worker_id == *worker_id && lease.incarnation == incarnation => {
            lost(invocation, "worker_gone", now)
        }
        _ => Err(Refusal::NothingToDo),
    }
}

pub(crate) fn expire(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    match &invocation.lease {
        Some(lease) if lease.expires_at <= now => lost(invocation, "lease_expired", now),
        _ => Err(Refusal::NothingToDo),
    }
}

/// The ambiguity table (semantics contract §2.5).
fn lost(invocation: &Invocation, reason: &str, now: Timestamp) -> Result<Transition, Refusal> {
    let confirmed = invocation.lease.as_ref().is_some_and(|lease| lease.confirmed);
    let mut draft = Draft::of(invocation.clone(), now);
    if !has_started(invocation) {
        draft.fence_off();
        draft.enqueue(EventClass::ExtRequeued, "lease", json!({ "reason": reason }))?;
        return Ok(draft.done());
    }
    draft.fence_off();
    if invocation.cancel.as_ref().is_some_and(|cancel| cancel.failed.is_none()) {
        let message = "canceled; the worker was lost before it confirmed that it stopped";
        crate::cancel::end(&mut draft, codes::CANCEL_WORKER_LOST, message, "unknown", now)?;
    } else if !invocation.safety.is_idempotent {
        let mut error = ToolError::new(
            codes::OUTCOME_UNKNOWN,
            ErrorClass::ExecutionFailed,
            Recoverability::VerifyBeforeRetry,
            "the worker was lost while the tool ran; its effect may or may not have happened",
        );
        error.side_effects = Some("unknown".to_owned());
        let result = failure(&draft.invocation, ResultStatus::SyntheticError, error, now);
        draft.end(Status::Failed, reason, result, None)?;
    } else if !confirmed {
        draft.invocation.attempt -= 1;
        draft.enqueue(EventClass::ExtRequeued, "lease", json!({ "reason": reason }))?;
    } else {
        draft.invocation.worker_losses += 1;
        repeat_or_end(&mut draft, reason, None, now)?;
    }
    Ok(draft.done())
}

/// Another attempt after a wait, or the end when none is left.
pub(crate) fn repeat_or_end(
    draft: &mut Draft,
    reason: &str,
    retry_after_ms: Option<u64>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let max_attempts = draft.invocation.dispatch.as_ref().map_or(1, |dispatch| dispatch.max_attempts);
    let attempt = draft.invocation.attempt;
    if attempt >= max_attempts {
        let error = ToolError::new(
            codes::ATTEMPTS_EXHAUSTED,
            ErrorClass::DependencyUnavailable,
            Recoverability::RetryLater,
            format!("gave up after {attempt} attempts"),
        );
        let result = failure(&draft.invocation, ResultStatus::SyntheticError, error, now);
        return draft.end(Status::Failed, reason, result, None);
    }
    let backoff = (RETRY_BASE_MS << attempt.min(12)).min(RETRY_MAX_MS);
    let wait = retry_after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(backoff);
    let at = now.plus_millis(wait);
    let data = json!({ "reason": reason, "attempt": attempt, "retry_at": at });
    draft.status(Status::Queued, EventClass::ExtRequeued, reason, data)?;
    draft.invocation.queue_state = None;
    draft.effect(Effect::SetTimer(Timer::Retry, at));
    Ok(())
}

/// A retry wait ends.
pub(crate) fn retry(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    let waiting = invocation.status == Status::Queued && invocation.queue_state.is_none() && invocation.lease.is_none();
    if !waiting {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.enqueue(EventClass::Queued, "retry", json!({ "attempt": invocation.attempt }))?;
    draft.effect(Effect::ClearTimer(Timer::Retry));
    Ok(draft.done())
}
