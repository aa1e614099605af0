//! Seeded runs of random commands against a store and the model at once.

use std::ops::Range;

use bytes::Bytes;

use super::checks::{must, text};
use super::random::Random;
use crate::commit::{Append, Bound, Commit, Expect, Write};
use crate::error::StoreError;
use crate::key::RecordKey;
use crate::store::Store;
use crate::{CommitOutcome, Hint, MemoryStore, ScoreRange, Versioned};

/// Random commands, the same ones for the same seed, given to a store and to a [`MemoryStore`]: outcomes and reads
/// must be equal after each of them, and everything the run touched at each [`Differential::compare`].
///
/// All names of a run start with its prefix, and it looks at nothing else. So many runs can share one store, one after
/// the other or at once, and a store need not be empty. The run keeps its place: a test may close and reopen the store
/// between two calls.
#[derive(Debug)]
pub struct Differential {
    seed: u64,
    random: Random,
    step: usize,
    model: MemoryStore,
}

/// Runs one sequence of `commands` random commands for each seed on `store`, each under a prefix of its own, and
/// compares what each left. Nothing of an earlier run with the same seed may be in the store. Runs of several ranges
/// of seeds may go on at once.
pub async fn compare_many(store: &dyn Store, seeds: Range<u64>, commands: usize) {
    for seed in seeds {
        let mut run = Differential::within(seed, format!("run-{seed}/"));
        run.steps(store, commands).await;
        run.compare(store).await;
    }
}

impl Differential {
    /// A run that has done nothing yet, under no prefix: it needs a store of its own.
    pub fn new(seed: u64) -> Self {
        Self::within(seed, "")
    }

    /// A run that has done nothing yet, all of whose names start with `prefix`. Nothing in the store may, and no other
    /// run's prefix may begin with this one.
    pub fn within(seed: u64, prefix: impl Into<String>) -> Self {
        Self { seed, random: Random::new(seed, prefix.into()), step: 0, model: MemoryStore::new() }
    }

    /// Does the next `count` commands on `store` and on the model. Panics at the first difference.
    pub async fn steps(&mut self, store: &dyn Store, count: usize) {
        for _ in 0..count {
            self.step += 1;
            if self.random.once_in(3) {
                self.read(store).await;
            } else {
                let commit = self.commit().await;
                let expected = self.model.commit(commit.clone()).await;
                let got = store.commit(commit.clone()).await;
                assert_eq!(got, expected, "{}: {commit:?}", self.at());
            }
        }
    }

    /// Compares everything the run can have touched. Panics at the first difference.
    pub async fn compare(&self, store: &dyn Store) {
        let (at, model) = (self.at(), &self.model);
        let keys = self.random.keys();
        assert_eq!(store.get_many(&keys).await, model.get_many(&keys).await, "{at}, {keys:?}");
        let prefix = self.random.prefix();
        assert_eq!(store.indexes(prefix).await, model.indexes(prefix).await, "{at}, index names");
        for index in &self.random.indexes() {
            for range in [ScoreRange::all(), ScoreRange::all().reversed()] {
                let expected = model.scan(index, range.clone(), usize::MAX).await;
                assert_eq!(store.scan(index, range, usize::MAX).await, expected, "{at}, index `{index}`");
            }
            assert_eq!(store.index_len(index).await, model.index_len(index).await, "{at}, length of `{index}`");
        }
        for stream in &self.random.streams() {
            let expected = model.events(stream, 1, usize::MAX).await;
            assert_eq!(store.events(stream, 1, usize::MAX).await, expected, "{at}, stream `{stream}`");
        }
    }

    fn at(&self) -> String {
        format!("seed {} step {}", self.seed, self.step)
    }

    async fn read(&mut self, store: &dyn Store) {
        let at = self.at();
        let model = &self.model;
        let random = &mut self.random;
        match random.below(5) {
            0 => {
                let keys: Vec<_> = (0..3).map(|_| random.key()).collect();
                assert_eq!(store.get_many(&keys).await, model.get_many(&keys).await, "{at}, {keys:?}");
                assert_eq!(store.get(&keys[0]).await, model.get(&keys[0]).await, "{at}, {}", keys[0]);
            }
            1 | 2 => {
                let (index, range, limit) = (random.index(), random.range(), random.below(6) as usize);
                let expected = model.scan(&index, range.clone(), limit).await;
                let got = store.scan(&index, range.clone(), limit).await;
                assert_eq!(got, expected, "{at}, index `{index}` {range:?} limit {limit}");
                assert_eq!(store.index_len(&index).await, model.index_len(&index).await, "{at}, length of `{index}`");
            }
            3 => {
                let (stream, from, limit) = (random.stream(), random.below(12), random.below(6) as usize);
                let expected = model.events(&stream, from, limit).await;
                let got = store.events(&stream, from, limit).await;
                assert_eq!(got, expected, "{at}, stream `{stream}` from {from} limit {limit}");
            }
            _ => {
                let (from, limit) = (random.key(), random.below(6) as usize);
                let expected = self.ids_after(model, &from, limit).await;
                let got = self.ids_after(store, &from, limit).await;
                assert_eq!(got, expected, "{at}, keys after {from} limit {limit}");
                let prefix = self.random.name("q");
                assert_eq!(store.indexes(&prefix).await, model.indexes(&prefix).await, "{at}, index names");
            }
        }
    }

    // A page may go on into records of other runs: ids with this run's prefix are next to each other.
    async fn ids_after(
        &self,
        store: &dyn Store,
        from: &RecordKey,
        limit: usize,
    ) -> Result<Vec<(String, Versioned)>, StoreError> {
        let mut found = store.keys(from.family, Some(&from.id), limit).await?;
        let own = found.iter().take_while(|(id, _)| id.starts_with(self.random.prefix())).count();
        found.truncate(own);
        Ok(found)
    }

    // === commits ===

    async fn commit(&mut self) -> Commit {
        let mut commit = Commit { essential: self.random.once_in(2), ..Commit::default() };
        if self.random.once_in(2) {
            let operation = format!("op-{}", self.random.below(400));
            commit.operation_id = Some(self.random.name(&operation));
        }
        for _ in 0..self.random.below(3) {
            let key = self.random.key();
            let expect = self.expectation(&key).await;
            commit.compare.push((key, expect));
        }
        if self.random.once_in(4) {
            commit.bounds.push(self.bound().await);
        }
        let bytes = text(&format!("{}:{}", self.step, "x".repeat(self.random.below(300) as usize)));
        for _ in 0..self.random.below(4) {
            let key = self.random.key();
            let deletes = self.random.once_in(4);
            commit.writes.push(if deletes { Write::Delete { key } } else { Write::Put { key, bytes: bytes.clone() } });
        }
        for _ in 0..self.random.below(5) {
            commit.index.push(self.random.index_op());
        }
        for _ in 0..self.random.below(3) {
            commit.events.push(self.append(&bytes).await);
        }
        if self.random.once_in(6) {
            self.forget(&mut commit);
        }
        if self.random.once_in(8) {
            commit.hints.push(Hint { topic: self.random.name("topic"), body: bytes });
        }
        commit
    }

    // Right most of the time, so that most commits apply.
    async fn expectation(&mut self, key: &RecordKey) -> Expect {
        let found = must("the model", self.model.get(key).await);
        match self.random.below(12) {
            0 => Expect::Absent,
            1 => Expect::Version(self.random.below(4)),
            _ => found.map_or(Expect::Absent, |found| Expect::Version(found.version)),
        }
    }

    // At the edge most of the time, and refused once in five.
    async fn bound(&mut self) -> Bound {
        let index = self.random.index();
        let len = must("the model", self.model.index_len(&index).await);
        Bound { index, below: len + self.random.below(5) }
    }

    async fn append(&mut self, event: &Bytes) -> Append {
        let stream = self.random.stream();
        let head = must("the model", self.model.events(&stream, 1, 0).await).head_seq;
        let wrong = self.random.once_in(20);
        let first_seq = if wrong { self.random.below(4) } else { head + 1 };
        let count = 1 + self.random.below(3) as usize;
        Append { stream, first_seq, events: vec![event.clone(); count] }
    }

    fn forget(&mut self, commit: &mut Commit) {
        let stream = self.random.stream();
        // Seldom the same as an append, which is refused.
        if self.random.once_in(10) || commit.events.iter().all(|append| append.stream != stream) {
            commit.forget.push(stream);
        }
    }

    /// What a run of `steps` commits with this seed meets: how many of them apply, are replayed, lost, full, refused.
    /// Shows that runs are not all refusals, and leave no kind out.
    pub async fn met(seed: u64, steps: usize) -> [usize; 5] {
        let mut run = Self::new(seed);
        let mut met = [0; 5];
        for step in 1..=steps {
            run.step = step;
            let commit = run.commit().await;
            met[match run.model.commit(commit).await {
                Ok(CommitOutcome::Applied) => 0,
                Ok(CommitOutcome::Replayed) => 1,
                Ok(CommitOutcome::Lost { .. }) => 2,
                Ok(CommitOutcome::Full { .. }) => 3,
                Err(_) => 4,
            }] += 1;
        }
        met
    }
}
