//! One command to one invocation.

use crate::command::{Command, LeaseGrant};
use crate::invariant::{check, check_change};
use crate::transition::{Refusal, Timer, Transition};
use crate::{approval, cancel, finish, hold, input, lease, loss, partial, permit, post_hooks, released};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;

/// Applies one command to one invocation.
///
/// The record is not touched: the returned [`Transition`] holds the new one. A [`Refusal`] means that nothing may be
/// written, and says why; [`Refusal::Terminal`] and [`Refusal::Fenced`] are ordinary answers in races.
///
/// # Errors
///
/// - [`Refusal::Terminal`] when the call has ended and the command is neither [`Command::Yield`] nor
///   [`Command::Discard`].
/// - [`Refusal::Fenced`] when a worker names a lease that is not the current one.
/// - [`Refusal::Illegal`] when the command does not fit the status or something else in the record, e.g. a claim whose
///   permission has run out.
/// - [`Refusal::NothingToDo`] when the record is already as the command asks, the question it answers is an older one,
///   or a timer fires before its time.
pub fn apply(invocation: &Invocation, command: Command, now: Timestamp) -> Result<Transition, Refusal> {
    if invocation.status.is_terminal() && !matches!(command, Command::Yield { .. } | Command::Discard { .. }) {
        return Err(Refusal::Terminal(invocation.status));
    }
    let transition = match command {
        Command::Approve { approval_id, decision, edit } => {
            approval::approve(invocation, &approval_id, &decision, edit.map(|edit| *edit), now)
        }
        Command::Reject { approval_id, decision, expired } => {
            approval::reject(invocation, &approval_id, &decision, expired, now)
        }
        Command::AskAgain { decision, approval_id, expires_at } => {
            approval::ask_again(invocation, &decision, approval_id, expires_at, now)
        }
        Command::Confirm { decision, replan } => permit::confirm(invocation, &decision, replan.map(|plan| *plan), now),
        Command::Refuse { approval_id, decisions, edited, error } => {
            permit::refuse(invocation, approval_id.as_ref(), &decisions, edited.map(|edited| *edited), error, now)
        }
        Command::Claim(grant) => lease::claim(invocation, grant, now),
        Command::Start { lease, lease_ms } => lease::start(invocation, &lease, lease_ms, now),
        Command::Receive { lease } => lease::receive(invocation, &lease, now),
        Command::Renew { lease, lease_ms } => lease::renew(invocation, &lease, lease_ms, now),
        Command::Release { lease, reason } => loss::release(invocation, &lease, &reason, now),
        Command::WorkerGone { worker_id, incarnation } => loss::worker_gone(invocation, &worker_id, &incarnation, now),
        Command::Progress { lease, progress } => lease::progress(invocation, &lease, progress, now),
        Command::Partial { lease, partial } => partial::partial(invocation, &lease, partial, now),
        Command::Complete { lease, outcome } => finish::complete(invocation, &lease, *outcome, now),
        Command::AwaitHooks { lease, hook_ids, due_at, question } => {
            post_hooks::wait(invocation, &lease, &hook_ids, (due_at, question.as_deref()), now)
        }
        Command::TakeHooks { due_at, alone } => post_hooks::take(invocation, due_at, alone, now),
        Command::Conclude { outcome, answer } => finish::conclude(invocation, *outcome, answer.as_deref(), now),
        Command::Block { cause, error } => finish::block(invocation, cause, error, now),
        Command::RequestCancel { requested_by, message, abort_reason } => {
            cancel::request(invocation, requested_by, message, abort_reason, now)
        }
        Command::AcknowledgeCancel { lease, supported } => cancel::acknowledge(invocation, &lease, supported, now),
        Command::Unhold { hold, fence } => hold::unhold(invocation, hold, fence, now),
        Command::CancelSibling { cause } => cancel::sibling(invocation, &cause, now),
        Command::Yield { yield_seq } => released::yield_result(invocation, yield_seq, now),
        Command::Discard { reason } => released::discard(invocation, &reason, now),
        Command::RequestInput { lease, input } => input::request(invocation, &lease, input, now),
        Command::ProvideInput { input_id, input, by } => input::provide(invocation, &input_id, input, by, now),
        Command::Fire(timer) => fire(invocation, timer, now),
    }?;
    debug_assert_eq!(check(&transition.invocation), Ok(()), "after a transition of {:?}", invocation.status);
    debug_assert_eq!(check_change(invocation, &transition.invocation), Ok(()));
    Ok(transition)
}

/// A call that could not be claimed, as it was.
#[derive(Debug)]
pub struct Unclaimed {
    /// Its record, unchanged.
    pub invocation: Invocation,
    /// Why.
    pub refusal: Refusal,
}

/// [`Command::Claim`] of a record that nobody else holds: the new record is made of it without a copy.
///
/// # Errors
///
/// As [`apply`] for that command, with the record.
pub fn claim(invocation: Invocation, grant: LeaseGrant, now: Timestamp) -> Result<Transition, Box<Unclaimed>> {
    let claimable = match invocation.status.is_terminal() {
        true => Err(Refusal::Terminal(invocation.status)),
        false => lease::claimable(&invocation, &grant, now),
    };
    if let Err(refusal) = claimable {
        return Err(Box::new(Unclaimed { invocation, refusal }));
    }
    let before = cfg!(debug_assertions).then(|| invocation.clone());
    let transition = lease::take(invocation, grant, now);
    debug_assert_eq!(check(&transition.invocation), Ok(()), "after a claim");
    debug_assert_eq!(before.map_or(Ok(()), |before| check_change(&before, &transition.invocation)), Ok(()));
    Ok(transition)
}

fn fire(invocation: &Invocation, timer: Timer, now: Timestamp) -> Result<Transition, Refusal> {
    match timer {
        Timer::Lease => loss::expire(invocation, now),
        Timer::Retry => loss::retry(invocation, now),
        Timer::Deadline => finish::deadline(invocation, now),
        Timer::Execution => finish::execution_backstop(invocation, now),
        Timer::Cancel => cancel::backstop(invocation, now),
        Timer::Approval => approval::backstop(invocation, now),
        Timer::Input => input::expire(invocation, now),
        Timer::PostHooks => Err(Refusal::NothingToDo),
    }
}
