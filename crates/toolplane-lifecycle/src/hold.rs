//! Holds: what keeps an accepted call out of the ready queue until its batch or its locks let it run.

use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, Hold, InvocationStatus as Status};

use crate::data::data;
use crate::draft::Draft;
use crate::transition::{Effect, Refusal, Transition};

/// One hold is gone; without any other the call becomes ready.
pub(crate) fn unhold(
    invocation: &Invocation,
    hold: Hold,
    fence: Option<u64>,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    if !invocation.holds.contains(&hold) {
        return Err(Refusal::NothingToDo);
    }
    // Locks are granted last: a holder that its batch still holds back could block what it waits for.
    let too_early = hold == Hold::Locks && invocation.holds.contains(&Hold::Batch);
    if invocation.status != Status::Queued || too_early {
        return Err(Refusal::Illegal { command: "release", status: invocation.status });
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.holds.retain(|held| *held != hold);
    if hold == Hold::Locks {
        draft.invocation.lock_fence = fence;
        draft.event(EventClass::ExtLockGranted, data! { "domain": invocation.lock_domain, "fence": fence });
    }
    if draft.invocation.holds.is_empty() {
        draft.effect(Effect::Enqueue);
    } else {
        draft.settle_next_hold();
    }
    Ok(draft.done())
}
