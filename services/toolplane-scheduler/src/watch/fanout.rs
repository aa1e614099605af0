//! Tells those who watch an invocation what was just stored, so that they need not ask the store.
//!
//! The fan-out is a shortcut, never the truth: a watcher that misses an update (it was too slow, or another process made the
//! change) finds it in the store's log, at the latest with the next look. That look is one for all watchers of a call: what
//! it finds, they are told.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::hash::DashMap;
use tokio::sync::mpsc;
use tokio::time::Instant;
use toolplane_records::ids::InvocationKey;

use crate::calls::Update;

/// Updates a watcher may lag behind before it has to read from the store.
const BUFFER: usize = 64;
/// Looks into the store a second, at most, for all calls that are watched here together.
const LOOKS_PER_S: u32 = 500;

/// Those who watch one call.
#[derive(Debug)]
struct Watched {
    watchers: HashMap<u64, mpsc::Sender<Update>>,
    /// When a task last looked into the store for all of them.
    looked: Instant,
}

/// Watchers by invocation. An invocation without watchers costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Fanout {
    calls: DashMap<InvocationKey, Watched>,
    numbers: AtomicU64,
}

/// One watcher's updates. It watches until this is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    fanout: Arc<Fanout>,
    call: InvocationKey,
    number: u64,
    updates: mpsc::Receiver<Update>,
}

impl Subscription {
    /// The next update; `None` when the store has to be read, and subscribed anew.
    pub(crate) async fn next(&mut self) -> Option<Update> {
        self.updates.recv().await
    }

    /// An update that is there already.
    pub(crate) fn ready(&mut self) -> Option<Update> {
        self.updates.try_recv().ok()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.fanout.calls.remove_if_mut(&self.call, |_, watched| {
            watched.watchers.remove(&self.number);
            watched.watchers.is_empty()
        });
    }
}

impl Fanout {
    /// Every update of `call` that becomes durable from now on, until the buffer overflows: then the stream ends.
    pub(crate) fn subscribe(self: &Arc<Self>, call: &InvocationKey) -> Subscription {
        let (sender, updates) = mpsc::channel(BUFFER);
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let new = || Watched { watchers: HashMap::new(), looked: Instant::now() };
        self.calls.entry(call.clone()).or_insert_with(new).watchers.insert(number, sender);
        Subscription { fanout: self.clone(), call: call.clone(), number, updates }
    }

    /// Passes on an update that is durable. A terminal update ends all subscriptions.
    pub(crate) fn publish(&self, call: &InvocationKey, update: Update) {
        if update.terminal.is_some() {
            let Some((_, watched)) = self.calls.remove(call) else { return };
            for watcher in watched.watchers.into_values() {
                // A full buffer means the watcher reads the rest from the store.
                let _ = watcher.try_send(update.clone());
            }
        } else if let Some(mut watched) = self.calls.get_mut(call) {
            watched.watchers.retain(|_, watcher| watcher.try_send(update.clone()).is_ok());
        }
    }

    /// Whether a watcher here watches `call`.
    pub(crate) fn is_watched(&self, call: &InvocationKey) -> bool {
        self.calls.contains_key(call)
    }

    /// How many watch `call`.
    pub(crate) fn crowd(&self, call: &InvocationKey) -> usize {
        self.calls.get(call).map_or(0, |watched| watched.watchers.len())
    }

    /// Makes watchers of `call` look into the store: something happened that is not known here.
    pub(crate) fn look(&self, call: &InvocationKey) {
        // The end of a subscription is the sign to read on and to subscribe anew.
        self.calls.remove(call);
    }

    /// Whether the caller is to look into the store for all watchers of `call`, who look every `every` together; rarer where
    /// very many calls are watched.
    pub(crate) fn may_look(&self, call: &InvocationKey, every: Duration) -> bool {
        let many = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        let every = every.max(Duration::from_secs(1) * many / LOOKS_PER_S);
        match self.calls.get_mut(call) {
            Some(watched) if watched.looked.elapsed() < every => false,
            Some(mut watched) => {
                watched.looked = Instant::now();
                true
            }
            // Told to look already: its subscription has ended.
            None => false,
        }
    }
}
