//! That somebody read the unmasked original of an ended call: an entry of its log, and nothing else.

use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;

use crate::data::data;
use crate::draft::Draft;
use crate::transition::{Refusal, Transition};

/// The log entry of `by` reading the original of `invocation`, for `reason`, as a transition that changes nothing else.
///
/// # Errors
///
/// [`Refusal::NothingToDo`] when the call has not ended: then there is no original.
pub fn original_read(invocation: &Invocation, by: &str, reason: &str, now: Timestamp) -> Result<Transition, Refusal> {
    if !invocation.status.is_terminal() {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.event(EventClass::ExtOriginalRead, data! { "by": by, "reason": reason });
    Ok(draft.done())
}
