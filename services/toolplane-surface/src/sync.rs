//! Keeping schedulers' caches right: a change is told to every subscriber, and answered only once all have taken it in.
//!
//! The order that makes this safe: a change is applied first, then published under a new revision. A reader takes the
//! revision before it looks, so what it sees is at least as new as the revision it reports.

mod subscription;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};

use subscription::Mailbox;
pub use subscription::{Subscription, Update};

/// Something whose meaning changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A tool.
    Tool(TenantId, ToolId),
    /// A surface.
    Surface(TenantId, SurfaceId),
}

/// The subscribers, and the revision they are to reach. Cheap to clone; clones are the same hub.
#[derive(Clone, Debug)]
pub struct Hub(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    revision: AtomicU64,
    subscribers: Mutex<Subscribers>,
    /// How long a change waits for a subscriber before it is cut off.
    patience: Duration,
}

#[derive(Debug, Default)]
struct Subscribers {
    next: u64,
    live: BTreeMap<u64, Arc<Mailbox>>,
}

impl Hub {
    /// A hub without subscribers. `revision` must be larger than any this role has reported before.
    pub fn new(revision: u64, patience: Duration) -> Self {
        let revision = AtomicU64::new(revision);
        Self(Arc::new(Shared { revision, subscribers: Mutex::default(), patience }))
    }

    /// The revision of everything applied and published so far. Take it before reading what it is to be reported with.
    pub fn revision(&self) -> u64 {
        self.0.revision.load(Ordering::Acquire)
    }

    /// A subscriber called `name`, for people. Its first update resets its cache.
    pub fn subscribe(&self, name: &str) -> Subscription {
        let mut subscribers = self.0.subscribers.lock();
        let id = subscribers.next;
        subscribers.next += 1;
        let mailbox = Arc::new(Mailbox::new(name, self.revision()));
        subscribers.live.insert(id, Arc::clone(&mailbox));
        Subscription::new(self.clone(), id, mailbox)
    }

    /// Tells every subscriber of changes that have been applied.
    ///
    /// The returned wait ends when all of them have acknowledged. One that does not within the hub's patience is cut off:
    /// its stream ends, and a scheduler uses no cache without its stream.
    #[must_use = "a change is answered only once it is acknowledged"]
    pub fn publish(&self, changes: &[Subject]) -> Published {
        let subscribers = self.0.subscribers.lock();
        let revision = self.0.revision.fetch_add(1, Ordering::AcqRel) + 1;
        let waiting: Vec<_> = subscribers.live.iter().map(|(id, mailbox)| (*id, Arc::clone(mailbox))).collect();
        for (_, mailbox) in &waiting {
            mailbox.deliver(changes, revision);
        }
        Published { hub: self.clone(), revision, waiting }
    }

    fn leave(&self, id: u64) {
        self.0.subscribers.lock().live.remove(&id);
    }

    /// How many subscribers are connected.
    pub fn subscribers(&self) -> usize {
        self.0.subscribers.lock().live.len()
    }
}

/// A change on its way to the subscribers.
#[derive(Debug)]
pub struct Published {
    hub: Hub,
    revision: u64,
    waiting: Vec<(u64, Arc<Mailbox>)>,
}

impl Published {
    /// Waits until every subscriber has acknowledged the change or is gone.
    pub async fn acknowledged(self) {
        let Self { hub, revision, waiting } = self;
        let everyone = join_all(waiting.iter().map(|(_, mailbox)| mailbox.acknowledged(revision)));
        if tokio::time::timeout(hub.0.patience, everyone).await.is_ok() {
            return;
        }
        for (id, mailbox) in waiting.iter().filter(|(_, mailbox)| !mailbox.has_acknowledged(revision)) {
            tracing::warn!(subscriber = mailbox.name(), revision, "a catalog change was not acknowledged; cut off");
            mailbox.cut();
            hub.leave(*id);
        }
    }
}
