//! What is known of one key: its session, its failures, and what its server speaks.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::kept::Kept;
use super::{LendError, PoolLimits};
use crate::meta::Era;

/// One key.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Held while a server is started.
    pub(super) starting: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: Option<Arc<Kept>>,
    failures: u32,
    last: String,
    /// No start before.
    not_before: Option<Instant>,
    spoke: Option<Era>,
}

/// Whether to start.
pub(super) enum Next {
    Start,
    Wait(Instant),
    Refuse(LendError),
}

impl Slot {
    /// The session, if further calls may use it; otherwise it is let go.
    pub(super) fn usable(&self, limits: &PoolLimits, now: Instant) -> Option<Arc<Kept>> {
        let mut state = self.state.lock();
        let kept = state.kept.clone()?;
        if kept.is_usable(limits, now) {
            return Some(kept);
        }
        state.go(limits, now);
        None
    }

    pub(super) fn next(&self, limits: &PoolLimits, now: Instant) -> Next {
        let state = self.state.lock();
        let Some(due) = state.not_before.filter(|due| *due > now) else { return Next::Start };
        if state.failures < limits.failures {
            return Next::Wait(due);
        }
        let (failures, last) = (state.failures, state.last.clone());
        Next::Refuse(LendError::LeftAlone { failures, wait: due - now, last })
    }

    pub(super) fn keep(&self, kept: Arc<Kept>) {
        let mut state = self.state.lock();
        state.spoke = Some(kept.session.server().era);
        state.kept = Some(kept);
    }

    pub(super) fn failed(&self, limits: &PoolLimits, why: String, now: Instant) {
        self.state.lock().failed(limits, why, now);
    }

    /// What its server spoke the last time.
    pub(super) fn spoke(&self) -> Option<Era> {
        self.state.lock().spoke
    }

    pub(super) fn let_go(&self, limits: &PoolLimits, now: Instant) {
        self.state.lock().go(limits, now);
    }

    pub(super) fn idle_since(&self) -> Option<Instant> {
        // Somebody is about to use it.
        let state = self.state.lock();
        let kept = state.kept.as_ref().filter(|kept| Arc::strong_count(kept) == 1)?;
        kept.idle_since()
    }

    /// Nothing is kept, and nothing that is known has to be.
    pub(super) fn is_forgettable(&self, now: Instant) -> bool {
        let state = self.state.lock();
        state.kept.is_none() && state.not_before.is_none_or(|due| due <= now)
    }

    /// Lets go what is due, and says when to look again.
    pub(super) fn tend(&self, limits: &PoolLimits, now: Instant) -> Option<Instant> {
        let idle = self.idle_since();
        let mut state = self.state.lock();
        let kept = state.kept.clone()?;
        let idle_until = idle.map(|since| since + limits.idle);
        if !kept.is_usable(limits, now) || idle_until.is_some_and(|until| until <= now) {
            state.go(limits, now);
            return None;
        }
        // One that is in use is looked at again when it could be idle for long enough at the earliest.
        Some(idle_until.unwrap_or(now + limits.idle).min(kept.born + limits.lifetime).min(now + LOOK_AGAIN))
    }
}

/// A server that ends by itself is noticed after so long at the latest.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

impl State {
    /// The session is not used any more. One that was over before it ever answered counts as a failed start.
    fn go(&mut self, limits: &PoolLimits, now: Instant) {
        let Some(kept) = self.kept.take() else { return };
        if kept.has_answered() {
            (self.failures, self.not_before) = (0, None);
        } else if let Some(reason) = kept.session.over() {
            self.failed(limits, reason.to_string(), now);
        }
    }

    fn failed(&mut self, limits: &PoolLimits, why: String, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        let doubled = 1u32.checked_shl(self.failures - 1).unwrap_or(u32::MAX);
        let wait = limits.first_wait.saturating_mul(doubled).min(limits.longest_wait);
        (self.last, self.not_before) = (why, Some(now + wait));
    }
}
