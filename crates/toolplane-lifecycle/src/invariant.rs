//! What is true of every invocation record, by name: checked after each transition in debug builds and by tests.

use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{InvocationStatus as Status, QueueState};

use crate::legal::is_legal;

/// A broken invariant of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invariant {
    /// A terminal record, and only a terminal one, names its result and its end.
    #[error("L1: a result id and an end belong to terminal invocations, and only to them")]
    TerminalHasResult,
    /// The recorded transitions form one legal path that ends in `status`.
    #[error("L2: the recorded transitions are one legal path to the status")]
    LegalPath,
    /// A terminal record holds no lease.
    #[error("L3: a terminal invocation holds no lease")]
    NoLeaseAfterEnd,
    /// A running record has a lease, and a leased record is queued or running.
    #[error("L4: running invocations, and only queued or running ones, hold a lease")]
    LeaseWhileRunning,
    /// A non-idempotent call was started at most once.
    #[error("L5: a non-idempotent invocation starts at most once")]
    AtMostOneStart,
    /// Whoever waits in a queue is `queued` and unleased.
    #[error("L6: queue state `queued` means status `queued` and no lease")]
    QueuedIsQueued,
    /// Sequences of transitions never go back and never exceed the log.
    #[error("L7: transition sequences grow and stay within the log")]
    SequencesGrow,
}

/// Checks every invariant of one record.
pub fn check(invocation: &Invocation) -> Result<(), Invariant> {
    let terminal = invocation.status.is_terminal();
    if terminal != invocation.result_id.is_some() || terminal != invocation.ended_at.is_some() {
        return Err(Invariant::TerminalHasResult);
    }
    legal_path(invocation)?;
    if terminal && invocation.lease.is_some() {
        return Err(Invariant::NoLeaseAfterEnd);
    }
    let running = crate::lease::has_started(invocation);
    let leased = invocation.lease.is_some();
    if running && !leased || leased && !running && invocation.status != Status::Queued {
        return Err(Invariant::LeaseWhileRunning);
    }
    let starts = invocation.status_transitions.iter().filter(|step| step.to == Status::Running).count();
    if !invocation.safety.is_idempotent && starts > 1 {
        return Err(Invariant::AtMostOneStart);
    }
    if invocation.queue_state == Some(QueueState::Queued) && (invocation.status != Status::Queued || leased) {
        return Err(Invariant::QueuedIsQueued);
    }
    Ok(())
}

fn legal_path(invocation: &Invocation) -> Result<(), Invariant> {
    let mut previous = None;
    let mut last_seq = 0;
    for step in &invocation.status_transitions {
        if step.from != previous || !is_legal(previous, step.to) {
            return Err(Invariant::LegalPath);
        }
        if step.seq < last_seq || step.seq > invocation.last_seq {
            return Err(Invariant::SequencesGrow);
        }
        last_seq = step.seq;
        previous = Some(step.to);
    }
    if previous == Some(invocation.status) { Ok(()) } else { Err(Invariant::LegalPath) }
}
