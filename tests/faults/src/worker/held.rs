//! The leases the worker holds, and what is to be said about them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{ExecutionDone, LeaseRef, StartRequested, WorkRequest, WorkerReport};

/// The state of one execution.
#[derive(Debug)]
struct Seat {
    /// Completed with the word that it may start.
    grant: Option<oneshot::Sender<()>>,
    /// Stops it.
    stop: CancellationToken,
    /// Why it was stopped, when a caller asked for it.
    canceled: bool,
    /// It must be dead before its lease can end.
    exclusive: bool,
    /// It may have had an effect.
    running: bool,
    /// When the word that it may start was last asked for.
    asked: Instant,
    /// When a renewal that succeeded was sent; when the offer came, before the first.
    renewed: Instant,
    /// A renewal succeeded. Before that it is not known how long the offer travelled.
    confirmed: bool,
    /// How it ended.
    done: Option<ExecutionDone>,
}

/// A call that was taken.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Completed when the call may start; nothing to wait for when absent.
    pub(crate) grant: Option<oneshot::Receiver<()>>,
    /// Stops it.
    pub(crate) stop: CancellationToken,
}

/// All leases, and the stream that is open now.
#[derive(Debug, Default)]
pub(crate) struct Held {
    state: Mutex<State>,
    /// A call waits for the next renewal.
    urgent: Notify,
}

#[derive(Debug, Default)]
struct State {
    seats: HashMap<LeaseRef, Seat>,
    stream: Option<mpsc::UnboundedSender<WorkRequest>>,
    lease: Duration,
}

impl Held {
    /// Takes a call; `None` when it was taken before.
    pub(crate) fn take(&self, lease: &LeaseRef, needs_grant: bool, exclusive: bool) -> Option<Taken> {
        let mut state = self.state.lock();
        if state.seats.contains_key(lease) {
            return None;
        }
        let (grant, granted) = oneshot::channel();
        let stop = CancellationToken::new();
        let taken = Taken { grant: needs_grant.then_some(granted), stop: stop.clone() };
        let grant = needs_grant.then_some(grant);
        let now = Instant::now();
        let seat = Seat {
            grant,
            stop,
            canceled: false,
            exclusive,
            running: false,
            asked: now,
            renewed: now,
            confirmed: false,
            done: None,
        };
        state.seats.insert(lease.clone(), seat);
        Some(taken)
    }

    /// The call may start; with that its lease was renewed, at some time after it was asked for.
    pub(crate) fn granted(&self, lease: &LeaseRef) {
        let mut state = self.state.lock();
        let Some(seat) = state.seats.get_mut(lease) else { return };
        if let Some(grant) = seat.grant.take() {
            seat.renewed = seat.renewed.max(seat.asked);
            seat.confirmed = true;
            // A task that waited was stopped.
            let _ = grant.send(());
        }
    }

    /// Lets the call run once its lease is certain to be in force; false when it is not to run any more. One that holds something for
    /// itself alone waits for a renewal, because its lease may have ended before the offer came.
    pub(crate) async fn begin(&self, lease: &LeaseRef) -> bool {
        loop {
            {
                let mut state = self.state.lock();
                let bound = state.lease * 10 / 15;
                let Some(seat) = state.seats.get_mut(lease).filter(|seat| !seat.stop.is_cancelled()) else {
                    return false;
                };
                let sure = seat.confirmed || !seat.exclusive;
                if bound.is_zero() || sure && seat.renewed.elapsed() <= bound {
                    seat.running = true;
                    return true;
                }
            }
            self.urgent.notify_one();
            // Heartbeats renew it, or tell that it is over.
            toolplane_wait::look_again().await;
        }
    }

    /// The call ended; said again until it is acknowledged. False when it may not be reported.
    pub(crate) fn end(&self, lease: &LeaseRef, done: ExecutionDone) -> bool {
        let mut state = self.state.lock();
        let Some(seat) = state.seats.get_mut(lease) else { return false };
        seat.done = Some(done.clone());
        state.say([Report::Done(done)]);
        true
    }

    /// The lease is not ours any more: what runs under it is killed.
    pub(crate) fn forget(&self, lease: &LeaseRef) {
        if let Some(seat) = self.state.lock().seats.remove(lease) {
            seat.stop.cancel();
        }
    }

    /// The scheduler says that the lease is not ours any more. A deaf worker hears it only as the answer to its report.
    pub(crate) fn fenced(&self, lease: &LeaseRef, deaf: bool) {
        let running = self.state.lock().seats.get(lease).is_some_and(|seat| seat.done.is_none());
        if !(deaf && running) {
            self.forget(lease);
        }
    }

    /// A caller wants it stopped; false when it is not here.
    pub(crate) fn cancel(&self, lease: &LeaseRef) -> bool {
        let mut state = self.state.lock();
        let Some(seat) = state.seats.get_mut(lease).filter(|seat| seat.done.is_none()) else { return false };
        seat.canceled = true;
        seat.stop.cancel();
        true
    }

    /// Whether a caller wanted it stopped.
    pub(crate) fn is_canceled(&self, lease: &LeaseRef) -> bool {
        self.state.lock().seats.get(lease).is_some_and(|seat| seat.canceled)
    }

    /// Leases to renew.
    pub(crate) fn leases(&self) -> Vec<LeaseRef> {
        self.state.lock().seats.keys().cloned().collect()
    }

    /// The scheduler's terms.
    pub(crate) fn set_lease(&self, lease: Duration) {
        self.state.lock().lease = lease;
    }

    /// These leases were renewed by a request that was sent at `sent`.
    pub(crate) fn renewed<'a>(&self, leases: impl IntoIterator<Item = &'a LeaseRef>, sent: Instant) {
        let mut state = self.state.lock();
        for lease in leases {
            if let Some(seat) = state.seats.get_mut(lease) {
                seat.renewed = seat.renewed.max(sent);
                seat.confirmed = true;
            }
        }
    }

    /// A call waits for a renewal.
    pub(crate) async fn is_urgent(&self) {
        self.urgent.notified().await;
    }

    /// Kills running executions that hold something for themselves alone and could not be renewed for 11/15 of a lease.
    pub(crate) fn kill_doubtful(&self) {
        let mut state = self.state.lock();
        let bound = state.lease * 11 / 15;
        let doubtful =
            |seat: &mut Seat| seat.exclusive && seat.running && seat.done.is_none() && seat.renewed.elapsed() > bound;
        let killed: Vec<_> = state.seats.extract_if(|_, seat| !bound.is_zero() && doubtful(seat)).collect();
        killed.into_iter().for_each(|(_, seat)| seat.stop.cancel());
    }

    /// Says something, if there is a stream; what must survive its end is said again by [`Held::open`].
    pub(crate) fn say(&self, report: Report) {
        self.state.lock().say([report]);
    }

    /// Says again what was not acknowledged.
    pub(crate) fn say_again(&self) {
        let mut state = self.state.lock();
        let unheard: Vec<_> = state.seats.values().filter_map(|seat| seat.done.clone()).map(Report::Done).collect();
        state.say(unheard);
    }

    /// A new stream; the first message is the hello, with every lease held.
    pub(crate) fn open(&self, hello: impl FnOnce(Vec<LeaseRef>) -> Report) -> mpsc::UnboundedReceiver<WorkRequest> {
        let (stream, requests) = mpsc::unbounded_channel();
        let mut state = self.state.lock();
        state.stream = Some(stream);
        let mut reports = vec![hello(state.seats.keys().cloned().collect())];
        for (lease, seat) in &mut state.seats {
            if seat.grant.is_some() {
                seat.asked = Instant::now();
                reports.push(Report::StartRequested(StartRequested { lease: Some(lease.clone()) }));
            }
            reports.extend(seat.done.clone().map(Report::Done));
        }
        state.say(reports);
        requests
    }
}

impl State {
    fn say(&mut self, reports: impl IntoIterator<Item = Report>) {
        let reports: Vec<_> = reports.into_iter().map(|report| WorkerReport { report: Some(report) }).collect();
        if let Some(stream) = self.stream.as_ref().filter(|_| !reports.is_empty()) {
            // A stream that is gone is replaced, and what matters is said again.
            let _ = stream.send(WorkRequest { reports });
        }
    }
}
