//! Event streams.

use super::checks::{append, appends, check_commit, check_record, check_refused, forgets, must, put, text};
use crate::{Commit, CommitOutcome, EventPage, Store, StoreError};

/// Sequences are gapless from 1: an append that would repeat or skip one is refused and says what comes next.
pub async fn appends_must_continue_their_stream(store: &dyn Store) {
    for offered in [0, 2, u64::MAX] {
        check_gap(store, "s", 1, offered).await;
    }
    check_commit(store, appends([append("s", 1, &["1", "2"])]), CommitOutcome::Applied).await;
    check_commit(store, appends([append("s", 3, &["3"]), append("t", 1, &["1"])]), CommitOutcome::Applied).await;
    for offered in [0, 1, 3, 5] {
        check_gap(store, "s", 4, offered).await;
    }
    // One stream that does not continue keeps the other's events out.
    check_refused(store.commit(appends([append("t", 2, &["2"]), append("s", 9, &["9"])])).await, "store.sequence_gap")
        .await;
    assert_eq!(must("t", store.events("t", 1, 9).await).head_seq, 1);
    check_commit(store, appends([append("s", 4, &["4"])]), CommitOutcome::Applied).await;
}

async fn check_gap(store: &dyn Store, stream: &str, expected: u64, offered: u64) {
    let refused = store.commit(appends([append(stream, offered, &["x"])])).await;
    assert_eq!(refused, Err(StoreError::SequenceGap { stream: stream.to_owned(), expected, offered }));
}

/// A reader that asks from any sequence, in pages of any size, sees every event once and learns both ends.
pub async fn events_page_and_report_their_ends(store: &dyn Store) {
    assert_eq!(must("empty", store.events("s", 1, 9).await), EventPage::default());
    let all: Vec<String> = (1..=50).map(|seq| format!("event {seq}")).collect();
    let mut next = 1;
    for size in [1, 3, 1, 20, 2, 23] {
        let part: Vec<&str> = all.iter().skip(next - 1).take(size).map(String::as_str).collect();
        check_commit(
            store,
            appends([append("s", next as u64, &part), append("sibling", next as u64, &part)]),
            CommitOutcome::Applied,
        )
        .await;
        next += size;
    }

    for (from, limit) in [(0, 99), (1, 99), (1, 7), (2, 3), (49, 9), (50, 1), (51, 9), (99, 9), (u64::MAX, 9), (5, 0)] {
        let page = must("events", store.events("s", from, limit).await);
        let expected: Vec<_> =
            (1_u64..).zip(all.iter().map(|event| text(event))).filter(|(seq, _)| *seq >= from).take(limit).collect();
        assert_eq!((page.head_seq, page.oldest_seq), (50, 1), "ends, from {from}");
        assert_eq!(page.events, expected, "from {from} limit {limit}");
    }
    assert_eq!(
        must("none", store.events("sib", 1, 9).await),
        EventPage::default(),
        "streams that begin alike do not meet"
    );
}

/// A forgotten stream is as one that never was; forgetting says nothing about other streams, and one commit does not
/// forget and append to the same one.
pub async fn forgotten_streams_start_over(store: &dyn Store) {
    check_commit(
        store,
        appends([append("s", 1, &["1", "2", "3"]), append("s1", 1, &["1"]), append("t", 1, &["1"])]),
        CommitOutcome::Applied,
    )
    .await;
    check_commit(store, appends([append("s", 4, &["4"])]), CommitOutcome::Applied).await;

    let both = Commit { forget: vec!["s".to_owned()], ..appends([append("s", 1, &["new"])]) };
    check_refused(store.commit(both).await, "store.invalid_commit").await;
    check_refused(store.commit(forgets(&["s", "s"])).await, "store.invalid_commit").await;
    check_refused(store.commit(forgets(&[""])).await, "store.invalid_commit").await;
    // A commit that does not apply forgets nothing.
    let gap = Commit { forget: vec!["s".to_owned()], ..appends([append("t", 9, &["x"])]) };
    check_refused(store.commit(gap).await, "store.sequence_gap").await;
    assert_eq!(must("s", store.events("s", 1, 9).await).head_seq, 4);

    let forget = Commit {
        forget: vec!["s".to_owned(), "never".to_owned()],
        writes: vec![put("beside", "1")],
        ..appends([append("t", 2, &["2"])])
    };
    check_commit(store, forget, CommitOutcome::Applied).await;
    check_record(store, "beside", Some((1, "1"))).await;
    assert_eq!(must("s", store.events("s", 1, 9).await), EventPage::default());
    for (stream, head) in [("s1", 1), ("t", 2), ("never", 0)] {
        assert_eq!(must(stream, store.events(stream, 1, 9).await).head_seq, head, "{stream}");
    }
    check_gap(store, "s", 1, 5).await;
    for round in ["a", "b"] {
        check_commit(store, appends([append("s", 1, &[round, "2"])]), CommitOutcome::Applied).await;
        let page = must("s", store.events("s", 1, 9).await);
        assert_eq!((page.head_seq, page.oldest_seq), (2, 1));
        assert_eq!(page.events, vec![(1, text(round)), (2, text("2"))]);
        check_commit(store, forgets(&["s"]), CommitOutcome::Applied).await;
        check_commit(store, forgets(&["s"]), CommitOutcome::Applied).await;
    }
    assert_eq!(must("s", store.events("s", 1, 9).await), EventPage::default());
}
