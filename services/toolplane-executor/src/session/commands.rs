//! What a scheduler says, wherever it says it, and what the worker does about it.

use std::sync::Arc;

use toolplane_execution::Answer;
use toolplane_records::vocabulary::AbortReason;

use crate::assignments::{Assignment, Assignments, OfferTaken, StopReason, Terms};
use crate::messages::{Lease, OfferedCall, SchedulerCommand, Welcome};
use crate::outbox::Outbox;
use crate::reporter::Reporter;
use crate::runner::Runner;

/// Carries out commands. May be used from any thread.
#[derive(Debug)]
pub(crate) struct Commands {
    pub(crate) assignments: Arc<Assignments>,
    pub(crate) terms: Arc<Terms>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) reporter: Arc<Reporter>,
    pub(crate) runner: Arc<Runner>,
    /// Where tools run; never the session's own thread.
    pub(crate) runtime: tokio::runtime::Handle,
}

impl Commands {
    /// Does what the scheduler says. Gives the other schedulers it knows when it asks the worker to leave.
    pub(crate) fn obey(&self, command: SchedulerCommand) -> Option<Vec<String>> {
        match command {
            SchedulerCommand::Offer { lease, call } => self.take(lease, call),
            SchedulerCommand::StartGranted(lease) => {
                if let Some(assignment) = self.assignments.get(&lease) {
                    assignment.granted();
                }
            }
            SchedulerCommand::Lost { lease, reason } => self.lose(&lease, &reason),
            SchedulerCommand::Cancel { lease, reason } => self.cancel(&lease, reason),
            SchedulerCommand::Acknowledged(lease) => {
                self.assignments.forget(&lease);
                self.reporter.settle(&lease);
            }
            SchedulerCommand::GoAway { reason, schedulers } => {
                tracing::info!(reason, "the scheduler asks to leave");
                self.outbox.want_calls(false);
                return Some(schedulers);
            }
            SchedulerCommand::ReportRefused { report, field, rule } => {
                tracing::error!(report, field, rule, "the scheduler cannot read a report of this worker");
            }
            SchedulerCommand::Answer { lease, input_id, answer } => self.answer(&lease, &input_id, answer),
            SchedulerCommand::Welcome(welcome) => self.welcomed(welcome),
        }
        None
    }

    /// Takes the terms of a scheduler.
    pub(crate) fn welcomed(&self, welcome: Welcome) {
        self.terms.set(welcome);
        // A worker that was away for long wants its leases renewed now, and the terms may be others than before.
        self.assignments.want_renewal();
    }

    fn take(&self, lease: Lease, call: OfferedCall) {
        let assignment = Arc::new(Assignment::new(lease, call.traits));
        match self.assignments.take(assignment.clone()) {
            OfferTaken::Taken { replaced } => {
                if let Some(replaced) = replaced {
                    self.fenced(&replaced, "offered anew");
                }
                let runner = self.runner.clone();
                // In a box: a task is copied when it begins and when it ends, and this one is large.
                self.runtime.spawn(Box::pin(async move { runner.run(&assignment, call).await }));
            }
            // A scheduler that offers again has not heard the answer.
            OfferTaken::Known(known) => match known.grant.awaited_since() {
                Some(_) => self.outbox.start_requested(known.lease.clone()),
                None => self.outbox.received(known.lease.clone()),
            },
            OfferTaken::Ended(ended) => self.outbox.ended(ended),
            OfferTaken::Refused(reason) => self.outbox.released(assignment.lease.clone(), reason),
            OfferTaken::Stale => {}
        }
    }

    /// The lease is not this worker's: what runs under it is killed, and nothing of it is reported.
    fn lose(&self, lease: &Lease, reason: &str) {
        if let Some(lost) = self.assignments.forget(lease) {
            self.fenced(&lost, reason);
        }
    }

    /// The same for a call that has not ended: the end of an ended one is still told. It changes nothing, but it is evidence.
    pub(crate) fn lose_open(&self, lease: &Lease) {
        if self.assignments.open(lease).is_some() {
            self.lose(lease, "fenced");
        }
    }

    fn fenced(&self, assignment: &Assignment, reason: &str) {
        let lease = &assignment.lease;
        tracing::info!(invocation_id = %lease.invocation_id, lease_no = lease.number, reason, "lease lost");
        assignment.stop.give(StopReason::Fenced);
        self.reporter.settle(lease);
    }

    /// Stops an execution, or says that it cannot be stopped. May be said again and again.
    fn cancel(&self, lease: &Lease, reason: AbortReason) {
        let Some((assignment, running)) = self.assignments.open(lease) else { return };
        // What has not begun can always be stopped.
        let supported = assignment.traits.supports_cancel || !running;
        self.outbox.cancel_acknowledged(lease.clone(), supported);
        if supported {
            assignment.stop.give(StopReason::Cancel(reason));
        }
    }

    /// Hands an answer to the tool that asked.
    fn answer(&self, lease: &Lease, input_id: &str, answer: Answer) {
        if let Some(assignment) = self.assignments.get(lease) {
            assignment.question.answer(input_id, answer);
        }
    }
}
