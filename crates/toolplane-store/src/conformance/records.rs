//! Records and the clock.

use super::checks::{check_commit, check_record, key, must, put, text, versioned, writes};
use crate::{CommitOutcome, Family, RecordKey, Store, Write};

/// Versions start at 1, rise by one with each write and start over after a delete; bytes come back exactly.
pub async fn records_read_back_with_their_versions(store: &dyn Store) {
    check_record(store, "a", None).await;
    for (version, bytes) in [(1, "one"), (2, ""), (3, "three\0\u{ffff}")] {
        check_commit(store, writes([put("a", bytes)]), CommitOutcome::Applied).await;
        check_record(store, "a", Some((version, bytes))).await;
    }
    let other = RecordKey::new(Family::Result, "a");
    assert_eq!(must("other family", store.get(&other).await), None, "families do not share ids");

    let large = "x".repeat(3 * 1024 * 1024);
    check_commit(store, writes([put("large", &large)]), CommitOutcome::Applied).await;
    check_record(store, "large", Some((1, &large))).await;

    check_commit(store, writes([Write::Delete { key: key("a") }]), CommitOutcome::Applied).await;
    check_commit(store, writes([Write::Delete { key: key("never") }]), CommitOutcome::Applied).await;
    check_record(store, "a", None).await;
    check_commit(store, writes([put("a", "again")]), CommitOutcome::Applied).await;

    let asked = [key("never"), key("a"), other, key("a")];
    let found = must("get_many", store.get_many(&asked).await);
    let again = versioned(1, "again");
    assert_eq!(found, vec![None, Some(again.clone()), None, Some(again)]);
}

/// The records of one family come in byte order of their ids, page by page, and no other family's among them.
pub async fn keys_page_in_id_order(store: &dyn Store) {
    let ids = ["a", "a b", "a/b", "aa", "b", "\u{e9}", "\u{ffff}"];
    for id in ids.iter().rev() {
        let below = Write::Put { key: RecordKey::new(Family::Approval, *id), bytes: text("other") };
        let above = Write::Put { key: RecordKey::new(Family::Worker, *id), bytes: text("other") };
        let wanted = Write::Put { key: RecordKey::new(Family::Decision, *id), bytes: text(id) };
        check_commit(store, writes([below, wanted, above]), CommitOutcome::Applied).await;
    }
    check_commit(
        store,
        writes([Write::Delete { key: RecordKey::new(Family::Decision, "aa") }]),
        CommitOutcome::Applied,
    )
    .await;
    let expected: Vec<_> =
        ids.iter().filter(|id| **id != "aa").map(|id| ((*id).to_owned(), versioned(1, id))).collect();

    for limit in [1, 2, 100] {
        let mut found = Vec::new();
        loop {
            let after = found.last().map(|(id, _): &(String, _)| id.clone());
            let page = must("keys", store.keys(Family::Decision, after.as_deref(), limit).await);
            assert!(page.len() <= limit, "a page of {} for a limit of {limit}", page.len());
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        assert_eq!(found, expected, "in pages of {limit}");
    }
    assert_eq!(must("keys", store.keys(Family::Decision, None, 0).await), vec![]);
    assert_eq!(must("keys", store.keys(Family::Plan, None, 9).await), vec![]);
}

/// The clock does not go back, and is a wall clock.
pub async fn clock_never_goes_back(store: &dyn Store) {
    let mut last = must("now", store.now().await);
    assert!(last.as_millis() > 1_600_000_000_000, "the clock reads {last}");
    for _ in 0..1000 {
        let now = must("now", store.now().await);
        assert!(now >= last, "the clock went from {last} to {now}");
        last = now;
    }
}
