//! All or nothing, and one winner.

use std::sync::Arc;

use super::checks::{
    append, appends, check_commit, check_record, check_refused, enter, guarded, key, leave, must, put, writes,
};
use crate::{Commit, CommitOutcome, Expect, ScoreRange, Store, Versioned, Write};

/// One compare that does not hold keeps the whole commit out, and says what is there.
pub async fn lost_compares_write_nothing(store: &dyn Store) {
    check_commit(store, guarded("a", Expect::Absent, "1"), CommitOutcome::Applied).await;
    check_commit(store, guarded("b", Expect::Absent, "1"), CommitOutcome::Applied).await;
    check_commit(store, guarded("b", Expect::Version(1), "2"), CommitOutcome::Applied).await;

    let commit = Commit {
        compare: vec![
            (key("a"), Expect::Version(1)),
            (key("b"), Expect::Version(1)),
            (key("c"), Expect::Version(7)),
            (key("d"), Expect::Absent),
        ],
        writes: vec![put("a", "changed"), put("d", "changed")],
        index: vec![enter("queue", 1, "a")],
        events: vec![append("a", 1, &["event"])],
        ..Commit::default()
    };
    let current = vec![(key("b"), Some(Versioned { version: 2, bytes: super::checks::text("2") })), (key("c"), None)];
    check_commit(store, commit.clone(), CommitOutcome::Lost { current }).await;
    check_untouched(store).await;

    // The same compare, now true: everything applies.
    let compare = vec![(key("b"), Expect::Version(2)), (key("d"), Expect::Absent)];
    check_commit(store, Commit { compare, ..commit }, CommitOutcome::Applied).await;
    check_record(store, "a", Some((2, "changed"))).await;
    check_record(store, "d", Some((1, "changed"))).await;
    assert_eq!(must("queue", store.index_len("queue").await), 1);
    assert_eq!(must("events", store.events("a", 1, 9).await).head_seq, 1);

    // Comparing needs no write.
    let only = Commit { compare: vec![(key("d"), Expect::Version(1))], ..Commit::default() };
    check_commit(store, only, CommitOutcome::Applied).await;
    let only = Commit { compare: vec![(key("d"), Expect::Absent)], ..Commit::default() };
    let current = vec![(key("d"), Some(Versioned { version: 1, bytes: super::checks::text("changed") }))];
    check_commit(store, only, CommitOutcome::Lost { current }).await;
}

async fn check_untouched(store: &dyn Store) {
    check_record(store, "a", Some((1, "1"))).await;
    check_record(store, "d", None).await;
    assert_eq!(must("queue", store.index_len("queue").await), 0);
    assert_eq!(must("events", store.events("a", 1, 9).await).head_seq, 0);
}

/// A malformed commit and one whose events do not continue their stream leave nothing behind.
pub async fn refused_commits_write_nothing(store: &dyn Store) {
    check_commit(store, guarded("a", Expect::Absent, "1"), CommitOutcome::Applied).await;
    let good = Commit {
        writes: vec![put("a", "changed"), put("d", "changed")],
        index: vec![enter("queue", 1, "a")],
        ..Commit::default()
    };
    let gap = Commit { events: appends([append("a", 2, &["event"])]).events, ..good.clone() };
    check_refused(store.commit(gap).await, "store.sequence_gap").await;
    check_untouched(store).await;

    let twice = Commit { writes: vec![put("d", "x"), Write::Delete { key: key("d") }], ..good.clone() };
    check_refused(store.commit(twice).await, "store.invalid_commit").await;
    let twice = Commit { index: vec![enter("queue", 1, "a"), leave("queue", "a")], ..good.clone() };
    check_refused(store.commit(twice).await, "store.invalid_commit").await;
    let empty = Commit { events: vec![append("a", 1, &[])], ..good.clone() };
    check_refused(store.commit(empty).await, "store.invalid_commit").await;
    let nameless = Commit { events: vec![append("", 1, &["event"])], ..good.clone() };
    check_refused(store.commit(nameless).await, "store.invalid_commit").await;
    let large = "x".repeat(crate::commit::MAX_COMMIT_BYTES);
    check_refused(store.commit(writes([put("d", &large)])).await, "store.too_large").await;
    check_untouched(store).await;

    check_commit(store, good, CommitOutcome::Applied).await;
}

/// Many callers that race for the same version: one is applied, and each loser is shown the winner's record.
pub async fn racing_claims_have_one_winner(store: Arc<dyn Store>) {
    check_commit(&*store, guarded("lease", Expect::Absent, "free"), CommitOutcome::Applied).await;
    let racers: Vec<_> = (0..32)
        .map(|racer: u32| {
            let store = Arc::clone(&store);
            let claim = guarded("lease", Expect::Version(1), &racer.to_string());
            let claim = Commit { index: vec![enter("held", 1, &racer.to_string())], ..claim };
            async move { (racer, must("claim", store.commit(claim).await)) }
        })
        .collect();
    let outcomes = together(racers).await;

    let held = must("get", store.get(&key("lease")).await);
    let mut winners = Vec::new();
    for (racer, outcome) in outcomes {
        if outcome == CommitOutcome::Applied {
            winners.push(racer.to_string());
        } else {
            assert_eq!(outcome, CommitOutcome::Lost { current: vec![(key("lease"), held.clone())] });
        }
    }
    assert_eq!(winners.len(), 1, "winners: {winners:?}");
    check_record(&*store, "lease", Some((2, &winners[0]))).await;
    let entries = must("scan", store.scan("held", ScoreRange::all(), 99).await);
    assert_eq!(entries.into_iter().map(|entry| entry.member).collect::<Vec<_>>(), winners);
}

/// Read, decide, commit, and again when lost: no increment is lost, and each one's event is in the stream.
pub async fn concurrent_increments_lose_none(store: Arc<dyn Store>) {
    const CALLERS: u64 = 8;
    const EACH: u64 = 20;
    check_commit(&*store, guarded("counter", Expect::Absent, "0"), CommitOutcome::Applied).await;
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let store = Arc::clone(&store);
            async move {
                for _ in 0..EACH {
                    increment(&*store).await;
                }
            }
        })
        .collect();
    together(callers).await;

    let total = CALLERS * EACH;
    check_record(&*store, "counter", Some((total + 1, &total.to_string()))).await;
    let page = must("events", store.events("counter", 1, 1000).await);
    let expected: Vec<_> = (1..=total).map(|seq| (seq, super::checks::text(&seq.to_string()))).collect();
    assert_eq!(page.events, expected);
}

async fn increment(store: &dyn Store) {
    loop {
        let version = must("get", store.get(&key("counter")).await).map_or(0, |found| found.version);
        // The record was created at version 1 holding 0, so the version is the next count.
        let next = version.to_string();
        let commit = guarded("counter", Expect::Version(version), &next);
        let commit = Commit { events: vec![append("counter", version, &[&next])], ..commit };
        match must("increment", store.commit(commit).await) {
            CommitOutcome::Applied => return,
            outcome => assert!(matches!(outcome, CommitOutcome::Lost { .. }), "{outcome:?}"),
        }
    }
}

// Polls all of them on this task, so that the suite needs no runtime of its own.
pub(super) async fn together<T: Send + 'static>(futures: Vec<impl Future<Output = T> + Send + 'static>) -> Vec<T> {
    let mut pending: Vec<_> = futures.into_iter().map(|future| Some(Box::pin(future))).collect();
    let mut done: Vec<Option<T>> = pending.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (slot, answer) in pending.iter_mut().zip(&mut done) {
            if let Some(future) = slot
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *answer = Some(value);
                *slot = None;
            }
        }
        if pending.iter().all(Option::is_none) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
