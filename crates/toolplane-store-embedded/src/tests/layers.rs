//! What the layers do with what passes through them.

use toolplane_store::{Commit, IndexOp, ScoreRange, Store};

use super::{SimStore, manual, nth};
use crate::EmbeddedOptions;

fn enter(n: u64) -> IndexOp {
    IndexOp::Put { index: "queue".to_owned(), score: n, member: format!("m{n:05}") }
}

fn leave(n: u64) -> IndexOp {
    IndexOp::Remove { index: "queue".to_owned(), member: format!("m{n:05}") }
}

fn moves(index: Vec<IndexOp>) -> Commit {
    Commit { index, ..Commit::default() }
}

#[tokio::test]
async fn entries_that_came_and_went_leave_nothing_behind() {
    let store = SimStore::default().open(manual());
    for n in 0..50 {
        store.commit(moves(vec![enter(n)])).await.unwrap();
        store.commit(moves(vec![leave(n)])).await.unwrap();
    }
    // Within one commit group and across them alike: the layer holds no member, live or hidden.
    let shared = store.shared_for_tests();
    let tables = shared.tables.read();
    let queue = &tables.active.indexes["queue"];
    assert!(queue.members.is_empty() && queue.live.is_empty(), "{queue:?}");
    assert_eq!((queue.len, queue.below_len), (0, 0));
}

#[tokio::test]
async fn the_head_of_a_long_queue_is_skipped_once_it_was_taken_off() {
    let store = SimStore::default().open(manual());
    for part in 0..10 {
        store.commit(moves((part * 100..part * 100 + 100).map(enter).collect())).await.unwrap();
    }
    store.checkpoint().await.unwrap();
    for n in 0..600 {
        store.commit(moves(vec![leave(n)])).await.unwrap();
        let head = store.scan("queue", ScoreRange::all(), 1).await.unwrap();
        assert_eq!(head[0].score, n + 1);
    }
    let shared = store.shared_for_tests();
    let dead = shared.tables.read().lower.base.dead.get("queue").map(|(score, _)| score);
    assert!(dead.is_some_and(|score| score >= 500), "dead up to {dead:?}");

    // Back at its old place, below everything known to be gone: it is still found, in both directions.
    store.commit(moves(vec![enter(3), enter(700)])).await.unwrap();
    let scores =
        |entries: Vec<toolplane_store::IndexEntry>| entries.iter().map(|entry| entry.score).collect::<Vec<_>>();
    assert_eq!(scores(store.scan("queue", ScoreRange::all(), 3).await.unwrap()), [3, 600, 601]);
    let downward = ScoreRange::up_to(601).reversed();
    assert_eq!(scores(store.scan("queue", downward, 9).await.unwrap()), [601, 600, 3]);
    assert_eq!(scores(store.scan("queue", ScoreRange::between(2, 600), 9).await.unwrap()), [3, 600]);
    assert_eq!(store.index_len("queue").await.unwrap(), 401);
}

#[tokio::test]
async fn one_flush_serves_a_commit_and_none_a_refusal() {
    let disk = SimStore::default();
    let store = disk.open(manual());
    store.commit(nth(1)).await.unwrap();
    let before = disk.log.flushes();
    for n in 2..=11 {
        store.commit(nth(n)).await.unwrap();
    }
    assert_eq!(disk.log.flushes() - before, 10);
    for _ in 0..5 {
        store.commit(nth(11)).await.unwrap();
        let mut gap = nth(99);
        gap.operation_id = None;
        store.commit(gap).await.unwrap_err();
    }
    assert_eq!(disk.log.flushes() - before, 10);
    assert_eq!(store.stats().groups, 11);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_stays_bounded_while_commits_outrun_the_tables() {
    let options = EmbeddedOptions { checkpoint_bytes: 32 * 1024, ..EmbeddedOptions::default() };
    let limit = options.checkpoint_bytes * 2 + options.group_bytes;
    let store = SimStore::default().open(options);
    let callers: Vec<_> = (0..16)
        .map(|caller| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..100 {
                    let mut commit = nth(n);
                    commit.operation_id = None;
                    commit.events.clear();
                    commit.writes.truncate(1);
                    commit.index[0] = IndexOp::Put { index: format!("i{caller}"), score: n, member: "m".to_owned() };
                    store.commit(commit).await.unwrap();
                    let shared = store.shared_for_tests();
                    let held = shared.tables.read().active.bytes;
                    assert!(held <= limit, "{held} bytes in the active layer");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert!(store.stats().checkpoints > 3, "{:?}", store.stats());
}

#[tokio::test]
async fn a_run_of_gone_entries_in_the_middle_hides_nothing_before_it() {
    let store = SimStore::default().open(manual());
    store.commit(moves((0..200).map(enter).collect())).await.unwrap();
    store.checkpoint().await.unwrap();
    store.commit(moves((50..150).map(leave).collect())).await.unwrap();
    for range in [ScoreRange::between(50, 199), ScoreRange::between(60, 140), ScoreRange::all().reversed()] {
        store.scan("queue", range, usize::MAX).await.unwrap();
    }
    let left = store.scan("queue", ScoreRange::all(), usize::MAX).await.unwrap();
    let scores: Vec<_> = left.iter().map(|entry| entry.score).collect();
    assert_eq!(scores, (0..50).chain(150..200).collect::<Vec<_>>());
}
