//! A store whose commits are measured: how long each took until it was durable, and how it ended.

use std::sync::Arc;
use std::time::Instant;

use toolplane_metrics::table;
use toolplane_records::time::Timestamp;
use toolplane_store::{
    Commit, CommitOutcome, Damage, Durability, EventPage, Family, Found, HintStream, IndexEntry, RecordKey, ScoreRange,
    Store, StoreError, StoreFuture, Versioned,
};

use crate::{Backend, Keeper};

impl Backend {
    /// `store`, which is this one as `keeper` uses it, with its commits measured.
    pub fn measured(&self, keeper: Keeper, store: Arc<dyn Store>) -> Arc<dyn Store> {
        let backend = match self {
            Self::Embedded(_) => "embedded",
            Self::Redis(_) => "redis",
        };
        Arc::new(MeasuredStore::new(store, keeper, backend))
    }
}

/// The same store, measured.
struct MeasuredStore {
    inner: Arc<dyn Store>,
    keeper: Keeper,
    backend: &'static str,
}

impl MeasuredStore {
    fn new(inner: Arc<dyn Store>, keeper: Keeper, backend: &'static str) -> Self {
        for outcome in ["applied", "failed"] {
            table::STORE_COMMITS.begin([keeper.as_str(), backend, outcome]);
        }
        Self { inner, keeper, backend }
    }
}

fn outcome_of(ended: &Result<CommitOutcome, StoreError>) -> &'static str {
    match ended {
        // One that was sent again, and had been applied the first time.
        Ok(CommitOutcome::Applied | CommitOutcome::Replayed) => "applied",
        Ok(CommitOutcome::Lost { .. }) => "lost",
        Ok(CommitOutcome::Full { .. }) => "full",
        Err(_) => "failed",
    }
}

impl Store for MeasuredStore {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(async move {
            let began = Instant::now();
            let ended = self.inner.commit(commit).await;
            let labels = [self.keeper.as_str(), self.backend, outcome_of(&ended)];
            table::STORE_COMMITS.record(labels, began.elapsed());
            ended
        })
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        self.inner.get(key)
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        self.inner.get_each(keys)
    }

    fn get_many<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Option<Versioned>>> {
        self.inner.get_many(keys)
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

    fn now(&self) -> StoreFuture<'_, Timestamp> {
        self.inner.now()
    }

    fn durability(&self) -> Durability {
        self.inner.durability()
    }

    fn damage(&self) -> Vec<Damage> {
        self.inner.damage()
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    fn hints(&self) -> HintStream {
        self.inner.hints()
    }
}

#[cfg(test)]
mod tests {
    use toolplane_metrics::{Value, collect};
    use toolplane_store::{Expect, MemoryStore, Write};

    use super::*;

    /// How many commits to the store of the surface role ended so.
    fn told(outcome: &str) -> u64 {
        let families = collect();
        let points = families.iter().filter(|family| family.about.name == "toolplane.store.commit.duration");
        let mut these = points.flat_map(|family| &family.points);
        these.find(|point| point.labels == ["surface", "embedded", outcome]).map_or(0, |point| match &point.value {
            Value::Spread(spread) => spread.count(),
            other => panic!("{other:?}"),
        })
    }

    #[tokio::test]
    async fn each_commit_is_told_with_how_it_ended() {
        let store = MeasuredStore::new(Arc::new(MemoryStore::new()), Keeper::Surface, "embedded");
        let key = RecordKey::new(Family::Meta, "a");
        let commit = || Commit {
            compare: vec![(key.clone(), Expect::Absent)],
            writes: vec![Write::Put { key: key.clone(), bytes: "x".into() }],
            ..Commit::default()
        };
        assert_eq!(store.commit(commit()).await.unwrap(), CommitOutcome::Applied);
        assert!(matches!(store.commit(commit()).await.unwrap(), CommitOutcome::Lost { .. }));
        let twice = Commit { compare: vec![(key.clone(), Expect::Absent); 2], ..Commit::default() };
        assert!(store.commit(twice).await.is_err(), "a malformed commit");
        assert_eq!((told("applied"), told("lost"), told("failed")), (1, 1, 1));
    }
}
