//! Between the end of an execution and its result: the hooks after the call are asked.
//!
//! The ending is durable and its worker is done: no lease, no permits, no execution time. Locks stay, so that no other
//! call sees what the call left before its hooks did. The scheduler that asks the hooks may die over it; then another
//! one asks them again. Where cleaning asks a person whether a result is given out as it is, the answer is waited for here, before the hooks.

use toolplane_records::invocation::{Invocation, PostHooks};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status};

use crate::command::{LeaseKey, ResultQuestion};
use crate::data::data;
use crate::decided::decided;
use crate::draft::Draft;
use crate::lease::{has_started, held};
use crate::transition::{Effect, Refusal, Timer, Transition};

/// How a record names the question about its result, before the id of the approval.
pub const RESULT_QUESTION: &str = "ask:question:";

/// The execution of a call has ended; its result waits for what hooks say.
pub(crate) fn wait(
    invocation: &Invocation,
    key: &LeaseKey,
    hook_ids: &[String],
    (due_at, question): (Timestamp, Option<&ResultQuestion>),
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if !has_started(invocation) {
        return Err(Refusal::Illegal { command: "ask the hooks after it", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.drop_lease();
    // Its worker has reported: there is no execution left that still has to stop.
    draft.effect(Effect::ClearTimer(Timer::Cancel));
    let mut started = data! { "hook_ids": hook_ids };
    if let Some(ResultQuestion { decision, approval_id, expires_at }) = question {
        decided(&mut draft, decision);
        draft.invocation.evidence_refs.push(format!("{RESULT_QUESTION}{approval_id}").into());
        started.add("result_approval_id", approval_id);
        started.add("expires_at", expires_at);
    }
    draft.status(Status::PostHooksRunning, EventClass::HookPostStarted, "execute", started)?;
    draft.invocation.post_hooks = Some(PostHooks { due_at, tries: 1 });
    draft.effect(Effect::SetTimer(Timer::PostHooks, due_at));
    Ok(draft.done())
}

/// A scheduler asks the hooks in place of another one.
pub(crate) fn take(
    invocation: &Invocation,
    due_at: Timestamp,
    alone: bool,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    let Some(asked) = invocation.post_hooks.filter(|asked| alone || asked.due_at <= now) else {
        return Err(Refusal::NothingToDo);
    };
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.post_hooks = Some(PostHooks { due_at, tries: asked.tries.saturating_add(1) });
    draft.effect(Effect::SetTimer(Timer::PostHooks, due_at));
    Ok(draft.done())
}
