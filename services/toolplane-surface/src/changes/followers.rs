//! Who else answers from memory, and how far each has come.
//!
//! A process that answers from memory holds a lease in the store, and says there up to which change its memory, and
//! that of the schedulers that follow it, is right. The process that makes a change waits for all who hold one, or
//! until the lease of those that stay silent is over. The holder trusts its memory for less time than the lease lasts,
//! so a process that was paused or cut off has stopped answering from memory before others stop waiting for it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use toolplane_store::{Commit, Hint, IndexOp, ScoreRange, Store, StoreError};
use uuid::Uuid;

use crate::keys;

/// How long a lease lasts, by the store's clock.
const LEASE: Duration = Duration::from_millis(3_000);
/// How long its holder trusts its memory, by its own clock: less, because clocks do not go alike.
const TRUST: Duration = Duration::from_millis(2_000);
/// How often a lease is renewed, and the store looked at in case a notice was lost.
pub(crate) const RENEW: Duration = Duration::from_millis(500);
/// How often a waiting process looks by itself.
const LOOK: Duration = Duration::from_millis(50);
/// The longest wait for others: by then every lease of a silent process is over.
const LONGEST_WAIT: Duration = Duration::from_secs(8);
/// How long a lease has been over before it is forgotten, in milliseconds.
const FORGET_AFTER_MS: u64 = 60_000;
/// Most processes of one cluster.
const MOST: usize = 1_000;

/// This process among those that answer from memory.
pub(crate) struct Followers {
    store: Arc<dyn Store>,
    /// The name of this process there, made up at its start.
    me: String,
    trusted_until: Mutex<Option<Instant>>,
    said: Notify,
    /// Changes of others are taken in; absent until that was tried.
    follows: watch::Sender<Option<bool>>,
}

impl Followers {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let me = Uuid::new_v4().simple().to_string();
        Self { store, me, trusted_until: Mutex::default(), said: Notify::new(), follows: watch::Sender::default() }
    }

    /// For how long the memory of this process may be answered from; not at all without a lease.
    pub(crate) fn trusted_for(&self) -> Option<Duration> {
        let until = (*self.trusted_until.lock())?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Takes or renews the lease, and forgets those that have been over for long. The memory may be trusted once it was
    /// brought up to date after this; see [`Followers::trust`].
    pub(crate) async fn renew(&self) -> Result<Renewed, StoreError> {
        let began = Instant::now();
        let now = keys::score(self.store.now().await?);
        let end = now.saturating_add(u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX));
        let over = ScoreRange::up_to(now.saturating_sub(FORGET_AFTER_MS));
        let gone = self.store.scan(keys::LEASES, over, MOST).await?;
        let mut index = vec![IndexOp::Put { index: keys::LEASES.to_owned(), score: end, member: self.me.clone() }];
        for entry in gone.into_iter().filter(|entry| entry.member != self.me) {
            index.extend(removal(&entry.member));
        }
        self.store.commit(Commit { index, ..Commit::default() }).await?;
        Ok(Renewed { until: began + TRUST })
    }

    /// Whether changes of others are taken in, as that changes.
    pub(crate) fn follows(&self) -> watch::Receiver<Option<bool>> {
        self.follows.subscribe()
    }

    /// Changes of others cannot be taken in.
    pub(crate) fn cannot_follow(&self) {
        self.follows.send_replace(Some(false));
    }

    /// The memory holds everything that was there when the lease was renewed.
    pub(crate) fn trust(&self, renewed: Renewed) {
        self.follows.send_replace(Some(true));
        *self.trusted_until.lock() = Some(renewed.until);
    }

    /// Gives the lease back: no change waits for this process any longer.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        *self.trusted_until.lock() = None;
        self.store.commit(Commit { index: removal(&self.me).to_vec(), ..Commit::default() }).await?;
        self.tell(Vec::new()).await
    }

    /// Says that this process and its schedulers have come to `revision`.
    pub(crate) async fn acknowledge(&self, revision: u64) -> Result<(), StoreError> {
        let index = keys::ACKNOWLEDGED.to_owned();
        self.tell(vec![IndexOp::Put { index, score: revision, member: self.me.clone() }]).await
    }

    async fn tell(&self, index: Vec<IndexOp>) -> Result<(), StoreError> {
        let hints = vec![Hint { topic: keys::ACKNOWLEDGED.to_owned(), body: Bytes::new() }];
        self.store.commit(Commit { index, hints, ..Commit::default() }).await.map(drop)
    }

    /// Another process has said how far it is.
    pub(crate) fn heard(&self) {
        self.said.notify_waiters();
    }

    /// Waits until every other process has come to `revision`, or does not answer from memory any more.
    pub(crate) async fn settled(&self, revision: u64) {
        let end = Instant::now() + LONGEST_WAIT;
        loop {
            let said = self.said.notified();
            match self.behind(revision).await {
                Ok(0) => return,
                Ok(count) if Instant::now() > end => {
                    tracing::warn!(count, revision, "other surface processes did not confirm a change");
                    return;
                }
                // Without the store no process keeps its lease, so the wait ends by itself.
                Err(_) if Instant::now() > end => return,
                Ok(_) | Err(_) => drop(tokio::time::timeout(LOOK, said).await),
            }
        }
    }

    /// How many others answer from a memory that is older than `revision`.
    async fn behind(&self, revision: u64) -> Result<usize, StoreError> {
        let now = keys::score(self.store.now().await?);
        let living = self.store.scan(keys::LEASES, ScoreRange::between(now, u64::MAX), MOST).await?;
        let mut others: HashSet<String> = living.into_iter().map(|entry| entry.member).collect();
        others.remove(&self.me);
        if others.is_empty() {
            return Ok(0);
        }
        let come = self.store.scan(keys::ACKNOWLEDGED, ScoreRange::between(revision, u64::MAX), MOST).await?;
        for entry in come {
            others.remove(&entry.member);
        }
        Ok(others.len())
    }
}

/// A lease that was just renewed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renewed {
    until: Instant,
}

fn removal(member: &str) -> [IndexOp; 2] {
    [keys::LEASES, keys::ACKNOWLEDGED]
        .map(|index| IndexOp::Remove { index: index.to_owned(), member: member.to_owned() })
}
