use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use toolplane_records::ids::InvocationKey;
use toolplane_store::{Commit, CommitOutcome, MemoryStore, Placement, ShardedStore, Store, StoreFuture};

use super::*;
use crate::environment::Environment;
use crate::storage::Shards;

const INDEX: &str = "running/tenant/acme";

/// A shard that other tasks get in between of, and that now and then does not answer: before a commit, or after it.
#[derive(Debug)]
struct Shaky {
    inner: MemoryStore,
    commits: AtomicU32,
    /// Of so many commits one is refused, and one is done without an answer. 0: none.
    every: u32,
}

impl Store for Shaky {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let number = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
            let fails = |at: u32| self.every > 0 && number % self.every == at;
            if fails(1) {
                return Err(StoreError::Unavailable { reason: "refused".to_owned() });
            }
            let outcome = self.inner.commit(commit).await?;
            match fails(2) {
                true => Err(StoreError::OutcomeUnknown { reason: "the answer was lost".to_owned() }),
                false => Ok(outcome),
            }
        })
    }
    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        self.inner.get(key)
    }
    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<toolplane_store::Found>> {
        self.inner.get_each(keys)
    }
    fn scan<'a>(
        &'a self,
        index: &'a str,
        range: toolplane_store::ScoreRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<toolplane_store::IndexEntry>> {
        self.inner.scan(index, range, limit)
    }
    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        self.inner.indexes(prefix)
    }
    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        self.inner.index_len(index)
    }
    fn events<'a>(&'a self, stream: &'a str, from: u64, limit: usize) -> StoreFuture<'a, toolplane_store::EventPage> {
        self.inner.events(stream, from, limit)
    }
    fn keys<'a>(
        &'a self,
        family: toolplane_store::Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        self.inner.keys(family, after, limit)
    }
    fn now(&self) -> StoreFuture<'_, toolplane_records::time::Timestamp> {
        self.inner.now()
    }
    fn durability(&self) -> toolplane_store::Durability {
        self.inner.durability()
    }
}

/// Shards, and what is wrong with them: see [`Shaky`].
fn shards(count: usize, every: u32) -> Arc<dyn Store> {
    let shard = || Arc::new(Shaky { inner: MemoryStore::new(), commits: AtomicU32::new(0), every }) as Arc<dyn Store>;
    let placement: Arc<dyn Placement> = Arc::new(Shards::new(count));
    Arc::new(ShardedStore::new((0..count).map(|_| shard()).collect(), placement))
}

/// A scheduler's way to `store`.
fn scheduler(store: &Arc<dyn Store>, count: usize) -> Storage {
    Storage::spread(store.clone(), Shards::new(count), Environment::real())
}

/// A call that lies in `shard`, made of a number.
fn call_in(count: usize, shard: usize, number: usize) -> InvocationKey {
    let shards = Shards::new(count);
    let name = |key: &InvocationKey| key.to_string();
    shards.made(Some(shard), name, |attempt| InvocationKey::parse(&format!("inv_{number}_{attempt}")).unwrap())
}

fn take(calls: &[InvocationKey], most: u64) -> Commit {
    let puts = calls.iter().map(|call| (keys::invocation(call), bytes::Bytes::from_static(b"{}")));
    Commit {
        compare: calls.iter().map(|call| (keys::invocation(call), Expect::Absent)).collect(),
        writes: puts.map(|(key, bytes)| Write::Put { key, bytes }).collect(),
        index: calls
            .iter()
            .map(|call| IndexOp::Put { index: INDEX.to_owned(), score: 1, member: call.to_string() })
            .collect(),
        bounds: vec![Bound { index: INDEX.to_owned(), below: (most + 1).saturating_sub(calls.len() as u64) }],
        ..Commit::default()
    }
}

fn give_back(call: &InvocationKey) -> Commit {
    Commit {
        writes: vec![Write::Delete { key: keys::invocation(call) }],
        index: vec![IndexOp::Remove { index: INDEX.to_owned(), member: call.to_string() }],
        ..Commit::default()
    }
}

#[tokio::test]
async fn the_last_place_goes_to_whichever_shard_needs_it() {
    let store = shards(3, 0);
    let storage = scheduler(&store, 3);
    for round in 0..12 {
        let call = call_in(3, round % 3, round);
        assert!(matches!(storage.write(take(std::slice::from_ref(&call), 1)).await, Ok(Written::Applied)), "{round}");
        for shard in 0..3 {
            let other = call_in(3, shard, 100 + round);
            let refused = storage.write(take(&[other], 1)).await;
            assert!(matches!(refused, Ok(Written::Full(index)) if index == INDEX), "{round}");
        }
        storage.write(give_back(&call)).await.unwrap();
    }
}

#[tokio::test]
async fn many_places_are_taken_at_once_or_none_of_them() {
    let store = shards(2, 0);
    let storage = scheduler(&store, 2);
    let calls = |shard: usize, from: usize, count: usize| -> Vec<InvocationKey> {
        (from..from + count).map(|number| call_in(2, shard, number)).collect()
    };
    assert!(matches!(storage.write(take(&calls(0, 0, 6), 10)).await, Ok(Written::Applied)));
    assert!(matches!(storage.write(take(&calls(1, 10, 5), 10)).await, Ok(Written::Full(_))));
    assert_eq!(storage.index_len(INDEX).await, Ok(6));
    assert!(matches!(storage.write(take(&calls(1, 10, 4), 10)).await, Ok(Written::Applied)));
    assert!(matches!(storage.write(take(&calls(0, 20, 1), 10)).await, Ok(Written::Full(_))));
    assert!(matches!(storage.write(take(&calls(1, 30, 11), 10)).await, Ok(Written::Full(_))), "more than there are");
}

#[tokio::test]
async fn a_bound_that_is_raised_or_lowered_counts_from_then_on() {
    let store = shards(3, 0);
    let storage = scheduler(&store, 3);
    let one = |shard: usize, number: usize, most: u64| take(&[call_in(3, shard, number)], most);
    for number in 0..4 {
        assert!(matches!(storage.write(one(number % 3, number, 4)).await, Ok(Written::Applied)));
    }
    assert!(matches!(storage.write(one(1, 9, 4)).await, Ok(Written::Full(_))));
    assert!(matches!(storage.write(one(1, 9, 5)).await, Ok(Written::Applied)));
    let home = Shards::new(3).home_of(INDEX);
    assert!(matches!(storage.write(one(home, 10, 2)).await, Ok(Written::Full(_))));
    for (number, shard) in [(0, 0), (1, 1), (2, 2), (3, 0), (9, 1)] {
        storage.write(give_back(&call_in(3, shard, number))).await.unwrap();
    }
    let mut taken = 0;
    for number in 20..40 {
        // From the home, where a lowered bound counts at once.
        taken += u64::from(matches!(storage.write(one(home, number, 2)).await, Ok(Written::Applied)));
    }
    assert_eq!(taken, 2);
}

/// What one scheduler does: takes or gives back a place in some shard.
#[derive(Clone, Debug)]
struct Step {
    scheduler: usize,
    shard: usize,
    count: usize,
    gives_back: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0_usize..3, 0_usize..3, 1_usize..3, any::<bool>());
    let step = step.prop_map(|(scheduler, shard, count, gives_back)| Step { scheduler, shard, count, gives_back });
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Three schedulers, whose memory of the ledgers grows old, over shards that lose commits and answers: there are never more
    /// than may be, and in the end every place can be taken again, in any one shard.
    #[test]
    fn places_are_neither_doubled_nor_lost(steps in steps(), most in 1_u64..6, every in prop_oneof![Just(0_u32), 4_u32..9]) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let store = shards(3, every);
            let schedulers: Vec<Storage> = (0..3).map(|_| scheduler(&store, 3)).collect();
            let (mut number, mut held) = (0, Vec::<InvocationKey>::new());
            for chunk in steps.chunks(4) {
                let mut asked = Vec::new();
                for Step { scheduler, shard, count, gives_back } in chunk.iter().cloned() {
                    let storage = &schedulers[scheduler];
                    if gives_back {
                        if let Some(call) = held.pop() {
                            while storage.write(give_back(&call)).await.is_err() {}
                        }
                        continue;
                    }
                    let calls: Vec<_> = (0..count).map(|at| call_in(3, shard, number + at)).collect();
                    number += count;
                    asked.push(async move { (storage.write(take(&calls, most)).await, calls) });
                }
                for (outcome, calls) in futures_util::future::join_all(asked).await {
                    let is_there = store.get(&keys::invocation(&calls[0])).await.unwrap().is_some();
                    if matches!(outcome, Ok(Written::Applied)) {
                        assert!(is_there);
                    }
                    if is_there {
                        held.extend(calls);
                    }
                }
                let taken = store.index_len(INDEX).await.unwrap();
                assert_eq!(taken, held.len() as u64);
                assert!(taken <= most, "{taken} of {most}");
            }
            for call in held {
                while schedulers[0].write(give_back(&call)).await.is_err() {}
            }
            for (shard, storage) in schedulers.iter().enumerate() {
                let mut calls = Vec::new();
                for at in 0.. {
                    let call = call_in(3, shard, 10_000 + 100 * shard + at);
                    match storage.write(take(std::slice::from_ref(&call), most)).await {
                        Ok(Written::Applied) => calls.push(call),
                        Ok(Written::Full(_)) => break,
                        _ => assert!(at < 1_000),
                    }
                }
                let taken = store.index_len(INDEX).await.unwrap();
                assert_eq!(taken, most, "in shard {shard}");
                for entry in storage.scan(INDEX, toolplane_store::ScoreRange::all(), 100).await.unwrap() {
                    let call = InvocationKey::parse(&entry.member).unwrap();
                    while storage.write(give_back(&call)).await.is_err() {}
                }
            }
        });
    }
}
