//! Keeping schedulers' caches right: a change is told to every subscriber, and answered only once all have taken it in.
//!
//! The order that makes this safe: a change is applied first, then published under a new revision. A reader takes the
//! revision before it looks, so what it sees is at least as new as the revision it reports.

mod subscription;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use toolplane_records::ids::{ProviderId, SurfaceId, TenantId, ToolId};

use subscription::Mailbox;
pub use subscription::{Subscription, Update};

/// Something whose meaning changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A tool.
    Tool(TenantId, ToolId),
    /// A surface.
    Surface(TenantId, SurfaceId),
    /// A provider, how it is, or how one of its tools stands.
    Provider(TenantId, ProviderId),
    /// Words that mean the same to a tenant's searches; nothing a scheduler goes by.
    Synonyms(TenantId),
    /// What use has taught a tenant's searches, of which something was forgotten; nothing a scheduler goes by either.
    Use(TenantId),
}

/// The subscribers, and the revision they are to reach. Cheap to clone; clones are the same hub.
#[derive(Clone, Debug)]
pub struct Hub(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    revision: watch::Sender<u64>,
    subscribers: Mutex<Subscribers>,
    /// How long a change waits for a subscriber before it is cut off.
    patience: Duration,
}

#[derive(Debug, Default)]
struct Subscribers {
    next: u64,
    live: BTreeMap<u64, Arc<Mailbox>>,
    /// Until when a scheduler that left, or was cut off, may still use what it has cached.
    parting: Option<Instant>,
}

impl Hub {
    /// A hub without subscribers. `revision` must be larger than any this role has reported before.
    pub fn new(revision: u64, patience: Duration) -> Self {
        let revision = watch::Sender::new(revision);
        Self(Arc::new(Shared { revision, subscribers: Mutex::default(), patience }))
    }

    /// The revision of everything applied and published so far. Take it before reading what it is to be reported with.
    pub fn revision(&self) -> u64 {
        *self.0.revision.borrow()
    }

    /// The revision as it grows.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.0.revision.subscribe()
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

    /// Tells every subscriber of changes that have been applied, as the next revision, which it returns. A change is
    /// answered only once that is [settled](Hub::settled).
    pub fn publish(&self, changes: &[Subject]) -> u64 {
        let subscribers = self.0.subscribers.lock();
        self.deliver(&subscribers, Some(changes), self.revision() + 1)
    }

    /// The same under a revision that was given elsewhere; no revision comes after a larger one.
    pub fn publish_at(&self, changes: &[Subject], revision: u64) {
        let subscribers = self.0.subscribers.lock();
        self.deliver(&subscribers, Some(changes), revision.max(self.revision()));
    }

    /// Tells every subscriber that anything may have changed.
    pub fn publish_reset(&self, revision: u64) {
        let subscribers = self.0.subscribers.lock();
        self.deliver(&subscribers, None, revision.max(self.revision()));
    }

    fn deliver(&self, subscribers: &Subscribers, changes: Option<&[Subject]>, revision: u64) -> u64 {
        for mailbox in subscribers.live.values() {
            mailbox.deliver(changes, revision);
        }
        self.0.revision.send_replace(revision);
        revision
    }

    /// Waits until no subscriber uses anything older than `revision`: it has acknowledged it, or it is gone.
    ///
    /// One that does not acknowledge within the hub's time limit is cut off: its stream ends, and a scheduler uses no
    /// cache without its stream. Where it was told for how long it may use its cache, that time is waited for too: a
    /// stream that ends here need not have ended there yet.
    pub async fn settled(&self, revision: u64) {
        let waiting: Vec<_> =
            self.0.subscribers.lock().live.iter().map(|(id, mailbox)| (*id, Arc::clone(mailbox))).collect();
        let everyone = join_all(waiting.iter().map(|(_, mailbox)| mailbox.acknowledged(revision)));
        if tokio::time::timeout(self.0.patience, everyone).await.is_err() {
            for (id, mailbox) in waiting.iter().filter(|(_, mailbox)| !mailbox.has_acknowledged(revision)) {
                tracing::warn!(subscriber = mailbox.name(), revision, "a catalog change was not acknowledged; cut off");
                mailbox.cut();
                self.leave(*id);
            }
        }
        let parting = self.0.subscribers.lock().parting;
        if let Some(until) = parting {
            tokio::time::sleep_until(until).await;
        }
    }

    fn leave(&self, id: u64) {
        let mut subscribers = self.0.subscribers.lock();
        if let Some(mailbox) = subscribers.live.remove(&id) {
            subscribers.parting = subscribers.parting.max(mailbox.trusted_until());
        }
    }

    /// How many subscribers are connected.
    pub fn subscribers(&self) -> usize {
        self.0.subscribers.lock().live.len()
    }
}
