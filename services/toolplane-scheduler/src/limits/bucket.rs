//! How fast something comes, by the generic cell rate algorithm: of each key one instant is kept, at which it owes nothing.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::hash::DashMap;
use tokio::time::Instant;

/// How fast, and how many at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The time one costs.
    step: Duration,
    /// How far ahead of time a burst may be.
    ahead: Duration,
}

impl Pace {
    /// So many in a second, and `burst` at once.
    pub(super) fn new(per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        let step = Duration::from_secs(1) / per_second.get();
        Self { step, ahead: step * (burst.get() - 1) }
    }
}

/// What each key owes.
#[derive(Debug)]
pub(super) struct Buckets<K: Eq + Hash> {
    paid_at: DashMap<K, Instant>,
}

impl<K: Clone + Eq + Hash> Buckets<K> {
    pub(super) fn new() -> Self {
        Self { paid_at: DashMap::default() }
    }

    /// Counts one of `key`. Fails with the time after which it may come when it comes too early; then it is not counted.
    pub(super) fn take(&self, key: &K, pace: Pace, now: Instant) -> Result<(), Duration> {
        let mut paid_at = self.paid_at.entry(key.clone()).or_insert(now);
        let due = (*paid_at).max(now);
        let early = due.duration_since(now).saturating_sub(pace.ahead);
        if early > Duration::ZERO {
            return Err(early);
        }
        *paid_at = due + pace.step;
        Ok(())
    }

    /// Forgets keys that owe nothing, which changes nothing for them.
    pub(super) fn tidy(&self, now: Instant) {
        self.paid_at.retain(|_, paid_at| *paid_at > now);
    }

    pub(super) fn len(&self) -> usize {
        self.paid_at.len()
    }

    pub(super) fn clear(&self) {
        self.paid_at.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(per_second: u32, burst: u32) -> Pace {
        Pace::new(NonZeroU32::new(per_second).unwrap(), NonZeroU32::new(burst).unwrap())
    }

    #[test]
    fn a_burst_passes_and_then_one_each_step() {
        let (buckets, begin) = (Buckets::new(), Instant::now());
        let take = |key: &'static str, ms: u64| buckets.take(&key, pace(10, 3), begin + Duration::from_millis(ms));
        assert_eq!([take("a", 0), take("a", 0), take("a", 0)], [Ok(()); 3]);
        assert_eq!(take("a", 0), Err(Duration::from_millis(100)));
        assert_eq!(take("b", 0), Ok(()), "keys are apart");
        assert_eq!(take("a", 60), Err(Duration::from_millis(40)), "a refused one costs nothing");
        assert_eq!(take("a", 100), Ok(()));
        assert_eq!(take("a", 100), Err(Duration::from_millis(100)));
        // After a rest there is a burst again, and no more than that.
        assert_eq!([take("a", 9_000), take("a", 9_000), take("a", 9_000)], [Ok(()); 3]);
        assert!(take("a", 9_000).is_err());
    }

    #[test]
    fn keys_that_owe_nothing_are_forgotten() {
        let (buckets, begin) = (Buckets::new(), Instant::now());
        buckets.take(&1, pace(10, 1), begin).unwrap();
        buckets.tidy(begin);
        assert_eq!(buckets.len(), 1);
        buckets.tidy(begin + Duration::from_millis(100));
        assert_eq!(buckets.len(), 0);
    }
}
