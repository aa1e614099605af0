//! Hints.

use super::checks::{check_commit, check_record, check_refused, must, put, text, writes};
use crate::commit::{MAX_COMMIT_BYTES, MAX_HINT_BYTES};
use crate::{Commit, CommitOutcome, Expect, Family, Hint, Store};

fn telling(topic: &str, body: &str, commit: Commit) -> Commit {
    Commit { hints: vec![Hint { topic: topic.to_owned(), body: text(body) }], ..commit }
}

/// Hints of any allowed size are accepted beside what a commit does and leave no trace of their own; a commit that is
/// refused for its hints writes nothing.
pub async fn hints_change_nothing(store: &dyn Store) {
    let largest = "h".repeat(MAX_HINT_BYTES);
    for (version, body) in [(1, ""), (2, "woken"), (3, largest.as_str())] {
        check_commit(store, telling("ready", body, writes([put("a", "1")])), CommitOutcome::Applied).await;
        check_record(store, "a", Some((version, "1"))).await;
    }
    check_commit(store, telling("ready", "alone", Commit::default()), CommitOutcome::Applied).await;
    let lost = Commit { compare: vec![(super::checks::key("a"), Expect::Absent)], ..Commit::default() };
    let current = vec![(super::checks::key("a"), Some(super::checks::versioned(3, "1")))];
    check_commit(store, telling("ready", "lost", lost), CommitOutcome::Lost { current }).await;

    let refused = store.commit(telling("ready", &"h".repeat(MAX_HINT_BYTES + 1), writes([put("b", "1")]))).await;
    check_refused(refused, "store.too_large").await;
    check_refused(store.commit(telling("", "x", writes([put("b", "1")]))).await, "store.invalid_commit").await;
    let hints = vec![Hint { topic: "ready".to_owned(), body: text(&largest) }; MAX_COMMIT_BYTES / MAX_HINT_BYTES];
    check_refused(store.commit(Commit { hints, ..writes([put("b", "1")]) }).await, "store.too_large").await;
    check_record(store, "b", None).await;

    for family in Family::ALL {
        let expected = usize::from(family == super::checks::key("a").family);
        assert_eq!(must("keys", store.keys(family, None, 9).await).len(), expected, "records of {family}");
    }
    assert_eq!(must("indexes", store.indexes("").await), Vec::<String>::new());
    assert_eq!(must("events", store.events("ready", 1, 9).await).head_seq, 0);
}
