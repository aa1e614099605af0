//! The first transition: from a prepared request to a durable invocation.

use crate::data::data;
use crate::decided::decided;
use toolplane_records::error::ToolError;
use toolplane_records::hook::ToolHook;
use toolplane_records::mutation::InputMutation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, EventClass, HookEvent, InvocationStatus as Status, ResultStatus};

use crate::acceptance::{Acceptance, Preparation, planned};
use crate::draft::Draft;
use crate::synthetic::failure;
use crate::transition::{Effect, Refusal, Timer, Transition};
use crate::{hooks, permit};

/// Makes the invocation, with every state it passed through on the way to where its preparation leads.
///
/// The only failure is [`Refusal::Illegal`], when the preparation is [`Preparation::ValuesRefused`] and a
/// [`HookEvent::PreToolUse`] hook ran before it. Callers give [`Preparation::Stopped`] for such a call.
pub fn accept(mut acceptance: Acceptance, preparation: Preparation, now: Timestamp) -> Result<Transition, Refusal> {
    let hooks = std::mem::take(&mut acceptance.hooks);
    let (before, deciding) = hooks.into_iter().partition(|hook| hook.hook_event == HookEvent::PreToolUse);
    let changes = Changes { mutations: std::mem::take(&mut acceptance.mutations), hooks: before };
    let mut draft = Draft::of(planned(acceptance, now), now);
    let (tool_id, tool_name) = (draft.invocation.tool_id.clone(), draft.invocation.tool_name.clone());
    let data = match &preparation {
        // The name may be no tool's but only what a caller wrote: the id says so, and stores take care (`stored::without_texts`).
        Preparation::Unresolved { .. } => data! { "tool_id": tool_id, "tool_name": tool_name },
        _ => data! { "tool_name": tool_name },
    };
    draft.status(Status::Planned, EventClass::Planned, "submitted", data)?;
    match preparation {
        Preparation::Unresolved { error, blocked } => {
            let (to, status) = if blocked {
                (Status::Blocked, ResultStatus::Failed)
            } else {
                (Status::Failed, ResultStatus::SyntheticError)
            };
            refuse(&mut draft, to, status, "resolve_tool", error, now)?;
        }
        Preparation::SchemaRefused { error } => {
            select(&mut draft)?;
            refuse(&mut draft, Status::SchemaParseFailed, ResultStatus::Failed, "parse_schema", error, now)?;
        }
        Preparation::ValuesRefused { error } => {
            arguments_ready(&mut draft, changes)?;
            refuse(&mut draft, Status::ValidationFailed, ResultStatus::Failed, "validate_values", error, now)?;
        }
        Preparation::Blocked { error } => {
            arguments_ready(&mut draft, changes)?;
            refuse(&mut draft, Status::Blocked, ResultStatus::Failed, "preflight", error, now)?;
        }
        Preparation::Stopped { error } => {
            arguments_ready(&mut draft, changes)?;
            refuse(&mut draft, Status::Denied, ResultStatus::Denied, "pre_hooks", error, now)?;
        }
        Preparation::Denied { decision, error } => {
            arguments_ready(&mut draft, changes)?;
            hooks::deciding(&mut draft, deciding);
            decided(&mut draft, &decision);
            let status = match error.error_class {
                ErrorClass::ApprovalRejected => ResultStatus::Rejected,
                _ => ResultStatus::Denied,
            };
            refuse(&mut draft, Status::Denied, status, "permission", error, now)?;
        }
        Preparation::Asked { decision, approval_id, expires_at, dispatch } => {
            arguments_ready(&mut draft, changes)?;
            hooks::deciding(&mut draft, deciding);
            decided(&mut draft, &decision);
            draft.invocation.dispatch = Some(dispatch);
            crate::approval::park(&mut draft, approval_id, expires_at)?;
            set_deadline(&mut draft);
        }
        Preparation::Ready { decision, dispatch } => {
            arguments_ready(&mut draft, changes)?;
            hooks::deciding(&mut draft, deciding);
            decided(&mut draft, &decision);
            draft.silent_status(Status::Approved, "permission")?;
            let data = data! { "pool": dispatch.pool };
            let mut dispatch = dispatch;
            permit::give(&mut dispatch, &decision);
            draft.invocation.dispatch = Some(dispatch);
            draft.enqueue(EventClass::Queued, "schedule", data)?;
            set_deadline(&mut draft);
        }
    }
    let transition = draft.done();
    debug_assert_eq!(crate::invariant::check(&transition.invocation), Ok(()), "after acceptance");
    Ok(transition)
}

fn select(draft: &mut Draft) -> Result<(), Refusal> {
    let data = data! { "tool_id": draft.invocation.tool_id };
    draft.status(Status::Selected, EventClass::Selected, "resolve_tool", data)
}

/// What happened to the input before the decision, and through whom.
struct Changes {
    mutations: Vec<InputMutation>,
    hooks: Vec<ToolHook>,
}

fn arguments_ready(draft: &mut Draft, changes: Changes) -> Result<(), Refusal> {
    select(draft)?;
    let data = data! { "model_input_digest": draft.invocation.inputs.model.digest };
    draft.status(Status::ArgumentsReady, EventClass::ArgumentsReady, "validate_values", data)?;
    hooks::before(draft, changes.hooks)?;
    permit::note_mutations(draft, &changes.mutations);
    Ok(())
}

fn refuse(
    draft: &mut Draft,
    to: Status,
    status: ResultStatus,
    cause: &'static str,
    error: ToolError,
    now: Timestamp,
) -> Result<(), Refusal> {
    let result = failure(&draft.invocation, status, error, now);
    draft.end(to, cause, result, Vec::new())
}

fn set_deadline(draft: &mut Draft) {
    if let Some(deadline) = draft.invocation.deadline_at {
        draft.effect(Effect::SetTimer(Timer::Deadline, deadline));
    }
}
