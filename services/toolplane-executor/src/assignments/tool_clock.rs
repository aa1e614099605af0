//! The time of a tool.

use std::time::Duration;

/// How long a tool has worked, without the time it waited for an answer.
#[derive(Debug)]
pub(crate) struct ToolClock {
    state: parking_lot::Mutex<Stopwatch>,
    changed: tokio::sync::Notify,
}

#[derive(Debug)]
struct Stopwatch {
    worked: Duration,
    /// Since when it runs; absent while it is paused.
    since: Option<tokio::time::Instant>,
}

impl ToolClock {
    /// A clock that runs.
    pub(crate) fn start() -> Self {
        let state = Stopwatch { worked: Duration::ZERO, since: Some(tokio::time::Instant::now()) };
        Self { state: parking_lot::Mutex::new(state), changed: tokio::sync::Notify::new() }
    }

    /// Runs from zero.
    pub(crate) fn restart(&self) {
        *self.state.lock() = Stopwatch { worked: Duration::ZERO, since: Some(tokio::time::Instant::now()) };
    }

    /// Is paused until [`Self::go_on`].
    pub(crate) fn pause(&self) {
        let mut state = self.state.lock();
        if let Some(since) = state.since.take() {
            state.worked += since.elapsed();
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Runs again.
    pub(crate) fn go_on(&self) {
        self.state.lock().since.get_or_insert_with(tokio::time::Instant::now);
        self.changed.notify_one();
    }

    /// What it shows now.
    pub(crate) fn worked(&self) -> Duration {
        let state = self.state.lock();
        state.worked + state.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Waits until it shows `limit`. For one waiter.
    pub(crate) async fn reaches(&self, limit: Duration) {
        loop {
            let (left, runs) = (limit.saturating_sub(self.worked()), self.state.lock().since.is_some());
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(left), if runs => {}
                () = self.changed.notified() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ToolClock;

    #[tokio::test(start_paused = true)]
    async fn waiting_for_an_answer_is_not_working() {
        let clock = ToolClock::start();
        let begun = tokio::time::Instant::now();
        let wait = async {
            toolplane_wait::pause(Duration::from_secs(2), "the clock of this test is paused").await;
            clock.pause();
            clock.pause();
            toolplane_wait::pause(Duration::from_secs(500), "the clock of this test is paused").await;
            clock.go_on();
            clock.go_on();
        };
        tokio::join!(clock.reaches(Duration::from_secs(5)), wait);
        assert_eq!((begun.elapsed(), clock.worked()), (Duration::from_secs(505), Duration::from_secs(5)));
    }
}
