//! One call at this worker: wait for a slot and a grant, run the tool within its bounds, report what came of it.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::SemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_execution::{Context, Outcome};
use toolplane_faultpoint::point;
use toolplane_proto::v1::{Dispatch, ExecutionDone, ExecutionOutcome};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use toolplane_runtime::clock;
use toolplane_runtime::telemetry::semconv::gen_ai;
use toolplane_runtime::telemetry::spans::{self, AttemptFacts};
use tracing::{Instrument, Span};

use crate::asking::Asking;
use crate::call::Call;
use crate::clock::Moment;
use crate::executor::Core;
use crate::journal::Finished;
use crate::news::News;
use crate::outcome::{self, Frame, Timing};
use crate::seat::{Seat, Stop};

pub(crate) mod ending;
mod recovered;

use ending::{Ending, settle};
pub(crate) use recovered::report_recovered;

/// Tools keep their time themselves and may need a moment to end a tree of processes; after that we do not trust them.
const TIMEOUT_GRACE: Duration = Duration::from_secs(3);
/// How long a tool may take to end after it was asked to, before it is dropped (which kills it).
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// The same when the worker ends: its own report must still get out.
const SHUTDOWN_PATIENCE: Duration = Duration::from_millis(2500);
/// The same after the processes of the tool were killed.
const KILLED_PATIENCE: Duration = Duration::from_secs(1);
/// How long after a call's time its end may be reported: from a little later on the scheduler settles it as timed out.
const REPORT_BOUND: Duration = Duration::from_secs(7);
/// Shortest time an output is tried to be kept.
const MIN_PERSIST: Duration = Duration::from_secs(2);

/// Runs an offered call from its seat to its report.
pub(crate) async fn run(core: Arc<Core>, seat: Arc<Seat>, dispatch: Dispatch) {
    point("executor.before_start");
    // The permit is held until the end is reported, so that a slot is never promised twice.
    let Some(_permit) = admitted(&core, &seat).await else {
        return give_back(&core, &seat);
    };
    let timing = Timing { started_at: clock::now(), started: Instant::now() };
    let shown = core.options.capture_content;
    let mut call = match Call::read(dispatch, core.options.max_message_bytes, shown) {
        Ok(call) => call,
        Err(error) => return report(&core, &seat, outcome::refused(*error, &timing)),
    };
    let queued = AttemptFacts {
        attempt: call.tool.attempt,
        waited: Duration::ZERO,
        queued_in: &call.queued_in,
        parenting: core.options.queue_parenting,
    };
    let span = spans::process(&call.facts(), &queued);
    let prepared =
        core.options.egress.narrow(&mut call.tool.binding).and_then(|()| call.settle(&core.options.workspaces));
    if let Err(error) = prepared {
        spans::end_execution(&span, Some(error.error_class));
        return report(&core, &seat, outcome::refused(*error, &timing));
    }
    perform(&core, &seat, &call, &timing, &span).instrument(span.clone()).await;
}

async fn perform(core: &Arc<Core>, seat: &Arc<Seat>, call: &Call, timing: &Timing, span: &Span) {
    let tool_span = spans::execute_tool(&call.facts());
    let capture = core.options.capture_content;
    spans::content(&tool_span, capture, gen_ai::TOOL_CALL_ARGUMENTS, call.shown.text());
    let ending = execute(core, seat, call).instrument(tool_span.clone()).await;
    point("executor.after_effect");
    let Some(outcome) = settle(ending, seat) else {
        return give_back(core, seat);
    };
    let class = outcome.error.as_ref().map(|error| error.error_class);
    if !call.hooks_follow {
        show_result(&tool_span, capture, &outcome);
    }
    spans::end_execution(&tool_span, class);
    drop(tool_span);
    let duration = timing.started.elapsed();
    let inline_bytes = core.inline_bytes();
    let frame = Frame { limits: call.limits, inline_bytes, started_at: timing.started_at, duration };
    let outcome = journaled(core, seat, &frame, outcome).await;
    point("executor.after_journal");
    let left = (call.timeout + REPORT_BOUND).saturating_sub(seat.clock.worked());
    spans::end_execution(span, outcome.error.as_ref().map(|error| error.error_class));
    let patience = core.options.persist_timeout.min(left).max(MIN_PERSIST);
    let outcome = outcome::report(core, &seat.lease, &frame, outcome, patience).await;
    point("executor.before_done");
    report(core, seat, outcome);
    point("executor.after_done");
}

/// The result of a success goes into a span, where the configuration wants it there.
fn show_result(span: &Span, capture: bool, outcome: &Outcome) {
    if let (None, Some(result)) = (&outcome.error, &outcome.structured_content) {
        spans::content(span, capture, gen_ai::TOOL_CALL_RESULT, result.text());
    }
}

/// The outcome again, durable on this machine when its loss would be worse than a repetition of a short call.
async fn journaled(core: &Core, seat: &Seat, frame: &Frame, outcome: Outcome) -> Outcome {
    if seat.nature.idempotent && seat.clock.worked() < core.options.journal_after {
        return outcome;
    }
    let finished = Finished::of(&seat.lease, frame, outcome);
    if let Err(error) = core.journal.keep(&finished).await {
        let invocation_id = &seat.lease.invocation_id;
        tracing::warn!(invocation_id, %error, "the end of a call is not in the journal; reporting it all the same");
    }
    finished.into_parts().1
}

/// A slot, and the word that the call may start; nothing when it must not.
async fn admitted<'a>(core: &'a Core, seat: &Seat) -> Option<SemaphorePermit<'a>> {
    let permit = match core.slots.try_acquire() {
        Ok(permit) => permit,
        Err(_) => {
            core.outbox.received(seat.lease.clone());
            tokio::select! {
                permit = core.slots.acquire() => permit.ok()?,
                () = seat.stopped.cancelled() => return None,
            }
        }
    };
    if seat.nature.idempotent {
        core.outbox.receipt(seat.lease.clone());
    } else {
        let grant = seat.expect_grant();
        core.outbox.start_requested(seat.lease.clone());
        tokio::select! {
            granted = grant => granted.ok()?,
            () = seat.stopped.cancelled() => return None,
        }
    }
    certain(core, seat).await?;
    point("executor.before_effect");
    core.leases.begin(&seat.lease).then_some(permit)
}

/// Waits until the lease stands for certain; nothing when the call is to stop before.
async fn certain(core: &Core, seat: &Seat) -> Option<()> {
    loop {
        let renewal = seat.renewal.notified();
        let age = seat.last_renewed().age(Moment::now());
        if !seat.must_be_renewed_first() && !core.terms.too_doubtful_to_start(age) {
            return Some(());
        }
        core.beat_now.notify_one();
        tokio::select! {
            () = renewal => {}
            () = seat.stopped.cancelled() => return None,
        }
    }
}

/// Runs the tool until it ends, its time is up, or somebody wants it to stop.
async fn execute(core: &Arc<Core>, seat: &Arc<Seat>, call: &Call) -> Ending {
    let cancel = CancellationToken::new();
    let progress = Arc::new(News { core: core.clone(), seat: seat.clone() });
    let asker = Arc::new(Asking { core: core.clone(), seat: seat.clone() });
    let context = Context { progress, cancel: cancel.clone(), kill: seat.kill.clone(), asker };
    // The wait for a slot and a grant was not the tool's.
    seat.clock.restart();
    let tool = AssertUnwindSafe(core.toolbox.execute(&call.tool, &context)).catch_unwind();
    let mut tool = std::pin::pin!(tool.map(|ended| ended.unwrap_or_else(|_| Outcome::failure(panicked()))));
    tokio::select! {
        biased;
        outcome = &mut tool => Ending::Ended(outcome),
        () = seat.stopped.cancelled() => {
            let patience = match seat.stop_reason() {
                Some(Stop::Shutdown) => SHUTDOWN_PATIENCE,
                Some(Stop::InDoubt) => KILLED_PATIENCE,
                _ => STOP_PATIENCE,
            };
            Ending::Stopped(stopped(&cancel, patience, tool.as_mut()).await)
        }
        () = seat.clock.reaches(call.timeout + TIMEOUT_GRACE) => {
            Ending::TimedOut(stopped(&cancel, STOP_PATIENCE, tool.as_mut()).await)
        }
    }
}

/// Asks the tool to stop and waits for it; nothing when it does not in time.
async fn stopped(
    cancel: &CancellationToken,
    patience: Duration,
    tool: Pin<&mut impl Future<Output = Outcome>>,
) -> Option<Outcome> {
    cancel.cancel();
    tokio::time::timeout(patience, tool).await.ok()
}

fn panicked() -> ToolError {
    let message = "the worker failed while it ran the tool; its effect may or may not have happened";
    let class = ErrorClass::ExecutionFailed;
    let mut error = ToolError::new(codes::WORKER_FAULT, class, Recoverability::VerifyBeforeRetry, message);
    error.side_effects = Some("unknown".to_owned());
    error
}

/// Nothing of the call counts: it runs elsewhere, or not at all.
fn give_back(core: &Core, seat: &Seat) {
    let reason = match seat.stop_reason() {
        Some(Stop::Cancel(_)) => "canceled",
        Some(Stop::InDoubt) => "lease_in_doubt",
        Some(Stop::Shutdown | Stop::Fenced) | None => "draining",
    };
    if core.leases.forget(&seat.lease).is_some() {
        core.outbox.released(seat.lease.clone(), reason);
    }
}

/// Kept before it is sent: should the stream break now, the next one says it again.
fn report(core: &Core, seat: &Seat, outcome: ExecutionOutcome) {
    let done = ExecutionDone { lease: Some(seat.lease.clone()), outcome: Some(outcome) };
    if core.leases.end(&seat.lease, done.clone()) {
        core.outbox.done(done);
    } else {
        core.journal.settle(&seat.lease);
    }
}
