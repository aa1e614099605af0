//! A session that is kept, and its use by one call.

use std::ops::Deref;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::{Guard, PoolLimits};
use crate::session::Session;

/// A session with all that keeps its server running. It goes with its last user.
pub(super) struct Kept {
    /// Dropped before the guard: a server that can end by itself is asked to first.
    pub(super) session: Session,
    guard: Guard,
    _place: OwnedSemaphorePermit,
    pub(super) born: Instant,
    turns: Arc<Semaphore>,
    usage: Mutex<Usage>,
}

#[derive(Debug)]
struct Usage {
    lent: u64,
    in_use: usize,
    idle_since: Instant,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("session", &self.session).field("usage", &self.usage).finish_non_exhaustive()
    }
}

impl Kept {
    pub(super) fn new(session: Session, guard: Guard, place: OwnedSemaphorePermit, limits: &PoolLimits) -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self {
            session,
            guard,
            _place: place,
            born: now,
            turns: Arc::new(Semaphore::new(limits.at_once)),
            usage: Mutex::new(Usage { lent: 0, in_use: 0, idle_since: now }),
        })
    }

    /// Waits for a turn. Nothing when the session cannot be used any more by then.
    pub(super) async fn lend(self: Arc<Self>, limits: &PoolLimits) -> Option<Lent> {
        let turn = tokio::select! {
            biased;
            _ = self.session.closed() => return None,
            turn = self.turns.clone().acquire_owned() => turn.ok()?,
        };
        if !self.is_usable(limits, Instant::now()) {
            return None;
        }
        let mut usage = self.usage.lock();
        usage.lent += 1;
        usage.in_use += 1;
        drop(usage);
        Some(Lent { kept: self, _turn: turn })
    }

    /// Whether further calls may use it.
    pub(super) fn is_usable(&self, limits: &PoolLimits, now: Instant) -> bool {
        let is_fresh = now < self.born + limits.lifetime && self.usage.lock().lent < limits.calls;
        is_fresh && self.session.over().is_none() && !self.session.is_in_doubt()
    }

    /// Since when nobody uses it.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let usage = self.usage.lock();
        (usage.in_use == 0).then_some(usage.idle_since)
    }

    /// Whether a call has ever had an answer: what fails then is not the start.
    pub(super) fn has_answered(&self) -> bool {
        self.session.has_answered()
    }
}

/// A session for one call. Giving it back is dropping it.
#[derive(Debug)]
pub struct Lent {
    kept: Arc<Kept>,
    _turn: OwnedSemaphorePermit,
}

impl Lent {
    /// What keeps the server running, as it was given when it was started.
    pub fn guard(&self) -> &(dyn std::any::Any + Send + Sync) {
        self.kept.guard.as_ref()
    }
}

impl Deref for Lent {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.kept.session
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut usage = self.kept.usage.lock();
        usage.in_use -= 1;
        usage.idle_since = Instant::now();
    }
}
