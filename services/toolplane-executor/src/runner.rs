//! Runs calls: each waits for a slot and the word that it may start, runs within its bounds, and is reported.
//!
//! [`Runner::run`] is the whole way of a call. Its steps pass on what the next one needs, so that between any two of
//! them the worker can be killed by a test at one place.

mod active;
mod admission;
mod ending;
mod execution;
mod progress;
mod questions;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use toolplane_cleaning::{Cleaner, Findings, sent};
use toolplane_execution::{Outcome, Toolbox};
use toolplane_faultpoint::point;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_runtime::clock;
use toolplane_runtime::config::{QueueParenting, Workspaces};
use toolplane_runtime::telemetry::semconv::gen_ai;
use toolplane_runtime::telemetry::spans::{self, AttemptFacts};
use toolplane_runtime::telemetry::{Instrument as _, Span};

use self::active::ActiveExecution;
use crate::assignments::{Assignment, Assignments, Terms};
use crate::messages::{Call, ExecutionReport, OfferedCall};
use crate::outbox::Outbox;
use crate::reporter::{Frame, Reporter};
use crate::worker::Egress;

/// How long after a call's time its end may be reported: from a little later on the scheduler settles it as timed out.
const REPORT_BOUND: Duration = Duration::from_secs(7);

/// How calls are run.
#[derive(Clone, Debug)]
pub(crate) struct RunSettings {
    /// Where the tools of each tenant work.
    pub(crate) workspaces: Workspaces,
    /// Where HTTP tools and MCP servers may go.
    pub(crate) egress: Egress,
    /// How a span of a call hangs on the span that queued it.
    pub(crate) queue_parenting: QueueParenting,
    /// Arguments and results go into the spans of tools, without what this takes out.
    pub(crate) captured: Option<Cleaner>,
}

/// Runs calls, as many at once as there are slots.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) settings: RunSettings,
    pub(crate) toolbox: Arc<Toolbox>,
    /// One permit for each call that runs at once.
    pub(crate) slots: Semaphore,
    pub(crate) assignments: Arc<Assignments>,
    pub(crate) terms: Arc<Terms>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) reporter: Arc<Reporter>,
}

/// A step of the way that is done, with what the next one needs.
enum CallStep<'a> {
    Offered(OfferedCall),
    /// It has a slot until its end is reported, so that a slot is never promised twice.
    Admitted(OfferedCall, SemaphorePermit<'a>),
    Executed(Box<Executed<'a>>),
    Journaled(Box<Executed<'a>>),
    Reportable(Box<ExecutionReport>, SemaphorePermit<'a>),
    Reported,
    /// It runs elsewhere, or not at all.
    GivenBack,
}

impl CallStep<'_> {
    /// Where a test may strike; see `toolplane-faultpoint`.
    fn fault_point(&self) -> &'static str {
        match self {
            Self::Offered(_) => "executor.before_start",
            Self::Admitted(..) => "executor.before_effect",
            Self::Executed(_) => "executor.after_effect",
            Self::Journaled(_) => "executor.after_journal",
            Self::Reportable(..) => "executor.before_done",
            Self::Reported => "executor.after_done",
            Self::GivenBack => "executor.given_back",
        }
    }
}

/// An execution that ended.
struct Executed<'a> {
    call: Call,
    outcome: Outcome,
    frame: Frame,
    /// Of the whole attempt.
    span: Span,
    slot: SemaphorePermit<'a>,
}

impl Runner {
    /// Runs an offered call, from its assignment to its report.
    pub(crate) async fn run(&self, assignment: &Arc<Assignment>, offered: OfferedCall) {
        let mut step = CallStep::Offered(offered);
        loop {
            point(step.fault_point());
            step = match step {
                CallStep::Offered(offered) => self.admit(assignment, offered).await,
                CallStep::Admitted(offered, slot) => self.execute(assignment, offered, slot).await,
                CallStep::Executed(executed) => self.journal(assignment, executed).await,
                CallStep::Journaled(executed) => self.keep(assignment, *executed).await,
                CallStep::Reportable(report, _slot) => {
                    self.reporter.report(&assignment.lease, *report);
                    CallStep::Reported
                }
                CallStep::GivenBack => return self.reporter.give_back(assignment),
                CallStep::Reported => return,
            }
        }
    }

    async fn admit(&self, assignment: &Assignment, offered: OfferedCall) -> CallStep<'_> {
        match self.admitted(assignment).await {
            Some(slot) => CallStep::Admitted(offered, slot),
            None => CallStep::GivenBack,
        }
    }

    /// Begins the call, reads it, and runs its tool to the end.
    async fn execute<'a>(
        &'a self,
        assignment: &Arc<Assignment>,
        offered: OfferedCall,
        slot: SemaphorePermit<'a>,
    ) -> CallStep<'a> {
        if !self.assignments.begin(&assignment.lease) {
            return CallStep::GivenBack;
        }
        let (started_at, started) = (clock::now(), Instant::now());
        let refused = |error, slot| CallStep::Reportable(Box::new(ExecutionReport::not_begun(error, started_at)), slot);
        let mut call = match offered.read() {
            Ok(call) => call,
            Err(error) => return refused(*error, slot),
        };
        let span = self.attempt_span(&call);
        if let Err(error) = execution::prepare(&mut call, &self.settings) {
            spans::end_execution(&span, Some(error.error_class));
            return refused(*error, slot);
        }
        match self.performed(assignment, &call).instrument(&span).await {
            None => CallStep::GivenBack,
            Some(outcome) => {
                let frame = self.frame(&call, started_at, started);
                CallStep::Executed(Box::new(Executed { call, outcome, frame, span, slot }))
            }
        }
    }

    fn attempt_span(&self, call: &Call) -> Span {
        let queued = AttemptFacts {
            attempt: call.tool.attempt.number,
            waited: Duration::ZERO,
            queued_in: &call.queued_in,
            parenting: self.settings.queue_parenting,
        };
        spans::process(&call.facts(), &queued)
    }

    /// Runs the tool in a span of its own; nothing when the call is to be given back.
    async fn performed(&self, assignment: &Arc<Assignment>, call: &Call) -> Option<Outcome> {
        let span = spans::execute_tool(&call.facts());
        let active = ActiveExecution::begin(&call.tool.tool_name);
        if self.settings.captured.is_some() {
            spans::content(&span, true, gen_ai::TOOL_CALL_ARGUMENTS, sent::shown(&call.shown).text());
        }
        let ending = self.ran(assignment, call).instrument(&span).await;
        let outcome = ending::settle(ending, &assignment.stop, assignment.traits.idempotent)?;
        active.ended(outcome.error.as_ref());
        if let (false, None, Some(result)) = (call.hooks_follow, &outcome.error, &outcome.structured_content) {
            self.capture_result(&span, result);
        }
        spans::end_execution(&span, outcome.error.as_ref().map(|error| error.error_class));
        Some(outcome)
    }

    /// Shows what a tool gave in its span, cleaned as the scheduler cleans it later.
    fn capture_result(&self, span: &Span, result: &JsonPayload) {
        let Some(cleaner) = &self.settings.captured else { return };
        let mut found = Findings::default();
        if let Ok(shown) = cleaner.json(result.text(), &mut found)
            && found.dropped_for().is_none()
        {
            spans::content(span, true, gen_ai::TOOL_CALL_RESULT, &shown);
        }
    }

    fn frame(&self, call: &Call, started_at: Timestamp, started: Instant) -> Frame {
        let inline_bytes = self.terms.inline_bytes();
        Frame { bounds: call.bounds, inline_bytes, started_at, duration: started.elapsed() }
    }

    async fn journal<'a>(&self, assignment: &Assignment, mut executed: Box<Executed<'a>>) -> CallStep<'a> {
        let journaled = self.reporter.journaled(assignment, executed.frame, executed.outcome);
        executed.outcome = journaled.instrument(&executed.span).await;
        CallStep::Journaled(executed)
    }

    async fn keep<'a>(&self, assignment: &Assignment, executed: Executed<'a>) -> CallStep<'a> {
        let Executed { call, outcome, frame, span, slot } = executed;
        let left = (call.timeout + REPORT_BOUND).saturating_sub(assignment.clock.worked());
        spans::end_execution(&span, outcome.error.as_ref().map(|error| error.error_class));
        let kept = self.reporter.kept(&assignment.lease, &frame, outcome, left).instrument(&span);
        CallStep::Reportable(Box::new(kept.await), slot)
    }
}
