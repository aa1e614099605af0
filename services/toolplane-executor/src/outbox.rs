//! What the worker has to say: gathered while the stream is busy or away, sent as one message when it can be.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use prost::Message as _;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{
    CancelAcknowledged, ExecutionDone, InputRequested, LeaseReceived, LeaseRef, LeaseReleased, ProgressReported,
    StartRequested, ToolProgress, WorkRequest, WorkerGoodbye, WorkerHeartbeat, WorkerHello, WorkerReady, WorkerReport,
};

use crate::leases::{Leases, Snapshot};

#[cfg(test)]
mod tests;

/// How long a receipt is held back: the end of a short call makes it needless, and an offer waits for it much longer.
pub(crate) const RECEIPT_DELAY: Duration = Duration::from_millis(20);

/// Bounds of one message, well below what any peer accepts.
const MAX_REPORTS: usize = 512;
const MAX_BYTES: usize = 1024 * 1024;

/// Reports on their way. What must survive a lost stream lives in [`Leases`]; everything else here may be lost with it.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Of the current stream; replaced with it, so that no wake-up ends at a stream that is gone.
    wake: Option<Arc<Notify>>,
    queue: VecDeque<Report>,
    /// The newest of each call.
    progress: HashMap<LeaseRef, ToolProgress>,
    /// In the order they fall due.
    receipts: VecDeque<(Instant, LeaseRef)>,
    heartbeat: bool,
    /// The heartbeats of the stream renew the leases: the scheduler knows no others.
    renew: bool,
    /// Free slots in all are to be told anew.
    ready: bool,
    /// No new calls are wanted.
    closed: bool,
    goodbye: bool,
}

/// The reading end of one stream.
#[derive(Debug)]
pub(crate) struct Reader {
    wake: Arc<Notify>,
    over: bool,
}

impl Outbox {
    /// Starts a stream: first `hello` with every lease held, then whatever the scheduler may have missed.
    pub(crate) fn open(&self, leases: &Leases, hello: WorkerHello) -> Reader {
        let wake = Arc::new(Notify::new());
        // Locked before the snapshot: an end that is not in it waits here and is said on the new stream. Everywhere in
        // this file this lock comes before that of the leases.
        let mut state = self.0.lock();
        state.restart(wake.clone(), hello, leases.snapshot());
        drop(state);
        Reader { wake, over: false }
    }

    /// The stream is gone.
    pub(crate) fn detach(&self) {
        self.0.lock().wake = None;
    }

    /// Says at once that an offer arrived.
    pub(crate) fn received(&self, lease: LeaseRef) {
        self.push(Report::Received(LeaseReceived { lease: Some(lease) }));
    }

    /// Says a little later that an offer arrived, unless its end comes first.
    pub(crate) fn receipt(&self, lease: LeaseRef) {
        let mut state = self.0.lock();
        let first = state.receipts.is_empty();
        state.receipts.push_back((Instant::now() + RECEIPT_DELAY, lease));
        if first {
            state.ring();
        }
    }

    /// Asks for a start.
    pub(crate) fn start_requested(&self, lease: LeaseRef) {
        self.push(Report::StartRequested(StartRequested { lease: Some(lease) }));
    }

    /// Says how far a call is; replaces what was not sent yet.
    pub(crate) fn progress(&self, lease: LeaseRef, progress: ToolProgress) {
        let mut state = self.0.lock();
        state.progress.insert(lease, progress);
        state.ring();
    }

    /// Says how a call ended. The caller keeps it in [`Leases`] first.
    pub(crate) fn done(&self, done: ExecutionDone) {
        self.push(Report::Done(done));
    }

    /// Gives a call back.
    pub(crate) fn released(&self, lease: LeaseRef, reason: &str) {
        self.push(Report::Released(LeaseReleased { lease: Some(lease), reason: reason.to_owned() }));
    }

    /// Answers a cancel command.
    pub(crate) fn cancel_acknowledged(&self, lease: LeaseRef, supported: bool) {
        self.push(Report::CancelAcknowledged(CancelAcknowledged { lease: Some(lease), supported }));
    }

    /// Puts a question.
    pub(crate) fn input_requested(&self, question: InputRequested) {
        self.push(Report::InputRequested(question));
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

    fn push(&self, report: Report) {
        let mut state = self.0.lock();
        // Without a stream only what a reconnect cannot make up again is kept.
        if state.wake.is_some() || matches!(report, Report::Released(_)) {
            state.queue.push_back(report);
            state.ring();
        }
    }
}

impl Reader {
    /// The next message, as soon as there is anything to say; `None` when the stream is over.
    pub(crate) async fn next(&mut self, outbox: &Outbox, leases: &Leases) -> Option<WorkRequest> {
        loop {
            if self.over {
                return None;
            }
            let due = {
                let mut state = outbox.0.lock();
                if !state.wake.as_ref().is_some_and(|wake| Arc::ptr_eq(wake, &self.wake)) {
                    return None;
                }
                let reports = state.collect(leases);
                self.over = state.goodbye && state.queue.is_empty();
                if !reports.is_empty() {
                    return Some(WorkRequest { reports });
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

impl State {
    fn ring(&self) {
        if let Some(wake) = &self.wake {
            wake.notify_one();
        }
    }

    fn restart(&mut self, wake: Arc<Notify>, hello: WorkerHello, missed: Snapshot) {
        if let Some(old) = self.wake.replace(wake) {
            old.notify_one();
        }
        let kept = std::mem::take(&mut self.queue).into_iter().filter(|report| matches!(report, Report::Released(_)));
        let (hello, rest) = introduce(hello, missed.held, missed.ended);
        let first = Report::Hello(hello);
        let ended = rest.into_iter().map(Report::Done);
        let asked = missed.asked.into_iter().map(|lease| Report::StartRequested(StartRequested { lease: Some(lease) }));
        let questions = missed.questions.into_iter().map(Report::InputRequested);
        self.queue = std::iter::once(first).chain(ended).chain(asked).chain(questions).chain(kept).collect();
        self.progress.clear();
        self.receipts.clear();
        (self.heartbeat, self.ready, self.goodbye) = (false, true, false);
        self.ring();
    }

    /// Everything there is to say now, within the bounds of one message; the rest stays.
    fn collect(&mut self, leases: &Leases) -> Vec<WorkerReport> {
        let mut reports = Vec::new();
        let mut bytes = 0;
        // The first report of a stream is its hello, and it stands alone.
        if let Some(Report::Hello(_)) = self.queue.front() {
            reports.extend(self.queue.pop_front());
            self.ring();
            return reports.into_iter().map(wrap).collect();
        }
        if std::mem::take(&mut self.heartbeat) {
            let renewed = if self.renew { leases.refs() } else { Vec::new() };
            reports.push(Report::Heartbeat(WorkerHeartbeat { leases: renewed, free_slots: self.free(leases) }));
        }
        // News of a call goes before its end, and never after it.
        for (lease, progress) in self.progress.drain().filter(|(lease, _)| leases.get(lease).is_some()) {
            reports.push(Report::Progress(ProgressReported { lease: Some(lease), progress: Some(progress) }));
        }
        self.collect_receipts(leases, &mut reports);
        while let Some(report) = self.queue.front() {
            if let Report::Done(done) = report {
                bytes += done.encoded_len();
            }
            if !reports.is_empty() && (reports.len() >= MAX_REPORTS || bytes > MAX_BYTES) {
                self.ring();
                return reports.into_iter().map(wrap).collect();
            }
            self.ready |= matches!(report, Report::Done(_) | Report::Released(_));
            reports.extend(self.queue.pop_front());
        }
        if std::mem::take(&mut self.ready) {
            reports.push(Report::Ready(WorkerReady { free_slots: self.free(leases) }));
        }
        if self.goodbye {
            reports.push(Report::Goodbye(WorkerGoodbye {}));
        }
        reports.into_iter().map(wrap).collect()
    }

    fn collect_receipts(&mut self, leases: &Leases, reports: &mut Vec<Report>) {
        let now = Instant::now();
        while self.receipts.front().is_some_and(|(due, _)| *due <= now) {
            let Some((_, lease)) = self.receipts.pop_front() else { return };
            if leases.is_open(&lease) {
                reports.push(Report::Received(LeaseReceived { lease: Some(lease) }));
            }
        }
    }

    fn free(&self, leases: &Leases) -> u32 {
        if self.closed { 0 } else { leases.free_slots() }
    }
}

/// The hello, with as many ends as fit; the rest is said after it, under leases that are held until then.
fn introduce(
    mut hello: WorkerHello,
    held: Vec<LeaseRef>,
    ended: Vec<ExecutionDone>,
) -> (WorkerHello, Vec<ExecutionDone>) {
    let mut bytes = 0;
    let (finished, rest): (Vec<_>, Vec<_>) = ended.into_iter().partition(|done| {
        bytes += done.encoded_len();
        bytes <= MAX_BYTES
    });
    hello.finished = finished;
    hello.held = held;
    if !rest.is_empty() {
        hello.held.extend(rest.iter().filter_map(|done| done.lease.clone()));
        // Some of them may be of an earlier incarnation: its leases must not end before that is said.
        hello.kept_endings_follow = std::mem::take(&mut hello.previous_incarnation_dead);
    }
    (hello, rest)
}

fn wrap(report: Report) -> WorkerReport {
    WorkerReport { report: Some(report) }
}
