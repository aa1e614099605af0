//! Hints between processes.

use std::time::Duration;

use bytes::Bytes;
use tokio_stream::StreamExt as _;
use toolplane_store::{Commit, CommitOutcome, Hint, HintStream, Store};

use super::support::{create, server, store_on};

fn hint(topic: &str, body: &str) -> Hint {
    Hint { topic: topic.to_owned(), body: Bytes::copy_from_slice(body.as_bytes()) }
}

async fn next(stream: &mut HintStream) -> Option<Hint> {
    tokio::time::timeout(Duration::from_secs(5), stream.next()).await.ok().flatten()
}

#[tokio::test]
async fn the_others_hear_of_what_was_applied_and_the_sender_does_not() {
    let server = server().await;
    let (one, other, third) = (store_on(&server).await, store_on(&server).await, store_on(&server).await);
    assert!(one.is_shared());
    let (mut at_one, mut at_other, mut at_third) = (one.hints(), other.hints(), third.hints());

    let hints = vec![hint("ready/a", ""), hint("update/é", "body")];
    assert_eq!(one.commit(Commit { hints: hints.clone(), ..create("a") }).await, Ok(CommitOutcome::Applied));
    // Neither what is lost nor what is repeated is told.
    let lost = one.commit(Commit { hints: vec![hint("lost", "")], ..create("a") }).await;
    assert!(matches!(lost, Ok(CommitOutcome::Lost { .. })));
    other.commit(Commit { hints: vec![hint("from/other", "")], ..create("b") }).await.unwrap();

    for stream in [&mut at_other, &mut at_third] {
        assert_eq!([next(stream).await, next(stream).await], hints.clone().map_some());
    }
    assert_eq!(next(&mut at_third).await, Some(hint("from/other", "")));
    assert_eq!(next(&mut at_one).await, Some(hint("from/other", "")), "its own hints are left out");
}

#[tokio::test]
async fn hints_come_again_after_a_restart() {
    let mut server = server().await;
    let (one, other) = (store_on(&server).await, store_on(&server).await);
    let mut stream = other.hints();
    server.restart().await.unwrap();
    // What is sent without a listener is lost, so it is sent until a listener hears it.
    for number in 0..200 {
        let _ = one.commit(Commit { hints: vec![hint("again", &number.to_string())], ..Commit::default() }).await;
        let heard = tokio::time::timeout(Duration::from_millis(50), stream.next()).await;
        if heard.is_ok_and(|heard| heard.is_some_and(|heard| heard.topic == "again")) {
            return;
        }
    }
    panic!("no hint came after the restart");
}

#[tokio::test]
async fn two_processes_read_the_same_clock() {
    let server = server().await;
    let (one, other) = (store_on(&server).await, store_on(&server).await);
    for _ in 0..20 {
        let (first, second, third) = (one.now().await.unwrap(), other.now().await.unwrap(), one.now().await.unwrap());
        // Within a round trip to a server on this machine; generous, because the machine may be busy.
        assert!(first.since_millis(second).abs() < 250 && third >= first, "{first} {second} {third}");
        toolplane_wait::pause(Duration::from_millis(5), "two readings of the clock lie apart").await;
    }
}

trait MapSome {
    fn map_some(self) -> [Option<Hint>; 2];
}

impl MapSome for Vec<Hint> {
    fn map_some(self) -> [Option<Hint>; 2] {
        let mut hints = self.into_iter();
        [hints.next(), hints.next()]
    }
}
