//! Ends of a lease without a result: given back, expired, or lost with its worker. The ambiguity table lives here.

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::WorkerId;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{AbortReason, EventClass, InvocationStatus as Status, ResultStatus};

use crate::backoff;
use crate::command::LeaseKey;
use crate::data::data;
use crate::draft::Draft;
use crate::lease::{has_started, held};
use crate::synthetic::failure;
use crate::transition::{Effect, Refusal, Timer, Transition};

/// Losses on this many different workers make a call poison: it kills the workers that take it.
const POISON_WORKERS: usize = 2;
/// Losses in all that make a call poison, even on one worker.
const POISON_LOSSES: u32 = 3;

/// The worker gives the call back.
pub(crate) fn release(
    invocation: &Invocation,
    key: &LeaseKey,
    reason: &str,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    let abandoned = has_started(invocation) && !invocation.safety.is_idempotent;
    let mut draft = Draft::of(invocation.clone(), now);
    if invocation.cancel.as_ref().is_some_and(|cancel| cancel.failed.is_none()) {
        let (message, side_effects) = match abandoned {
            // The cancel request came before the call's first effect: nothing remains to be done.
            false => ("canceled before it had an effect", "none"),
            true => ("canceled; its worker stopped it while it shut down", "unknown"),
        };
        crate::cancel::end(&mut draft, codes::CANCELED, message, side_effects, now)?;
    } else if abandoned {
        // A worker that has to go kills what it may not leave: it is not known how far it came.
        outcome_unknown(&mut draft, "the worker was shut down", Some(AbortReason::RuntimeShutdown), "release", now)?;
    } else {
        give_back(&mut draft, reason)?;
    }
    Ok(draft.done())
}

/// Back to the queue at its old place; the attempt is not charged.
fn give_back(draft: &mut Draft, reason: &str) -> Result<(), Refusal> {
    draft.drop_lease();
    if has_started(&draft.invocation) {
        draft.invocation.attempt -= 1;
    }
    draft.enqueue(EventClass::ExtRequeued, "release", data! { "reason": reason })
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
fn lost(invocation: &Invocation, reason: &'static str, now: Timestamp) -> Result<Transition, Refusal> {
    let confirmed = invocation.lease.as_ref().is_some_and(|lease| lease.confirmed);
    let mut draft = Draft::of(invocation.clone(), now);
    draft.fence_off();
    if !has_started(invocation) {
        draft.enqueue(EventClass::ExtRequeued, "lease", data! { "reason": reason })?;
    } else if invocation.cancel.as_ref().is_some_and(|cancel| cancel.failed.is_none()) {
        name_lost(&mut draft, invocation);
        let message = "canceled; the worker was lost before it confirmed that it stopped";
        crate::cancel::end(&mut draft, codes::CANCEL_WORKER_LOST, message, "unknown", now)?;
    } else if !invocation.safety.is_idempotent {
        name_lost(&mut draft, invocation);
        outcome_unknown(&mut draft, "the worker was lost", None, reason, now)?;
    } else if !confirmed {
        draft.invocation.attempt -= 1;
        draft.enqueue(EventClass::ExtRequeued, "lease", data! { "reason": reason })?;
    } else {
        charge(&mut draft, invocation);
        if is_poison(&draft.invocation) {
            quarantine(&mut draft, reason, now)?;
        } else {
            repeat_or_end(&mut draft, reason, None, now)?;
        }
    }
    Ok(draft.done())
}

fn outcome_unknown(
    draft: &mut Draft,
    what: &str,
    abort_reason: Option<AbortReason>,
    cause: &'static str,
    now: Timestamp,
) -> Result<(), Refusal> {
    let effect = match draft.invocation.safety.is_read_only {
        true => "it only reads, so there is no effect to look for",
        false => "its effect may or may not have happened",
    };
    let mut error = ToolError::of(codes::OUTCOME_UNKNOWN, format!("{what} while the tool ran; {effect}"));
    error.side_effects = Some("unknown".to_owned());
    error.abort_reason = abort_reason;
    let result = failure(&draft.invocation, ResultStatus::SyntheticError, error, now);
    draft.end(Status::Failed, cause, result, Vec::new())
}

/// Notes that a worker was lost while it ran the call, and counts it against the call.
fn charge(draft: &mut Draft, before: &Invocation) {
    draft.invocation.worker_losses += 1;
    name_lost(draft, before);
}

/// Names the worker that was lost: it leaves no evidence, and whoever looks what became of the call has to know where it ran.
fn name_lost(draft: &mut Draft, before: &Invocation) {
    if let Some(lease) = &before.lease
        && !draft.invocation.lost_workers.contains(&lease.worker_id)
    {
        draft.invocation.lost_workers.push(lease.worker_id.clone());
    }
}

fn is_poison(invocation: &Invocation) -> bool {
    invocation.lost_workers.len() >= POISON_WORKERS || invocation.worker_losses >= POISON_LOSSES
}

/// Ends a call that workers keep dying of, and keeps others like it out for a while.
fn quarantine(draft: &mut Draft, cause: &'static str, now: Timestamp) -> Result<(), Refusal> {
    let losses = draft.invocation.worker_losses;
    let error = ToolError::of(
        codes::POISON,
        format!("{losses} workers were lost while they ran this call; it is under quarantine"),
    );
    if let Some(key) = draft.invocation.dispatch.as_ref().and_then(|dispatch| dispatch.quarantine_key) {
        draft.effect(Effect::Quarantine { key, until: now.plus_millis(crate::times::QUARANTINE_MS) });
    }
    let result = failure(&draft.invocation, ResultStatus::SyntheticError, error, now);
    draft.end(Status::Failed, cause, result, Vec::new())
}

/// Another attempt after a wait, or the end when none is left. The wait holds no lease and no permit, and keeps its locks'
/// ticket.
pub(crate) fn repeat_or_end(
    draft: &mut Draft,
    reason: &'static str,
    retry_after_ms: Option<u64>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let attempt = draft.invocation.attempt;
    if !attempts_left(&draft.invocation) {
        let error = ToolError::of(codes::ATTEMPTS_EXHAUSTED, format!("gave up after {attempt} attempts"));
        let result = failure(&draft.invocation, ResultStatus::SyntheticError, error, now);
        return draft.end(Status::Failed, reason, result, Vec::new());
    }
    let at = now.plus_millis(backoff::wait_ms(&draft.invocation.invocation_id, attempt, retry_after_ms));
    let data = data! { "reason": reason, "attempt": attempt, "retry_at": at };
    draft.status(Status::Queued, EventClass::ExtRequeued, reason, data)?;
    draft.invocation.queue_state = None;
    draft.effect(Effect::SetTimer(Timer::Retry, at));
    Ok(())
}

/// Whether the call may be executed once more.
pub(crate) fn attempts_left(invocation: &Invocation) -> bool {
    invocation.attempt < invocation.dispatch.as_ref().map_or(1, |dispatch| dispatch.max_attempts)
}

/// A retry wait ends.
pub(crate) fn retry(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    let waiting = invocation.status == Status::Queued && invocation.queue_state.is_none() && invocation.lease.is_none();
    if !waiting {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.enqueue(EventClass::Queued, "retry", data! { "attempt": invocation.attempt })?;
    draft.effect(Effect::ClearTimer(Timer::Retry));
    Ok(draft.done())
}
