//! Very many watchers: what they cost together does not grow with their number.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolplane_store::{
    Commit, CommitOutcome, Durability, EventPage, Family, Found, IndexEntry, RecordKey, ScoreRange, StoreFuture,
    Versioned,
};

use super::*;

/// The model store, and how often streams of events were read.
#[derive(Default)]
struct Counting {
    inner: MemoryStore,
    reads: AtomicUsize,
}

impl Store for Counting {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        self.inner.commit(commit)
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        self.inner.get(key)
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        self.inner.get_each(keys)
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        self.inner.scan(index, range, limit)
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        self.inner.indexes(prefix)
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        self.inner.index_len(index)
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.events(stream, from_seq, limit)
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        self.inner.keys(family, after, limit)
    }

    fn now(&self) -> StoreFuture<'_, toolplane_records::time::Timestamp> {
        self.inner.now()
    }

    fn durability(&self) -> Durability {
        self.inner.durability()
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// Ten thousand who watch one call that does nothing cost as many looks as one; and all are told of its end.
#[tokio::test(start_paused = true)]
async fn a_crowd_looks_into_the_store_as_one() {
    const CROWD: usize = 10_000;
    let store = Arc::new(Counting::default());
    let quiet = PartsOptions { tick_ms: 3_600_000, ..options() };
    let bench = Bench::with(store.clone(), quiet).await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    bench.admit(ask("inv_a")).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    let mut crowd = Vec::with_capacity(CROWD);
    for _ in 0..CROWD {
        let mut watch = bench.parts.watchers.watch(&call_key("inv_a"), 1).await.unwrap();
        crowd.push(tokio::spawn(async move {
            while let Some(item) = watch.next().await.unwrap() {
                if item.terminal.is_some() {
                    return;
                }
            }
        }));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = store.reads.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(20)).await;
    let looks = store.reads.load(Ordering::Relaxed) - before;
    assert!(looks <= 20, "{looks} looks in 20 seconds");
    finish(&bench.parts.calls, &lease).await.unwrap();
    for watcher in crowd {
        watcher.await.unwrap();
    }
    assert!(!bench.parts.watchers.is_watched(&call_key("inv_a")), "nothing is left of the crowd");
}
