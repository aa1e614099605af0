//! A wall clock that never goes back.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use toolplane_records::time::Timestamp;

/// The system's wall clock, held at its highest reading when the system steps back.
#[derive(Debug)]
pub struct MonotonicClock {
    last: AtomicI64,
    /// The clock of the runtime in place of the system's, from this moment on.
    runtime: Option<Instant>,
}

impl MonotonicClock {
    /// A clock that never reads earlier than `floor`.
    pub fn starting_at(floor: Timestamp) -> Self {
        Self { last: AtomicI64::new(floor.as_millis()), runtime: None }
    }

    /// A clock that goes on with the runtime it is made in, from the system's time now: in a test whose time is paused
    /// it is paused, and moves as that time is moved.
    pub fn of_the_runtime() -> Self {
        Self { last: AtomicI64::new(system_millis()), runtime: Some(Instant::now()) }
    }

    /// The current time, at least every earlier reading.
    pub fn now(&self) -> Timestamp {
        let Some(begun) = self.runtime else { return self.read(system_millis()) };
        // `last` keeps the start time, unchanged.
        let passed = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.last.load(Ordering::Acquire).saturating_add(passed))
    }

    fn read(&self, system: i64) -> Timestamp {
        let before = self.last.fetch_max(system, Ordering::AcqRel);
        Timestamp::from_millis(before.max(system))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock others are told to use")]
fn system_millis() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{MonotonicClock, Timestamp};

    #[test]
    fn a_step_back_of_the_system_holds_the_clock() {
        let clock = MonotonicClock::starting_at(Timestamp::from_millis(50));
        for (system, reads) in [(40, 50), (60, 60), (55, 60), (61, 61)] {
            assert_eq!(clock.read(system).as_millis(), reads);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_of_a_paused_runtime_moves_with_it() {
        let clock = MonotonicClock::of_the_runtime();
        let begun = clock.now();
        tokio::time::advance(std::time::Duration::from_secs(90)).await;
        assert_eq!(clock.now().since_millis(begun), 90_000);
    }

    #[test]
    fn a_floor_in_the_future_is_kept() {
        let future = Timestamp::from_millis(4_000_000_000_000);
        assert_eq!(MonotonicClock::starting_at(future).now(), future);
    }
}
