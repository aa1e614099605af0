//! Timeout and cancellation for adapters that have no process to stop.

use std::future::Future;
use std::time::Duration;

use crate::call::Context;
use crate::failure;
use crate::outcome::Outcome;

/// `work` to its end, or the outcome of ending it early by dropping it.
pub(crate) async fn bounded(timeout: Duration, context: &Context, work: impl Future<Output = Outcome>) -> Outcome {
    tokio::select! {
        // What has already ended is not canceled.
        biased;
        outcome = work => outcome,
        () = context.cancel.cancelled() => Outcome::failure(failure::canceled()),
        () = tokio::time::sleep(timeout) => Outcome::failure(failure::timed_out(timeout.as_secs_f64())),
    }
}
