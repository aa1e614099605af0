//! Keeping a flow of bytes below a rate.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::Rate;

/// When the next bytes may flow. Time alone decides, not how often or with how many bytes it is asked.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: Rate,
    /// When all that has flowed so far is paid for at the rate.
    paid: Instant,
}

impl Pace {
    pub(crate) fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, paid: now }
    }

    /// When bytes may flow again; nothing when they may now.
    pub(crate) fn wait(&self, now: Instant) -> Option<Instant> {
        let from = self.paid.checked_sub(self.time(self.rate.burst_bytes)).unwrap_or(now);
        (from > now).then_some(from)
    }

    /// Counts `bytes` that have flowed.
    pub(crate) fn flowed(&mut self, bytes: u64, now: Instant) {
        self.paid = self.paid.max(now) + self.time(bytes);
    }

    /// How long `bytes` take at the rate, at most a day.
    fn time(&self, bytes: u64) -> Duration {
        const DAY: u64 = 24 * 3600 * 1_000_000_000;
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.rate.bytes_per_second.max(1));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(DAY).min(DAY))
    }
}

#[cfg(test)]
mod tests;
