//! Resource locks: who draws a ticket, who may run, and when a lock is free again.
//!
//! A call takes all its locks at once, in the order of tickets, and only when nothing else holds it back. So a call
//! that holds a lock can run, no call holds one lock while waiting for another, and none overtakes an earlier ticket it
//! conflicts with.

use crate::lock_set::LockSet;
use std::collections::HashSet;

use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::{InputSafety, Invocation};
use toolplane_records::locks::{LockDomain, Ticket};
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Hold, InvocationStatus as Status, LockMode};

use crate::command::Command;
use crate::scope::{Known, Scope};
use crate::transition::{Effect, Transition};

/// Key of the lock that every call takes which shares a context with others: a session, a batch, or a domain its caller
/// names.
pub const CONTEXT: &str = "context";

/// How a call shares its context: safe calls beside each other, any other call alone.
pub fn of_context(safety: InputSafety) -> ResourceLock {
    let mode = if safety.requires_exclusive_context { LockMode::Exclusive } else { LockMode::Shared };
    ResourceLock { key: CONTEXT.to_owned(), mode }
}

/// What settling a lock domain comes to. All of it is stored in one atomic commit, or none.
#[derive(Clone, Debug)]
pub struct LocksStep {
    /// The domain as it is from now on.
    pub domain: LockDomain,
    /// The calls that may run now: at most one transition per call.
    pub transitions: Vec<Transition>,
    /// Calls whose records are needed to decide. While this is not empty nothing may be stored: read them and settle again.
    pub missing: Vec<InvocationId>,
    /// Ended calls whose locks stay held for a while. Their entries must stay in the scope's index, so that a scheduler
    /// settles again at `wake_at`.
    pub lingering: Vec<InvocationId>,
    /// When the first of those locks is free.
    pub wake_at: Option<Timestamp>,
}

/// Decides everything that can be decided about `domain` now.
///
/// `records` holds what was read of the calls being settled, and of tickets that an earlier answer called missing.
/// `linger_ms` is how long exclusive locks stay held after a call ended without a report of its worker: at least one
/// lease, so that an execution that cannot be seen has stopped. Settling the same again gives the same; settling the
/// outcome at the same time gives no further change.
pub fn settle(domain: &LockDomain, records: &Known, linger_ms: i64, now: Timestamp) -> LocksStep {
    let mut step = LocksStep {
        domain: domain.clone(),
        transitions: Vec::new(),
        missing: Vec::new(),
        lingering: Vec::new(),
        wake_at: None,
    };
    give_back(&mut step.domain, records, linger_ms, now);
    draw(&mut step.domain, records);
    grant(&mut step, records, now);
    let lingering = step.domain.tickets.iter().filter(|ticket| ticket.linger_until.is_some());
    step.lingering = lingering.clone().map(|ticket| ticket.invocation_id.clone()).collect();
    step.wake_at = lingering.filter_map(|ticket| ticket.linger_until).min();
    debug_assert_eq!(crate::invariant::check_locks(&step.domain), Ok(()), "after settling {}", domain.domain);
    step
}

/// Whether two calls must not hold these at the same time.
pub fn conflict(some: &[ResourceLock], others: &[ResourceLock]) -> bool {
    let exclude = |one: &ResourceLock, other: &ResourceLock| {
        one.key == other.key && (one.mode == LockMode::Exclusive || other.mode == LockMode::Exclusive)
    };
    some.iter().any(|one| others.iter().any(|other| exclude(one, other)))
}

/// Takes back the tickets of calls that have ended or are parked.
fn give_back(domain: &mut LockDomain, records: &Known, linger_ms: i64, now: Timestamp) {
    domain.tickets.retain_mut(|ticket| {
        match records.get(&ticket.invocation_id) {
            // Nothing is known beyond what the ticket says.
            None => {}
            // Retention took the record, so the call ended long ago.
            Some(None) => return false,
            Some(Some(record)) if record.status == Status::AwaitingApproval => return false,
            Some(Some(record)) if record.status.is_terminal() => {
                if ticket.linger_until.is_none() {
                    ticket.locks.retain(|lock| lock.mode == LockMode::Exclusive);
                    let lingers = ticket.granted && !ticket.locks.is_empty() && may_still_run(record);
                    let ended_at = record.ended_at.filter(|_| lingers);
                    ticket.linger_until = ended_at.map(|ended_at| ended_at.plus_millis(linger_ms));
                }
                return ticket.linger_until.is_some_and(|until| until > now);
            }
            // The call was parked and came back before this was noticed: it waits again, at its old place.
            Some(Some(record)) => ticket.granted &= !record.holds.contains(&Hold::Locks),
        }
        ticket.linger_until.is_none_or(|until| until > now)
    });
}

/// Whether the call ended while an execution ran, without a report of that execution: it may not have stopped yet.
fn may_still_run(record: &Invocation) -> bool {
    let running = [Status::Running, Status::PartialResult, Status::NeedsInput, Status::PostHooksRunning];
    record
        .status_transitions
        .last()
        .is_some_and(|end| end.cause != "execute" && end.from.is_some_and(|from| running.contains(&from)))
}

/// Gives a ticket to every call that waits for its locks and only for them, oldest first.
fn draw(domain: &mut LockDomain, records: &Known) {
    let drawn: HashSet<&InvocationId> = domain.tickets.iter().map(|ticket| &ticket.invocation_id).collect();
    let waits = |record: &&Invocation| {
        record.status == Status::Queued
            && record.holds == [Hold::Locks]
            && record.tenant == domain.tenant
            && record.lock_domain.as_ref() == Some(&domain.domain)
            && !drawn.contains(&record.invocation_id)
    };
    let mut waiting: Vec<&Invocation> = records.values().flatten().filter(waits).collect();
    waiting.sort_by_key(|record| {
        (record.created_at, record.batch.as_ref().map(|place| place.index), record.invocation_id.clone())
    });
    for record in waiting {
        domain.tickets.push(Ticket {
            ticket: domain.next_ticket,
            invocation_id: record.invocation_id.clone(),
            locks: record.resource_locks.clone(),
            granted: false,
            linger_until: None,
        });
        domain.next_ticket += 1;
    }
}

/// Grants every ticket that conflicts with no earlier one, granted or not.
fn grant(step: &mut LocksStep, records: &Known, now: Timestamp) {
    let own = Effect::Settle(Scope::Locks { tenant: step.domain.tenant.clone(), domain: step.domain.domain.clone() });
    let blocked = blocked(&step.domain.tickets);
    for (ticket, blocked) in step.domain.tickets.iter_mut().zip(blocked) {
        if ticket.granted || blocked {
            continue;
        }
        match records.get(&ticket.invocation_id) {
            None => step.missing.push(ticket.invocation_id.clone()),
            Some(None) => {}
            Some(Some(record)) => {
                let command = Command::Unhold { hold: Hold::Locks, fence: Some(ticket.ticket) };
                if let Ok(mut transition) = crate::apply(record, command, now) {
                    ticket.granted = true;
                    transition.effects.retain(|effect| *effect != own);
                    step.transitions.push(transition);
                }
            }
        }
    }
}

/// Of each ticket, whether it conflicts with an earlier one.
fn blocked(tickets: &[Ticket]) -> Vec<bool> {
    let mut earlier = LockSet::default();
    let found = tickets.iter().map(|ticket| {
        let conflicts = earlier.excludes(&ticket.locks);
        earlier.add(&ticket.locks);
        conflicts
    });
    found.collect()
}
