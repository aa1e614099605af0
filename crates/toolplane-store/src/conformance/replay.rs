//! Operation ids.

use super::checks::{
    append, check_commit, check_record, check_refused, enter, guarded, key, must, put, versioned, writes,
};
use crate::{Commit, CommitOutcome, Expect, Store};

fn named(operation: &str, commit: Commit) -> Commit {
    Commit { operation_id: Some(operation.to_owned()), ..commit }
}

/// An applied operation id is not applied again, not even with other content, and is looked at before the compares.
pub async fn operations_apply_once(store: &dyn Store) {
    let create = Commit {
        index: vec![enter("queue", 1, "a")],
        events: vec![append("a", 1, &["created"])],
        ..guarded("a", Expect::Absent, "1")
    };
    check_commit(store, named("op-1", create.clone()), CommitOutcome::Applied).await;
    check_commit(store, named("op-1", create.clone()), CommitOutcome::Replayed).await;
    check_commit(store, named("op-1", writes([put("other", "x")])), CommitOutcome::Replayed).await;
    check_record(store, "other", None).await;
    check_record(store, "a", Some((1, "1"))).await;
    assert_eq!(must("events", store.events("a", 1, 9).await).head_seq, 1);

    let lost = CommitOutcome::Lost { current: vec![(key("a"), Some(versioned(1, "1")))] };
    check_commit(store, named("op-2", create.clone()), lost.clone()).await;
    check_commit(store, create, lost).await;

    // An operation that changes nothing is remembered too.
    check_commit(store, named("op-3", Commit::default()), CommitOutcome::Applied).await;
    check_commit(store, named("op-3", Commit::default()), CommitOutcome::Replayed).await;
}

/// A lost or refused commit does not use up its operation id.
pub async fn unapplied_operations_are_not_remembered(store: &dyn Store) {
    let lost = CommitOutcome::Lost { current: vec![(key("a"), None)] };
    check_commit(store, named("op", guarded("a", Expect::Version(1), "x")), lost).await;
    let gap = Commit { events: vec![append("a", 2, &["x"])], ..Commit::default() };
    check_refused(store.commit(named("op", gap)).await, "store.sequence_gap").await;
    check_refused(store.commit(named("op", writes([put("", "x")]))).await, "store.invalid_commit").await;
    check_commit(store, named("op", guarded("a", Expect::Absent, "1")), CommitOutcome::Applied).await;
    check_commit(store, named("op", guarded("a", Expect::Absent, "1")), CommitOutcome::Replayed).await;
    check_record(store, "a", Some((1, "1"))).await;
}
