//! From an ending to its report: the journal first, then the outputs that are too large for a report, then the report itself,
//! which is said again until it is acknowledged.

mod journal;
mod outputs;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_execution::Outcome;

pub(crate) use journal::{Finished, Frame, Journal};
use outputs::Uploads;
pub(crate) use upload::Uploader;

use crate::assignments::{Assignment, Assignments, StopReason};
use crate::messages::{Ended, ExecutionReport, Lease, ReleaseReason};
use crate::outbox::Outbox;

/// Shortest time an output is tried to be kept.
const MIN_PERSIST: Duration = Duration::from_secs(2);
/// How long outputs of an earlier start of this worker are tried to be kept before it introduces itself: their leases go on
/// only until then, and everything else waits.
const PERSIST_RECOVERED: Duration = Duration::from_secs(8);

/// How endings are reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportSettings {
    /// Most bytes of one output that are uploaded; larger ones are cut to a preview.
    pub(crate) max_persist_bytes: u64,
    /// Longest time an output is tried to be kept.
    pub(crate) persist_timeout: Duration,
    /// Calls that worked at least this long go through the journal although they could be repeated.
    pub(crate) journal_after: Duration,
}

/// Reports endings.
#[derive(Debug)]
pub(crate) struct Reporter {
    settings: ReportSettings,
    journal: Journal,
    uploader: Uploader,
    assignments: Arc<Assignments>,
    outbox: Arc<Outbox>,
    hurry: CancellationToken,
}

impl Reporter {
    pub(crate) fn new(
        settings: ReportSettings,
        journal: Journal,
        uploader: Uploader,
        assignments: Arc<Assignments>,
        outbox: Arc<Outbox>,
    ) -> Self {
        Self { settings, journal, uploader, assignments, outbox, hurry: CancellationToken::new() }
    }

    /// The outcome again, durable on this machine when its loss would be worse than a repetition of a short call.
    pub(crate) async fn journaled(&self, assignment: &Assignment, frame: Frame, outcome: Outcome) -> Outcome {
        if assignment.traits.idempotent && assignment.clock.worked() < self.settings.journal_after {
            return outcome;
        }
        let finished = Finished { lease: assignment.lease.clone(), frame, outcome };
        if let Err(error) = self.journal.keep(&finished).await {
            let invocation_id = &finished.lease.invocation_id;
            tracing::warn!(%invocation_id, %error, "the end of a call is not in the journal; reporting it all the same");
        }
        finished.outcome
    }

    /// What is reported of an outcome. Large outputs are kept first, for as long as `left` and the settings allow.
    pub(crate) async fn kept(&self, lease: &Lease, frame: &Frame, outcome: Outcome, left: Duration) -> ExecutionReport {
        let patience = self.settings.persist_timeout.min(left).max(MIN_PERSIST);
        self.kept_within(patience, lease, frame, outcome).await
    }

    async fn kept_within(&self, patience: Duration, lease: &Lease, frame: &Frame, outcome: Outcome) -> ExecutionReport {
        let uploads = Uploads {
            uploader: &self.uploader,
            lease,
            give_up_at: Instant::now() + patience,
            hurry: &self.hurry,
            max_persist_bytes: self.settings.max_persist_bytes,
        };
        outputs::report(uploads, frame, outcome).await
    }

    /// Reports how the execution of `lease` ended. It is held before it is sent: should the stream break now, the next one
    /// says it again.
    pub(crate) fn report(&self, lease: &Lease, report: ExecutionReport) {
        let ended = Arc::new(Ended { lease: lease.clone(), report });
        if self.assignments.end(ended.clone()) {
            self.outbox.ended(ended);
        } else {
            self.journal.settle(lease);
        }
    }

    /// Gives a call back: nothing of it counts, and it runs elsewhere or not at all.
    pub(crate) fn give_back(&self, assignment: &Assignment) {
        let reason = match assignment.stop.reason() {
            Some(StopReason::Cancel(_)) => ReleaseReason::Canceled,
            Some(StopReason::InDoubt) => ReleaseReason::LeaseInDoubt,
            Some(StopReason::Shutdown | StopReason::Fenced) | None => ReleaseReason::Draining,
        };
        if self.assignments.forget(&assignment.lease).is_some() {
            self.outbox.released(assignment.lease.clone(), reason);
        }
    }

    /// Nothing is to be reported of `lease` any more.
    pub(crate) fn settle(&self, lease: &Lease) {
        self.journal.settle(lease);
    }

    /// Gives up what is still being kept: the worker ends.
    pub(crate) fn give_up(&self) {
        self.hurry.cancel();
    }

    /// Finishes what an earlier start of this worker left in its journal: outputs are kept, and the ends are held ready to be
    /// said first of all.
    pub(crate) async fn recover(&self, left: Vec<Finished>) {
        if left.is_empty() {
            return;
        }
        tracing::info!(endings = left.len(), "reporting calls that ended in an earlier life of this worker");
        // Several at a time: an object store that is away must not be waited for once per call.
        join_all(left.into_iter().map(|finished| self.recover_one(finished))).await;
    }

    async fn recover_one(&self, finished: Finished) {
        let Finished { lease, frame, outcome } = finished;
        if !self.assignments.take_recovered(&lease) {
            return self.journal.settle(&lease);
        }
        let report = self.kept_within(PERSIST_RECOVERED, &lease, &frame, outcome).await;
        self.assignments.end(Arc::new(Ended { lease, report }));
    }
}
