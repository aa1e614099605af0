//! A seeded run of random commands against a store and the model at once.

use std::collections::BTreeSet;

use super::{Append, Commit, Expect, Family, IndexOp, RecordKey, Store, StoreError, Write, must, text};
use crate::{CommitOutcome, MemoryStore, ScoreRange};

const FAMILIES: [Family; 3] = [Family::Invocation, Family::Result, Family::Worker];

/// Random commands, the same ones for the same seed, given to a store and to a [`MemoryStore`]: outcomes and reads
/// must be equal after each of them, and everything the store holds at each [`Differential::compare`].
///
/// The run keeps its place, so that a test may close and reopen the store between two calls.
#[derive(Debug)]
pub struct Differential {
    seed: u64,
    random: Random,
    step: usize,
    model: MemoryStore,
    streams: BTreeSet<String>,
}

impl Differential {
    /// A run that has done nothing yet.
    pub fn new(seed: u64) -> Self {
        Self { seed, random: Random(seed), step: 0, model: MemoryStore::new(), streams: BTreeSet::new() }
    }

    /// Does the next `count` commands on `store` and on the model. Panics at the first difference.
    pub async fn steps(&mut self, store: &dyn Store, count: usize) {
        for _ in 0..count {
            self.step += 1;
            if self.random.below(3) == 0 {
                self.read(store).await;
            } else {
                let commit = self.commit().await;
                let shown = format!("seed {} step {}: {commit:?}", self.seed, self.step);
                let expected = self.model.commit(commit.clone()).await;
                let got = store.commit(commit).await;
                assert_eq!(got, expected, "{shown}");
            }
        }
    }

    /// Compares everything both hold. Panics at the first difference.
    pub async fn compare(&self, store: &dyn Store) {
        let at = format!("seed {} after step {}", self.seed, self.step);
        for family in Family::ALL {
            let expected = must(&at, self.model.keys(family, None, usize::MAX).await);
            assert_eq!(must(&at, store.keys(family, None, usize::MAX).await), expected, "{at}, family {family}");
        }
        let names = must(&at, self.model.indexes("").await);
        assert_eq!(must(&at, store.indexes("").await), names, "{at}, index names");
        for name in &names {
            for range in [ScoreRange::all(), ScoreRange::all().reversed()] {
                let expected = must(&at, self.model.scan(name, range.clone(), usize::MAX).await);
                let got = must(&at, store.scan(name, range, usize::MAX).await);
                assert_eq!(got, expected, "{at}, index `{name}`");
            }
            let expected = must(&at, self.model.index_len(name).await);
            assert_eq!(must(&at, store.index_len(name).await), expected, "{at}, length of `{name}`");
        }
        for stream in &self.streams {
            let expected = must(&at, self.model.events(stream, 1, usize::MAX).await);
            assert_eq!(must(&at, store.events(stream, 1, usize::MAX).await), expected, "{at}, stream `{stream}`");
        }
    }

    async fn read(&mut self, store: &dyn Store) {
        let at = format!("seed {} step {}", self.seed, self.step);
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
            }
            3 => {
                let (stream, from, limit) = (random.stream(), random.below(12), random.below(6) as usize);
                let expected = model.events(&stream, from, limit).await;
                let got = store.events(&stream, from, limit).await;
                assert_eq!(got, expected, "{at}, stream `{stream}` from {from} limit {limit}");
            }
            _ => {
                let (from, limit) = (random.key(), random.below(6) as usize);
                let expected = model.keys(from.family, Some(&from.id), limit).await;
                let got = store.keys(from.family, Some(&from.id), limit).await;
                assert_eq!(got, expected, "{at}, keys after {from} limit {limit}");
                assert_eq!(store.indexes("q").await, model.indexes("q").await, "{at}, index names");
            }
        }
    }

    async fn commit(&mut self) -> Commit {
        let mut commit = Commit::default();
        if self.random.below(2) == 0 {
            commit.operation_id = Some(format!("op-{}", self.random.below(400)));
        }
        for _ in 0..self.random.below(3) {
            let key = self.random.key();
            let expect = self.expectation(&key).await;
            commit.compare.push((key, expect));
        }
        let bytes = text(&format!("{}:{}", self.step, "x".repeat(self.random.below(300) as usize)));
        for _ in 0..self.random.below(4) {
            let key = self.random.key();
            let deletes = self.random.below(4) == 0;
            commit.writes.push(if deletes { Write::Delete { key } } else { Write::Put { key, bytes: bytes.clone() } });
        }
        for _ in 0..self.random.below(5) {
            commit.index.push(self.random.index_op());
        }
        for _ in 0..self.random.below(3) {
            let append = self.append(&bytes).await;
            self.streams.insert(append.stream.clone());
            commit.events.push(append);
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

    async fn append(&mut self, event: &bytes::Bytes) -> Append {
        let stream = self.random.stream();
        let head = must("the model", self.model.events(&stream, 1, 0).await).head_seq;
        let wrong = self.random.below(20) == 0;
        let first_seq = if wrong { self.random.below(4) } else { head + 1 };
        let count = 1 + self.random.below(3) as usize;
        Append { stream, first_seq, events: vec![event.clone(); count] }
    }

    /// How many commits of a run of `steps` commands with this seed apply; shows that a run is not all refusals.
    pub async fn applied_share(seed: u64, steps: usize) -> f64 {
        let mut run = Self::new(seed);
        let mut applied = 0_u32;
        let mut commits = 0_u32;
        for step in 1..=steps {
            run.step = step;
            let commit = run.commit().await;
            commits += 1;
            let outcome: Result<CommitOutcome, StoreError> = run.model.commit(commit).await;
            applied += u32::from(outcome == Ok(CommitOutcome::Applied));
        }
        f64::from(applied) / f64::from(commits)
    }
}

/// splitmix64: small, seeded, and the same everywhere.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn key(&mut self) -> RecordKey {
        let family = FAMILIES[self.below(3) as usize];
        RecordKey::new(family, format!("id-{}", self.below(8)))
    }

    fn index(&mut self) -> String {
        ["q", "q/a", "q/b", "timers"][self.below(4) as usize].to_owned()
    }

    fn stream(&mut self) -> String {
        format!("stream-{}", self.below(5))
    }

    fn member(&mut self) -> String {
        format!("m{}", self.below(12))
    }

    fn index_op(&mut self) -> IndexOp {
        let (index, member) = (self.index(), self.member());
        if self.below(5) < 2 {
            IndexOp::Remove { index, member }
        } else {
            IndexOp::Put { index, score: self.below(6), member }
        }
    }

    fn range(&mut self) -> ScoreRange {
        let min = self.below(5);
        let max = min + self.below(5);
        let range = match self.below(2) {
            0 => ScoreRange::all(),
            _ => ScoreRange::between(min, max),
        };
        let after = (self.below(3) == 0).then(|| (self.below(6), self.member()));
        ScoreRange { after, reverse: self.below(2) == 0, ..range }
    }
}
