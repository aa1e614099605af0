//! Families of which every call has a record: they are listed without a set of their ids.

use bytes::Bytes;
use toolplane_store::{Commit, CommitOutcome, Family, RecordKey, Store, Write};

use super::support::{server, store_on};

const LIST: &str = "{toolplane}:r:i";

#[tokio::test]
async fn calls_are_listed_in_order_without_a_list_and_that_of_an_earlier_version_is_given_back() {
    let server = server().await;
    server.command(&["ZADD", LIST, "0", "call-0000"]).unwrap();
    let store = store_on(&server).await;
    assert_eq!(server.command(&["EXISTS", LIST]).unwrap().trim(), "0");
    let id = |n: usize| format!("call-{n:04}");
    let key = |n| RecordKey::new(Family::Invocation, id(n));
    for first in (0..2_000).step_by(100) {
        // Not in the order of their ids.
        let put = |n: usize| Write::Put { key: key(n * 7 % 2_000), bytes: Bytes::from(n.to_string()) };
        let commit = Commit { writes: (first..first + 100).map(put).collect(), ..Commit::default() };
        assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
    }
    let deleted = Commit { writes: vec![Write::Delete { key: key(42) }], ..Commit::default() };
    assert_eq!(store.commit(deleted).await, Ok(CommitOutcome::Applied));
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.keys(Family::Invocation, after.as_deref(), 300).await.unwrap();
        seen.extend(page.iter().map(|(id, _)| id.clone()));
        match page.last() {
            Some((last, _)) if page.len() == 300 => after = Some(last.clone()),
            _ => break,
        }
    }
    assert!(seen.iter().cloned().eq((0..2_000).filter(|n| *n != 42).map(id)), "{} calls", seen.len());
    assert_eq!(store.prove().await.unwrap().records, 1_999);
    assert_eq!(server.command(&["EXISTS", LIST]).unwrap().trim(), "0");
}
