//! What may still happen to a terminal record: its result is released to the readers of its batch, or never will be.

use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, QueueState};

use crate::data::data;
use crate::draft::Draft;
use crate::transition::{Refusal, Transition};

/// Releases the result as the `yield_seq`th of its batch.
pub(crate) fn yield_result(invocation: &Invocation, yield_seq: u64, now: Timestamp) -> Result<Transition, Refusal> {
    unreleased(invocation, "yield")?;
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.queue_state = Some(QueueState::Yielded);
    draft.invocation.yield_seq = Some(yield_seq);
    draft.event(EventClass::Yielded, data! { "yield_seq": yield_seq, "result_id": invocation.result_id });
    Ok(draft.done())
}

/// Withholds the result for good. It stays what it is, and stays readable by id.
pub(crate) fn discard(invocation: &Invocation, reason: &str, now: Timestamp) -> Result<Transition, Refusal> {
    unreleased(invocation, "discard")?;
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.queue_state = Some(QueueState::Discarded);
    draft.event(EventClass::ExtDiscarded, data! { "reason": reason, "result_id": invocation.result_id });
    Ok(draft.done())
}

fn unreleased(invocation: &Invocation, command: &'static str) -> Result<(), Refusal> {
    match invocation.queue_state {
        _ if !invocation.status.is_terminal() => Err(Refusal::Illegal { command, status: invocation.status }),
        Some(QueueState::Yielded | QueueState::Discarded) => Err(Refusal::NothingToDo),
        _ => Ok(()),
    }
}
