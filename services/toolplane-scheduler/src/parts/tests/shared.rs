//! A store that several engines share: the model store, a bus for hints, and lost answers on demand.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::broadcast;
use toolplane_records::time::Timestamp;
use toolplane_store::{
    Commit, CommitOutcome, Durability, EventPage, Family, Found, Hint, HintStream, IndexEntry, RecordKey, ScoreRange,
    StoreError, StoreFuture, Versioned,
};

use super::*;

/// What all members have in common.
pub(super) struct Cluster {
    inner: MemoryStore,
    bus: broadcast::Sender<(u64, Hint)>,
    next: AtomicU64,
}

/// One member's way to the store.
pub(super) struct Member {
    cluster: Arc<Cluster>,
    number: u64,
    pub(super) commits: AtomicU64,
    /// Commits whose answer is lost after they were applied.
    pub(super) swallow: AtomicU32,
    /// Commits that do not reach the store.
    pub(super) refuse: AtomicU32,
    /// Hints are lost.
    pub(super) deaf: std::sync::atomic::AtomicBool,
    /// The next scan of this index, of all of it, was made before this entry went.
    pub(super) overtaken: parking_lot::Mutex<Option<(String, IndexEntry)>>,
}

impl Cluster {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { inner: memory(), bus: broadcast::channel(4096).0, next: AtomicU64::new(0) })
    }

    pub(super) fn member(self: &Arc<Self>) -> Arc<Member> {
        Arc::new(Member {
            cluster: self.clone(),
            number: self.next.fetch_add(1, Ordering::Relaxed),
            commits: AtomicU64::new(0),
            swallow: AtomicU32::new(0),
            refuse: AtomicU32::new(0),
            deaf: false.into(),
            overtaken: parking_lot::Mutex::default(),
        })
    }
}

fn spend(budget: &AtomicU32) -> bool {
    budget.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

impl Store for Member {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(async move {
            self.commits.fetch_add(1, Ordering::Relaxed);
            if spend(&self.refuse) {
                return Err(StoreError::Unavailable { reason: "refused".into() });
            }
            let hints = commit.hints.clone();
            // Other tasks get between a decision and its commit, as they would over a network.
            tokio::task::yield_now().await;
            let outcome = self.cluster.inner.commit(commit).await?;
            if outcome == CommitOutcome::Applied {
                for hint in hints {
                    let _ = self.cluster.bus.send((self.number, hint));
                }
            }
            if spend(&self.swallow) {
                return Err(StoreError::OutcomeUnknown { reason: "swallowed".into() });
            }
            Ok(outcome)
        })
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        self.cluster.inner.get(key)
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        self.cluster.inner.get_each(keys)
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        let whole = range == ScoreRange::all();
        let gone = self.overtaken.lock().take_if(|(of, _)| of == index && whole);
        Box::pin(async move {
            let mut found = self.cluster.inner.scan(index, range, limit).await?;
            found.extend(gone.map(|(_, entry)| entry));
            found.sort_unstable();
            Ok(found)
        })
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        self.cluster.inner.indexes(prefix)
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        self.cluster.inner.index_len(index)
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        self.cluster.inner.events(stream, from_seq, limit)
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        self.cluster.inner.keys(family, after, limit)
    }

    fn now(&self) -> StoreFuture<'_, Timestamp> {
        self.cluster.inner.now()
    }

    fn durability(&self) -> Durability {
        Durability::Buffered
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn hints(&self) -> HintStream {
        let number = self.number;
        let hints = tokio_stream::wrappers::BroadcastStream::new(self.cluster.bus.subscribe());
        let deaf = self.deaf.load(Ordering::Relaxed);
        Box::pin(hints.filter_map(move |hint| {
            let hint = hint.ok().filter(|(sender, _)| *sender != number && !deaf);
            std::future::ready(hint.map(|(_, hint)| hint))
        }))
    }
}

/// A commit that writes raw bytes, as a fault would.
pub(super) async fn damage(store: &dyn Store, key: RecordKey, bytes: &'static [u8]) {
    let writes = vec![toolplane_store::Write::Put { key, bytes: Bytes::from_static(bytes) }];
    store.commit(Commit { writes, ..Commit::default() }).await.unwrap();
}
