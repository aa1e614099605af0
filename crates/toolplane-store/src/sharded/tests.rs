use std::sync::Arc;

use super::{Place, Placement, ShardedStore};
use crate::conformance;
use crate::{
    Append, Bound, Commit, CommitOutcome, Expect, Family, Hint, IndexEntry, IndexOp, MemoryStore, RecordKey,
    ScoreRange, Store, StoreError, Write,
};

/// Everything in one of several shards: the suite makes commits of any names together.
#[derive(Debug)]
struct AllIn(usize);

impl Placement for AllIn {
    fn record(&self, _: &RecordKey) -> Place {
        Place::At(self.0)
    }
    fn entry(&self, _: &str, _: &str) -> Place {
        Place::At(self.0)
    }
    fn index(&self, _: &str) -> Place {
        Place::At(self.0)
    }
    fn stream(&self, _: &str) -> Place {
        Place::At(self.0)
    }
}

/// Names by the number they end with; those that end with none lie anywhere.
#[derive(Debug)]
struct ByNumber(usize);

impl ByNumber {
    fn place(&self, name: &str) -> Place {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse::<usize>().map_or(Place::WithTheRest, |number| Place::At(number % self.0))
    }
}

impl Placement for ByNumber {
    fn record(&self, key: &RecordKey) -> Place {
        self.place(&key.id)
    }
    fn entry(&self, _: &str, member: &str) -> Place {
        self.place(member)
    }
    fn index(&self, _: &str) -> Place {
        Place::WithTheRest
    }
    fn stream(&self, stream: &str) -> Place {
        self.place(stream)
    }
}

fn stores(count: usize) -> Vec<Arc<dyn Store>> {
    (0..count).map(|_| Arc::new(MemoryStore::new()) as Arc<dyn Store>).collect()
}

fn sharded(count: usize) -> ShardedStore {
    ShardedStore::new(stores(count), Arc::new(ByNumber(count)))
}

fn key(id: &str) -> RecordKey {
    RecordKey::new(Family::Invocation, id)
}

fn put(id: &str) -> Write {
    Write::Put { key: key(id), bytes: id.to_owned().into() }
}

fn enter(index: &str, score: u64, member: &str) -> IndexOp {
    IndexOp::Put { index: index.to_owned(), score, member: member.to_owned() }
}

#[tokio::test]
async fn a_store_of_several_keeps_every_promise() {
    for at in 0..3 {
        let made = async || Arc::new(ShardedStore::new(stores(3), Arc::new(AllIn(at)))) as Arc<dyn Store>;
        conformance::run_all(made).await;
    }
}

/// The same commits, each of one shard's names, in a plain store and in one of three shards: nothing that is read tells them
/// apart.
#[tokio::test]
async fn what_is_read_over_all_shards_is_what_one_store_would_say() {
    let (one, three) = (MemoryStore::new(), sharded(3));
    for number in 0..200_u64 {
        let (id, score) = (format!("c{number}"), number * 7919 % 31);
        let commit = Commit {
            compare: vec![(key(&id), Expect::Absent)],
            writes: vec![put(&id)],
            index: vec![enter("all", score, &id), enter(&format!("q/{}", number % 5), score, &id)],
            events: vec![Append { stream: id.clone(), first_seq: 1, events: vec![id.into()] }],
            ..Commit::default()
        };
        assert_eq!(one.commit(commit.clone()).await, three.commit(commit).await);
    }
    for (min, max, limit) in [(0, u64::MAX, 500), (3, 9, 20), (0, 30, 7)] {
        for reverse in [false, true] {
            let mut after: Option<IndexEntry> = None;
            loop {
                let mut range = ScoreRange::between(min, max);
                range.reverse = reverse;
                let range = after.as_ref().map_or(range.clone(), |entry| range.clone().after(entry));
                let page = three.scan("all", range.clone(), limit).await.unwrap();
                assert_eq!(page, one.scan("all", range, limit).await.unwrap());
                match page.last() {
                    Some(last) => after = Some(last.clone()),
                    None => break,
                }
            }
        }
    }
    assert_eq!(three.indexes("").await, one.indexes("").await);
    assert_eq!(three.index_len("all").await, Ok(200));
    let keys: Vec<RecordKey> = (0..210).map(|number| key(&format!("c{number}"))).collect();
    assert_eq!(three.get_each(&keys).await, one.get_each(&keys).await);
    let mut after: Option<String> = None;
    loop {
        let page = three.keys(Family::Invocation, after.as_deref(), 33).await.unwrap();
        assert_eq!(page, one.keys(Family::Invocation, after.as_deref(), 33).await.unwrap());
        match page.last() {
            Some((last, _)) => after = Some(last.clone()),
            None => break,
        }
    }
    assert_eq!(three.events("c7", 1, 10).await, one.events("c7", 1, 10).await);
}

#[tokio::test]
async fn a_commit_of_two_shards_is_refused_as_a_whole() {
    let store = sharded(2);
    let both = [
        Commit { writes: vec![put("c0"), put("c1")], ..Commit::default() },
        Commit { compare: vec![(key("c0"), Expect::Absent)], writes: vec![put("c1")], ..Commit::default() },
        Commit { writes: vec![put("c0")], index: vec![enter("all", 1, "c1")], ..Commit::default() },
        Commit { writes: vec![put("c0")], forget: vec!["c1".to_owned()], ..Commit::default() },
    ];
    for commit in both {
        let error = store.commit(commit).await.unwrap_err();
        assert_eq!(error.code(), "store.invalid_commit");
        assert!(error.to_string().contains("a commit is made in one shard"), "{error}");
    }
    let nowhere = Commit { writes: vec![put("plan")], ..Commit::default() };
    assert!(matches!(store.commit(nowhere).await, Err(StoreError::InvalidCommit { .. })));
    assert_eq!(store.index_len("all").await, Ok(0));
    assert_eq!(store.get(&key("c0")).await, Ok(None));
}

#[tokio::test]
async fn what_lies_with_the_rest_is_found_wherever_it_is_and_taken_out_everywhere() {
    let store = sharded(3);
    for id in ["c1", "c2"] {
        let commit =
            Commit { writes: vec![put(id), put("plan")], index: vec![enter("seen", 5, "plan")], ..Commit::default() };
        assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
    }
    assert_eq!(store.get(&key("plan")).await.unwrap().unwrap().bytes, "plan");
    let each = store.get_each(&[key("c1"), key("plan"), key("none")]).await.unwrap();
    assert_eq!(each.iter().map(|found| found.as_ref().unwrap().is_some()).collect::<Vec<_>>(), [true, true, false]);
    let entries = store.scan("seen", ScoreRange::all(), 9).await.unwrap();
    assert_eq!(entries, [IndexEntry { score: 5, member: "plan".to_owned() }], "once, although two shards have it");

    let out = Commit {
        writes: vec![Write::Delete { key: key("plan") }],
        index: vec![IndexOp::Remove { index: "seen".to_owned(), member: "plan".to_owned() }],
        ..Commit::default()
    };
    assert_eq!(store.commit(out).await, Ok(CommitOutcome::Applied));
    assert_eq!((store.get(&key("plan")).await, store.index_len("seen").await), (Ok(None), Ok(0)));
}

/// A bound is that of the shard in which the commit is made; what holds over all shards is for those who place it.
#[tokio::test]
async fn a_bound_counts_in_the_shard_of_its_commit() {
    let store = sharded(2);
    let take = |id: &str| Commit {
        writes: vec![put(id)],
        index: vec![enter("running", 1, id)],
        bounds: vec![Bound { index: "running".to_owned(), below: 1 }],
        hints: vec![Hint { topic: "t".to_owned(), body: "b".into() }],
        ..Commit::default()
    };
    assert_eq!(store.commit(take("c0")).await, Ok(CommitOutcome::Applied));
    assert_eq!(store.commit(take("c2")).await, Ok(CommitOutcome::Full { index: "running".to_owned() }));
    assert_eq!(store.commit(take("c1")).await, Ok(CommitOutcome::Applied));
    assert_eq!(store.index_len("running").await, Ok(2));
}
