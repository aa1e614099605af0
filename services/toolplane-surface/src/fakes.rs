//! A store for tests of the role.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use toolplane_store::{
    Commit, CommitOutcome, Durability, EventPage, Family, Found, IndexEntry, MemoryStore, RecordKey, ScoreRange, Store,
    StoreError, StoreFuture, Versioned,
};

/// A store that several processes share, that loses every notice, and that counts commits.
#[derive(Default)]
pub(crate) struct Deaf {
    inner: MemoryStore,
    pub(crate) away: AtomicBool,
    pub(crate) commits: AtomicUsize,
}

impl Deaf {
    fn there<'a, T: Send + 'a>(&'a self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if self.away.load(Ordering::Acquire) {
            return Box::pin(async { Err(StoreError::Unavailable { reason: "away".to_owned() }) });
        }
        answer
    }
}

impl Store for Deaf {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        self.commits.fetch_add(1, Ordering::AcqRel);
        self.there(self.inner.commit(commit))
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        self.there(self.inner.get(key))
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        self.there(self.inner.get_each(keys))
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        self.there(self.inner.scan(index, range, limit))
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        self.there(self.inner.indexes(prefix))
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        self.there(self.inner.index_len(index))
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        self.there(self.inner.events(stream, from_seq, limit))
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        self.there(self.inner.keys(family, after, limit))
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
