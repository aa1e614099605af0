//! Ends: the executor's report, and the ends the scheduler decides itself.

use std::sync::Arc;

use toolplane_records::SmolStr;
use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::evidence::ExecutionEvidence;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::{Cleaned, ContentBlock, ToolResult};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{
    AbortReason, ContextModifierPolicy, ErrorClass, EventClass, InvocationStatus as Status, Recoverability,
    ResultStatus,
};

use crate::command::{LeaseKey, ReportedOutcome};
use crate::data::data;
use crate::draft::{Draft, result_id};
use crate::lease::{execution_backstop as backstop_of, has_started, held};
use crate::loss::{attempts_left, repeat_or_end};
use crate::synthetic::{failure, for_people, says};
use crate::transition::{Effect, Refusal, Transition};
use crate::{cancel, hooks, permit};

pub(crate) fn complete(
    invocation: &Invocation,
    key: &LeaseKey,
    outcome: ReportedOutcome,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if !has_started(invocation) {
        return Err(Refusal::Illegal { command: "complete", status: invocation.status });
    }
    ended(invocation, outcome, ("execute", None), now)
}

/// The hooks after the call were asked: the ending they left is the one that counts.
pub(crate) fn conclude(
    invocation: &Invocation,
    outcome: ReportedOutcome,
    answer: Option<&PermissionDecision>,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    if invocation.status != Status::PostHooksRunning {
        return Err(Refusal::Illegal { command: "conclude", status: invocation.status });
    }
    ended(invocation, outcome, ("post_hooks", answer), now)
}

fn ended(
    invocation: &Invocation,
    mut outcome: ReportedOutcome,
    (cause, answer): (&'static str, Option<&PermissionDecision>),
    now: Timestamp,
) -> Result<Transition, Refusal> {
    let mut draft = Draft::of(invocation.clone(), now);
    if let Some(answer) = answer {
        permit::note(&mut draft, answer);
    }
    hooks::after(&mut draft, std::mem::take(&mut outcome.hooks));
    let execution = outcome.execution.take();
    draft.invocation.evidence_refs.extend(execution.iter().map(|evidence| evidence.evidence_id.clone()));
    if let Some((reason, retry_after_ms)) = repeatable(invocation, &outcome) {
        if let Some(evidence) = execution {
            draft.effect(Effect::KeepExecution { evidence });
        }
        draft.drop_lease();
        draft.drop_post_hooks();
        repeat_or_end(&mut draft, reason, retry_after_ms, now)?;
        return Ok(draft.done());
    }
    if let Some(evidence) = execution {
        keep_last(&mut draft, evidence);
    }
    let to = terminal_status(&outcome);
    if let Some(cancel) = &mut draft.invocation.cancel
        && to != Status::Canceled
        && cancel.failed.is_none()
    {
        cancel.failed = Some("completed_first".to_owned());
        draft.event(EventClass::ExtCancelFailed, data! { "reason": "completed_first" });
    }
    draft.invocation.artifact_refs.extend(outcome.artifact_refs.iter().cloned());
    draft.invocation.evidence_refs.extend(outcome.evidence_refs.iter().map(SmolStr::from));
    let persistence = std::mem::take(&mut outcome.persistence);
    draft.cleaned = std::mem::take(&mut outcome.cleaned);
    outcome.evidence_refs.extend(draft.cleaned.iter().map(Cleaned::evidence));
    draft.invocation.output_taints = std::mem::take(&mut outcome.taints);
    outcome.evidence_refs.extend(draft.invocation.output_taints.iter().map(|label| format!("tainted:{label}")));
    if outcome.undeclared_modifiers > 0 {
        draft.dropped_modifiers = Some((outcome.undeclared_modifiers, "not_declared"));
    }
    if !outcome.context_modifiers.is_empty() && forbids_modifiers(invocation) {
        let dropped = std::mem::take(&mut outcome.context_modifiers).len();
        draft.dropped_modifiers = Some((dropped, "context_modifier_policy"));
    }
    draft.rendering_hints = outcome.rendering_hints.take();
    let result = envelope(invocation, outcome, now);
    draft.end(to, cause, result, persistence)?;
    Ok(draft.done())
}

/// Keeps what is known of the execution that ends the call: in its record, which is written now and hardly ever again, so that one
/// value less is stored. What is large has a record of its own, as executions have that were not the last.
fn keep_last(draft: &mut Draft, evidence: Arc<ExecutionEvidence>) {
    if evidence.fits_record() {
        draft.invocation.last_execution = Some(evidence);
    } else {
        draft.effect(Effect::KeepExecution { evidence });
    }
}

/// Why an idempotent call is executed again, if attempts are left, and how long the tool asks to wait.
fn repeatable(invocation: &Invocation, outcome: &ReportedOutcome) -> Option<(&'static str, Option<u64>)> {
    if !invocation.safety.is_idempotent || !attempts_left(invocation) || invocation.cancel.is_some() {
        return None;
    }
    match (outcome.status, &outcome.error) {
        (ResultStatus::Failed, Some(error)) => {
            let transient = matches!(error.error_class, ErrorClass::DependencyUnavailable | ErrorClass::RateLimited);
            transient.then(|| (error.error_class.as_str(), error.retry_after_ms))
        }
        // A worker that left its tool behind says so of any call. This one goes on elsewhere, as if the worker had been lost.
        (ResultStatus::SyntheticError, Some(error)) if error.error_code == codes::OUTCOME_UNKNOWN.as_str() => {
            Some(("outcome_unknown", None))
        }
        (ResultStatus::TimedOut, error) if retries_timeouts(invocation) => {
            Some(("timeout", error.as_ref().and_then(|error| error.retry_after_ms)))
        }
        _ => None,
    }
}

fn retries_timeouts(invocation: &Invocation) -> bool {
    invocation.dispatch.as_ref().is_some_and(|dispatch| dispatch.retry_on_timeout)
}

fn forbids_modifiers(invocation: &Invocation) -> bool {
    let policy = invocation.dispatch.as_ref().and_then(|dispatch| dispatch.context_modifier_policy);
    policy == Some(ContextModifierPolicy::Forbid)
}

fn terminal_status(outcome: &ReportedOutcome) -> Status {
    match outcome.status {
        // Ended for its output is not done: only an output that could merely not be kept leaves the tool a success.
        ResultStatus::TooLarge
            if outcome.error.as_ref().is_some_and(|error| error.error_code != codes::RESULT_TOO_LARGE) =>
        {
            Status::Failed
        }
        ResultStatus::Succeeded | ResultStatus::PartialSucceeded | ResultStatus::Redacted | ResultStatus::TooLarge => {
            Status::Succeeded
        }
        ResultStatus::Canceled | ResultStatus::Discarded => Status::Canceled,
        ResultStatus::TimedOut => Status::TimedOut,
        // An executor cannot deny or reject: that would be a decision without a record.
        ResultStatus::Failed | ResultStatus::SyntheticError | ResultStatus::Denied | ResultStatus::Rejected => {
            Status::Failed
        }
    }
}

fn envelope(invocation: &Invocation, outcome: ReportedOutcome, now: Timestamp) -> ToolResult {
    let is_error = terminal_status(&outcome) != Status::Succeeded;
    let status = match outcome.status {
        ResultStatus::Denied | ResultStatus::Rejected => ResultStatus::Failed,
        status => status,
    };
    // A failed call always says why, and a successful one always says something (empty output is explicit).
    let error = match outcome.error {
        None if is_error => {
            Some(ToolError::of(codes::UNSPECIFIED, "the executor reported a failure without saying why"))
        }
        Some(error) if outcome.status == ResultStatus::Canceled => Some(canceled_for(invocation, error)),
        error => error,
    };
    let status = match (&invocation.cancel, status) {
        (Some(cancel), ResultStatus::Canceled) => cancel::status_of(Some(cancel.abort_reason)),
        (_, status) => status,
    };
    let structured = outcome.structured_content.as_ref();
    let said = error.as_ref().filter(|_| is_error).map(says);
    let (content, model_facing_content) = shown(outcome.content, outcome.model_facing_content, structured, said);
    let summary = for_people(&outcome.ui_facing_summary);
    ToolResult {
        schema_version: toolplane_records::schema_version(),
        result_id: result_id(invocation),
        invocation_id: invocation.invocation_id.clone(),
        status,
        is_error,
        content,
        structured_content: outcome.structured_content,
        model_facing_content,
        summary: summary.clone(),
        ui_facing_summary: summary,
        ui_facing_rendering: None,
        transcript_search_text: String::new(),
        resource_refs: outcome.resource_refs,
        artifact_refs: outcome.artifact_refs,
        evidence_refs: outcome.evidence_refs,
        policy_refs: Vec::new(),
        telemetry_refs: Vec::new(),
        persistence_refs: Vec::new(),
        redaction_state: outcome.redaction_state,
        error,
        created_at: now,
        context_modifiers: outcome.context_modifiers,
    }
}

/// What is shown of an ending, and what of that to the model: a result never leaves out what it has to say.
fn shown(
    mut content: Vec<ContentBlock>,
    mut facing: Vec<ContentBlock>,
    structured: Option<&JsonPayload>,
    failure: Option<ContentBlock>,
) -> (Vec<ContentBlock>, Vec<ContentBlock>) {
    match failure {
        Some(failure) => {
            // "Nothing to say" is said of completed tools only.
            content.retain(|block| *block != ContentBlock::Empty);
            facing.retain(|block| *block != ContentBlock::Empty);
            if facing.is_empty() {
                facing = std::iter::once(failure.clone()).chain(content.iter().cloned()).collect();
            }
            if content.is_empty() {
                content.push(failure);
            }
        }
        None => {
            if content.is_empty() && structured.is_none() {
                content.push(ContentBlock::Empty);
            }
            if facing.is_empty() {
                facing = match structured {
                    Some(value) if content.is_empty() => vec![ContentBlock::Text { text: value.text().to_owned() }],
                    _ => content.clone(),
                };
            }
        }
    }
    (content, facing)
}

/// An execution that was stopped says why; its worker only knows that it was told to stop.
fn canceled_for(invocation: &Invocation, mut error: ToolError) -> ToolError {
    let reasons = [AbortReason::SiblingError, AbortReason::Fallback];
    let reason = invocation.cancel.as_ref().map(|cancel| cancel.abort_reason).filter(|why| reasons.contains(why));
    if reason.is_some() {
        error.error_class = cancel::class_of(reason);
        error.abort_reason = reason;
    }
    error
}

/// The call waits and is not run, because no worker can run it or because it is kept out: not a failure of the tool.
pub(crate) fn block(
    invocation: &Invocation,
    cause: &'static str,
    error: ToolError,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    if invocation.status != Status::Queued || invocation.lease.is_some() {
        return Err(Refusal::Illegal { command: "block", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    let result = failure(&draft.invocation, ResultStatus::Failed, error, now);
    draft.end(Status::Blocked, cause, result, Vec::new())?;
    Ok(draft.done())
}

/// The caller's deadline ends the call, whatever its status.
pub(crate) fn deadline(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    match invocation.deadline_at {
        Some(deadline) if deadline <= now => {
            time_out(invocation, codes::DEADLINE, "the call's deadline passed before it completed", now)
        }
        _ => Err(Refusal::NothingToDo),
    }
}

/// The worker should have reported the tool's timeout by now.
pub(crate) fn execution_backstop(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    let due = backstop_of(invocation).is_some_and(|backstop| backstop <= now);
    if !due || !has_started(invocation) {
        return Err(Refusal::NothingToDo);
    }
    let again = invocation.safety.is_idempotent && retries_timeouts(invocation) && attempts_left(invocation);
    if again && invocation.cancel.is_none() {
        let mut draft = Draft::of(invocation.clone(), now);
        draft.fence_off();
        repeat_or_end(&mut draft, "timeout", None, now)?;
        return Ok(draft.done());
    }
    let message = "the tool's time was up and its worker did not report";
    time_out(invocation, codes::TIMEOUT_UNACKNOWLEDGED, message, now)
}

fn time_out(invocation: &Invocation, code: codes::Code, message: &str, now: Timestamp) -> Result<Transition, Refusal> {
    let started = has_started(invocation);
    let mut draft = Draft::of(invocation.clone(), now);
    let mut error = ToolError::new(code, ErrorClass::Timeout, Recoverability::RetrySafe, message);
    error.abort_reason = Some(AbortReason::Timeout);
    let side_effects = match invocation.status {
        // The tool has ended; only the hooks after it were still asked.
        Status::PostHooksRunning => "completed",
        _ if started => "unknown",
        _ => "none",
    };
    error.side_effects = Some(side_effects.to_owned());
    draft.fence_off();
    let result = failure(&draft.invocation, ResultStatus::TimedOut, error, now);
    draft.end(Status::TimedOut, "timeout", result, Vec::new())?;
    Ok(draft.done())
}
