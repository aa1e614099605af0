//! Tells those who watch an invocation what was just stored, so that they need not ask the store.
//!
//! The hub is a shortcut, never the truth: a watcher that misses an update (it was too slow, or another process made the
//! change) finds it in the store's log, at the latest with its next poll.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::mpsc;
use toolplane_lifecycle::Terminal;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationId;

/// Updates a watcher may lag behind before it has to read from the store.
const BUFFER: usize = 64;

/// One durable change of one invocation.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    /// New log entries.
    pub(crate) events: Arc<[LogEvent]>,
    /// The terminal result, when the change made one.
    pub(crate) terminal: Option<Arc<Terminal>>,
}

/// Watchers by invocation. An invocation nobody watches costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    watchers: DashMap<InvocationId, Vec<mpsc::Sender<Update>>>,
}

impl Hub {
    /// Every update of `id` that becomes durable from now on, until the buffer overflows: then the stream ends.
    pub(crate) fn subscribe(&self, id: &InvocationId) -> mpsc::Receiver<Update> {
        let (sender, receiver) = mpsc::channel(BUFFER);
        let mut watchers = self.watchers.entry(id.clone()).or_default();
        watchers.retain(|watcher| !watcher.is_closed());
        watchers.push(sender);
        receiver
    }

    /// Passes on an update that is durable. A terminal update ends all subscriptions.
    pub(crate) fn publish(&self, id: &InvocationId, update: Update) {
        if update.terminal.is_some() {
            let Some((_, watchers)) = self.watchers.remove(id) else { return };
            for watcher in watchers {
                // A full buffer means the watcher reads the rest from the store.
                let _ = watcher.try_send(update.clone());
            }
        } else if let Some(mut watchers) = self.watchers.get_mut(id) {
            watchers.retain(|watcher| watcher.try_send(update.clone()).is_ok());
        }
    }

    /// Whether somebody here watches `id`.
    pub(crate) fn is_watched(&self, id: &InvocationId) -> bool {
        self.watchers.contains_key(id)
    }

    /// Makes watchers of `id` look into the store: something happened that is not known here.
    pub(crate) fn look(&self, id: &InvocationId) {
        // The end of a subscription is the sign to read on and to subscribe anew.
        self.watchers.remove(id);
    }

    /// Forgets watchers of `id` that have gone away.
    pub(crate) fn sweep(&self, id: &InvocationId) {
        self.watchers.remove_if_mut(id, |_, watchers| {
            watchers.retain(|watcher| !watcher.is_closed());
            watchers.is_empty()
        });
    }
}
