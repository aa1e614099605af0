//! Endings that wait for the hooks after their calls: kept beside the record until the hooks were asked.
//!
//! The engine knows no hooks. It is told of which plans the endings are shown to some, and says whose hooks should have answered
//! by now.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;
use toolplane_lifecycle::Timer;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_store::ScoreRange;

use super::plan::DispatchPlan;
use super::{Engine, EngineError, keys};

/// Entries read at once.
const PAGE: usize = 256;

/// Whether hooks are asked about endings of calls with this plan.
pub(crate) type IsAsked = Box<dyn Fn(&DispatchPlan) -> bool + Send + Sync>;

/// Who asks hooks about endings.
pub(crate) struct Asked {
    of: IsAsked,
    overdue: mpsc::UnboundedSender<InvocationKey>,
}

impl Engine {
    /// From now on hooks are asked about endings of the calls that `of` says. What comes back are the calls whose hooks should
    /// have answered by now; nothing when somebody follows already.
    pub(crate) fn follow_endings(&self, of: IsAsked) -> Option<mpsc::UnboundedReceiver<InvocationKey>> {
        let (overdue, seen) = mpsc::unbounded_channel();
        self.0.asked.set(Asked { of, overdue }).is_ok().then_some(seen)
    }

    /// Whether hooks are asked about endings of calls with this plan: nobody may see what such a call gives before.
    pub(crate) fn is_asked(&self, plan: &DispatchPlan) -> bool {
        self.0.asked.get().is_some_and(|asked| (asked.of)(plan))
    }

    /// The hooks of `id` should have answered by now.
    pub(crate) fn hooks_overdue(&self, id: &InvocationKey) {
        if let Some(asked) = self.0.asked.get() {
            // Nobody listens when the process ends; somebody else sees it then.
            let _ = asked.overdue.send(id.clone());
        }
    }

    /// The ending of `id` that waits for its hooks, as it was stored.
    pub(crate) async fn ending(&self, id: &InvocationKey) -> Result<Option<Bytes>, EngineError> {
        Ok(self.0.store.get(&keys::ending(id)).await?.map(|stored| stored.bytes))
    }

    /// Every call whose ending waits for hooks.
    pub(crate) async fn waiting_for_hooks(&self) -> Result<Vec<InvocationKey>, EngineError> {
        let (mut ids, mut range) = (Vec::new(), ScoreRange::all());
        loop {
            let page = self.0.store.scan(&keys::timers(Timer::PostHooks), range, PAGE).await?;
            ids.extend(page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()));
            match page.last() {
                Some(last) if page.len() == PAGE => range = ScoreRange::all().after(last),
                _ => return Ok(ids),
            }
        }
    }

    /// The record of `id` as it is remembered here, else as it is stored. What never changes of a leased call may be read from it.
    pub(crate) async fn at_hand(&self, id: &InvocationKey) -> Result<Arc<Invocation>, EngineError> {
        match self.0.hot.peek(id).await {
            Some(record) => Ok(record),
            None => Ok(self.load(id).await?.record),
        }
    }

    /// Whether other processes write to the store too.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.shared
    }
}
