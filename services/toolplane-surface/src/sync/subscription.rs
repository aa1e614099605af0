//! One subscriber: what waits for it, and how far it has come.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Hub, Subject};

/// Most single changes kept for a subscriber; with more, it is told to drop its whole cache.
const MAX_WAITING: usize = 1024;

/// What a subscriber is told at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// What changed.
    pub changes: Vec<Subject>,
    /// The revision after it.
    pub revision: u64,
    /// Everything may have changed.
    pub reset: bool,
}

/// What the hub keeps of a subscriber.
#[derive(Debug)]
pub(super) struct Mailbox {
    name: String,
    waiting: Mutex<Option<Update>>,
    filled: Notify,
    acknowledged: watch::Sender<u64>,
    cut: CancellationToken,
    /// Until when the subscriber was told to use its cache; absent where the stream alone says it.
    trusted_until: Mutex<Option<Instant>>,
}

impl Mailbox {
    /// A new subscriber has nothing cached yet, so it counts as having come to `revision`.
    pub(super) fn new(name: &str, revision: u64) -> Self {
        let reset = Update { changes: Vec::new(), revision, reset: true };
        Self {
            name: name.chars().take(128).collect(),
            waiting: Mutex::new(Some(reset)),
            filled: Notify::new(),
            acknowledged: watch::Sender::new(revision),
            cut: CancellationToken::new(),
            trusted_until: Mutex::default(),
        }
    }

    pub(super) fn trusted_until(&self) -> Option<Instant> {
        *self.trusted_until.lock()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Adds changes to what waits; without any, anything may have changed.
    pub(super) fn deliver(&self, changes: Option<&[Subject]>, revision: u64) {
        let mut waiting = self.waiting.lock();
        let update = waiting.get_or_insert_with(|| Update { changes: Vec::new(), revision, reset: false });
        update.revision = revision;
        match changes {
            Some(changes) if !update.reset && update.changes.len() + changes.len() <= MAX_WAITING => {
                update.changes.extend_from_slice(changes);
            }
            _ => {
                update.changes.clear();
                update.reset = true;
            }
        }
        drop(waiting);
        self.filled.notify_one();
    }

    /// Waits until the subscriber has come to `revision`, or was cut off.
    pub(super) async fn acknowledged(&self, revision: u64) {
        let mut seen = self.acknowledged.subscribe();
        tokio::select! {
            _ = seen.wait_for(|acknowledged| *acknowledged >= revision) => {}
            () = self.cut.cancelled() => {}
        }
    }

    pub(super) fn has_acknowledged(&self, revision: u64) -> bool {
        self.cut.is_cancelled() || *self.acknowledged.borrow() >= revision
    }

    pub(super) fn cut(&self) {
        self.cut.cancel();
    }
}

/// The subscriber's own end. Dropping it ends the subscription, and no change waits for it any longer.
#[derive(Debug)]
pub struct Subscription {
    hub: Hub,
    id: u64,
    mailbox: Arc<Mailbox>,
}

impl Subscription {
    pub(super) fn new(hub: Hub, id: u64, mailbox: Arc<Mailbox>) -> Self {
        Self { hub, id, mailbox }
    }

    /// What is new already.
    pub fn waiting(&self) -> Option<Update> {
        self.mailbox.waiting.lock().take()
    }

    /// What is new; nothing once the subscriber was cut off. Safe to drop while waiting.
    pub async fn next(&self) -> Option<Update> {
        loop {
            if self.mailbox.cut.is_cancelled() {
                return None;
            }
            if let Some(update) = self.mailbox.waiting.lock().take() {
                return Some(update);
            }
            tokio::select! {
                () = self.mailbox.filled.notified() => {}
                () = self.mailbox.cut.cancelled() => {}
            }
        }
    }

    /// The subscriber may use its cache for so long from now on; it does not count as gone before.
    pub fn trust(&self, time: Duration) {
        *self.mailbox.trusted_until.lock() = Some(Instant::now() + time);
    }

    /// The subscriber leaves by itself, and uses nothing any more.
    pub fn trust_no_longer(&self) {
        *self.mailbox.trusted_until.lock() = None;
    }

    /// The subscriber has applied everything up to `revision`. What lies ahead of the hub counts as the newest there is.
    pub fn acknowledge(&self, revision: u64) {
        let revision = revision.min(self.hub.revision());
        self.mailbox.acknowledged.send_if_modified(|seen| {
            let grown = revision > *seen;
            *seen = revision.max(*seen);
            grown
        });
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.mailbox.cut();
        self.hub.leave(self.id);
    }
}
