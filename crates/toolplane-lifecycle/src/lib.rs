//! The life of one invocation as pure functions: (record, command, now) → (new record, events, effects).
//!
//! The rules are those of the semantics contract: one acceptance, one terminal result, at most one start of a
//! non-idempotent tool, every worker report fenced by its lease. Nothing here reads a clock, a random number, a file or a
//! socket, and nothing is asynchronous: whoever calls [`accept`] and [`apply`] hands in the time and stores the outcome in
//! one atomic commit. This crate must not know how records are stored, sent or shown.

mod accept;
mod approval;
mod cancel;
mod command;
mod draft;
mod finish;
mod invariant;
mod lease;
mod legal;
mod synthetic;
mod transition;

#[cfg(test)]
mod tests;

pub use accept::{Acceptance, Preparation, accept};
pub use command::{Command, LeaseGrant, LeaseKey, Outcome};
pub use invariant::{Invariant, check};
pub use legal::is_legal;
pub use synthetic::codes;
pub use transition::{Effect, Refusal, Terminal, Timer, Transition};

use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;

/// Milliseconds the worker has, beyond a tool's timeout, to report that timeout before the scheduler ends the call itself.
pub const TIMEOUT_BACKSTOP_MS: i64 = 10_000;

/// Milliseconds after a cancel request at which a running call is ended without the worker's word.
pub const CANCEL_BACKSTOP_MS: i64 = 60_000;

/// Applies one command to one invocation.
///
/// The record is not touched: the returned [`Transition`] holds the new one. A [`Refusal`] means that nothing may be
/// written, and says why; [`Refusal::Terminal`] and [`Refusal::Fenced`] are ordinary answers in races.
pub fn apply(invocation: &Invocation, command: Command, now: Timestamp) -> Result<Transition, Refusal> {
    if invocation.status.is_terminal() {
        return Err(Refusal::Terminal(invocation.status));
    }
    let transition = match command {
        Command::Approve { decision } => approval::approve(invocation, decision, now),
        Command::Reject { decision, expired } => approval::reject(invocation, decision, expired, now),
        Command::Claim(grant) => lease::claim(invocation, grant, now),
        Command::Start { lease, lease_ms } => lease::start(invocation, &lease, lease_ms, now),
        Command::Renew { lease, lease_ms } => lease::renew(invocation, &lease, lease_ms, now),
        Command::Release { lease, reason } => lease::release(invocation, &lease, &reason, now),
        Command::WorkerGone { worker_id, incarnation } => lease::worker_gone(invocation, &worker_id, &incarnation, now),
        Command::Progress { lease, progress } => lease::progress(invocation, &lease, progress, now),
        Command::Complete { lease, outcome } => finish::complete(invocation, &lease, *outcome, now),
        Command::Unplaceable { error } => finish::unplaceable(invocation, error, now),
        Command::RequestCancel { requested_by, message, abort_reason } => {
            cancel::request(invocation, requested_by, message, abort_reason, now)
        }
        Command::AcknowledgeCancel { lease, supported } => cancel::acknowledge(invocation, &lease, supported, now),
        Command::Fire(timer) => fire(invocation, timer, now),
    }?;
    debug_assert_eq!(check(&transition.invocation), Ok(()), "after a transition of {:?}", invocation.status);
    Ok(transition)
}

fn fire(invocation: &Invocation, timer: Timer, now: Timestamp) -> Result<Transition, Refusal> {
    match timer {
        Timer::Lease => lease::expire(invocation, now),
        Timer::Retry => lease::retry(invocation, now),
        Timer::Deadline => finish::deadline(invocation, now),
        Timer::Execution => finish::execution_backstop(invocation, now),
        Timer::Cancel => cancel::backstop(invocation, now),
        Timer::Approval => approval::backstop(invocation, now),
    }
}
