//! Leaving somebody alone for a while who did not answer again and again.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// So many failures in a row, and it is left alone.
const PATIENCE: u32 = 3;
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// It is left alone at most so long when it asks for it.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// Who is asked within requests, each of which would wait for it in vain. After three failures in a row it is left alone for a second,
/// then twice as long each time, up to half a minute; between two such times one request asks.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failed: u32,
    until: Option<Instant>,
}

impl Breaker {
    /// Whether it is asked now. Whoever is told so after a pause asks for all others, who go without until it has answered.
    pub(crate) fn lets(&self) -> bool {
        let mut state = self.0.lock();
        let (now, pause) = (Instant::now(), pause(state.failed));
        match state.until {
            Some(until) if now < until => false,
            Some(_) => {
                state.until = Some(now + pause);
                true
            }
            None => true,
        }
    }

    /// It answered; says whether it had failed before.
    pub(crate) fn answered(&self) -> bool {
        std::mem::take(&mut *self.0.lock()).failed > 0
    }

    /// It did not, and wants to be left alone for `asked`; says whether that is news.
    pub(crate) fn failed(&self, asked: Option<Duration>) -> bool {
        let mut state = self.0.lock();
        state.failed = state.failed.saturating_add(1);
        let own = (state.failed >= PATIENCE).then(|| pause(state.failed));
        let pause = own.max(asked.map(|asked| asked.min(LONGEST_ASKED)));
        state.until = state.until.max(pause.map(|pause| Instant::now() + pause));
        state.failed == 1
    }
}

fn pause(failed: u32) -> Duration {
    FIRST.saturating_mul(1 << failed.saturating_sub(PATIENCE).min(8)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn after_three_failures_one_in_a_while_asks() {
        let breaker = Breaker::default();
        assert!(breaker.failed(None), "the first one is news");
        assert!(breaker.lets() && !breaker.failed(None));
        assert!(breaker.lets() && !breaker.failed(None));
        assert!(!breaker.lets());
        tokio::time::advance(FIRST).await;
        assert!(breaker.lets() && !breaker.lets(), "one asks, the others go without");
        breaker.failed(None);
        tokio::time::advance(FIRST).await;
        assert!(!breaker.lets(), "twice as long");
        tokio::time::advance(FIRST).await;
        assert!(breaker.lets() && breaker.answered());
        assert!(breaker.lets() && breaker.lets() && !breaker.answered());
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_left_alone_when_it_asks_for_it_but_not_for_ever() {
        let breaker = Breaker::default();
        breaker.failed(Some(Duration::from_secs(3_600)));
        assert!(!breaker.lets());
        tokio::time::advance(LONGEST_ASKED).await;
        assert!(breaker.lets());
    }
}
