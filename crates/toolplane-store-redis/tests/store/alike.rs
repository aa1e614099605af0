//! Values that are like earlier ones: stored in few bytes, and read by every process.

use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use toolplane_store::conformance::{call_with_texts, check_no_text};
use toolplane_store::{Append, Commit, CommitOutcome, Expect, Family, RecordKey, Store, StoreError, Write};
use toolplane_store_redis::RedisStore;

use super::support::{server, store_on};

const PATTERNS: &str = "{toolplane}:p";

fn key(n: u64) -> RecordKey {
    RecordKey::new(Family::Invocation, format!("call-{n:06}"))
}

fn text(n: u64) -> Bytes {
    let call =
        format!(r#"{{"invocation_id":"call-{n:06}","tool_id":"whose-surface-policy-and-plan-are-those-of-many"}}"#);
    Bytes::from(format!("[{call},{call},{call},{call}]"))
}

async fn write(store: &RedisStore, n: u64) {
    let commit = Commit {
        compare: vec![(key(n), Expect::Absent)],
        writes: vec![Write::Put { key: key(n), bytes: text(n) }],
        events: vec![Append { stream: key(n).id, first_seq: 1, events: vec![text(n), text(n + 1)] }],
        ..Commit::default()
    };
    assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
}

async fn bytes_of(connection: &mut MultiplexedConnection, n: u64) -> usize {
    let name = format!("{{toolplane}}:r:i:{}", key(n).id);
    redis::cmd("STRLEN").arg(name).query_async(connection).await.unwrap()
}

/// Writes calls until what they have in common is kept; how many there are.
async fn until_they_are_short(store: &RedisStore, connection: &mut MultiplexedConnection) -> u64 {
    for n in 0..10_000 {
        write(store, n).await;
        let kept: u64 = redis::cmd("HLEN").arg(PATTERNS).query_async(connection).await.unwrap();
        // Records, and the first and second event of a call; each twice and with a mark.
        if kept == 9 && bytes_of(connection, n).await < 60 {
            return n + 1;
        }
    }
    panic!("no patterns are kept");
}

#[tokio::test]
async fn what_calls_have_in_common_is_kept_once_and_read_by_every_process() {
    let server = server().await;
    let (store, other) = (store_on(&server).await, store_on(&server).await);
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let calls = until_they_are_short(&store, &mut connection).await;
    // One that was there before, and one that comes later.
    for reader in [&other, &store_on(&server).await] {
        let last = reader.get(&key(calls - 1)).await.unwrap().unwrap();
        assert_eq!((last.version, last.bytes), (1, text(calls - 1)));
        let events = reader.events(&key(calls - 1).id, 1, 9).await.unwrap().events;
        assert_eq!(events, [(1, text(calls - 1)), (2, text(calls))]);
        let page = reader.keys(Family::Invocation, None, 10_000).await.unwrap();
        assert_eq!(page.len() as u64, calls);
        // What a lost compare is told, too.
        let lost = Commit { compare: vec![(key(calls - 1), Expect::Absent)], ..Commit::default() };
        assert!(matches!(reader.commit(lost).await, Ok(CommitOutcome::Lost { .. })));
        assert!(reader.damage().is_empty());
    }
    // The other one uses them as well.
    write(&other, calls).await;
    assert!(bytes_of(&mut connection, calls).await < 60);
}

#[tokio::test]
async fn a_pattern_that_is_damaged_once_costs_nothing_and_what_is_lost_with_it_is_named() {
    let server = server().await;
    let store = store_on(&server).await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let last = until_they_are_short(&store, &mut connection).await - 1;
    for again in [false, true] {
        let fields: Vec<Vec<u8>> = redis::cmd("HKEYS").arg(PATTERNS).query_async(&mut connection).await.unwrap();
        for field in fields.iter().filter(|field| field.len() == if again { 5 } else { 4 }) {
            let kept = redis::cmd("HGET").arg(PATTERNS).arg(field).to_owned();
            let mut kept: Vec<u8> = kept.query_async(&mut connection).await.unwrap();
            kept[20] ^= 1;
            let write = redis::cmd("HSET").arg(PATTERNS).arg(field).arg(kept).to_owned();
            let _: () = write.query_async(&mut connection).await.unwrap();
        }
        let reader = store_on(&server).await;
        match (again, reader.get(&key(last)).await) {
            (false, Ok(Some(found))) => assert_eq!(found.bytes, text(last)),
            (true, Err(StoreError::Damaged(damage))) => assert!(damage.reason.contains("pattern"), "{damage:?}"),
            (again, other) => panic!("{again}: {other:?}"),
        }
        // What needs none is there all the same.
        assert_eq!(reader.get(&key(0)).await.unwrap().unwrap().bytes, text(0));
    }
}

#[tokio::test]
async fn what_others_wrote_is_in_no_pattern() {
    let server = server().await;
    let store = store_on(&server).await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    for number in 0..10_000 {
        assert_eq!(store.commit(call_with_texts(number)).await, Ok(CommitOutcome::Applied));
        let mut kept: Vec<Vec<u8>> = redis::cmd("HVALS").arg(PATTERNS).query_async(&mut connection).await.unwrap();
        kept.retain(|pattern| !pattern.is_empty());
        kept.iter().for_each(|pattern| check_no_text(pattern));
        // An invocation, a decision, a declaration and some of the log; each twice.
        if kept.len() >= 12 && number > 200 {
            let stream = format!("{number:09}");
            let read = store.events(&stream, 1, 99).await.unwrap().events.into_iter().map(|(_, event)| event);
            return assert_eq!(read.collect::<Vec<_>>(), call_with_texts(number).events[0].events);
        }
    }
    panic!("no patterns are kept");
}

/// A server that lost its last writes, or one in its place, may not have what a process knows of it.
#[tokio::test]
async fn what_depends_on_a_pattern_that_the_server_lost_is_not_written() {
    let server = server().await;
    let store = store_on(&server).await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let calls = until_they_are_short(&store, &mut connection).await;
    redis::cmd("DEL").arg(PATTERNS).exec_async(&mut connection).await.unwrap();
    write(&store, calls).await;
    // So with the marks alone: an earlier version made none.
    let fields: Vec<Vec<u8>> = redis::cmd("HKEYS").arg(PATTERNS).query_async(&mut connection).await.unwrap();
    for mark in fields.iter().filter(|field| field.ends_with(b"ok")) {
        redis::cmd("HDEL").arg(PATTERNS).arg(mark).exec_async(&mut connection).await.unwrap();
    }
    write(&store, calls + 1).await;
    assert!(bytes_of(&mut connection, calls + 1).await < 60);
    // Kept again, and read by a process that never knew them; so is what was told by them before.
    let reader = store_on(&server).await;
    assert!(bytes_of(&mut connection, calls).await < 60);
    for n in [calls - 1, calls, calls + 1] {
        assert_eq!(reader.get(&key(n)).await.unwrap().unwrap().bytes, text(n));
        assert_eq!(reader.events(&key(n).id, 1, 9).await.unwrap().events.len(), 2);
    }
    // Where they cannot be kept, values are written whole.
    let fields: Vec<Vec<u8>> = redis::cmd("HKEYS").arg(PATTERNS).query_async(&mut connection).await.unwrap();
    redis::cmd("DEL").arg(PATTERNS).exec_async(&mut connection).await.unwrap();
    for field in fields.iter().filter(|field| field.len() == 5) {
        redis::cmd("HSET").arg(PATTERNS).arg(field).arg("something else").exec_async(&mut connection).await.unwrap();
    }
    write(&store, calls + 2).await;
    assert!(bytes_of(&mut connection, calls + 2).await > 200);
    assert_eq!(store_on(&server).await.get(&key(calls + 2)).await.unwrap().unwrap().bytes, text(calls + 2));
}
