//! Answers that are lost on the way.

use std::time::Duration;

use toolplane_store::{Commit, CommitOutcome, Store};
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::proxy::{Fault, Proxy};
use toolplane_testkit::redis::RedisServer;

use super::support::{create, is_created, key, server, store_on};

struct Behind {
    server: RedisServer,
    proxy: Proxy,
    store: RedisStore,
}

async fn behind_a_proxy() -> Behind {
    let server = server().await;
    let proxy = Proxy::start(server.address()).await.unwrap();
    let mut options = RedisOptions::standalone(format!("redis://127.0.0.1:{}", proxy.port()));
    options.command_timeout = Duration::from_millis(500);
    let store = RedisStore::open(options).await.unwrap();
    assert_eq!(store.commit(create("warm")).await, Ok(CommitOutcome::Applied));
    Behind { server, proxy, store }
}

fn swallow() -> Fault {
    Fault::SwallowReply(b"EVALSHA".to_vec())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_swallowed_reply_changes_no_outcome_fifty_times() {
    let Behind { proxy, store, server: _server } = behind_a_proxy().await;
    for number in 0..50 {
        let id = number.to_string();
        proxy.set(swallow());
        assert_eq!(store.commit(create(&id)).await, Ok(CommitOutcome::Applied), "{id}");
        assert!(is_created(&store, &id).await);

        // A commit that is lost is lost also when that was said twice.
        proxy.set(swallow());
        let found = store.get(&key(&id)).await.unwrap();
        let lost = CommitOutcome::Lost { current: vec![(key(&id), found)] };
        assert_eq!(store.commit(create(&id)).await, Ok(lost), "{id}");

        // And one that was done before under the same name is a replay.
        let named = Commit { operation_id: Some(format!("op-{id}")), ..Commit::default() };
        assert_eq!(store.commit(named.clone()).await, Ok(CommitOutcome::Applied), "{id}");
        proxy.set(swallow());
        assert_eq!(store.commit(named).await, Ok(CommitOutcome::Replayed), "{id}");
    }
    assert_eq!(proxy.swallowed(), 150);
    assert!(store.stats().repeats >= 150, "{:?}", store.stats());
}

#[tokio::test]
async fn a_named_operation_survives_its_caller() {
    let Behind { proxy, store, server } = behind_a_proxy().await;
    let named = |id: &str| Commit { operation_id: Some("op".to_owned()), ..create(id) };
    proxy.set(swallow());
    assert_eq!(store.commit(named("a")).await, Ok(CommitOutcome::Applied));
    // Another process repeats it.
    assert_eq!(store_on(&server).await.commit(named("a")).await, Ok(CommitOutcome::Replayed));
}

#[tokio::test]
async fn resets_drops_and_delays_cost_time_only() {
    let Behind { proxy, store, server: _server } = behind_a_proxy().await;
    for (at, fault) in [Fault::Reset, Fault::Drop, Fault::Delay(Duration::from_millis(30))].into_iter().enumerate() {
        proxy.set(fault.clone());
        let trouble = tokio::spawn({
            let store = store.clone();
            async move { store.commit(create(&at.to_string())).await }
        });
        toolplane_wait::pause(Duration::from_millis(100), "the fault lasts for so long").await;
        proxy.set(Fault::Pass);
        match trouble.await.unwrap() {
            Ok(outcome) => assert_eq!(outcome, CommitOutcome::Applied, "{fault:?}"),
            // Connecting failed before anything was sent.
            Err(error) => {
                assert_eq!(error.code(), "store.unavailable", "{fault:?}: {error}");
                assert_eq!(store.commit(create(&at.to_string())).await, Ok(CommitOutcome::Applied), "{fault:?}");
            }
        }
        assert!(is_created(&store, &at.to_string()).await);
    }
}

#[tokio::test]
async fn a_network_that_swallows_everything_ends_in_an_honest_answer() {
    let Behind { proxy, store, server: _server } = behind_a_proxy().await;
    proxy.set(Fault::Blackhole);
    let error = store.commit(create("a")).await.unwrap_err();
    assert_eq!(error.code(), "store.outcome_unknown", "{error}");
    assert_eq!(store.get(&key("a")).await.unwrap_err().code(), "store.unavailable");
    proxy.set(Fault::Pass);
    assert_eq!(store.get(&key("a")).await, Ok(None), "what vanished stays away");
}
