//! What the worker has to say: gathered while the stream is busy or away, sent as one message when it can be.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolplane_execution::ChangedProvider;
use toolplane_records::progress::ToolProgress;
use toolplane_records::result::ContentBlock;

use crate::assignments::{Assignments, Snapshot};
use crate::messages::{Ended, Hello, InputRequest, Lease, ReleaseReason, WorkerReport};
use crate::worker::Introduction;

#[cfg(test)]
mod tests;

/// How long a receipt is held back: the end of a short call makes it needless, and an offer waits for it much longer.
pub(crate) const RECEIPT_DELAY: Duration = Duration::from_millis(20);

/// Bounds of one message, well below what any peer accepts.
const MAX_REPORTS: usize = 512;
const MAX_BYTES: usize = 1024 * 1024;

/// Reports on their way. What must survive a lost stream is held in [`Assignments`]; everything else here may be lost with it.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<Unsent>);

#[derive(Debug, Default)]
struct Unsent {
    /// Of the current stream; replaced with it, so that no wake-up ends at a stream that is gone.
    wake: Option<Arc<Notify>>,
    queue: VecDeque<WorkerReport>,
    /// The calls whose ends are in the queue.
    ends: HashSet<Lease>,
    /// The newest of each call.
    progress: HashMap<Lease, Box<ToolProgress>>,
    /// In the order they fall due.
    receipts: VecDeque<(Instant, Lease)>,
    heartbeat: bool,
    /// The heartbeats of the stream renew the leases: the scheduler knows no others.
    renew: bool,
    /// Free slots in all are to be told anew.
    ready: bool,
    /// The credentials that were told last on this stream.
    credentials: Vec<String>,
    /// No new calls are wanted.
    closed: bool,
    goodbye: bool,
}

/// The reading end of one stream.
#[derive(Debug)]
pub(crate) struct OutboxReader {
    wake: Arc<Notify>,
    over: bool,
}

impl Outbox {
    /// Starts a stream: first a hello with every lease held, then whatever the scheduler may have missed.
    pub(crate) fn open(&self, held: &Assignments, introduction: Arc<Introduction>) -> OutboxReader {
        let wake = Arc::new(Notify::new());
        // Locked before the snapshot: an end that is not in it waits here and is said on the new stream. Everywhere in
        // this file this lock comes before that of the assignments.
        let mut state = self.0.lock();
        state.restart(wake.clone(), introduction, held.snapshot());
        drop(state);
        OutboxReader { wake, over: false }
    }

    /// The stream is gone.
    pub(crate) fn detach(&self) {
        self.0.lock().wake = None;
    }

    /// Says at once that an offer arrived.
    pub(crate) fn received(&self, lease: Lease) {
        self.push(WorkerReport::Received(lease));
    }

    /// Says a little later that an offer arrived, unless its end comes first.
    pub(crate) fn receipt(&self, lease: Lease) {
        let mut state = self.0.lock();
        let first = state.receipts.is_empty();
        state.receipts.push_back((Instant::now() + RECEIPT_DELAY, lease));
        if first {
            state.ring();
        }
    }

    /// Asks for a start.
    pub(crate) fn start_requested(&self, lease: Lease) {
        self.push(WorkerReport::StartRequested(lease));
    }

    /// Says how far a call is; replaces what was not sent yet.
    pub(crate) fn progress(&self, lease: Lease, progress: Box<ToolProgress>) {
        let mut state = self.0.lock();
        state.progress.insert(lease, progress);
        state.ring();
    }

    /// Shows what a call has given so far. Without a stream it is left out: the result tells all of it.
    pub(crate) fn partial(&self, lease: Lease, content: Vec<ContentBlock>) {
        self.push(WorkerReport::Partial { lease, content });
    }

    /// Says how a call ended. The caller keeps it in [`Assignments`] first. One that has not left yet is not said twice.
    pub(crate) fn ended(&self, ended: Arc<Ended>) {
        let mut state = self.0.lock();
        if state.wake.is_some() && state.ends.insert(ended.lease.clone()) {
            state.queue.push_back(WorkerReport::Ended(ended));
            state.ring();
        }
    }

    /// Gives a call back.
    pub(crate) fn released(&self, lease: Lease, reason: ReleaseReason) {
        self.push(WorkerReport::Released { lease, reason });
    }

    /// Answers a cancel command.
    pub(crate) fn cancel_acknowledged(&self, lease: Lease, supported: bool) {
        self.push(WorkerReport::CancelAcknowledged { lease, supported });
    }

    /// Puts a question.
    pub(crate) fn input_requested(&self, question: InputRequest) {
        self.push(WorkerReport::InputRequested(question));
    }

    /// Says that the tools of a provider have changed.
    pub(crate) fn provider_changed(&self, changed: ChangedProvider) {
        self.push(WorkerReport::ProviderChanged(changed));
    }

    /// Says which credentials there are, when they are others than were told.
    pub(crate) fn credentials(&self, names: Vec<String>) {
        let mut state = self.0.lock();
        if state.wake.is_some() && state.credentials != names {
            state.credentials.clone_from(&names);
            state.queue.push_back(WorkerReport::Credentials(names));
            state.ring();
        }
    }

    /// Whether the heartbeats of the stream are to renew the leases; usually there are others for that.
    pub(crate) fn renew_on_stream(&self, renew: bool) {
        self.0.lock().renew = renew;
    }

    /// Shows a sign of life with the next message.
    pub(crate) fn heartbeat(&self) {
        let mut state = self.0.lock();
        state.heartbeat = true;
        state.ring();
    }

    /// Says whether calls are wanted.
    pub(crate) fn want_calls(&self, wanted: bool) {
        let mut state = self.0.lock();
        state.closed = !wanted;
        state.ready = true;
        state.ring();
    }

    /// Ends the stream in order, after everything else was said.
    pub(crate) fn goodbye(&self) {
        let mut state = self.0.lock();
        state.goodbye = true;
        state.ring();
    }

    /// Whether nothing more will be said on this stream.
    pub(crate) fn said_goodbye(&self) -> bool {
        self.0.lock().goodbye
    }

    fn push(&self, report: WorkerReport) {
        let mut state = self.0.lock();
        // Without a stream only what a reconnect cannot make up again is kept.
        if state.wake.is_some() || matches!(report, WorkerReport::Released { .. }) {
            state.queue.push_back(report);
            state.ring();
        }
    }
}

impl OutboxReader {
    /// The next message, as soon as there is anything to say; `None` when the stream is over.
    pub(crate) async fn next(&mut self, outbox: &Outbox, held: &Assignments) -> Option<Vec<WorkerReport>> {
        loop {
            if self.over {
                return None;
            }
            let due = {
                let mut state = outbox.0.lock();
                if !state.wake.as_ref().is_some_and(|wake| Arc::ptr_eq(wake, &self.wake)) {
                    return None;
                }
                let reports = state.collect(held);
                self.over = state.goodbye && state.queue.is_empty();
                if !reports.is_empty() {
                    return Some(reports);
                }
                state.receipts.front().map(|(due, _)| *due)
            };
            match due {
                Some(due) => {
                    let _ = tokio::time::timeout_at(due, self.wake.notified()).await;
                }
                None => self.wake.notified().await,
            }
        }
    }
}

impl Unsent {
    fn ring(&self) {
        if let Some(wake) = &self.wake {
            wake.notify_one();
        }
    }

    fn restart(&mut self, wake: Arc<Notify>, introduction: Arc<Introduction>, missed: Snapshot) {
        if let Some(old) = self.wake.replace(wake) {
            old.notify_one();
        }
        let queued = std::mem::take(&mut self.queue).into_iter();
        let kept = queued.filter(|report| matches!(report, WorkerReport::Released { .. }));
        let (hello, rest) = introduce(introduction, missed.held, missed.ended);
        self.credentials.clone_from(&hello.credentials);
        let first = WorkerReport::Hello(Box::new(hello));
        self.ends = rest.iter().map(|ended| ended.lease.clone()).collect();
        let ended = rest.into_iter().map(WorkerReport::Ended);
        let asked = missed.asked.into_iter().map(WorkerReport::StartRequested);
        let questions = missed.questions.into_iter().map(WorkerReport::InputRequested);
        self.queue = std::iter::once(first).chain(ended).chain(asked).chain(questions).chain(kept).collect();
        self.progress.clear();
        self.receipts.clear();
        (self.heartbeat, self.ready, self.goodbye) = (false, true, false);
        self.ring();
    }

    /// Everything there is to say now, within the bounds of one message; the rest stays.
    fn collect(&mut self, held: &Assignments) -> Vec<WorkerReport> {
        let mut reports = Vec::new();
        let mut bytes = 0;
        // The first report of a stream is its hello, and it is alone.
        if let Some(WorkerReport::Hello(_)) = self.queue.front() {
            reports.extend(self.queue.pop_front());
            self.ring();
            return reports;
        }
        if std::mem::take(&mut self.heartbeat) {
            let leases = if self.renew { held.leases() } else { Vec::new() };
            reports.push(WorkerReport::Heartbeat { leases, free_slots: self.free(held) });
        }
        // News of a call goes before its end, and never after it.
        for (lease, progress) in self.progress.drain().filter(|(lease, _)| held.is_held(lease)) {
            reports.push(WorkerReport::Progress { lease, progress });
        }
        self.collect_receipts(held, &mut reports);
        while let Some(report) = self.queue.front() {
            bytes += match report {
                WorkerReport::Ended(ended) => ended.report.message_bytes(),
                WorkerReport::Partial { content, .. } => {
                    content.iter().filter_map(ContentBlock::text).map(str::len).sum()
                }
                _ => 0,
            };
            if !reports.is_empty() && (reports.len() >= MAX_REPORTS || bytes > MAX_BYTES) {
                self.ring();
                return reports;
            }
            self.ready |= matches!(report, WorkerReport::Ended(_) | WorkerReport::Released { .. });
            if let WorkerReport::Ended(ended) = report {
                self.ends.remove(&ended.lease);
            }
            reports.extend(self.queue.pop_front());
        }
        if std::mem::take(&mut self.ready) {
            reports.push(WorkerReport::Ready { free_slots: self.free(held) });
        }
        if self.goodbye {
            reports.push(WorkerReport::Goodbye);
        }
        reports
    }

    fn collect_receipts(&mut self, held: &Assignments, reports: &mut Vec<WorkerReport>) {
        let now = Instant::now();
        while self.receipts.front().is_some_and(|(due, _)| *due <= now) {
            let Some((_, lease)) = self.receipts.pop_front() else { return };
            if held.open(&lease).is_some() {
                reports.push(WorkerReport::Received(lease));
            }
        }
    }

    fn free(&self, held: &Assignments) -> u32 {
        if self.closed { 0 } else { held.free_slots() }
    }
}

/// The hello, with as many ends as fit; the rest is said after it, under leases that are held until then.
fn introduce(
    introduction: Arc<Introduction>,
    mut held: Vec<Lease>,
    ended: Vec<Arc<Ended>>,
) -> (Hello, Vec<Arc<Ended>>) {
    let mut bytes = 0;
    let (finished, rest): (Vec<_>, Vec<_>) = ended.into_iter().partition(|ended| {
        bytes += ended.report.message_bytes();
        bytes <= MAX_BYTES
    });
    held.extend(rest.iter().map(|ended| ended.lease.clone()));
    let credentials = introduction.credential_names();
    let hello = Hello { introduction, credentials, held, finished, endings_follow: !rest.is_empty() };
    (hello, rest)
}
