//! How full an index may be: permits and queue bounds.

use std::sync::Arc;

use super::atomicity::together;
use super::checks::{append, below, check_commit, check_record, enter, guarded, key, leave, moves, must, put, writes};
use crate::{Bound, Commit, CommitOutcome, Expect, ScoreRange, Store, StoreError};

fn full(index: &str) -> CommitOutcome {
    CommitOutcome::Full { index: index.to_owned() }
}

fn bounded(bounds: impl Into<Vec<Bound>>, commit: Commit) -> Commit {
    Commit { bounds: bounds.into(), ..commit }
}

/// A bound counts the members the commit finds, whatever it does itself; it is looked at after the operation id and the
/// compares, and before the sequences; one that does not hold keeps the whole commit out.
pub async fn bounds_are_judged_after_compares(store: &dyn Store) {
    // An index that was never filled has no member, so only a bound below 0 refuses.
    check_commit(store, bounded([below(0, "held")], Commit::default()), full("held")).await;
    check_commit(store, bounded([below(1, "held")], moves([enter("held", 1, "a")])), CommitOutcome::Applied).await;
    check_commit(store, bounded([below(2, "held")], moves([enter("held", 2, "b")])), CommitOutcome::Applied).await;

    let wanted = Commit {
        compare: vec![(key("r"), Expect::Absent)],
        index: vec![enter("held", 3, "c"), enter("other", 3, "c")],
        events: vec![append("r", 1, &["event"])],
        ..writes([put("r", "1")])
    };
    let refused = bounded([below(9, "other"), below(2, "held"), below(0, "never")], wanted.clone());
    check_commit(store, refused.clone(), full("held")).await;
    check_untouched(store).await;

    // What the commit does itself does not count: not what it takes out, not what it moves.
    let swap = bounded([below(2, "held")], moves([leave("held", "a"), enter("held", 1, "c")]));
    check_commit(store, swap, full("held")).await;
    check_commit(store, bounded([below(2, "held")], moves([enter("held", 9, "a")])), full("held")).await;
    check_untouched(store).await;

    // Lost before Full, Full before a gap.
    let both = Commit { compare: vec![(key("r"), Expect::Version(4))], ..refused.clone() };
    check_commit(store, both, CommitOutcome::Lost { current: vec![(key("r"), None)] }).await;
    let gap = Commit { events: vec![append("r", 7, &["event"])], ..refused.clone() };
    check_commit(store, gap.clone(), full("held")).await;
    let open = bounded([below(3, "held")], gap);
    assert!(matches!(store.commit(open).await, Err(StoreError::SequenceGap { expected: 1, offered: 7, .. })));
    check_untouched(store).await;

    // A full commit does not use up its operation id; an applied one is not judged again.
    let named = |commit: &Commit| Commit { operation_id: Some("take".to_owned()), ..commit.clone() };
    check_commit(store, named(&refused), full("held")).await;
    check_commit(store, moves([leave("held", "b")]), CommitOutcome::Applied).await;
    let refused = bounded([below(9, "other"), below(2, "held")], wanted);
    check_commit(store, named(&refused), CommitOutcome::Applied).await;
    check_record(store, "r", Some((1, "1"))).await;
    check_commit(store, named(&refused), CommitOutcome::Replayed).await;
    check_commit(store, guarded("r", Expect::Version(1), "2"), CommitOutcome::Applied).await;
}

async fn check_untouched(store: &dyn Store) {
    check_record(store, "r", None).await;
    let held = must("scan", store.scan("held", ScoreRange::all(), 9).await);
    let held: Vec<_> = held.iter().map(|entry| (entry.score, entry.member.as_str())).collect();
    assert_eq!(held, [(1, "a"), (2, "b")]);
    assert_eq!(must("other", store.index_len("other").await), 0);
    assert_eq!(must("events", store.events("r", 1, 9).await).head_seq, 0);
}

/// However many ask for a permit at once, no more get one than the bound allows, and each that is given back can be
/// taken again.
pub async fn racing_commits_never_exceed_a_bound(store: Arc<dyn Store>) {
    const PERMITS: u64 = 5;
    const TAKERS: u64 = 48;
    let takers: Vec<_> = (0..TAKERS)
        .map(|taker| {
            let (store, name) = (Arc::clone(&store), taker.to_string());
            let take = bounded([below(PERMITS, "permits")], moves([enter("permits", taker, &name)]));
            async move { (name, must("take", store.commit(take).await)) }
        })
        .collect();
    let mut winners = Vec::new();
    for (name, outcome) in together(takers).await {
        match outcome {
            CommitOutcome::Applied => winners.push(name),
            other => assert_eq!(other, full("permits")),
        }
    }
    let held = must("scan", store.scan("permits", ScoreRange::all(), 99).await);
    let mut held: Vec<_> = held.into_iter().map(|entry| entry.member).collect();
    winners.sort();
    held.sort();
    assert_eq!((winners.len() as u64, &held), (PERMITS, &winners));

    for name in held {
        check_commit(&*store, moves([leave("permits", &name)]), CommitOutcome::Applied).await;
    }
    let workers: Vec<_> = (0..TAKERS).map(|taker| take_and_give_back(Arc::clone(&store), taker, PERMITS)).collect();
    together(workers).await;
    assert_eq!(must("permits", store.index_len("permits").await), 0);
    let done = must("done", store.index_len("done").await);
    assert_eq!(done, TAKERS * ROUNDS, "everybody got a permit every time");
}

const ROUNDS: u64 = 4;

async fn take_and_give_back(store: Arc<dyn Store>, taker: u64, permits: u64) {
    let name = taker.to_string();
    for round in 0..ROUNDS {
        let take = bounded([below(permits, "permits")], moves([enter("permits", taker, &name)]));
        while must("take", store.commit(take.clone()).await) != CommitOutcome::Applied {}
        let len = must("permits", store.index_len("permits").await);
        assert!((1..=permits).contains(&len), "{len} permits are out, {permits} there are");
        let back = moves([leave("permits", &name), enter("done", round, &format!("{name}/{round}"))]);
        check_commit(&*store, back, CommitOutcome::Applied).await;
    }
}
