//! Servers that die, stop and come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolplane_store::{CommitOutcome, Retry, Store};
use toolplane_store_redis::{RedisOptions, RedisStore};

use super::support::{create, insist, is_created, key, once_there, record, server, store_on};

/// Commits go on while the server is killed, again and again: whatever was answered is there afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_that_flushes_always_loses_no_answered_commit() {
    let mut server = server().await;
    let store = store_on(&server).await;
    let mut answered = Vec::new();
    for round in 0..5 {
        let stop = Arc::new(AtomicBool::new(false));
        let callers: Vec<_> = (0..8)
            .map(|caller| tokio::spawn(call_on(store.clone(), format!("{round}-{caller}"), Arc::clone(&stop))))
            .collect();
        toolplane_wait::pause(Duration::from_millis(100), "the server is away for so long").await;
        server.kill();
        toolplane_wait::pause(Duration::from_millis(100), "the server is away for so long").await;
        server.restart().await.unwrap();
        stop.store(true, Ordering::Relaxed);
        for caller in callers {
            let (done, open) = caller.await.unwrap();
            answered.extend(done);
            for id in open {
                // Done or not, but never half.
                is_created(&store, &id).await;
            }
        }
    }
    assert!(answered.len() > 100, "only {} commits were answered", answered.len());
    for id in &answered {
        let key = key(id);
        let found = once_there(|| store.get(&key)).await;
        assert_eq!(found.map(|found| found.bytes), Some(record(id)), "{id} was answered");
        assert_eq!(once_there(|| store.events(id, 1, 9)).await.head_seq, 1, "{id}");
    }
    // Nor does it lose what they are told by: another process reads them as well.
    let other = store_on(&server).await;
    for id in &answered {
        assert_eq!(other.get(&key(id)).await.unwrap().unwrap().bytes, record(id), "{id}");
    }
    // What was not answered may be there too.
    assert!(once_there(|| store.index_len("all")).await >= answered.len() as u64);
}

/// Commits one after the other; the ids that were answered, and those of which nothing is known.
async fn call_on(store: RedisStore, name: String, stop: Arc<AtomicBool>) -> (Vec<String>, Vec<String>) {
    let (mut done, mut open) = (Vec::new(), Vec::new());
    for number in 0.. {
        let id = format!("{name}-{number}");
        match store.commit(create(&id)).await {
            Ok(outcome) => {
                assert_eq!(outcome, CommitOutcome::Applied, "{id}");
                done.push(id);
            }
            Err(error) => {
                assert!(matches!(error.retry(), Retry::Definite | Retry::Ambiguous), "{error}");
                open.push(id);
                toolplane_wait::pause(Duration::from_millis(5), "the server is away for so long").await;
            }
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    (done, open)
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_definite_answer() {
    let mut server = server().await;
    let store = store_on(&server).await;
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
    server.kill();
    // The first to find out may have to repeat; from then on it is certain that nothing is sent.
    let _ = store.commit(create("b")).await;
    let error = store.commit(create("c")).await.unwrap_err();
    assert_eq!((error.code(), error.retry()), ("store.unavailable", Retry::Definite), "{error}");
    assert_eq!(store.get(&key("a")).await.unwrap_err().code(), "store.unavailable");
    server.restart().await.unwrap();
    assert_eq!(insist(&store, create("c")).await, CommitOutcome::Applied);
    assert!(is_created(&store, "a").await && is_created(&store, "c").await);
}

/// A paused server answers late: the commit is repeated on a new connection while the first attempt still waits in the
/// old one, and is applied once.
#[tokio::test]
async fn a_commit_over_a_pause_is_applied_once_and_answered_so() {
    let mut server = server().await;
    let mut options = RedisOptions::standalone(server.url());
    options.command_timeout = Duration::from_secs(1);
    let store = RedisStore::open(options).await.unwrap();
    assert_eq!(store.commit(create("warm")).await, Ok(CommitOutcome::Applied));
    server.pause().unwrap();
    let commits: Vec<_> = (0..20)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(create(&number.to_string())).await })
        })
        .collect();
    toolplane_wait::pause(Duration::from_millis(1300), "the server is away for so long").await;
    server.resume().unwrap();
    for (number, commit) in commits.into_iter().enumerate() {
        assert_eq!(commit.await.unwrap(), Ok(CommitOutcome::Applied), "{number}");
        assert!(is_created(&store, &number.to_string()).await);
    }
    assert!(store.stats().repeats >= 20, "{:?}", store.stats());
}

#[tokio::test]
async fn a_commit_is_given_up_as_unknown_when_the_pause_is_too_long() {
    let mut server = server().await;
    let mut options = RedisOptions::standalone(server.url());
    (options.command_timeout, options.connect_timeout) = (Duration::from_millis(300), Duration::from_millis(200));
    let store = RedisStore::open(options).await.unwrap();
    assert_eq!(store.commit(create("warm")).await, Ok(CommitOutcome::Applied));
    server.pause().unwrap();
    let error = store.commit(create("a")).await.unwrap_err();
    assert_eq!((error.code(), error.retry()), ("store.outcome_unknown", Retry::Ambiguous), "{error}");
    // The clock is carried on for a while, and stops when nothing confirms it.
    store.now().await.unwrap();
    toolplane_wait::pause(Duration::from_millis(5_300), "the server is away for so long").await;
    assert_eq!(store.now().await.unwrap_err().code(), "store.unavailable");
    server.resume().unwrap();
    assert!(matches!(insist(&store, create("a")).await, CommitOutcome::Applied | CommitOutcome::Lost { .. }));
    assert!(is_created(&store, "a").await);
    toolplane_wait::pause(Duration::from_millis(1_500), "the server is away for so long").await;
    store.now().await.unwrap();
}

#[tokio::test]
async fn scripts_that_the_server_forgot_are_sent_again() {
    let server = server().await;
    let store = store_on(&server).await;
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
    server.command(&["SCRIPT", "FLUSH"]).unwrap();
    assert_eq!(store.commit(create("b")).await, Ok(CommitOutcome::Applied));
    server.command(&["SCRIPT", "FLUSH"]).unwrap();
    assert!(is_created(&store, "b").await);
    assert_eq!(store.commit(create("known")).await, Ok(CommitOutcome::Applied));
    // Once known, a script costs one round trip.
    let before = store.stats();
    assert_eq!(store.commit(create("c")).await, Ok(CommitOutcome::Applied));
    let after = store.stats();
    assert_eq!((after.scripts - before.scripts, after.round_trips - before.round_trips), (1, 1));
}
