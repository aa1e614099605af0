//! What is true of every invocation record, by name: checked after each transition in debug builds and by tests.

use toolplane_records::SmolStr;
use toolplane_records::batch::{Batch, BatchMember};
use toolplane_records::ids::DecisionId;
use toolplane_records::invocation::{Invocation, StatusTransition};
use toolplane_records::locks::LockDomain;
use toolplane_records::trail;
use toolplane_records::vocabulary::{InvocationStatus as Status, QueueState};

use crate::legal::is_legal;
use crate::lock_set::LockSet;

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
    /// A call that waits in a queue is `queued` and unleased.
    #[error("L6: queue state `queued` means status `queued` and no lease")]
    QueuedIsQueued,
    /// Sequences of transitions never go back and never exceed the log.
    #[error("L7: transition sequences grow and stay within the log")]
    SequencesGrow,
    /// Whatever is held back has no lease, has not started and has not ended.
    #[error("L8: a held invocation has no lease, has not started and has not ended")]
    HeldIsNotRun,
    /// The clock is paused exactly while the call needs input, and then there is an open question.
    #[error("L9: an invocation needs input exactly while its clock stands still and its question is open")]
    NeedsInputIsAsked,
    /// A call that waits for hooks says so, and no other call does.
    #[error("L11: the hooks after a call are waited for exactly while they are asked")]
    HooksAreAsked,
    /// Only a terminal result is released, and it says as the how manieth.
    #[error("L10: queue state `yielded` means a terminal invocation with a yield sequence")]
    YieldedIsTerminal,
    /// A call that may run was allowed to: after the last question, if there was one.
    #[error("P1: a call that holds a lease or has started was decided about, and every question has its yes")]
    AllowedFirst,
    /// One answer releases one call, once.
    #[error("P2: a call is released by approvals at most as often as it was asked about")]
    OneReleasePerQuestion,
    /// The model's input is what it was.
    #[error(
        "P3: the model's input never changes, and decisions and hooks are only added, the oldest but the first left out"
    )]
    ModelInputKept,
    /// Yield sequences of a batch are 1, 2, 3 and so on, each given once, to ended members.
    #[error("B1: yield sequences of a batch are gapless from 1, one per ended member")]
    YieldsAreGapless,
    /// Ordered results are released in the declared order.
    #[error("B2: ordered results are released in the declared order")]
    YieldsInOrder,
    /// Never more members run at once than the policy allows.
    #[error("B3: at most `max_parallel` members are released and not ended")]
    ParallelIsBounded,
    /// A member is released only after everything it depends on has ended.
    #[error("B4: a released member depends on ended members only")]
    DependenciesFirst,
    /// Who was canceled for a sibling names one that ended other than succeeded.
    #[error("B5: a member canceled by a sibling names one that did not succeed")]
    CauseIsNamed,
    /// A batch has ended exactly when every result is released or discarded.
    #[error("B6: a batch has ended exactly when every result is released or discarded")]
    BatchEnd,
    /// No two calls hold conflicting locks.
    #[error("K1: granted tickets of a lock domain do not conflict")]
    GrantsExclude,
    /// Tickets are drawn in order and never twice.
    #[error("K2: tickets grow, and every call has at most one")]
    TicketsGrow,
    /// No call overtakes an earlier ticket it conflicts with.
    #[error("K3: a granted ticket conflicts with no earlier one")]
    NoBarging,
}

/// Checks every invariant of one record.
///
/// # Errors
///
/// One [`Invariant`] of L1 to L11, P1 and P2 that does not hold, if there is one. Its message begins with that name.
pub fn check(invocation: &Invocation) -> Result<(), Invariant> {
    let terminal = invocation.status.is_terminal();
    if terminal != invocation.result_id.is_some() || terminal != invocation.ended_at.is_some() {
        return Err(Invariant::TerminalHasResult);
    }
    legal_path(invocation)?;
    if terminal && invocation.lease.is_some() {
        return Err(Invariant::NoLeaseAfterEnd);
    }
    let asks_hooks = invocation.status == Status::PostHooksRunning;
    if asks_hooks != invocation.post_hooks.is_some() {
        return Err(Invariant::HooksAreAsked);
    }
    let running = crate::lease::has_started(invocation) && !asks_hooks;
    let leased = invocation.lease.is_some();
    if running && !leased || leased && !running && invocation.status != Status::Queued {
        return Err(Invariant::LeaseWhileRunning);
    }
    // Going on after an answered question is not another start.
    let starts = |step: &&StatusTransition| step.to == Status::Running && step.from == Some(Status::Queued);
    let starts = invocation.status_transitions.iter().filter(starts).count();
    if !invocation.safety.is_idempotent && starts > 1 {
        return Err(Invariant::AtMostOneStart);
    }
    if invocation.queue_state == Some(QueueState::Queued) && (invocation.status != Status::Queued || leased) {
        return Err(Invariant::QueuedIsQueued);
    }
    if !invocation.holds.is_empty() && (leased || running || terminal) {
        return Err(Invariant::HeldIsNotRun);
    }
    let asks = invocation.pending_input.as_ref().is_some_and(|pending| pending.answer.is_none());
    let waits = invocation.status == Status::NeedsInput;
    if waits != asks || waits != invocation.clock_stopped_at.is_some() {
        return Err(Invariant::NeedsInputIsAsked);
    }
    let yielded = invocation.queue_state == Some(QueueState::Yielded);
    if yielded != invocation.yield_seq.is_some() || yielded && !terminal {
        return Err(Invariant::YieldedIsTerminal);
    }
    permitted(invocation, leased || running)
}

fn permitted(invocation: &Invocation, runs: bool) -> Result<(), Invariant> {
    let steps = &invocation.status_transitions;
    let word = steps.iter().rev().find(|step| matches!(step.to, Status::AwaitingApproval | Status::Approved));
    let allowed = word.is_some_and(|step| step.to == Status::Approved);
    let decided = !invocation.permission_decision_refs.is_empty();
    if runs && (!allowed || !decided) {
        return Err(Invariant::AllowedFirst);
    }
    let questions = steps.iter().filter(|step| step.to == Status::AwaitingApproval).count();
    let released =
        |step: &&StatusTransition| step.from == Some(Status::AwaitingApproval) && step.to == Status::Approved;
    let asks = invocation.status == Status::AwaitingApproval;
    if steps.iter().filter(released).count() > questions || asks && invocation.approval_request_ref.is_none() {
        return Err(Invariant::OneReleasePerQuestion);
    }
    Ok(())
}

fn decisions(record: &Invocation) -> (&[DecisionId], u64) {
    (&record.permission_decision_refs, record.decisions_left_out)
}

fn hooks(record: &Invocation) -> (&[SmolStr], u64) {
    (&record.hook_refs, record.hooks_left_out)
}

/// Checks what must hold between a record and the record a command made of it.
///
/// # Errors
///
/// [`Invariant::ModelInputKept`] when the model's input is another one, or the decisions and hooks of `after` are not
/// those of `before` with new ones at the end.
pub fn check_change(before: &Invocation, after: &Invocation) -> Result<(), Invariant> {
    let kept = before.inputs.model == after.inputs.model
        && trail::DECISIONS.goes_on(decisions(before), decisions(after))
        && trail::HOOKS.goes_on(hooks(before), hooks(after));
    if kept { Ok(()) } else { Err(Invariant::ModelInputKept) }
}

/// Checks every invariant of one batch record.
///
/// # Errors
///
/// The first invariant of B1 to B6 that does not hold, if there is one.
pub fn check_batch(batch: &Batch) -> Result<(), Invariant> {
    let members = &batch.members;
    let mut released: Vec<u64> = members.iter().filter_map(|member| member.yield_seq).collect();
    // Who runs in the background keeps no order and waits for none.
    let ordered = || members.iter().filter(|member| !member.background);
    let in_order = ordered().filter_map(|member| member.yield_seq).is_sorted();
    released.sort_unstable();
    let gapless = released.iter().copied().eq(1..=batch.yields);
    if !gapless || members.iter().any(|member| member.yield_seq.is_some() && member.ended.is_none()) {
        return Err(Invariant::YieldsAreGapless);
    }
    let through = |member: &BatchMember| member.yield_seq.is_some() || member.discarded;
    let none_ahead = ordered().skip_while(|member| through(member)).all(|member| member.yield_seq.is_none());
    let as_declared = in_order && none_ahead;
    if !as_declared && !crate::batch::policy::is_unordered(&batch.policy) {
        return Err(Invariant::YieldsInOrder);
    }
    let running = members.iter().filter(|member| member.released && member.ended.is_none()).count();
    if running > crate::batch::policy::max_parallel(&batch.policy) {
        return Err(Invariant::ParallelIsBounded);
    }
    let member = |index: &u32| members.get(*index as usize);
    let waits = |index: &u32| member(index).is_some_and(|before| before.ended.is_none());
    if members.iter().any(|member| member.released && member.depends_on.iter().any(waits)) {
        return Err(Invariant::DependenciesFirst);
    }
    let failed =
        |index: &u32| member(index).is_some_and(|cause| cause.ended.is_some_and(|ended| ended != Status::Succeeded));
    if members.iter().filter_map(|member| member.canceled_by.as_ref()).any(|index| !failed(index)) {
        return Err(Invariant::CauseIsNamed);
    }
    if batch.ended_at.is_some() != members.iter().all(through) {
        return Err(Invariant::BatchEnd);
    }
    Ok(())
}

/// Checks every invariant of one lock domain.
///
/// # Errors
///
/// One invariant of K1 to K3 that does not hold, if there is one.
pub fn check_locks(domain: &LockDomain) -> Result<(), Invariant> {
    let tickets = &domain.tickets;
    let grow = tickets.windows(2).all(|pair| pair[0].ticket < pair[1].ticket);
    let ids: std::collections::BTreeSet<_> = tickets.iter().map(|ticket| &ticket.invocation_id).collect();
    if !grow || ids.len() != tickets.len() || tickets.last().is_some_and(|last| last.ticket >= domain.next_ticket) {
        return Err(Invariant::TicketsGrow);
    }
    let (mut granted, mut waiting) = (LockSet::default(), LockSet::default());
    for ticket in tickets {
        if !ticket.granted {
            waiting.add(&ticket.locks);
            continue;
        }
        if granted.excludes(&ticket.locks) {
            return Err(Invariant::GrantsExclude);
        }
        if waiting.excludes(&ticket.locks) {
            return Err(Invariant::NoBarging);
        }
        granted.add(&ticket.locks);
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
