//! What happens to a store under which bytes change.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::checks::{
    append, check_commit, check_record, check_refused, guarded, key, must, put, text, versioned, writes,
};
use crate::{Commit, CommitOutcome, DamageLocation, Expect, Family, RecordKey, ScoreRange, Store, Write};

/// A stored thing, by name, with the bytes that were written for it: they occur nowhere else in the store.
#[derive(Clone, Debug)]
pub enum DamageTarget {
    /// A record.
    Record(RecordKey, &'static str),
    /// An event of a stream, by its sequence.
    Event(&'static str, u64, &'static str),
}

/// Changes one byte of a stored thing under the store's feet, and gives the store as it is afterwards: the same one, or
/// opened anew.
pub type Spoil<'a> =
    &'a dyn Fn(Arc<dyn Store>, DamageTarget) -> Pin<Box<dyn Future<Output = Arc<dyn Store>> + Send + 'static>>;

const BAD: &str = "what a person said no to, and what must not come to say yes";
const BAD_EVENT: &str = "the second of three events, which nobody may take for another";

/// One changed byte is one thing that is refused and named; everything else is as it was.
pub async fn damage_is_named_and_hides_nothing_else(store: Arc<dyn Store>, spoil: Spoil<'_>) {
    let filled = Commit {
        index: vec![
            super::checks::enter("list", 1, "a"),
            super::checks::enter("list", 2, "bad"),
            super::checks::enter("list", 3, "c"),
        ],
        events: vec![append("calm", 1, &["only"])],
        ..writes([put("a", "first"), put("bad", BAD), put("c", "third")])
    };
    check_commit(&*store, filled, CommitOutcome::Applied).await;
    for (seq, event) in (1..).zip(["before", BAD_EVENT, "after"]) {
        check_commit(&*store, super::checks::appends([append("spoiled", seq, &[event])]), CommitOutcome::Applied).await;
    }
    assert_eq!(store.damage(), Vec::new());
    let store = spoil(store, DamageTarget::Record(key("bad"), BAD)).await;
    let store = spoil(store, DamageTarget::Event("spoiled", 2, BAD_EVENT)).await;

    reads_of_it_are_refused(&*store).await;
    the_rest_is_answered(&*store).await;
    commits_do_not_build_on_it(&*store).await;

    check_refused(store.events("spoiled", 1, 9).await, "store.damaged").await;
    assert_eq!(must("head", store.events("spoiled", u64::MAX, 1).await).head_seq, 3, "the stream goes on");
    check_commit(&*store, super::checks::appends([append("spoiled", 4, &["later"])]), CommitOutcome::Applied).await;
    let named: Vec<_> = store.damage().into_iter().map(|damage| damage.place).collect();
    assert!(
        named.iter().any(|place| matches!(place, DamageLocation::Stream { stream, .. } if stream == "spoiled")),
        "{named:?}"
    );
    assert_eq!(named.len(), 1, "the record was deleted: {named:?}");
}

async fn reads_of_it_are_refused(store: &dyn Store) {
    check_refused(store.get(&key("bad")).await, "store.damaged").await;
    check_refused(store.get_many(&[key("a"), key("bad")]).await, "store.damaged").await;
    let found = must("each", store.get_each(&[key("a"), key("bad"), key("none")]).await);
    let damage = found[1].clone().err().map(|damage| damage.place);
    assert_eq!(damage, Some(DamageLocation::Record(key("bad"))));
    assert_eq!((&found[0], &found[2]), (&Ok(Some(versioned(1, "first"))), &Ok(None)));
    assert!(
        store.damage().iter().any(|damage| damage.place == DamageLocation::Record(key("bad"))),
        "{:?}",
        store.damage()
    );
}

async fn the_rest_is_answered(store: &dyn Store) {
    check_record(store, "a", Some((1, "first"))).await;
    check_record(store, "c", Some((1, "third"))).await;
    let listed: Vec<_> = must("keys", store.keys(Family::Invocation, None, 9).await);
    assert_eq!(listed.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    let members = must("scan", store.scan("list", ScoreRange::all(), 9).await);
    assert_eq!(members.iter().map(|entry| entry.member.as_str()).collect::<Vec<_>>(), ["a", "bad", "c"]);
    assert_eq!(must("events", store.events("calm", 1, 9).await).events, [(1, text("only"))]);
}

async fn commits_do_not_build_on_it(store: &dyn Store) {
    check_refused(store.commit(guarded("bad", Expect::Absent, "new")).await, "store.damaged").await;
    check_refused(store.commit(guarded("bad", Expect::Version(1), "new")).await, "store.damaged").await;
    check_refused(store.commit(writes([put("a", "second"), put("bad", "new")])).await, "store.damaged").await;
    check_record(store, "a", Some((1, "first"))).await;
    check_commit(store, writes([put("a", "second")]), CommitOutcome::Applied).await;
    check_record(store, "a", Some((2, "second"))).await;
    // A person has looked at it and takes it out: then the name is free.
    check_commit(store, writes([Write::Delete { key: key("bad") }]), CommitOutcome::Applied).await;
    check_record(store, "bad", None).await;
    check_commit(store, guarded("bad", Expect::Absent, "new"), CommitOutcome::Applied).await;
    check_record(store, "bad", Some((1, "new"))).await;
}
