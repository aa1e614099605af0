//! What the tests share.

use std::time::{Duration, Instant};

use bytes::Bytes;
use toolplane_store::{
    Append, Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, ScoreRange, Store, StoreError, StoreFuture,
    Write,
};
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

/// A record that is told by a pattern once there are others.
pub(crate) fn record(id: &str) -> Bytes {
    Bytes::from(format!(r#"{{"invocation_id":"{id}","tool_id":"of-a-call-whose-plan-is-that-of-many-other-calls"}}"#))
}

/// Creates record `id` with an event and an index entry.
pub(crate) fn create(id: &str) -> Commit {
    Commit {
        compare: vec![(key(id), Expect::Absent)],
        writes: vec![Write::Put { key: key(id), bytes: record(id) }],
        index: vec![IndexOp::Put { index: "all".to_owned(), score: 1, member: id.to_owned() }],
        events: vec![Append { stream: id.to_owned(), first_seq: 1, events: vec![Bytes::from_static(b"created")] }],
        ..Commit::default()
    }
}

/// Checks that `id` was created exactly once, or not at all, and nothing of it is left half done.
pub(crate) async fn is_created(store: &RedisStore, id: &str) -> bool {
    let key = key(id);
    let found = once_there(|| store.get(&key)).await;
    let events = once_there(|| store.events(id, 1, 9)).await;
    match found {
        Some(record) => assert_eq!((record.version, events.head_seq), (1, 1), "{id}"),
        None => assert_eq!(events.head_seq, 0, "{id}"),
    }
    found_in_index(store, id).await == events.head_seq && events.head_seq == 1
}

async fn found_in_index(store: &RedisStore, id: &str) -> u64 {
    let entries = once_there(|| store.scan("all", ScoreRange::all(), 10_000)).await;
    entries.iter().filter(|entry| entry.member == id).count() as u64
}

/// Commits until the store is there again, and says what came of it.
pub(crate) async fn insist(store: &RedisStore, commit: Commit) -> CommitOutcome {
    once_there(|| store.commit(commit.clone())).await
}

/// Asks until the store is there again, which a server that has just come back may need a moment for; what it answers. Any other
/// error is one: what is damaged or gone is that for good.
pub(crate) async fn once_there<'a, T>(ask: impl Fn() -> StoreFuture<'a, T>) -> T {
    let start = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(StoreError::Unavailable { .. }) if start.elapsed() < Duration::from_secs(20) => {
                toolplane_wait::look_again().await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}
