//! Ready queues that have calls waiting, as far as this process knows, and where a call waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use toolplane_records::invocation::Invocation;

use super::keys::{self, QueueName};
use super::plan::DispatchPlan;
use super::{Engine, EngineError};

/// Non-empty queues. What is missing here is found with the next look into the store, so it may be wrong, never for long.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    lanes: Mutex<BTreeMap<QueueName, Lane>>,
    waiting: AtomicUsize,
    moment: AtomicU64,
    places: AtomicU64,
}

/// What is known of one queue.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// When something was put there, or seen there, last.
    noted: u64,
    /// One of its permits had no place left; nothing of it can be claimed until one is given back.
    full: bool,
}

impl Backlog {
    /// Something waits in `queue`.
    pub(crate) fn note(&self, queue: &QueueName) {
        let noted = self.tick();
        let mut lanes = self.lanes.lock();
        match lanes.get_mut(queue) {
            Some(lane) => lane.noted = noted,
            None => drop(lanes.insert(queue.clone(), Lane { noted, full: false })),
        }
        self.waiting.store(lanes.len(), Ordering::SeqCst);
    }

    /// A moment that lies after everything noted so far.
    pub(crate) fn tick(&self) -> u64 {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }

    /// These queues were the non-empty ones at some time after `moment`.
    pub(crate) fn refresh(&self, moment: u64, names: impl IntoIterator<Item = QueueName>) {
        let noted = self.tick();
        let mut lanes = self.lanes.lock();
        let seen: BTreeMap<QueueName, Lane> =
            names.into_iter().map(|name| (name, Lane { noted, full: false })).collect();
        lanes.retain(|name, lane| lane.noted > moment && !seen.contains_key(name));
        lanes.extend(seen);
        self.waiting.store(lanes.len(), Ordering::SeqCst);
    }

    /// `queue` was empty at some time after `moment`.
    pub(crate) fn empty(&self, moment: u64, queue: &QueueName) {
        let mut lanes = self.lanes.lock();
        if lanes.get(queue).is_some_and(|lane| lane.noted < moment) {
            lanes.remove(queue);
        }
        self.waiting.store(lanes.len(), Ordering::SeqCst);
    }

    /// How often a place was given back so far; see [`Backlog::full`].
    pub(crate) fn places(&self) -> u64 {
        self.places.load(Ordering::SeqCst)
    }

    /// The counted index `permit` had no place left: calls that need one are passed over until one is given back. If one
    /// was since `places` was read, they are tried again at once.
    pub(crate) fn full(&self, permit: &str, places: u64) {
        self.mark(permit, true);
        if self.places() != places {
            self.mark(permit, false);
        }
    }

    /// A place in the counted index `permit` was given back.
    pub(crate) fn given_back(&self, permit: &str) {
        self.places.fetch_add(1, Ordering::SeqCst);
        self.mark(permit, false);
    }

    /// Whether calls wait for a place in the counted index `permit`.
    pub(crate) fn waits_for(&self, permit: &str) -> bool {
        !self.is_empty() && self.lanes.lock().keys().any(|name| needs(name, permit))
    }

    fn mark(&self, permit: &str, full: bool) {
        for (name, lane) in self.lanes.lock().iter_mut().filter(|(_, lane)| lane.full != full) {
            if needs(name, permit) {
                lane.full = full;
            }
        }
    }

    /// Whether nothing that could run waits for workers of `pool`.
    pub(crate) fn is_clear(&self, pool: &str) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0
            || !self.lanes.lock().iter().any(|(name, lane)| name.pool == pool && !lane.full)
    }

    /// Whether nothing waits at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0
    }

    /// Every known queue.
    pub(crate) fn names(&self) -> Vec<QueueName> {
        self.lanes.lock().keys().cloned().collect()
    }

    /// Queues of `pool` from which something could be claimed.
    pub(crate) fn eligible(&self, pool: &str) -> Vec<QueueName> {
        let lanes = self.lanes.lock();
        lanes.iter().filter(|(name, lane)| name.pool == pool && !lane.full).map(|(name, _)| name.clone()).collect()
    }
}

/// Whether calls in `queue` take a place in the counted index `permit`, if that is counted at all.
fn needs(queue: &QueueName, permit: &str) -> bool {
    let of_tool = queue.tool.as_ref().is_some_and(|tool| keys::running_of_tool(tool) == permit);
    of_tool || keys::running_of_tenant(&queue.tenant) == permit
}

impl Engine {
    /// Where `record` is ready, when it is; the plan says whether its tool has a queue of its own.
    pub(crate) fn queue_with(&self, record: &Invocation, plan: Option<&DispatchPlan>) -> Option<QueueName> {
        let dispatch = record.dispatch.as_ref()?;
        let capped = plan.is_some_and(|plan| self.0.limits.is_capped(plan));
        Some(QueueName {
            pool: dispatch.pool.clone(),
            band: record.band,
            tenant: record.tenant.clone(),
            tool: capped.then(|| record.tool_id.clone()),
        })
    }

    /// The same, with the plan looked up where it matters.
    pub(crate) async fn queue_of(&self, record: &Invocation) -> Result<Option<QueueName>, EngineError> {
        let plan = if self.0.limits.cap_tools() { self.plan_of(record).await? } else { None };
        Ok(self.queue_with(record, plan.as_deref()))
    }

    /// Looks up which queues are not empty.
    pub(crate) async fn refresh_backlog(&self) -> Result<(), EngineError> {
        let moment = self.0.backlog.tick();
        let names = self.0.store.indexes(keys::QUEUES).await?;
        self.0.backlog.refresh(moment, names.iter().filter_map(|name| QueueName::parse(name)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::{TenantId, ToolId};
    use toolplane_records::vocabulary::Band;

    use super::*;

    fn queue(tenant: &str, tool: Option<&str>) -> QueueName {
        let tool = tool.map(ToolId::from_trusted);
        QueueName { pool: "native".into(), band: Band::Normal, tenant: TenantId::from_trusted(tenant), tool }
    }

    #[test]
    fn what_is_noted_after_a_look_began_outlives_it() {
        let backlog = Backlog::default();
        backlog.note(&queue("old", None));
        let moment = backlog.tick();
        backlog.note(&queue("new", None));
        backlog.refresh(moment, [queue("seen", None)]);
        assert_eq!(backlog.names(), [queue("new", None), queue("seen", None)]);
        let moment = backlog.tick();
        backlog.note(&queue("new", None));
        for name in ["new", "seen"] {
            backlog.empty(moment, &queue(name, None));
        }
        assert_eq!(backlog.names(), [queue("new", None)], "something came after the look");
    }

    #[test]
    fn a_full_queue_holds_nobody_up_until_a_place_is_given_back() {
        let backlog = Backlog::default();
        backlog.note(&queue("a", Some("t")));
        backlog.full("running/tool/t", backlog.places());
        assert!(backlog.is_clear("native") && !backlog.is_empty());
        backlog.given_back("running/tool/other");
        assert!(backlog.is_clear("native"));
        backlog.given_back("running/tool/t");
        assert!(!backlog.is_clear("native") && backlog.is_clear("shell"));
        let before = backlog.places();
        backlog.given_back("running/tool/t");
        backlog.full("running/tool/t", before);
        assert!(!backlog.is_clear("native"), "a place became free while nobody found one");
    }
}
