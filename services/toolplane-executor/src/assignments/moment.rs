//! Time for leases: it never jumps, and it goes on while the machine sleeps.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment since the machine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Duration);

impl Moment {
    /// Now.
    pub(crate) fn now() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
        Self(Duration::new(seconds, nanos))
    }

    /// How long ago this was at `now`; nothing when it was later.
    pub(crate) fn age(self, now: Self) -> Duration {
        now.0.saturating_sub(self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Moment;

    #[test]
    fn moments_have_an_age() {
        let before = Moment::now();
        toolplane_wait::block(Duration::from_millis(5), "moments lie apart on the clock of the machine");
        let after = Moment::now();
        assert!(before.age(after) >= Duration::from_millis(5) && after.age(before) == Duration::ZERO);
    }
}
