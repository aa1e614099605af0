//! Hearing what other schedulers tell of their commits, and passing it on to the parts it concerns.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use toolplane_lifecycle::LeaseMessage;
use toolplane_records::ids::{InvocationKey, WorkerId};
use toolplane_records::stored;
use toolplane_records::time::Timestamp;
use toolplane_store::Hint;

use super::topics::{PLACE, QUARANTINE, READY, UPDATE, UpdateRead, WORKER};
use crate::calls::Update;
use crate::dispatch::{Quarantine, ReadyQueues, Workers};
use crate::storage::Storage;
use crate::storage::keys::QueueName;
use crate::watch::Fanout;

/// Wait before listening again after the stream of hints ended.
const RELISTEN: Duration = Duration::from_secs(1);

/// The parts a hint may concern.
pub(crate) struct Listener {
    /// Whose hints.
    pub(crate) storage: Storage,
    /// Who is told to stop.
    pub(crate) workers: Arc<Workers>,
    /// What becomes ready elsewhere.
    pub(crate) queues: Arc<ReadyQueues>,
    /// Which calls are refused for a while.
    pub(crate) quarantine: Arc<Quarantine>,
    /// Who watches.
    pub(crate) fanout: Arc<Fanout>,
}

impl Listener {
    /// Takes hints of other schedulers, in an endless loop.
    pub(crate) async fn run(&self) {
        if !self.storage.is_shared() {
            return std::future::pending().await;
        }
        loop {
            let mut hints = self.storage.hints();
            while let Some(hint) = hints.next().await {
                self.take_hint(&hint);
            }
            tokio::time::sleep(RELISTEN).await;
        }
    }

    /// Acts on one hint; unknown topics are of newer schedulers.
    fn take_hint(&self, hint: &Hint) {
        if hint.topic.starts_with(READY) {
            if let Some(queue) = std::str::from_utf8(&hint.body).ok().and_then(QueueName::parse) {
                self.queues.note(&queue);
                self.queues.ring();
            }
        } else if let Some(id) = hint.topic.strip_prefix(UPDATE) {
            if let Ok(id) = InvocationKey::parse(id) {
                self.take_update(&id, &hint.body);
            }
        } else if let Some(id) = hint.topic.strip_prefix(WORKER) {
            if let (Ok(worker_id), Ok(message)) = (WorkerId::parse(id), serde_json::from_slice(&hint.body)) {
                self.relay_here(&worker_id, message);
            }
        } else if let Some(permit) = hint.topic.strip_prefix(PLACE) {
            self.queues.given_back(permit);
            self.queues.ring();
        } else if let Some(key) = hint.topic.strip_prefix(QUARANTINE) {
            let until = std::str::from_utf8(&hint.body).ok().and_then(|millis| millis.parse().ok());
            if let (Ok(key), Some(until)) = (key.parse(), until) {
                self.quarantine.add(key, Timestamp::from_millis(until));
            }
        }
    }

    fn take_update(&self, id: &InvocationKey, body: &[u8]) {
        if !self.fanout.is_watched(id) {
            return;
        }
        match stored::read::<UpdateRead>(body) {
            Ok(UpdateRead { events, terminal }) => {
                self.fanout.publish(id, Update { events: events.into(), terminal: terminal.map(Arc::new) });
            }
            Err(_) => self.fanout.look(id),
        }
    }

    /// Passes a message on to a worker that is connected here.
    fn relay_here(&self, worker_id: &WorkerId, message: LeaseMessage) {
        if !self.workers.is_here(worker_id) {
            return;
        }
        if let LeaseMessage::Fenced { lease } = &message {
            self.workers.unassign_lease(lease);
            self.queues.ring();
        }
        self.workers.send(worker_id, message.into());
    }
}
