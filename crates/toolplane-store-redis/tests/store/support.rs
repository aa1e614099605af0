//! What the tests share.

use std::time::{Duration, Instant};

use bytes::Bytes;
use toolplane_store::{Append, Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, Store, StoreError, Write};
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::redis::{RedisOptions as ServerOptions, RedisServer};

pub(crate) async fn server() -> RedisServer {
    RedisServer::start(ServerOptions::default()).await.unwrap()
}

pub(crate) async fn store_on(server: &RedisServer) -> RedisStore {
    RedisStore::open(RedisOptions::standalone(server.url())).await.unwrap()
}

pub(crate) fn key(id: &str) -> RecordKey {
    RecordKey::new(Family::Invocation, id)
}

/// Creates record `id` with an event and an index entry.
pub(crate) fn create(id: &str) -> Commit {
    Commit {
        compare: vec![(key(id), Expect::Absent)],
        writes: vec![Write::Put { key: key(id), bytes: Bytes::copy_from_slice(id.as_bytes()) }],
        index: vec![IndexOp::Put { index: "all".to_owned(), score: 1, member: id.to_owned() }],
        events: vec![Append { stream: id.to_owned(), first_seq: 1, events: vec![Bytes::from_static(b"created")] }],
        ..Commit::default()
    }
}

/// Checks that `id` was created exactly once, or not at all, and nothing of it is left half done.
pub(crate) async fn is_created(store: &RedisStore, id: &str) -> bool {
    let found = store.get(&key(id)).await.unwrap();
    let events = store.events(id, 1, 9).await.unwrap();
    match found {
        Some(record) => assert_eq!((record.version, events.head_seq), (1, 1), "{id}"),
        None => assert_eq!(events.head_seq, 0, "{id}"),
    }
    found_in_index(store, id).await == events.head_seq && events.head_seq == 1
}

async fn found_in_index(store: &RedisStore, id: &str) -> u64 {
    let entries = store.scan("all", toolplane_store::ScoreRange::all(), 10_000).await.unwrap();
    entries.iter().filter(|entry| entry.member == id).count() as u64
}

/// Commits until the store is there again, and says what came of it.
pub(crate) async fn insist(store: &RedisStore, commit: Commit) -> CommitOutcome {
    let start = Instant::now();
    loop {
        match store.commit(commit.clone()).await {
            Ok(outcome) => return outcome,
            Err(StoreError::Unavailable { .. }) if start.elapsed() < Duration::from_secs(20) => {
                toolplane_wait::look_again().await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}
