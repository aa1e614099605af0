//! How an execution ended: as the tool reported it, or as the worker does when it stopped the tool.

use toolplane_execution::Outcome;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::{AbortReason, ErrorClass, Recoverability, ResultStatus};

use crate::assignments::{StopReason, StopSignal};

#[cfg(test)]
mod tests;

/// How an execution ended. What a stopped tool still gave is kept; nothing when it had to be dropped.
#[derive(Debug)]
pub(super) enum Ending {
    /// By itself.
    Ended(Outcome),
    /// Because it was to stop.
    Stopped(Option<Outcome>),
    /// Because its time was up.
    TimedOut(Option<Outcome>),
}

/// What is to be reported; nothing when the call is to be given back (or was taken away).
pub(super) fn settle(ending: Ending, stop: &StopSignal, idempotent: bool) -> Option<Outcome> {
    // A tool that this worker killed may be seen to end before the wish to stop it is: that is not the tool's own end.
    let ending = match ending {
        Ending::Ended(outcome) if stop.kill.is_thrown() => Ending::Stopped(Some(outcome)),
        ending => ending,
    };
    match ending {
        Ending::Ended(outcome) => Some(outcome),
        Ending::TimedOut(late) => Some(timed_out(late)),
        Ending::Stopped(late) => match stop.reason() {
            // It was faster than the wish to stop: its effect is done.
            _ if late.as_ref().is_some_and(Outcome::is_success) => late,
            Some(StopReason::Cancel(reason)) => Some(canceled(late, reason, idempotent)),
            Some(StopReason::Shutdown | StopReason::InDoubt) if idempotent => None,
            Some(StopReason::Shutdown) => {
                Some(unknown(late, "the worker ended before the tool did", Some(AbortReason::RuntimeShutdown)))
            }
            Some(StopReason::InDoubt) => {
                Some(unknown(late, "the tool held an exclusive lock and the worker could not renew its lease", None))
            }
            Some(StopReason::Fenced) | None => None,
        },
    }
}

fn timed_out(late: Option<Outcome>) -> Outcome {
    let (code, message) = match late {
        Some(_) => (codes::EXEC_TIMEOUT, "the tool's time was up and it was stopped"),
        None => (codes::TIMEOUT_UNACKNOWLEDGED, "the tool's time was up; it did not stop when asked and was dropped"),
    };
    let mut error = ToolError::of(code, message);
    error.abort_reason = Some(AbortReason::Timeout);
    error.side_effects = Some("unknown".to_owned());
    ended(late, ResultStatus::TimedOut, error)
}

fn canceled(late: Option<Outcome>, reason: AbortReason, idempotent: bool) -> Outcome {
    let recoverability = if idempotent { Recoverability::RetrySafe } else { Recoverability::VerifyBeforeRetry };
    let message = match late {
        Some(_) => "canceled while the tool ran",
        None => "canceled while the tool ran; it did not stop when asked and was dropped",
    };
    let mut error = ToolError::new(codes::EXEC_CANCELED, ErrorClass::Canceled, recoverability, message);
    error.abort_reason = Some(reason);
    error.side_effects = Some("unknown".to_owned());
    ended(late, ResultStatus::Canceled, error)
}

/// Killed by the worker for its own reasons: what the tool did before is not known, and it must not run again by itself.
fn unknown(late: Option<Outcome>, why: &str, abort_reason: Option<AbortReason>) -> Outcome {
    let message = format!("{why}; its effect may or may not have happened");
    let mut error = ToolError::of(codes::OUTCOME_UNKNOWN, message);
    error.abort_reason = abort_reason;
    error.side_effects = Some("unknown".to_owned());
    ended(late, ResultStatus::SyntheticError, error)
}

/// Keeps what the tool gave before it was stopped; how it ended is our word.
fn ended(late: Option<Outcome>, status: ResultStatus, error: ToolError) -> Outcome {
    let given = late.unwrap_or_else(|| Outcome::failure(error.clone()));
    Outcome { status, error: Some(error), ..given }
}
