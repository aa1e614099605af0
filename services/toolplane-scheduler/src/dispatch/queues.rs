//! Ready queues that have calls waiting, as far as this process knows, and the bell that wakes the dispatcher.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::storage::keys::{self, QueueName};
use crate::storage::{RecordError, Storage};

/// Non-empty queues. What is missing here is found with the next look into the store, so it may be wrong, never for long.
#[derive(Debug, Default)]
pub(crate) struct ReadyQueues {
    lanes: Mutex<BTreeMap<QueueName, QueueNote>>,
    waiting: AtomicUsize,
    moment: AtomicU64,
    places: AtomicU64,
    /// Something became ready, or a slot became free.
    bell: Notify,
}

/// What is known of one queue.
#[derive(Clone, Copy, Debug)]
struct QueueNote {
    /// When something was put there, or seen there, last.
    noted: u64,
    /// One of its permits had no place left; nothing of it can be claimed until one is given back.
    full: bool,
}

impl ReadyQueues {
    /// Wakes the dispatcher. A hint: the dispatcher also looks by itself once a second.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits for [`ReadyQueues::ring`].
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Looks up which queues are not empty. Returns an error when the store does.
    pub(crate) async fn look_up(&self, storage: &Storage) -> Result<(), RecordError> {
        let moment = self.tick();
        let names = storage.indexes(keys::QUEUES).await?;
        self.refresh(moment, names.iter().filter_map(|name| QueueName::parse(name)));
        Ok(())
    }

    /// Something waits in `queue`.
    pub(crate) fn note(&self, queue: &QueueName) {
        let noted = self.tick();
        let mut lanes = self.lanes.lock();
        match lanes.get_mut(queue) {
            Some(lane) => lane.noted = noted,
            None => drop(lanes.insert(queue.clone(), QueueNote { noted, full: false })),
        }
        self.waiting.store(lanes.len(), Ordering::SeqCst);
    }

    /// A moment that lies after everything noted so far.
    pub(crate) fn tick(&self) -> u64 {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }

    /// These queues were the non-empty ones at some time after `moment`.
    fn refresh(&self, moment: u64, names: impl IntoIterator<Item = QueueName>) {
        let noted = self.tick();
        let mut lanes = self.lanes.lock();
        let seen: BTreeMap<QueueName, QueueNote> =
            names.into_iter().map(|name| (name, QueueNote { noted, full: false })).collect();
        lanes.retain(|name, lane| lane.noted > moment && !seen.contains_key(name));
        lanes.extend(seen);
        self.waiting.store(lanes.len(), Ordering::SeqCst);
    }

    /// `queue` was empty at some time after `moment`.
    pub(crate) fn empty(&self, moment: u64, queue: &QueueName) {
        let mut lanes = self.lanes.lock();
        // Calls that are held up by a bound are still in theirs, although each of them was looked at.
        if lanes.get(queue).is_some_and(|lane| lane.noted < moment && !lane.full) {
            lanes.remove(queue);
        }
        self.waiting.store(lanes.len(), Ordering::SeqCst);
    }

    /// How often a place was given back so far; see [`ReadyQueues::full`].
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
        let queues = ReadyQueues::default();
        queues.note(&queue("old", None));
        let moment = queues.tick();
        queues.note(&queue("new", None));
        queues.refresh(moment, [queue("seen", None)]);
        assert_eq!(queues.names(), [queue("new", None), queue("seen", None)]);
        let moment = queues.tick();
        queues.note(&queue("new", None));
        for name in ["new", "seen"] {
            queues.empty(moment, &queue(name, None));
        }
        assert_eq!(queues.names(), [queue("new", None)], "something came after the look");
    }

    #[test]
    fn a_full_queue_holds_nobody_up_until_a_place_is_given_back() {
        let queues = ReadyQueues::default();
        queues.note(&queue("a", Some("t")));
        queues.full("running/tool/t", queues.places());
        assert!(queues.is_clear("native") && !queues.is_empty());
        queues.given_back("running/tool/other");
        assert!(queues.is_clear("native"));
        queues.given_back("running/tool/t");
        assert!(!queues.is_clear("native") && queues.is_clear("shell"));
        let before = queues.places();
        queues.given_back("running/tool/t");
        queues.full("running/tool/t", before);
        assert!(!queues.is_clear("native"), "a place became free while nobody found one");
    }
}
