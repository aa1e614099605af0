//! Whether what was decided about a waiting call still stands when its turn comes.
//!
//! The engine knows neither rules nor tools: it asks [`Standing`], which compares what it has heard. A call whose decision
//! no longer stands is not claimed; somebody looks at it again, and rings when it may go on.

use std::fmt::Debug;
use std::sync::Arc;

use tokio::time::Instant;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;

use super::Engine;
use super::plan::DispatchPlan;

/// A point in what has been heard of rules and tools. What is decided after it rests on nothing older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Changes of the rules heard of.
    pub policy: u64,
    /// Changes of the tools heard of.
    pub catalog: u64,
    /// When it was.
    pub at: Instant,
}

/// Knows whether decisions still stand.
pub trait Standing: Debug + Send + Sync {
    /// Now.
    fn moment(&self) -> Moment;

    /// Whether the decision about `record` stands. `decided` is a moment before it was made, where that is known. Cheap: it
    /// is asked for every claim.
    fn stands(&self, record: &Invocation, plan: Option<&DispatchPlan>, decided: Option<Moment>, now: Timestamp)
    -> bool;

    /// The call has to be looked at again before it may start. Returns at once; asking twice is no harm.
    fn look(&self, id: &InvocationKey);
}

impl Engine {
    /// From now on nothing starts whose decision does not stand. Without a guard every decision stands for ever.
    pub fn guard_starts(&self, standing: Arc<dyn Standing>) {
        // The first one stays: there is one per process.
        let _ = self.0.standing.set(standing);
    }

    /// A moment before whatever is decided next; `None` without a guard.
    pub(crate) fn moment(&self) -> Option<Moment> {
        self.0.standing.get().map(|standing| standing.moment())
    }

    /// Whether `record` may start as far as its decision goes. One that may not is looked at again.
    pub(crate) fn may_start(
        &self,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        decided: Option<Moment>,
        now: Timestamp,
    ) -> bool {
        let Some(standing) = self.0.standing.get() else { return true };
        let stands = standing.stands(record, plan, decided, now);
        if !stands {
            standing.look(&record.key());
        }
        stands
    }

    /// The decision about a waiting call was found to stand as of `decided`.
    pub(crate) async fn found_standing(&self, id: &InvocationKey, decided: Moment) {
        let slot = self.0.hot.slot(id);
        let mut guard = slot.lock().await;
        if guard.is_none() {
            match self.load(id).await {
                Ok(hot) => self.keep(&mut guard, id, hot),
                Err(_) => self.0.hot.forget(id),
            }
        }
        if let Some(hot) = guard.as_mut() {
            hot.decided = Some(decided);
        }
        drop(guard);
        self.0.bell.ring();
    }

    /// Wakes the dispatcher.
    pub(crate) fn ring(&self) {
        self.0.bell.ring();
    }
}
