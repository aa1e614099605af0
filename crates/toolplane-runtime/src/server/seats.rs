//! The connections of a listener as they are: who sits where, and what closes them.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use toolplane_records::codes;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::admission::{Activity, Admission, ConnectionClass, ConnectionLimits, Full, Usage};
use crate::caller::{Caller, Role};
use crate::status::ApiError;

/// How often it is told that connections were closed.
const TELL_EVERY: Duration = Duration::from_secs(10);
/// When it is worth connecting again.
const COME_BACK: Duration = Duration::from_secs(1);
/// Whose connections have a place kept for them: operators, and the processes a cluster is made of.
const KEPT: [Role; 3] = [Role::Operator, Role::Worker, Role::Peer];

/// All connections of one listener. Cheap to clone.
#[derive(Clone)]
pub(super) struct Seats(Arc<SeatTable>);

struct SeatTable {
    admission: Mutex<Admission<CancellationToken>>,
    closed: Mutex<Closed>,
}

/// What was closed since it was told last.
#[derive(Default)]
struct Closed {
    silent: u64,
    crowded: u64,
    told: Option<Instant>,
}

/// A connection's place. Dropped with the connection.
pub(super) struct SeatGuard {
    seats: Seats,
    seat: Arc<Seat>,
}

/// What the calls of a connection know of its place.
pub(super) struct Seat {
    id: u64,
    seats: Seats,
    usage: Usage,
    /// So that only a change takes the lock of all.
    standing: AtomicU8,
}

/// A call that runs on a connection.
pub(crate) struct Busy(Arc<Seat>);

impl Seats {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self(Arc::new(SeatTable { admission: Mutex::new(Admission::new(limits)), closed: Mutex::default() }))
    }

    /// A place for a new connection that `cut` closes, if there is one.
    pub(super) fn arrive(&self, address: IpAddr, cut: &CancellationToken) -> Option<SeatGuard> {
        let now = Instant::now();
        let usage: Usage = Arc::new(Mutex::new(Activity::QuietSince(now)));
        let arrived = self.0.admission.lock().arrive(address, Arc::clone(&usage), cut.clone(), now);
        let (id, victim) = arrived;
        self.close(victim, id.is_none());
        let standing = AtomicU8::new(ConnectionClass::Waiting as u8);
        let seat = Arc::new(Seat { id: id?, seats: self.clone(), usage, standing });
        Some(SeatGuard { seats: self.clone(), seat })
    }

    /// Closes those that have said nothing for too long, as their time comes. Ends when something was closed.
    pub(super) async fn overdue(&self) {
        let next = self.0.admission.lock().next_overdue();
        let Some(next) = next else { return std::future::pending().await };
        tokio::time::sleep_until(next.into()).await;
        let late = self.0.admission.lock().overdue(Instant::now());
        late.iter().for_each(CancellationToken::cancel);
        self.tell(late.len(), 0);
    }

    /// Makes room when the process has no descriptors left.
    pub(super) fn relieve(&self) {
        let victim = self.0.admission.lock().relieve();
        self.close(victim, true);
    }

    fn close(&self, victim: Option<CancellationToken>, refused: bool) {
        if let Some(cut) = &victim {
            cut.cancel();
        }
        if victim.is_some() || refused {
            self.tell(0, 1);
        }
    }

    /// Says what was closed, and not for each connection: there may be very many.
    fn tell(&self, silent: usize, crowded: u64) {
        let mut closed = self.0.closed.lock();
        closed.silent += silent as u64;
        closed.crowded += crowded;
        if closed.told.is_some_and(|told| told.elapsed() < TELL_EVERY) || closed.silent + closed.crowded == 0 {
            return;
        }
        let Closed { silent, crowded, .. } =
            std::mem::replace(&mut *closed, Closed { told: Some(Instant::now()), ..Closed::default() });
        tracing::warn!(silent, crowded, "connections were closed: silent for too long, or too many at once");
    }
}

impl SeatGuard {
    pub(super) fn seat(&self) -> Arc<Seat> {
        Arc::clone(&self.seat)
    }
}

impl Drop for SeatGuard {
    fn drop(&mut self) {
        drop(self.seats.0.admission.lock().leave(self.seat.id));
    }
}

impl Seat {
    /// Takes note that this caller uses the connection.
    pub(super) fn used_by(&self, caller: &Caller) -> Result<(), ApiError> {
        let kept = caller.authenticated && KEPT.iter().any(|role| caller.is(*role));
        self.settle(if kept { ConnectionClass::Kept } else { ConnectionClass::Ordinary })
    }

    /// Takes note that a client checks the health over the connection.
    pub(super) fn probes(&self) -> Result<(), ApiError> {
        self.settle(ConnectionClass::Probing)
    }

    fn settle(&self, standing: ConnectionClass) -> Result<(), ApiError> {
        if self.standing.load(Ordering::Relaxed) >= standing as u8 {
            return Ok(());
        }
        let settled = self.seats.0.admission.lock().settle(self.id, standing);
        match settled {
            Ok(victim) => {
                self.standing.fetch_max(standing as u8, Ordering::Relaxed);
                self.seats.close(victim, false);
                Ok(())
            }
            Err(Full) => {
                self.seats.close(None, true);
                Err(ApiError::Exhausted {
                    reason: codes::TOO_MANY_CONNECTIONS,
                    subject: "server".to_owned(),
                    message: "this server has as many connections as it takes, and all of them work".to_owned(),
                    retry_after: Some(COME_BACK),
                })
            }
        }
    }

    /// A call begins; it ends when the answer is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        let mut activity = self.usage.lock();
        *activity = match *activity {
            Activity::Busy(calls) => Activity::Busy(calls + 1),
            Activity::QuietSince(_) => Activity::Busy(1),
        };
        drop(activity);
        Busy(Arc::clone(self))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut activity = self.0.usage.lock();
        *activity = match *activity {
            Activity::Busy(calls) if calls > 1 => Activity::Busy(calls - 1),
            _ => Activity::QuietSince(Instant::now()),
        };
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("id", &self.id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SeatGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.seat.fmt(f)
    }
}

impl std::fmt::Debug for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Descriptors this process may have open, as the system says; few when it does not say.
pub(super) fn descriptors() -> u64 {
    const FEW: u64 = 256;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    match line.and_then(|line| line.split_whitespace().next()) {
        Some("unlimited") => u64::MAX,
        Some(soft) => soft.parse().unwrap_or(FEW),
        None => FEW,
    }
}
