//! The end of a worker: no new calls, a bounded time for those that run, and a goodbye.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_runtime::Shutdown;

use crate::assignments::{Assignments, StopReason};
use crate::messages::ReleaseReason;
use crate::outbox::Outbox;
use crate::reporter::Reporter;

/// How long calls that can run elsewhere may take to end before they are given back.
const RELEASE_AFTER: Duration = Duration::from_secs(1);
/// How long stopped executions may take to end once the drain's own time is up.
const STOP_BOUND: Duration = Duration::from_secs(3);
/// How long the scheduler may take to acknowledge the last reports.
const ACKNOWLEDGE_BOUND: Duration = Duration::from_millis(1500);
/// How long the goodbye may take to leave.
const GOODBYE_BOUND: Duration = Duration::from_millis(300);

/// Ends the worker in order.
#[derive(Debug)]
pub(crate) struct Drain {
    /// How long running calls may go on.
    pub(crate) bound: Duration,
    /// Other workers can take calls that may be repeated.
    pub(crate) others: bool,
    pub(crate) shutdown: Shutdown,
    pub(crate) assignments: Arc<Assignments>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) reporter: Arc<Reporter>,
    /// Cancelled when everything is said: the goodbye is for good.
    pub(crate) drained: CancellationToken,
}

impl Drain {
    /// Waits for the wish to stop, then ends the worker. The session goes on meanwhile.
    pub(crate) async fn run(self) {
        self.shutdown.requested().await;
        self.assignments.close();
        self.outbox.want_calls(false);
        for assignment in self.assignments.take_waiting() {
            assignment.stop.give(StopReason::Shutdown);
            self.outbox.released(assignment.lease.clone(), ReleaseReason::Draining);
        }
        let (busy, until) = (self.assignments.busy(), Instant::now() + self.bound);
        tracing::info!(busy, bound_ms = self.bound.as_millis(), "executor drains");
        tokio::select! {
            () = self.finish(until) => {}
            () = self.shutdown.forced() => {}
        }
        let late = self.assignments.running();
        if !late.is_empty() {
            tracing::warn!(late = late.len(), "calls outlast the drain; stopping them");
            late.iter().for_each(|assignment| assignment.stop.give(StopReason::Shutdown));
            self.reporter.give_up();
            self.until(Instant::now() + STOP_BOUND, |held| held.busy() == 0).await;
        }
        let heard = self.until(Instant::now() + ACKNOWLEDGE_BOUND, |held| held.len() == 0).await;
        if !heard {
            // The scheduler settles them by their leases.
            tracing::warn!(left = self.assignments.len(), "the scheduler did not acknowledge every report");
        }
        self.drained.cancel();
        self.outbox.goodbye();
        // The session ends by itself when the scheduler answers the goodbye; this is for one that does not.
        tokio::time::sleep(GOODBYE_BOUND).await;
        tracing::info!("executor ended");
    }

    /// Waits for running calls until `until`. Where others can take them, those that may be repeated are given back before.
    async fn finish(&self, until: Instant) {
        let release_at = (Instant::now() + RELEASE_AFTER).min(until);
        if self.others && !self.until(release_at, |held| held.busy() == 0).await {
            let running = self.assignments.running();
            let repeatable = running.iter().filter(|assignment| assignment.traits.idempotent);
            repeatable.for_each(|assignment| assignment.stop.give(StopReason::Shutdown));
        }
        self.until(until, |held| held.busy() == 0).await;
    }

    /// Waits until `state` holds; false when `until` came first.
    async fn until(&self, until: Instant, state: impl Fn(&Assignments) -> bool) -> bool {
        loop {
            let changed = self.assignments.changed();
            if state(&self.assignments) {
                return true;
            }
            if tokio::time::timeout_at(until, changed).await.is_err() {
                return state(&self.assignments);
            }
        }
    }
}
