//! Between the end of an execution and its result: the hooks after the call are asked.
//!
//! The ending is durable and its worker is done: no lease, no permits, no execution time. Locks stay, so that no other
//! call sees what the call left before its hooks did. The scheduler that asks the hooks may die over it; then another
//! one asks them again.

use toolplane_records::invocation::{Invocation, PostHooks};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status};

use crate::command::LeaseKey;
use crate::data::data;
use crate::draft::Draft;
use crate::lease::{has_started, held};
use crate::transition::{Effect, Refusal, Timer, Transition};

/// The execution of a call has ended; its result waits for what hooks say.
pub(crate) fn wait(
    invocation: &Invocation,
    key: &LeaseKey,
    hook_ids: &[String],
    due_at: Timestamp,
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
    draft.status(Status::PostHooksRunning, EventClass::HookPostStarted, "execute", data! { "hook_ids": hook_ids })?;
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
