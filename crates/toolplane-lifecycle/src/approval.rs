//! Answers to parked questions.

use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::ids::ApprovalId;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, Hold, InvocationStatus as Status, ResultStatus};

use crate::data::data;
use crate::decided::decided;
use crate::draft::Draft;
use crate::edit::Edit;
use crate::permit;
use crate::synthetic::failure;
use crate::transition::{Effect, Refusal, Timer, Transition};

/// Grace after a question's expiry before the scheduler ends the call without an answer of the permission service.
const BACKSTOP_MS: i64 = 30_000;

/// Puts the call where it costs nothing until a person answers.
pub(crate) fn park(draft: &mut Draft, approval_id: ApprovalId, expires_at: Timestamp) -> Result<(), Refusal> {
    let data = data! { "approval_id": approval_id, "expires_at": expires_at };
    draft.invocation.approval_request_ref = Some(approval_id);
    permit::take(draft);
    draft.status(Status::AwaitingApproval, EventClass::ExtAwaitingApproval, "permission", data)?;
    draft.effect(Effect::SetTimer(Timer::Approval, expires_at.plus_millis(BACKSTOP_MS)));
    Ok(())
}

/// An approval that was not used in time is asked for again.
pub(crate) fn ask_again(
    invocation: &Invocation,
    decision: &PermissionDecision,
    approval_id: ApprovalId,
    expires_at: Timestamp,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    if invocation.status != Status::Queued || invocation.lease.is_some() {
        return Err(Refusal::Illegal { command: "ask again for", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    decided(&mut draft, decision);
    draft.leave_queue();
    draft.effect(Effect::ClearTimer(Timer::Retry));
    park(&mut draft, approval_id, expires_at)?;
    Ok(draft.done())
}

/// An answer to a question the call does not wait for any more is too late, whatever it says.
pub(crate) fn waiting(invocation: &Invocation, approval_id: &ApprovalId, command: &'static str) -> Result<(), Refusal> {
    match invocation.status {
        Status::AwaitingApproval if invocation.approval_request_ref.as_ref() == Some(approval_id) => Ok(()),
        Status::AwaitingApproval => Err(Refusal::NothingToDo),
        status => Err(Refusal::Illegal { command, status }),
    }
}

pub(crate) fn approve(
    invocation: &Invocation,
    approval_id: &ApprovalId,
    decision: &PermissionDecision,
    edit: Option<Edit>,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    waiting(invocation, approval_id, "approve")?;
    // Another input is another effect: after a first start only one that may happen more than once.
    if invocation.started_at.is_some() && edit.as_ref().is_some_and(|edit| !edit.input.safety.is_idempotent) {
        return Err(Refusal::Illegal { command: "edit", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    permit::note(&mut draft, decision);
    let mut again = None;
    if let Some(edit) = edit {
        again = apply_edit(&mut draft, edit);
    } else if let Some(dispatch) = &mut draft.invocation.dispatch {
        permit::give(dispatch, decision);
    }
    let approved = data! { "decision_id": decision.decision_id };
    draft.status(Status::Approved, EventClass::ExtApproved, "approval", approved)?;
    draft.effect(Effect::ClearTimer(Timer::Approval));
    let pool = draft.invocation.dispatch.as_ref().map(|dispatch| dispatch.pool.clone());
    draft.enqueue(EventClass::Queued, "schedule", data! { "pool": pool })?;
    if let Some((next, expires_at)) = again {
        draft.leave_queue();
        park(&mut draft, next, expires_at)?;
    }
    Ok(draft.done())
}

/// The call as the answer changed it; gives back the question that policy has about that.
fn apply_edit(draft: &mut Draft, edit: Edit) -> Option<(ApprovalId, Timestamp)> {
    permit::edit(draft, edit.input);
    permit::note(draft, &edit.decision);
    // A call that waits for a person has no ticket, so the locks may be others.
    draft.invocation.resource_locks = edit.resource_locks;
    draft.invocation.lock_domain = edit.lock_domain;
    draft.invocation.holds.retain(|hold| *hold != Hold::Locks);
    if !draft.invocation.resource_locks.is_empty() && draft.invocation.lock_domain.is_some() {
        draft.invocation.holds.push(Hold::Locks);
    }
    let mut dispatch = edit.dispatch;
    permit::give(&mut dispatch, &edit.decision);
    draft.invocation.dispatch = Some(dispatch);
    edit.again
}

pub(crate) fn reject(
    invocation: &Invocation,
    approval_id: &ApprovalId,
    decision: &PermissionDecision,
    expired: bool,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    waiting(invocation, approval_id, "reject")?;
    let mut draft = Draft::of(invocation.clone(), now);
    permit::note(&mut draft, decision);
    let said = decision.reason.as_ref().map_or("", |reason| reason.message.as_str());
    end(&mut draft, expired, said, now)?;
    Ok(draft.done())
}

/// The question outlived its expiry and the permission service has not said so.
pub(crate) fn backstop(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    if invocation.status != Status::AwaitingApproval {
        return Err(Refusal::Illegal { command: "expire the approval of", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    end(&mut draft, true, "", now)?;
    Ok(draft.done())
}

fn end(draft: &mut Draft, expired: bool, said: &str, now: Timestamp) -> Result<(), Refusal> {
    let (code, fallback) = if expired {
        (codes::APPROVAL_EXPIRED, "no person answered the approval request in time")
    } else {
        (codes::APPROVAL_REJECTED, "the approval request was rejected")
    };
    let message = if said.is_empty() { fallback } else { said };
    let mut error = ToolError::of(code, message);
    error.side_effects = Some("none".to_owned());
    let result = failure(&draft.invocation, ResultStatus::Rejected, error, now);
    draft.end(Status::Denied, "approval", result, Vec::new())
}
