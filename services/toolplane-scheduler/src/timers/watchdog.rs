//! Whether this process has watched the store's clock without a gap for long enough to call a lease over.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_records::time::Timestamp;

/// The shortest pause between two looks that counts as a gap.
const GAP: Duration = Duration::from_secs(2);

/// Since when the store answered every look without a jump of either clock.
///
/// A lease may be called over only by a scheduler that has watched for as long as a lease lasts: while the store was
/// away, this process was paused or a clock jumped, workers could not renew either.
#[derive(Debug)]
pub(crate) struct LeaseWatchdog {
    gap: Duration,
    state: Mutex<Option<WatchedSpan>>,
}

#[derive(Clone, Copy, Debug)]
struct WatchedSpan {
    since: Timestamp,
    last: Timestamp,
    looked: Instant,
}

impl LeaseWatchdog {
    /// Looks come about every `tick`.
    pub(crate) fn new(tick: Duration) -> Self {
        Self { gap: GAP.max(tick * 2), state: Mutex::new(None) }
    }

    /// The store answered with `now`.
    pub(crate) fn look(&self, now: Timestamp) {
        let mut state = self.state.lock();
        let gap_ms = i64::try_from(self.gap.as_millis()).unwrap_or(i64::MAX);
        let steady = state.filter(|state| {
            now.since_millis(state.last) <= gap_ms && state.looked.elapsed() <= self.gap && now >= state.last
        });
        let since = steady.map_or(now, |state| state.since);
        *state = Some(WatchedSpan { since, last: now, looked: Instant::now() });
    }

    /// The store did not answer.
    pub(crate) fn lost(&self) {
        *self.state.lock() = None;
    }

    /// Whether the watch has been steady for `lease_ms` at `now`.
    pub(crate) fn was_steady_for(&self, lease_ms: i64, now: Timestamp) -> bool {
        self.state.lock().is_some_and(|state| now.since_millis(state.since) >= lease_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_is_over_only_after_a_lease_of_steady_watching() {
        let watchdog = LeaseWatchdog::new(Duration::from_secs(1));
        let watch = async |from: i64, seconds: i64| {
            for second in 0..=seconds {
                watchdog.look(at(from + second * 1_000));
                tokio::time::advance(Duration::from_secs(1)).await;
            }
            watchdog.was_steady_for(15_000, at(from + seconds * 1_000))
        };
        assert!(!watchdog.was_steady_for(15_000, at(0)), "before any look");
        assert!(!watch(0, 14).await && watch(15_000, 0).await);
        // The store's clock jumps by an hour.
        assert!(!watch(3_600_000, 14).await && watch(3_615_000, 1).await);
        // This process is paused for a while.
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!(!watch(3_617_000, 14).await);
        // The store does not answer once.
        watchdog.lost();
        assert!(!watch(3_632_000, 14).await && watch(3_647_000, 0).await);
        // The store's clock goes back.
        assert!(!watch(0, 1).await);
    }
}
