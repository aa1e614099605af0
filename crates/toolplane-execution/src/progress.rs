//! News of a running call: in order, and no more than four a second.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ProgressStatus;

/// Shortest time between two updates.
pub const MIN_INTERVAL: Duration = Duration::from_millis(250);
/// Longest time without one while a process runs.
pub const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressUpdate {
    /// Position among the updates of this execution, from 1, without gaps.
    pub sequence: u64,
    /// What the call is doing.
    pub status: ProgressStatus,
    /// For people; never output of the tool.
    pub message: String,
    /// 0 to 100, when known.
    pub percent: Option<f64>,
    /// Since the execution started.
    pub elapsed: Duration,
    /// Bytes read so far.
    pub bytes_read: Option<u64>,
    /// Bytes the tool has written so far.
    pub bytes_written: Option<u64>,
    /// Lines seen so far.
    pub line_count: Option<u64>,
}

/// Takes updates. Called from the task that runs the call, so it must not block.
pub trait ProgressSink: Send + Sync {
    /// One update; those of one execution come in the order of their sequence.
    fn report(&self, update: ProgressUpdate);

    /// What the tool has given so far, after what was shown before. Only tools that may show it do ([`crate::Call::partial_results`]).
    fn show(&self, _blocks: Vec<ContentBlock>) {}
}

/// Drops every update.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl ProgressSink for NoProgress {
    fn report(&self, _update: ProgressUpdate) {}
}

/// What an adapter counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    pub(crate) message: String,
    pub(crate) percent: Option<f64>,
    pub(crate) bytes_read: Option<u64>,
    pub(crate) bytes_written: Option<u64>,
    pub(crate) line_count: Option<u64>,
}

/// Numbers and spaces the updates of one execution.
pub(crate) struct Meter {
    sink: Arc<dyn ProgressSink>,
    started: Instant,
    sequence: u64,
    last: Option<Instant>,
    counts: Counts,
    /// `counts` holds something no update has told.
    news: bool,
}

impl Meter {
    /// Reports the start.
    pub(crate) fn start(sink: &Arc<dyn ProgressSink>) -> Self {
        let mut meter = Self {
            sink: Arc::clone(sink),
            started: Instant::now(),
            sequence: 0,
            last: None,
            counts: Counts::default(),
            news: false,
        };
        meter.emit(ProgressStatus::Started);
        // The first output is worth telling at once.
        meter.last = None;
        meter
    }

    /// Takes new counts, and tells them if the last update is long enough ago.
    pub(crate) fn note(&mut self, counts: Counts) {
        self.news |= counts != self.counts;
        self.counts = counts;
        if self.news && self.last.is_none_or(|last| last.elapsed() >= MIN_INTERVAL) {
            self.emit(ProgressStatus::Running);
        }
    }

    /// Waits until the next update is due, because of news held back or of silence.
    pub(crate) async fn due(&self) {
        let interval = if self.news { MIN_INTERVAL } else { MAX_INTERVAL };
        tokio::time::sleep_until(self.last.unwrap_or(self.started) + interval).await;
    }

    /// Tells the newest counts now.
    pub(crate) fn flush(&mut self) {
        self.emit(ProgressStatus::Running);
    }

    /// Tells the final counts and the end.
    pub(crate) fn finish(mut self, counts: Counts, status: ProgressStatus) {
        self.counts = counts;
        self.emit(status);
    }

    fn emit(&mut self, status: ProgressStatus) {
        self.sequence += 1;
        self.last = Some(Instant::now());
        self.news = false;
        let Counts { message, percent, bytes_read, bytes_written, line_count } = self.counts.clone();
        self.sink.report(ProgressUpdate {
            sequence: self.sequence,
            status,
            message,
            percent,
            elapsed: self.started.elapsed(),
            bytes_read,
            bytes_written,
            line_count,
        });
    }
}

/// The status that goes with an outcome.
pub(crate) fn final_status(outcome: &crate::outcome::Outcome) -> ProgressStatus {
    use toolplane_records::vocabulary::ResultStatus;
    match outcome.status {
        ResultStatus::Succeeded | ResultStatus::PartialSucceeded => ProgressStatus::Completed,
        ResultStatus::Canceled => ProgressStatus::Canceled,
        _ => ProgressStatus::Failed,
    }
}

#[cfg(test)]
mod tests;
