//! How tests wait where there is no event to wait for: the only place of test code that sleeps (`cargo xtask tidy`
//! checks this).
//!
//! A test waits for a channel, a notification or a task, or runs on a paused clock. What is left is of two kinds.
//! Something outside does not announce its changes: a process, a file, a server; then the test looks again
//! ([`eventually`], [`look_again`]). Or real time has to pass, because that is what the test is about; then [`pause`]
//! says why.

use std::time::{Duration, Instant};

/// The time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Lets a moment pass before the next look at something that does not announce its changes. The loop around it has a
/// bound.
pub async fn look_again() {
    tokio::time::sleep(BETWEEN_LOOKS).await;
}

/// Looks until there is an answer.
///
/// # Panics
///
/// When there is none within `patience`; `what` is said then.
#[expect(clippy::panic, reason = "this is how a test fails")]
pub async fn eventually<T>(what: &str, patience: Duration, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        if began.elapsed() >= patience {
            panic!("not within {} s: {what}", patience.as_secs_f64());
        }
        look_again().await;
    }
}

/// Lets time pass on the clock of the runtime, which may be paused.
pub async fn pause(time: Duration, _because: &'static str) {
    tokio::time::sleep(time).await;
}

/// Lets time pass and keeps the thread, for tests of what has no runtime, or is about a thread that is kept.
#[expect(clippy::disallowed_methods, reason = "this is the one place that does")]
pub fn block(time: Duration, _because: &'static str) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_ends_the_wait() {
        let mut looks = 0;
        let found = eventually("the third look", Duration::from_secs(60), async || {
            looks += 1;
            (looks == 3).then_some("here")
        });
        assert_eq!(found.await, "here");
        assert_eq!(looks, 3);
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "not within 0 s: what never comes")]
    async fn no_answer_is_told() {
        eventually("what never comes", Duration::ZERO, async || None::<()>).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_one_of_the_runtimes_clock() {
        let (began, really) = (tokio::time::Instant::now(), Instant::now());
        pause(Duration::from_secs(500), "the clock is paused").await;
        assert!(began.elapsed() >= Duration::from_secs(500) && really.elapsed() < Duration::from_secs(60));
    }
}
