//! What a worker was told about leases, and what follows for one it cannot renew.
//!
//! A lease that was renewed last by a request sent `age` ago stands for certain only while `age` is well below its length:
//! the scheduler counts from when it got the request, which was later. From two thirds on nothing new starts under it;
//! from eleven fifteenths on whoever holds an exclusive lock is killed, so that it is dead when the lock is given away.
//! Everything else runs on, and the store decides whose result counts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bounds on what a scheduler may ask for.
const HEARTBEAT_MS: std::ops::RangeInclusive<u64> = 10..=60_000;
const LEASE_MS: std::ops::RangeInclusive<u64> = 50..=3_600_000;

/// The terms of the newest scheduler; usual ones before the first.
#[derive(Debug)]
pub(crate) struct Terms {
    heartbeat_ms: AtomicU64,
    lease_ms: AtomicU64,
}

impl Default for Terms {
    fn default() -> Self {
        Self { heartbeat_ms: AtomicU64::new(3_000), lease_ms: AtomicU64::new(15_000) }
    }
}

impl Terms {
    /// Takes new terms; 0 leaves what was there.
    pub(crate) fn set(&self, heartbeat_ms: u32, lease_ms: u32) {
        let set = |place: &AtomicU64, ms: u32, range: std::ops::RangeInclusive<u64>| {
            if ms > 0 {
                place.store(u64::from(ms).clamp(*range.start(), *range.end()), Ordering::Relaxed);
            }
        };
        set(&self.heartbeat_ms, heartbeat_ms, HEARTBEAT_MS);
        set(&self.lease_ms, lease_ms, LEASE_MS);
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

    /// How long an unanswered report or question is waited for before it is said again.
    pub(crate) fn patience(&self) -> Duration {
        (self.lease() / 3).max(self.heartbeat())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Terms;

    #[test]
    fn doubt_grows_with_the_lease() {
        let terms = Terms::default();
        let seconds = Duration::from_secs;
        assert!(!terms.too_doubtful_to_start(seconds(10) - Duration::from_millis(1)));
        assert!(terms.too_doubtful_to_start(seconds(10)) && !terms.too_doubtful_to_hold(seconds(10)));
        assert!(terms.too_doubtful_to_hold(seconds(11)));
        terms.set(300, 1_500);
        assert!(terms.too_doubtful_to_start(seconds(1)) && terms.too_doubtful_to_hold(Duration::from_millis(1_100)));
        assert!(!terms.too_doubtful_to_hold(Duration::from_millis(1_099)));
    }

    #[test]
    fn senseless_terms_are_bounded_and_absent_ones_change_nothing() {
        let terms = Terms::default();
        terms.set(0, 0);
        assert_eq!((terms.heartbeat(), terms.lease()), (Duration::from_secs(3), Duration::from_secs(15)));
        terms.set(1, 1);
        assert_eq!((terms.heartbeat(), terms.lease()), (Duration::from_millis(10), Duration::from_millis(50)));
    }
}
