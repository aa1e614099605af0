//! Leases: who may run an invocation, and until when.

use toolplane_records::invocation::{Invocation, Lease};
use toolplane_records::progress::ToolProgress;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status, QueueState};

use crate::command::{LeaseGrant, LeaseKey, Permit};
use crate::data::{EventData, data};
use crate::draft::{Draft, may_become};
use crate::transition::{Effect, Refusal, Timer, Transition};
use crate::{partial, permit, stages};

/// The current lease, if `key` names it: the fence every worker report passes.
pub(crate) fn held<'a>(invocation: &'a Invocation, key: &LeaseKey) -> Result<&'a Lease, Refusal> {
    match &invocation.lease {
        Some(lease) if key.names(lease) => Ok(lease),
        _ => Err(Refusal::Fenced),
    }
}

/// Whether an execution may have had an effect under the current lease.
pub(crate) fn has_started(invocation: &Invocation) -> bool {
    matches!(invocation.status, Status::Running | Status::PartialResult | Status::NeedsInput | Status::PostHooksRunning)
}

pub(crate) fn claim(invocation: &Invocation, grant: LeaseGrant, now: Timestamp) -> Result<Transition, Refusal> {
    claimable(invocation, &grant, now)?;
    Ok(take(invocation.clone(), grant, now))
}

/// Whether a call can be taken under this grant.
pub(crate) fn claimable(invocation: &Invocation, grant: &LeaseGrant, now: Timestamp) -> Result<(), Refusal> {
    // A call that waits to be repeated is queued, but not in the queue.
    let ready = invocation.queue_state == Some(QueueState::Queued) && invocation.holds.is_empty();
    if invocation.status != Status::Queued || invocation.lease.is_some() || !ready {
        return Err(Refusal::Illegal { command: "claim", status: invocation.status });
    }
    // Permission that ran out while the call waited is asked for again first.
    if !permit::in_time(invocation, now) {
        return Err(Refusal::Illegal { command: "claim without permission", status: invocation.status });
    }
    // A fence that does not grow would let an older execution pass for the newer one.
    if grant.fence <= invocation.last_fence {
        return Err(Refusal::Illegal { command: "claim with an old fence", status: invocation.status });
    }
    if invocation.safety.is_idempotent { may_become(invocation, Status::Running) } else { Ok(()) }
}

/// The claim of a call that is [`claimable`].
pub(crate) fn take(invocation: Invocation, grant: LeaseGrant, now: Timestamp) -> Transition {
    let mut draft = Draft::of(invocation, now);
    let expires_at = now.plus_millis(grant.offer_ms);
    draft.invocation.lease_no += 1;
    draft.invocation.last_fence = grant.fence;
    draft.invocation.lease = Some(Lease {
        lease_no: draft.invocation.lease_no,
        lease_id: grant.lease_id,
        fence: grant.fence,
        worker_id: grant.worker_id,
        incarnation: grant.incarnation,
        expires_at,
        confirmed: false,
        permits: grant.permits.iter().map(|permit| permit.index.clone()).collect(),
    });
    for Permit { index, below } in grant.permits {
        draft.effect(Effect::TakePermit { index, below });
    }
    draft.invocation.queue_state = Some(QueueState::Executing);
    draft.effect(Effect::Dequeue);
    draft.effect(Effect::SetTimer(Timer::Lease, expires_at));
    if draft.invocation.safety.is_idempotent {
        begin(&mut draft, now);
    }
    draft.done()
}

pub(crate) fn start(
    invocation: &Invocation,
    key: &LeaseKey,
    lease_ms: i64,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if has_started(invocation) {
        return renew(invocation, key, lease_ms, now);
    }
    if invocation.cancel.is_some() {
        return Err(Refusal::Illegal { command: "start", status: invocation.status });
    }
    if !permit::in_time(invocation, now) {
        return Err(Refusal::Illegal { command: "start without permission", status: invocation.status });
    }
    may_become(invocation, Status::Running)?;
    let mut draft = Draft::of(invocation.clone(), now);
    begin(&mut draft, now);
    extend(&mut draft, lease_ms, now);
    Ok(draft.done())
}

/// Records that an execution begins, where it may: after this, a non-idempotent call never runs again by itself.
fn begin(draft: &mut Draft, now: Timestamp) {
    draft.invocation.attempt += 1;
    draft.invocation.started_at = Some(now);
    draft.invocation.clock_paused_ms = 0;
    let data = match &draft.invocation.lease {
        Some(lease) => {
            data! { "attempt": draft.invocation.attempt, "lease_no": lease.lease_no, "worker_id": lease.worker_id, }
        }
        None => EventData::default(),
    };
    draft.event(EventClass::Started, data);
    draft.became(Status::Running, "execute");
    if let Some(backstop) = execution_backstop(&draft.invocation) {
        draft.effect(Effect::SetTimer(Timer::Execution, backstop));
    }
}

/// When the worker should have reported the tool's timeout; none while the tool's clock is paused.
pub(crate) fn execution_backstop(invocation: &Invocation) -> Option<Timestamp> {
    let (dispatch, started_at) = invocation.dispatch.as_ref().zip(invocation.started_at)?;
    // Nothing is executed while an answer is waited for, or what hooks say.
    if invocation.clock_stopped_at.is_some() || invocation.post_hooks.is_some() {
        return None;
    }
    let [timeout, paused] = [dispatch.timeout_ms, invocation.clock_paused_ms].map(saturating_millis);
    Some(started_at.plus_millis(timeout).plus_millis(paused).plus_millis(crate::times::TIMEOUT_BACKSTOP_MS))
}

/// Far enough to mean never, and near enough to be added to an instant.
pub(crate) fn saturating_millis(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX).min(i64::MAX / 8)
}

fn extend(draft: &mut Draft, lease_ms: i64, now: Timestamp) {
    let until = now.plus_millis(lease_ms);
    if let Some(lease) = &mut draft.invocation.lease {
        lease.confirmed = true;
        // A lease never shrinks: a slow renewal must not undo a later one.
        lease.expires_at = lease.expires_at.max(until);
        let at = lease.expires_at;
        draft.effect(Effect::SetTimer(Timer::Lease, at));
    }
}

pub(crate) fn receive(invocation: &Invocation, key: &LeaseKey, now: Timestamp) -> Result<Transition, Refusal> {
    if held(invocation, key)?.confirmed {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    if let Some(lease) = &mut draft.invocation.lease {
        lease.confirmed = true;
    }
    Ok(draft.done())
}

pub(crate) fn renew(
    invocation: &Invocation,
    key: &LeaseKey,
    lease_ms: i64,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    let mut draft = Draft::of(invocation.clone(), now);
    extend(&mut draft, lease_ms, now);
    Ok(draft.done())
}

/// Reports of progress that may come at once, whenever the call started.
const PROGRESS_BURST: u64 = 64;
/// How long every report counts that comes at [`PROGRESS_RATE`], seconds.
const PROGRESS_DENSE_S: u64 = 50;
/// Reports a second that count in that time.
const PROGRESS_RATE: u64 = 4;
/// Reports that count in each later stretch; each stretch is as long as all the time before it.
const PROGRESS_PER_STRETCH: u64 = 150;

/// How many reports of progress the log of a running call may have at `now`: many in its first minute, and ever fewer the longer
/// it runs, so that a log of days is not much longer than one of minutes.
fn most_progress(invocation: &Invocation, now: Timestamp) -> u64 {
    let began = invocation.status_transitions.iter().find(|step| step.to == Status::Running);
    let ran_s = began.map_or(0, |step| u64::try_from(now.since_millis(step.at) / 1000).unwrap_or(0));
    let dense = ran_s.min(PROGRESS_DENSE_S) * PROGRESS_RATE;
    let stretches = (ran_s / PROGRESS_DENSE_S).checked_ilog2().map_or(0, u64::from);
    PROGRESS_BURST + dense + stretches * PROGRESS_PER_STRETCH
}

/// An execution says how far it is. More than [`most_progress`] change nothing.
pub(crate) fn progress(
    invocation: &Invocation,
    key: &LeaseKey,
    mut progress: ToolProgress,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if !has_started(invocation) {
        return Err(Refusal::Illegal { command: "progress", status: invocation.status });
    }
    if invocation.progress_seq >= most_progress(invocation, now) {
        return Err(Refusal::NothingToDo);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.progress_seq += 1;
    progress.sequence = draft.invocation.progress_seq;
    progress.invocation_id = invocation.invocation_id.clone();
    progress.progress_id = stages::id(&draft.invocation);
    if progress.partial_result_refs.is_empty() {
        progress.partial_result_refs.extend(partial::newest(invocation));
    }
    if invocation.background {
        progress.task_id = invocation.invocation_id.to_string();
    }
    draft.event(EventClass::Progress, EventData::of(&progress));
    if let Some(lease) = &mut draft.invocation.lease {
        lease.confirmed = true;
    }
    Ok(draft.done())
}
