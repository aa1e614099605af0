//! What a running call has so far.

use toolplane_records::SmolStr;
use toolplane_records::invocation::Invocation;
use toolplane_records::partial::{MAX_PARTIAL_RESULTS, PartialResult};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status};

use crate::command::{LeaseKey, ReportedPartial};
use crate::data::EventData;
use crate::draft::Draft;
use crate::lease::held;
use crate::transition::{Refusal, Transition};

/// An execution shows what it has. The first one is a status of its own, which lasts until the call asks something or ends. More than
/// [`MAX_PARTIAL_RESULTS`] change nothing; none that was taken is ever left out of the log.
pub(crate) fn partial(
    invocation: &Invocation,
    key: &LeaseKey,
    reported: ReportedPartial,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if !matches!(invocation.status, Status::Running | Status::PartialResult) {
        return Err(Refusal::Illegal { command: "show a partial result", status: invocation.status });
    }
    if invocation.partial_seq >= MAX_PARTIAL_RESULTS {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.partial_seq += 1;
    let ReportedPartial { content, append, resume_token } = reported;
    let shown = PartialResult {
        schema_version: toolplane_records::schema_version(),
        partial_id: newest(&draft.invocation).unwrap_or_default(),
        invocation_id: invocation.invocation_id.clone(),
        sequence: draft.invocation.partial_seq,
        content,
        append,
        timestamp: now,
    };
    draft.event(EventClass::PartialResult, EventData::of(&shown));
    if invocation.status == Status::Running {
        draft.silent_status(Status::PartialResult, "execute")?;
    }
    if let Some(token) = resume_token {
        draft.invocation.resume_token = Some(SmolStr::new(token));
    }
    if let Some(lease) = &mut draft.invocation.lease {
        lease.confirmed = true;
    }
    Ok(draft.done())
}

/// The name of the newest partial result, once there is one.
pub(crate) fn newest(invocation: &Invocation) -> Option<String> {
    let sequence = invocation.partial_seq;
    (sequence > 0).then(|| format!("{}:r{sequence}", invocation.invocation_id))
}
