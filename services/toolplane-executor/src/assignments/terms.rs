//! What a worker was told about leases, and what follows for one it cannot renew.
//!
//! A lease that was renewed last by a request sent `age` ago is certain to be in force only while `age` is well below
//! its length: the scheduler counts from when it got the request, which was later. From two thirds on nothing new
//! starts under it; from eleven fifteenths on an execution that holds an exclusive lock is killed, so that it is dead
//! when the lock is given away. Everything else runs on, and the store decides whose result counts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolplane_runtime::client::Backoff;

use crate::messages::Welcome;

/// Bounds on what a scheduler may ask for, in milliseconds.
const HEARTBEAT_MS: std::ops::RangeInclusive<u64> = 10..=60_000;
const LEASE_MS: std::ops::RangeInclusive<u64> = 50..=3_600_000;
/// Bytes of one text or JSON value in a report until a scheduler says otherwise.
const INLINE_BYTES: u64 = 64 * 1024;

/// The terms of the newest scheduler; usual ones before the first.
#[derive(Debug)]
pub(crate) struct Terms {
    heartbeat_ms: AtomicU64,
    lease_ms: AtomicU64,
    inline_bytes: AtomicU64,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            heartbeat_ms: AtomicU64::new(3_000),
            lease_ms: AtomicU64::new(15_000),
            inline_bytes: AtomicU64::new(INLINE_BYTES),
        }
    }
}

impl Terms {
    /// Takes new terms; what is absent stays as it was, and what makes no sense is brought within bounds.
    pub(crate) fn set(&self, welcome: Welcome) {
        let set = |place: &AtomicU64, time: Option<Duration>, range: std::ops::RangeInclusive<u64>| {
            if let Some(time) = time {
                let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                place.store(ms.clamp(*range.start(), *range.end()), Ordering::Relaxed);
            }
        };
        set(&self.heartbeat_ms, welcome.heartbeat, HEARTBEAT_MS);
        set(&self.lease_ms, welcome.lease, LEASE_MS);
        if let Some(bytes) = welcome.inline_bytes {
            self.inline_bytes.store(bytes, Ordering::Relaxed);
        }
    }

    /// Most bytes of one text or JSON value in a report.
    pub(crate) fn inline_bytes(&self) -> u64 {
        self.inline_bytes.load(Ordering::Relaxed)
    }

    /// Time between two heartbeats.
    pub(crate) fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.heartbeat_ms.load(Ordering::Relaxed))
    }

    /// Length of a lease.
    pub(crate) fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms.load(Ordering::Relaxed))
    }

    /// Age of a call from which its lease is renewed: the end of a shorter one makes a renewal needless.
    pub(crate) fn renew_from(&self) -> Duration {
        self.heartbeat() / 2
    }

    /// Whether nothing may start under a lease whose last renewal was sent `age` ago.
    pub(crate) fn too_doubtful_to_start(&self, age: Duration) -> bool {
        age >= self.lease() * 2 / 3
    }

    /// Whether the holder of an exclusive lock must be dead when its last renewal was sent `age` ago.
    pub(crate) fn too_doubtful_to_hold(&self, age: Duration) -> bool {
        age >= self.lease() * 11 / 15
    }

    /// How often leases are checked for doubt.
    pub(crate) fn check_every(&self) -> Duration {
        (self.lease() / 30).clamp(Duration::from_millis(5), Duration::from_secs(1))
    }

    /// How long an unanswered question is waited for before it is said again.
    pub(crate) fn patience(&self) -> Duration {
        (self.lease() / 3).max(self.heartbeat())
    }

    /// How long an unacknowledged end is waited for before it is said again: at least as long as a question, and longer each time,
    /// for a scheduler that does not get through with its work is not helped by more of it.
    pub(crate) fn again(&self) -> Backoff {
        let patience = self.patience();
        Backoff { first: patience * 2, most: patience * 6, ..Backoff::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Terms, Welcome};

    fn terms(heartbeat_ms: u64, lease_ms: u64) -> Welcome {
        let of = |ms| Some(Duration::from_millis(ms));
        Welcome { heartbeat: of(heartbeat_ms), lease: of(lease_ms), inline_bytes: None }
    }

    #[test]
    fn doubt_grows_with_the_lease() {
        let (known, seconds) = (Terms::default(), Duration::from_secs);
        assert!(!known.too_doubtful_to_start(seconds(10) - Duration::from_millis(1)));
        assert!(known.too_doubtful_to_start(seconds(10)) && !known.too_doubtful_to_hold(seconds(10)));
        assert!(known.too_doubtful_to_hold(seconds(11)));
        known.set(terms(300, 1_500));
        assert!(known.too_doubtful_to_start(seconds(1)) && known.too_doubtful_to_hold(Duration::from_millis(1_100)));
        assert!(!known.too_doubtful_to_hold(Duration::from_millis(1_099)));
    }

    #[test]
    fn senseless_terms_are_bounded_and_absent_ones_change_nothing() {
        let known = Terms::default();
        known.set(Welcome::default());
        assert_eq!((known.heartbeat(), known.lease()), (Duration::from_secs(3), Duration::from_secs(15)));
        assert_eq!(known.inline_bytes(), 64 * 1024);
        known.set(Welcome { inline_bytes: Some(7), ..terms(1, 1) });
        assert_eq!((known.heartbeat(), known.lease()), (Duration::from_millis(10), Duration::from_millis(50)));
        assert_eq!(known.inline_bytes(), 7);
    }
}
