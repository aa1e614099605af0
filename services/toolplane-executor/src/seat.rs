//! One call at this worker, from its offer to the acknowledgement of its end.

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use toolplane_execution::KillSwitch;
use toolplane_proto::v1::{Dispatch, LeaseRef};
use toolplane_records::vocabulary::AbortReason;

use crate::asking::Questions;
use crate::clock::{Moment, ToolClock};

/// Why an execution is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The scheduler asks for it and wants to hear how it ended.
    Cancel(AbortReason),
    /// This worker ends.
    Shutdown,
    /// The lease holds an exclusive lock and could not be renewed for too long.
    InDoubt,
    /// The lease is somebody else's: nothing may be reported any more.
    Fenced,
}

/// What a call may do and have done to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nature {
    /// May be repeated, so it starts without asking and can be given back while it runs.
    pub(crate) idempotent: bool,
    pub(crate) supports_cancel: bool,
    /// Holds an exclusive lock: it must be dead before its lease can end.
    pub(crate) exclusive_lock: bool,
}

impl Nature {
    pub(crate) fn of(dispatch: &Dispatch) -> Self {
        Self {
            idempotent: !dispatch.requires_start_grant,
            supports_cancel: dispatch.supports_cancel,
            exclusive_lock: dispatch.exclusive_lock,
        }
    }
}

/// When the lease was renewed last.
#[derive(Clone, Copy, Debug)]
struct Renewal {
    /// When the request was sent that the newest renewal answered.
    sent: Moment,
    /// Nothing answered yet: the offer itself came at `sent`, and nobody knows how long it travelled.
    only_offered: bool,
}

/// One call at this worker.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) lease: LeaseRef,
    pub(crate) nature: Nature,
    /// Cancelled with the first stop.
    pub(crate) stopped: CancellationToken,
    /// Kills the processes of the call without waiting for anything.
    pub(crate) kill: KillSwitch,
    pub(crate) questions: Questions,
    /// How long the tool has worked.
    pub(crate) clock: ToolClock,
    /// Rings when the lease is renewed.
    pub(crate) renewal: Notify,
    taken: Moment,
    renewed: Mutex<Renewal>,
    stop: Mutex<Option<Stop>>,
    grant: Mutex<Option<oneshot::Sender<()>>>,
    /// When the scheduler was first asked for the start.
    asked: Mutex<Option<Moment>>,
}

impl Seat {
    pub(crate) fn new(lease: LeaseRef, nature: Nature) -> Self {
        let now = Moment::now();
        Self {
            lease,
            nature,
            stopped: CancellationToken::new(),
            kill: KillSwitch::default(),
            questions: Questions::default(),
            clock: ToolClock::start(),
            renewal: Notify::new(),
            taken: now,
            renewed: Mutex::new(Renewal { sent: now, only_offered: true }),
            stop: Mutex::default(),
            grant: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// Asks the execution to stop. The first reason stays, but for the loss of the lease, which nothing outlives.
    pub(crate) fn stop(&self, why: Stop) {
        let mut stop = self.stop.lock();
        if why == Stop::Fenced {
            *stop = Some(why);
        }
        stop.get_or_insert(why);
        drop(stop);
        self.stopped.cancel();
    }

    /// Why the execution is to stop, if it is.
    pub(crate) fn stop_reason(&self) -> Option<Stop> {
        *self.stop.lock()
    }

    /// Since when the call is here.
    pub(crate) fn taken(&self) -> Moment {
        self.taken
    }

    /// The lease was renewed by a request sent at `sent`.
    pub(crate) fn renewed(&self, sent: Moment) {
        let mut renewed = self.renewed.lock();
        *renewed = Renewal { sent: renewed.sent.max(sent), only_offered: false };
        drop(renewed);
        self.renewal.notify_waiters();
    }

    /// When the request was sent that renewed the lease last; when the offer came, before the first.
    pub(crate) fn last_renewed(&self) -> Moment {
        self.renewed.lock().sent
    }

    /// Whether the start has to wait for a first renewal: of a call that holds an exclusive lock nobody may believe that
    /// its offer came quickly.
    pub(crate) fn must_be_renewed_first(&self) -> bool {
        self.nature.exclusive_lock && self.renewed.lock().only_offered
    }

    /// Resolves when the scheduler grants the start.
    pub(crate) fn expect_grant(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.asked.lock().get_or_insert_with(Moment::now);
        *self.grant.lock() = Some(sender);
        receiver
    }

    /// The scheduler granted the start, and with it renewed the lease. A second grant changes nothing.
    pub(crate) fn granted(&self) {
        let sender = self.grant.lock().take();
        if let (Some(sender), Some(asked)) = (sender, *self.asked.lock()) {
            // Which of several requests this answers is not said: the first is the safe one.
            self.renewed(asked);
            let _ = sender.send(());
        }
    }

    /// Whether the scheduler was asked for the start and has not answered.
    pub(crate) fn awaits_grant(&self) -> bool {
        self.grant.lock().is_some()
    }
}
