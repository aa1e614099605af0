//! How long what is remembered of the surface service may be used.
//!
//! Where one surface process makes all changes, the open stream of changes says it. Where several do, the one that is
//! followed says for how long it hears of the others, and is asked again and again. That time is counted from the moment
//! it was asked, so an answer that was long on its way is worth less, never more.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// How often the followed process is asked.
pub(super) const ASK_EVERY: Duration = Duration::from_millis(500);

/// Not at all.
const NEVER: u64 = 0;
/// As long as the stream of changes is open.
const WHILE_OPEN: u64 = u64::MAX;

/// Whether the memory may be used now.
#[derive(Debug)]
pub(super) struct Trust {
    began: Instant,
    /// Nanoseconds after the beginning, [`NEVER`] or [`WHILE_OPEN`].
    until: AtomicU64,
}

impl Trust {
    pub(super) fn none() -> Self {
        Self { began: Instant::now(), until: AtomicU64::new(NEVER) }
    }

    /// Whether the memory may be used at this moment.
    pub(super) fn holds(&self) -> bool {
        match self.until.load(Ordering::Acquire) {
            NEVER => false,
            WHILE_OPEN => true,
            until => self.began.elapsed().as_nanos() < u128::from(until),
        }
    }

    pub(super) fn end(&self) {
        self.until.store(NEVER, Ordering::Release);
    }

    fn while_open(&self) {
        self.until.store(WHILE_OPEN, Ordering::Release);
    }

    fn until(&self, moment: Instant) {
        let after = moment.saturating_duration_since(self.began).as_nanos();
        self.until.store(u64::try_from(after).unwrap_or(WHILE_OPEN - 1).max(1), Ordering::Release);
    }
}

/// The questions for how long the memory may be used, on one stream of changes.
#[derive(Debug)]
pub(super) struct Beats<'a> {
    trust: &'a Trust,
    /// Number and moment of the question that has no answer yet, or had it last.
    asked: (u64, Instant),
    /// The service counts in time at all.
    timed: bool,
}

impl<'a> Beats<'a> {
    /// Begins with the question that opens a stream, whose number is [`Beats::number`].
    pub(super) fn begin(trust: &'a Trust) -> Self {
        Self { trust, asked: (1, Instant::now()), timed: false }
    }

    /// The number of the newest question.
    pub(super) fn number(&self) -> u64 {
        self.asked.0
    }

    /// The next question, when there is a use for it.
    pub(super) fn ask(&mut self) -> Option<u64> {
        if !self.timed {
            return None;
        }
        self.asked = (self.asked.0 + 1, Instant::now());
        Some(self.asked.0)
    }

    /// Takes what a message says of it: the question it answers, and the time in milliseconds.
    pub(super) fn take(&mut self, beat: u64, trusted_for_ms: u64) {
        let (number, at) = self.asked;
        match (beat == number, trusted_for_ms) {
            (true, 1..) => {
                self.timed = true;
                self.trust.until(at + Duration::from_millis(trusted_for_ms));
            }
            // A service that does not say for how long is trusted while its stream is open, as all once were.
            _ if !self.timed => self.trust.while_open(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_counts_from_the_question() {
        let trust = Trust::none();
        let mut beats = Beats::begin(&trust);
        assert!(!trust.holds() && beats.ask().is_none());
        tokio::time::advance(Duration::from_millis(300)).await;
        beats.take(beats.number(), 1_000);
        tokio::time::advance(Duration::from_millis(699)).await;
        assert!(trust.holds());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!trust.holds());
        let first = beats.number();
        assert_eq!(beats.ask(), Some(first + 1));
        beats.take(first, 1_000);
        assert!(!trust.holds(), "an answer to an older question says nothing");
        beats.take(0, 0);
        assert!(!trust.holds(), "a change says nothing of it");
        beats.take(first + 1, 1_000);
        assert!(trust.holds());
    }

    #[test]
    fn without_a_time_the_stream_says_it() {
        let trust = Trust::none();
        let mut beats = Beats::begin(&trust);
        beats.take(0, 0);
        assert!(trust.holds() && beats.ask().is_none());
        trust.end();
        assert!(!trust.holds());
    }
}
