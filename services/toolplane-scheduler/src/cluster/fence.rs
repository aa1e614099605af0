//! Fences: numbers that grow from lease to lease, also when another scheduler grants the next one.

use std::sync::atomic::{AtomicU64, Ordering};

use toolplane_records::time::Timestamp;

/// Schedulers that can grant fences at the same time.
pub(crate) const SCHEDULERS: u64 = 64;
/// Fences one scheduler grants within a millisecond before it runs ahead of the clock.
const TICKS_PER_MILLI: u64 = 64;

/// Makes fences out of the store's clock, a counter and the number of this scheduler.
///
/// A fence is `(ticks << 6) | number`, with 64 ticks a millisecond: ticks never repeat within a process, and numbers
/// never within a cluster, so no two leases have the same fence. The fence of a lease is also larger than that of the
/// invocation's lease before it, whatever clocks say, because the record carries it. Between calls, fences follow the
/// store's clock; where order must hold between calls, they take a lock and get that lock's fence. Fences stay below
/// 2^53 until 2039, so that tools may read them as any JSON number.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    ticks: AtomicU64,
    number: AtomicU64,
}

impl Fences {
    /// Fences of scheduler `number` from now on.
    pub(crate) fn set_number(&self, number: u64) {
        self.number.store(number % SCHEDULERS, Ordering::Release);
    }

    /// A fence larger than every one this process made before, and than `after`.
    pub(crate) fn next(&self, now: Timestamp, after: u64) -> u64 {
        let clock = u64::try_from(now.as_millis()).unwrap_or(0).saturating_mul(TICKS_PER_MILLI);
        let least = clock.max(after / SCHEDULERS + 1);
        let step = |last: u64| Some((last + 1).max(least));
        let last = self.ticks.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).unwrap_or_else(|last| last);
        (last + 1).max(least) * SCHEDULERS + self.number.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fences_of_many_schedulers_are_distinct_and_grow_with_each_lease_of_a_call() {
        let schedulers: Vec<Fences> = (0..4)
            .map(|number| {
                let fences = Fences::default();
                fences.set_number(number);
                fences
            })
            .collect();
        let mut seen = HashSet::new();
        let mut last = 0;
        for step in 0..10_000_i64 {
            // Clocks disagree by up to 30 ms and are paused for many leases.
            let turn = usize::try_from(step % 4).unwrap();
            let now = Timestamp::from_millis(1_700_000_000_000 + step / 200 - 10 * (step % 4));
            let fence = schedulers[turn].next(now, last);
            assert!(fence > last && seen.insert(fence), "{fence} after {last}");
            assert!(fence < 1 << 53);
            last = fence;
        }
    }

    #[test]
    fn without_a_call_in_common_fences_still_follow_the_clock() {
        let (one, other) = (Fences::default(), Fences::default());
        other.set_number(1);
        let early = one.next(Timestamp::from_millis(1_000), 0);
        assert!(other.next(Timestamp::from_millis(1_002), 0) > early);
        assert!(one.next(Timestamp::from_millis(900), 0) > early, "a clock that stands still does not stop fences");
    }
}
