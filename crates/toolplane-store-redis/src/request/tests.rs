use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use toolplane_store::likeness::Patterns;
use toolplane_store::{Append, Bound, Commit, CommitOutcome, Expect, Family, RecordKey, StoreError, Write};
use toolplane_testkit::redis::{RedisOptions, RedisServer};

use super::{CallId, Publisher, encode};
use crate::identity::StoreIdentity;
use crate::keys::KeySpace;
use crate::link::answered;
use crate::reply::{self, Judged};
use crate::scripts::By;

const PUBLISHER: Publisher = Publisher { sender: [9; 16], command: "PUBLISH" };

struct Bench {
    _server: RedisServer,
    connection: MultiplexedConnection,
    keys: KeySpace,
}

async fn bench() -> Bench {
    let server = RedisServer::start(RedisOptions::default()).await.unwrap();
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("SET").arg("{ns}:id").arg("me").exec_async(&mut connection).await.unwrap();
    Bench { _server: server, connection, keys: KeySpace::new("ns", 0).unwrap() }
}

impl Bench {
    /// Sends one attempt, as it would arrive whenever the network likes.
    async fn arrives(&mut self, commit: &Commit, call: &CallId, attempt: u32) -> Judged {
        let command = encode(
            commit,
            &self.keys,
            &PUBLISHER,
            &StoreIdentity::of("me"),
            &Patterns::default(),
            (call, attempt),
            By::Text,
        );
        let answer = answered(self.connection.send_packed_command(&command).await).unwrap();
        reply::judged(answer, commit, call, &Patterns::default()).unwrap()
    }

    async fn is_there(&mut self) -> bool {
        redis::cmd("EXISTS").arg(self.keys.record(&key())).query_async(&mut self.connection).await.unwrap()
    }

    async fn remove(&mut self) {
        let remove = Commit { writes: vec![Write::Delete { key: key() }], ..Commit::default() };
        assert_eq!(self.arrives(&remove, &[77; 16], 1).await, Judged::Applied);
        redis::cmd("DEL").arg(self.keys.call(&[77; 16])).exec_async(&mut self.connection).await.unwrap();
    }
}

fn key() -> RecordKey {
    RecordKey::new(Family::Invocation, "a")
}

fn create() -> Commit {
    Commit {
        compare: vec![(key(), Expect::Absent)],
        writes: vec![Write::Put { key: key(), bytes: Bytes::from_static(b"x") }],
        ..Commit::default()
    }
}

/// The first attempt is held up on the way. The second one is answered, with a refusal; then the obstacle is removed.
/// Whatever arrives late after that must not come true.
#[tokio::test]
async fn an_attempt_that_arrives_after_a_later_one_was_answered_has_no_effect() {
    let mut bench = bench().await;
    let (call, other) = ([1; 16], [2; 16]);
    for operation_id in [None, Some("op".to_owned())] {
        let commit = Commit { operation_id, ..create() };
        assert_eq!(bench.arrives(&create(), &other, 1).await, Judged::Applied);
        let lost = bench.arrives(&commit, &call, 2).await;
        assert!(matches!(lost, Judged::Outcome(Ok(CommitOutcome::Lost { .. }))), "{lost:?}");
        bench.remove().await;

        assert_eq!(bench.arrives(&commit, &call, 1).await, Judged::TooLate);
        assert!(!bench.is_there().await);
        // The answer to the second attempt may have been lost as well: the third is judged anew.
        assert_eq!(bench.arrives(&commit, &call, 3).await, Judged::Applied);
        assert_eq!(bench.arrives(&commit, &call, 1).await, Judged::Applied, "done by this very call");
        bench.remove().await;
        let known = [bench.keys.call(&call), bench.keys.call(&other), bench.keys.operation("op")];
        redis::cmd("DEL").arg(&known[..]).exec_async(&mut bench.connection).await.unwrap();
    }
}

#[tokio::test]
async fn every_refusal_of_a_later_attempt_is_final_for_earlier_ones() {
    let mut bench = bench().await;
    let full = Commit { bounds: vec![Bound { index: "q".to_owned(), below: 0 }], ..create() };
    let events = vec![Bytes::from_static(b"e")];
    let gap = Commit { events: vec![Append { stream: "s".to_owned(), first_seq: 2, events }], ..create() };
    for (commit, call) in [(full, [3; 16]), (gap, [4; 16])] {
        let refused = bench.arrives(&commit, &call, 2).await;
        match &refused {
            Judged::Outcome(Ok(CommitOutcome::Full { index })) => assert_eq!(index, "q"),
            Judged::Outcome(Err(StoreError::SequenceGap { expected, .. })) => assert_eq!(*expected, 1),
            other => panic!("{other:?}"),
        }
        assert_eq!(bench.arrives(&commit, &call, 1).await, Judged::TooLate);
    }
}

#[tokio::test]
async fn another_call_under_the_same_name_is_not_bound_by_a_refusal() {
    let mut bench = bench().await;
    let commit = Commit { operation_id: Some("op".to_owned()), ..create() };
    assert_eq!(bench.arrives(&create(), &[5; 16], 1).await, Judged::Applied);
    assert!(matches!(bench.arrives(&commit, &[6; 16], 2).await, Judged::Outcome(Ok(CommitOutcome::Lost { .. }))));
    bench.remove().await;
    assert_eq!(bench.arrives(&commit, &[7; 16], 1).await, Judged::Applied);
    assert_eq!(bench.arrives(&commit, &[6; 16], 1).await, Judged::Outcome(Ok(CommitOutcome::Replayed)));
}

/// A commit never reaches a server that has lost what it depends on, however short ago that was.
#[tokio::test]
async fn a_store_that_was_emptied_or_replaced_takes_nothing() {
    let mut bench = bench().await;
    assert_eq!(bench.arrives(&create(), &[8; 16], 1).await, Judged::Applied);
    for change in [&["FLUSHALL"][..], &["SET", "{ns}:id", "other"]] {
        redis::cmd(change[0]).arg(&change[1..]).exec_async(&mut bench.connection).await.unwrap();
        let essential = Commit { essential: true, ..create() };
        for commit in [create(), essential] {
            assert_eq!(bench.arrives(&commit, &[9; 16], 1).await, Judged::Emptied, "{change:?}");
        }
        assert!(!bench.is_there().await);
    }
}
