//! Where a living invocation has to be found: the index entries its record stands for. Pure, and the measure of the audit.

use toolplane_lifecycle::{CANCEL_BACKSTOP_MS, TIMEOUT_BACKSTOP_MS, Timer};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{InvocationStatus as Status, QueueState};

use crate::storage::commit::score;
use crate::storage::keys::{self, QueueName};

/// For how long a question may wait at most: what a lost approval timer is set to, milliseconds.
const APPROVAL_MS: i64 = 31 * 86_400_000;

/// An entry that should be there.
#[derive(Debug)]
pub(crate) struct Expected {
    /// In which index.
    pub(crate) index: String,
    /// At which score.
    pub(crate) at: ExpectedScore,
}

/// At which score of its index an entry should be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExpectedScore {
    /// The call's acceptance.
    Created,
    /// This one.
    Exactly(u64),
    /// Any; this is where the entry is put when it is missing.
    Any(u64),
}

impl Expected {
    /// The score an entry of `record` is put at.
    pub(crate) fn score(&self, record: &Invocation) -> u64 {
        match self.at {
            ExpectedScore::Created => score(record.created_at),
            ExpectedScore::Exactly(score) | ExpectedScore::Any(score) => score,
        }
    }
}

/// Whether `record` belongs into a ready queue.
pub(crate) fn is_ready(record: &Invocation) -> bool {
    record.status == Status::Queued
        && record.queue_state == Some(QueueState::Queued)
        && record.lease.is_none()
        && record.holds.is_empty()
}

/// The entries of a living invocation, beside the lists of all. `queue` is where it is ready, if it is.
pub(crate) fn places_of(record: &Invocation, queue: Option<&QueueName>, now: Timestamp) -> Vec<Expected> {
    let own = |index: String| Expected { index, at: ExpectedScore::Created };
    let timer =
        |kind: Timer, due: Timestamp| Expected { index: keys::timers(kind), at: ExpectedScore::Exactly(score(due)) };
    let any = |kind: Timer, due: u64| Expected { index: keys::timers(kind), at: ExpectedScore::Any(due) };
    let mut expected = Vec::new();
    if is_ready(record)
        && let Some(queue) = queue
    {
        expected.push(own(queue.to_string()));
    }
    if record.status == Status::Queued && record.queue_state == Some(QueueState::Queued) && record.lease.is_none() {
        expected.push(own(keys::waiting(&record.tenant)));
    }
    if record.status == Status::Queued && record.queue_state.is_none() && record.lease.is_none() {
        expected.push(any(Timer::Retry, score(now)));
    }
    if record.status == Status::AwaitingApproval {
        expected.push(own(keys::AWAITING.to_owned()));
        expected.push(any(Timer::Approval, score(record.created_at.plus_millis(APPROVAL_MS))));
    }
    if let Some(lease) = &record.lease {
        expected.push(timer(Timer::Lease, lease.expires_at));
        for permit in &lease.permits {
            expected.push(own(permit.to_string()));
        }
    }
    if let Some(deadline) = record.deadline_at.filter(|_| record.dispatch.is_some()) {
        expected.push(timer(Timer::Deadline, deadline));
    }
    if let Some(pending) = record.pending_input.as_ref().filter(|pending| pending.answer.is_none()) {
        expected.push(timer(Timer::Input, pending.expires_at));
    }
    if let Some(cancel) = record.cancel.as_ref().filter(|cancel| cancel.failed.is_none() && record.lease.is_some()) {
        expected.push(timer(Timer::Cancel, cancel.requested_at.plus_millis(CANCEL_BACKSTOP_MS)));
    }
    if let Some(asked) = record.post_hooks {
        expected.push(timer(Timer::PostHooks, asked.due_at));
    }
    expected.extend(execution_backstop(record).map(|due| timer(Timer::Execution, due)));
    expected
}

/// When the scheduler ends a running call whose worker should have reported its timeout.
fn execution_backstop(record: &Invocation) -> Option<Timestamp> {
    let runs = matches!(record.status, Status::Running | Status::PartialResult);
    let (dispatch, started_at) = record.dispatch.as_ref().zip(record.started_at).filter(|_| runs)?;
    let millis = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX).min(i64::MAX / 8);
    let allowed = [dispatch.timeout_ms, record.clock_paused_ms].map(millis);
    Some(started_at.plus_millis(allowed[0]).plus_millis(allowed[1]).plus_millis(TIMEOUT_BACKSTOP_MS))
}
