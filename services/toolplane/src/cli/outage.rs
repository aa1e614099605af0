//! How long a cluster that went away is waited for by whoever follows something.

use std::time::Duration;

use tokio::time::Instant;

/// How long a cluster that went away may stay away.
const PATIENCE: Duration = Duration::from_secs(60);
/// A stream that was open for so long was no attempt of a cluster that does not come up: its end begins a new outage.
const STEADY: Duration = Duration::from_secs(5);
/// Pause between two attempts to reach it again.
pub(super) const PAUSE: Duration = Duration::from_millis(300);

/// The time since something was heard. What is followed may have nothing to say for hours: an open stream is a sign of life, too.
#[derive(Debug)]
pub(super) struct Outage {
    heard: Instant,
    opened: Option<Instant>,
    is_told: bool,
}

impl Outage {
    /// There is none yet.
    pub(super) fn none() -> Self {
        Self { heard: Instant::now(), opened: None, is_told: false }
    }

    /// A stream is open.
    pub(super) fn opened(&mut self) {
        self.opened = Some(Instant::now());
    }

    /// Something new was said.
    pub(super) fn heard(&mut self) {
        (self.heard, self.is_told) = (Instant::now(), false);
    }

    /// Whether nobody was told of this outage yet: each attempt that fails is no news.
    pub(super) fn is_news(&mut self) -> bool {
        !std::mem::replace(&mut self.is_told, true)
    }

    /// Whether it is worth another attempt, after one that failed or a stream that broke.
    pub(super) fn may_end(&mut self) -> bool {
        if self.opened.take().is_some_and(|opened| opened.elapsed() >= STEADY) {
            self.heard();
        }
        self.heard.elapsed() < PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_outage_is_counted_from_the_loss_of_a_stream_and_not_from_its_beginning() {
        let mut outage = Outage::none();
        outage.opened();
        tokio::time::advance(PATIENCE * 10).await;
        assert!(outage.may_end(), "a stream with nothing to say was open until now");
        tokio::time::advance(PATIENCE - PAUSE).await;
        assert!(outage.may_end());
        // A cluster that answers and breaks is not there.
        outage.opened();
        tokio::time::advance(PAUSE).await;
        assert!(!outage.may_end());
        outage.heard();
        assert!(outage.may_end());
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_is_told_once() {
        let mut outage = Outage::none();
        let mut told = || (0..5).filter(|_| outage.may_end() && outage.is_news()).count();
        assert_eq!((told(), told()), (1, 0));
        outage.heard();
        assert!(outage.is_news() && !outage.is_news());
        // A stream that stayed was the end of that one.
        outage.opened();
        tokio::time::advance(STEADY).await;
        assert!(outage.may_end() && outage.is_news());
    }
}
