//! Indexes.

use super::checks::{check_commit, check_refused, enter, leave, moves, must};
use crate::commit::MAX_SCORE;
use crate::page::MAX_PAGE;
use crate::{CommitOutcome, IndexEntry, IndexOp, ScoreRange, Store};

async fn check_scan(store: &dyn Store, range: ScoreRange, limit: usize, expected: &[(u64, &str)]) {
    let shown = format!("{range:?} limit {limit}");
    let found = must(&shown, store.scan("queue", range, limit).await);
    let found: Vec<_> = found.iter().map(|entry| (entry.score, entry.member.as_str())).collect();
    assert_eq!(found, expected, "{shown}");
}

async fn apply(store: &dyn Store, ops: impl Into<Vec<IndexOp>>) {
    check_commit(store, moves(ops), CommitOutcome::Applied).await;
}

/// A member has one score at a time; entries are ordered by score, then by member.
pub async fn members_are_unique_and_ordered(store: &dyn Store) {
    check_scan(store, ScoreRange::all(), 9, &[]).await;
    apply(
        store,
        [enter("queue", 5, "b"), enter("queue", 5, "a"), enter("queue", MAX_SCORE, "z"), enter("queue", 0, "c")],
    )
    .await;
    check_scan(store, ScoreRange::all(), 9, &[(0, "c"), (5, "a"), (5, "b"), (MAX_SCORE, "z")]).await;
    // The highest scores stay apart, and nothing lies above them.
    apply(store, [enter("queue", MAX_SCORE - 1, "y")]).await;
    check_scan(store, ScoreRange::between(MAX_SCORE, u64::MAX), 9, &[(MAX_SCORE, "z")]).await;
    check_scan(store, ScoreRange::between(6, MAX_SCORE - 1), 9, &[(MAX_SCORE - 1, "y")]).await;
    check_refused(store.commit(moves([enter("queue", MAX_SCORE + 1, "x")])).await, "store.invalid_commit").await;
    apply(store, [leave("queue", "y")]).await;

    // Moved, put where it is, taken out, taken out when absent.
    apply(store, [enter("queue", 7, "c"), enter("queue", 5, "a"), leave("queue", "z"), leave("queue", "never")]).await;
    check_scan(store, ScoreRange::all(), 9, &[(5, "a"), (5, "b"), (7, "c")]).await;
    apply(store, [leave("queue", "a"), leave("elsewhere", "b")]).await;
    apply(store, [enter("queue", 9, "a")]).await;
    check_scan(store, ScoreRange::all(), 9, &[(5, "b"), (7, "c"), (9, "a")]).await;

    // Names that begin alike do not meet.
    apply(store, [enter("queue2", 6, "x"), enter("queu", 6, "x"), enter("queue:1", 6, "x")]).await;
    check_scan(store, ScoreRange::all(), 9, &[(5, "b"), (7, "c"), (9, "a")]).await;
    assert_eq!(must("index_len", store.index_len("queue").await), 3);
}

/// Bounds are inclusive, a cursor continues strictly after its entry, and both directions see the same entries.
pub async fn scans_page_in_both_directions(store: &dyn Store) {
    let names: Vec<String> = (0..60).map(|n| format!("m{n:02}")).collect();
    let entries: Vec<(u64, &str)> = (0_u64..).map(|n| n / 3).zip(names.iter().map(String::as_str)).collect();
    for part in entries.chunks(7) {
        apply(store, part.iter().map(|(score, member)| enter("queue", *score, member)).collect::<Vec<_>>()).await;
    }
    let within: Vec<_> = entries.iter().copied().filter(|(score, _)| (4..=15).contains(score)).collect();
    let downward: Vec<_> = within.iter().copied().rev().collect();
    let range = ScoreRange::between(4, 15);
    check_scan(store, range.clone(), 99, &within).await;
    check_scan(store, range.clone().reversed(), 99, &downward).await;
    check_scan(store, range.clone(), 5, &within[..5]).await;
    check_scan(store, range.clone(), 0, &[]).await;
    check_scan(store, ScoreRange::up_to(1), 99, &entries[..6]).await;
    check_scan(store, ScoreRange::between(3, 2), 99, &[]).await;
    check_scan(
        store,
        ScoreRange { after: Some((9, "m28".to_owned())), ..range.clone() },
        2,
        &[(9, "m29"), (10, "m30")],
    )
    .await;
    // The cursor's entry need not exist, and may lie outside the bounds.
    check_scan(store, ScoreRange { after: Some((9, "m28+".to_owned())), ..range.clone() }, 1, &[(9, "m29")]).await;
    check_scan(store, ScoreRange { after: Some((1, "m05".to_owned())), ..range.clone() }, 1, &within[..1]).await;
    check_scan(store, ScoreRange { after: Some((16, "m".to_owned())), ..range.clone() }, 1, &[]).await;

    for (range, expected) in [(range.clone(), within), (range.reversed(), downward)] {
        let mut found: Vec<IndexEntry> = Vec::new();
        loop {
            let next = found.last().map_or(range.clone(), |last| range.clone().after(last));
            let page = must("scan", store.scan("queue", next, 5).await);
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        let found: Vec<_> = found.iter().map(|entry| (entry.score, entry.member.as_str())).collect();
        assert_eq!(found, expected, "in pages of 5 over {range:?}");
    }
    assert!(must("scan", store.scan("queue", ScoreRange::all(), MAX_PAGE + 1).await).len() == entries.len());
}

/// An index is listed while, and only while, it has members; its length counts them.
pub async fn index_names_and_lengths_follow_the_entries(store: &dyn Store) {
    apply(store, [enter("queue/b", 1, "x"), enter("queue/a", 1, "x"), enter("timer", 1, "x"), enter("queue", 1, "x")])
        .await;
    apply(store, [enter("queue/a", 2, "y"), enter("queue/a", 3, "x")]).await;
    check_names(store, "", &["queue", "queue/a", "queue/b", "timer"]).await;
    check_names(store, "queue/", &["queue/a", "queue/b"]).await;
    check_names(store, "none", &[]).await;
    for (index, len) in [("queue", 1), ("queue/a", 2), ("queue/b", 1), ("none", 0)] {
        assert_eq!(must(index, store.index_len(index).await), len, "{index}");
    }

    apply(store, [leave("queue/b", "x"), leave("queue/a", "y"), leave("queue/a", "never")]).await;
    check_names(store, "queue/", &["queue/a"]).await;
    assert_eq!(must("queue/a", store.index_len("queue/a").await), 1);
    apply(store, [enter("queue/b", 1, "back"), leave("queue/a", "x")]).await;
    check_names(store, "queue/", &["queue/b"]).await;
}

async fn check_names(store: &dyn Store, prefix: &str, expected: &[&str]) {
    assert_eq!(must(prefix, store.indexes(prefix).await), expected, "names with prefix `{prefix}`");
}
