//! Servers whose memory is full.

use bytes::Bytes;
use toolplane_store::{Commit, CommitOutcome, Expect, Retry, Store, Write};

use super::support::{create, is_created, key, server, store_on};

#[tokio::test]
async fn full_memory_refuses_new_work_and_lets_work_be_finished() {
    let server = server().await;
    let store = store_on(&server).await;
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
    server.config_set("maxmemory", "1mb").unwrap();

    let error = store.commit(create("b")).await.unwrap_err();
    assert_eq!((error.code(), error.retry()), ("store.unavailable", Retry::Definite), "{error}");
    assert!(error.to_string().contains("maxmemory"), "{error}");
    assert!(!is_created(&store, "b").await, "reads go on");

    let finish = Commit {
        compare: vec![(key("a"), Expect::Version(1))],
        writes: vec![Write::Put { key: key("a"), bytes: Bytes::from_static(b"done") }],
        essential: true,
        ..Commit::default()
    };
    assert_eq!(store.commit(finish).await, Ok(CommitOutcome::Applied));
    server.config_set("maxmemory", "0").unwrap();
    assert_eq!(store.commit(create("b")).await, Ok(CommitOutcome::Applied));
}

/// A key of another kind in the middle of a commit is damage by another program; it is never reported as a success.
#[tokio::test]
async fn foreign_data_under_our_keys_is_corruption() {
    let server = server().await;
    let store = store_on(&server).await;
    server.command(&["SET", "{toolplane}:x:all", "not a set"]).unwrap();
    let error = store.commit(create("a")).await.unwrap_err();
    assert_eq!((error.code(), error.retry()), ("store.corrupt", Retry::Fatal), "{error}");
}
