//! An end that was said and not acknowledged: when it is to be said again.

use std::time::Duration;

use tokio::time::Instant;
use toolplane_runtime::client::Backoff;

/// When and how often an end was said.
#[derive(Debug)]
pub(super) struct Unheard {
    said: Instant,
    times: u32,
    /// How long this time is waited for, once that was asked: the chance in it is thrown once.
    wait: Option<Duration>,
}

impl Unheard {
    /// Said for the first time, now.
    pub(super) fn said_now() -> Self {
        Self { said: Instant::now(), times: 1, wait: None }
    }

    /// Since when it should have been acknowledged; nothing while there is still time.
    pub(super) fn due_since(&mut self, again: Backoff) -> Option<Instant> {
        let due = self.said + *self.wait.get_or_insert_with(|| again.wait(self.times, None));
        (due <= Instant::now()).then_some(due)
    }

    /// Said once more, now.
    pub(super) fn say_again(&mut self) {
        *self = Self { said: Instant::now(), times: self.times.saturating_add(1), wait: None };
    }
}
