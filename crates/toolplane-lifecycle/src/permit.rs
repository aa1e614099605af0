//! Permission: what lets a call run, for how long, and what happens to a waiting call when that changes.

use toolplane_records::SmolStr;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::ids::ApprovalId;
use toolplane_records::invocation::{DispatchFacts, Invocation};
use toolplane_records::mutation::InputMutation;
use toolplane_records::time::Timestamp;
use toolplane_records::trail;
use toolplane_records::vocabulary::{ErrorClass, EventClass, InvocationStatus as Status, ResultStatus};

use crate::data::EventData;
use crate::decided::decision_data;
use crate::draft::Draft;
use crate::edit::{EditedInput, Replan};
use crate::synthetic::failure;
use crate::transition::{Effect, Refusal, Transition};

/// Lets `dispatch` run under `decision`.
pub(crate) fn give(dispatch: &mut DispatchFacts, decision: &PermissionDecision) {
    dispatch.policy_digest.clone_from(&decision.policy_digest);
    dispatch.permit_until = decision.expires_at;
    dispatch.denied_paths.clone_from(&decision.denied_paths);
}

/// No decision is in force: the permission service has to be asked.
pub(crate) fn take(draft: &mut Draft) {
    if let Some(dispatch) = &mut draft.invocation.dispatch {
        dispatch.policy_digest = SmolStr::default();
        dispatch.permit_until = None;
    }
}

/// Whether the permission of `invocation` has not run out.
pub(crate) fn in_time(invocation: &Invocation, now: Timestamp) -> bool {
    let until = invocation.dispatch.as_ref().and_then(|dispatch| dispatch.permit_until);
    until.is_none_or(|until| now < until)
}

/// Records what was decided. The same decision found again is not told twice.
pub(crate) fn note(draft: &mut Draft, decision: &PermissionDecision) {
    if !draft.invocation.permission_decision_refs.contains(&decision.decision_id) {
        draft.event(EventClass::PermissionDecided, decision_data(decision));
        let record = &mut draft.invocation;
        let (kept, left_out) = (&mut record.permission_decision_refs, &mut record.decisions_left_out);
        if let Some(decision_id) = trail::DECISIONS.add(kept, left_out, decision.decision_id.clone()) {
            draft.effect(Effect::ForgetDecision { decision_id });
        }
    }
}

/// Records changes of the input.
pub(crate) fn note_mutations(draft: &mut Draft, mutations: &[InputMutation]) {
    for mutation in mutations {
        draft.event(EventClass::ExtInputMutated, EventData::of(mutation));
    }
}

/// Puts another input in place of the one the call was accepted with.
pub(crate) fn edit(draft: &mut Draft, edited: EditedInput) {
    note_mutations(draft, &edited.mutations);
    let model = draft.invocation.inputs.model.clone();
    draft.invocation.inputs = edited.inputs;
    draft.invocation.inputs.model = model;
    draft.invocation.safety = edited.safety;
}

/// A waiting call may still run.
pub(crate) fn confirm(
    invocation: &Invocation,
    decision: &PermissionDecision,
    replan: Option<Replan>,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    // What has started once keeps the plan it started under.
    let late = replan.is_some() && invocation.started_at.is_some();
    if invocation.status != Status::Queued || invocation.lease.is_some() || late {
        return Err(Refusal::Illegal { command: "confirm", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    note(&mut draft, decision);
    if let Some(replan) = replan {
        draft.invocation.safety = replan.safety;
        draft.invocation.dispatch = Some(replan.dispatch);
    }
    if let Some(dispatch) = &mut draft.invocation.dispatch {
        give(dispatch, decision);
    }
    Ok(draft.done())
}

/// A waiting call may not run after all.
pub(crate) fn refuse(
    invocation: &Invocation,
    approval_id: Option<&ApprovalId>,
    decisions: &[PermissionDecision],
    edited: Option<EditedInput>,
    error: ToolError,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    let waits = match approval_id {
        Some(approval_id) => {
            crate::approval::waiting(invocation, approval_id, "refuse")?;
            true
        }
        None => invocation.status == Status::Queued && invocation.lease.is_none(),
    };
    if !waits {
        return Err(Refusal::Illegal { command: "refuse", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    decisions.iter().for_each(|decision| note(&mut draft, decision));
    if let Some(edited) = edited {
        edit(&mut draft, edited);
    }
    take(&mut draft);
    let status = match error.error_class {
        ErrorClass::ApprovalRejected => ResultStatus::Rejected,
        _ => ResultStatus::Denied,
    };
    let result = failure(&draft.invocation, status, error, now);
    draft.end(Status::Denied, "permission", result, Vec::new())?;
    Ok(draft.done())
}
