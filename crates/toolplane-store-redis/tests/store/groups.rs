//! Sentinels, clusters and replicas.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio_stream::StreamExt as _;
use toolplane_store::{Commit, CommitOutcome, Durability, Hint, Retry, Store};
use toolplane_store_redis::{RedisOptions, RedisStore, Servers};
use toolplane_testkit::redis::{RedisCluster, RedisOptions as ServerOptions, RedisSentinel, RedisServer};

use super::support::{create, insist, is_created, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_follows_the_master_that_sentinels_name() {
    let mut set = RedisSentinel::start(ServerOptions::default()).await.unwrap();
    let master = RedisSentinel::MASTER.to_owned();
    let mut options = RedisOptions::new(Servers::Sentinel { master, urls: set.urls() });
    // So nothing that was answered is lost with the master.
    options.replicas = 1;
    let store = RedisStore::open(options).await.unwrap();
    for number in 0..20 {
        assert_eq!(store.commit(create(&number.to_string())).await, Ok(CommitOutcome::Applied));
    }
    set.servers[0].kill();
    set.promoted(set.servers[1].port()).await.unwrap();
    // The new master has no replica now, so a commit is done there and cannot be called safe.
    let error = store.commit(create("alone")).await.unwrap_err();
    assert!(matches!(error.retry(), Retry::Ambiguous | Retry::Definite), "{error}");
    for number in 0..20 {
        assert!(is_created(&store, &number.to_string()).await, "{number}");
    }
    store.now().await.unwrap();

    let master = RedisSentinel::MASTER.to_owned();
    let plain = RedisStore::open(RedisOptions::new(Servers::Sentinel { master, urls: set.urls() })).await.unwrap();
    assert_eq!(insist(&plain, create("after")).await, CommitOutcome::Applied);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_cluster_all_keys_lie_with_one_node() {
    let cluster = RedisCluster::start(ServerOptions::default()).await.unwrap();
    // Names whose slots lie with different nodes.
    for namespace in ["toolplane", "a", "b", "c"] {
        let options = || RedisOptions {
            namespace: namespace.to_owned(),
            ..RedisOptions::new(Servers::Cluster { urls: cluster.urls() })
        };
        let (store, other) = (RedisStore::open(options()).await.unwrap(), RedisStore::open(options()).await.unwrap());
        let mut hints = other.hints();
        let hint = Hint { topic: "ready".to_owned(), body: "now".into() };
        let commit = Commit { hints: vec![hint.clone()], ..create("x") };
        assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
        assert!(is_created(&other, "x").await);
        let heard = tokio::time::timeout(Duration::from_secs(5), hints.next()).await;
        assert_eq!(heard, Ok(Some(hint)));

        let owner = cluster.owner(&format!("{{{namespace}}}:x")).unwrap();
        let found = cluster.nodes[owner].command(&["EXISTS", &format!("{{{namespace}}}:x")]).unwrap();
        assert_eq!(found, "1", "{namespace} at node {owner}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_finds_the_slot_again_after_it_moved() {
    let cluster = RedisCluster::start(ServerOptions::default()).await.unwrap();
    let store = RedisStore::open(RedisOptions::new(Servers::Cluster { urls: cluster.urls() })).await.unwrap();
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
    let key = "{toolplane}:x";
    let from = cluster.owner(key).unwrap();
    let to = (from + 1) % cluster.nodes.len();
    cluster.move_slot(key, from, to).unwrap().finish().unwrap();

    assert_eq!(insist(&store, create("b")).await, CommitOutcome::Applied);
    assert!(is_created(&store, "a").await && is_created(&store, "b").await);
    assert_eq!(cluster.nodes[to].command(&["EXISTS", key]).unwrap(), "1");
}

/// Commits and reads go on while the slot is moved, key by key: what is refused was not done, what was answered is there once,
/// and nothing else is seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_done_twice_while_a_slot_moves_under_load() {
    let cluster = RedisCluster::start(ServerOptions::default()).await.unwrap();
    let options = RedisOptions::new(Servers::Cluster { urls: cluster.urls() });
    let (store, other) = (RedisStore::open(options.clone()).await.unwrap(), RedisStore::open(options).await.unwrap());
    for number in 0..50 {
        assert_eq!(store.commit(create(&format!("before-{number}"))).await, Ok(CommitOutcome::Applied));
    }
    let (stop, refused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (store, stop, refused) = ([&store, &other][writer % 2].clone(), stop.clone(), refused.clone());
            tokio::spawn(async move {
                let mut done = Vec::new();
                for number in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let id = format!("w{writer}-{number}");
                    match store.commit(create(&id)).await {
                        Ok(outcome) => assert_eq!(outcome, CommitOutcome::Applied, "{id}"),
                        Err(error) => {
                            assert_eq!(error.retry(), Retry::Definite, "{error}");
                            refused.fetch_add(1, Ordering::SeqCst);
                            // It was not done, so it is done once now.
                            assert_eq!(insist(&store, create(&id)).await, CommitOutcome::Applied, "{id}: {error}");
                        }
                    }
                    done.push(id);
                }
                done
            })
        })
        .collect();
    let key = "{toolplane}:x";
    let from = cluster.owner(key).unwrap();
    let to = (from + 1) % cluster.nodes.len();
    let moving = cluster.move_slot(key, from, to).unwrap();
    while moving.keys(20).unwrap() > 0 {
        store.now().await.unwrap();
    }
    let given_up = async || (refused.load(Ordering::SeqCst) >= 4).then_some(());
    toolplane_wait::eventually("every writer is refused", Duration::from_secs(30), given_up).await;
    assert_eq!(*store.trouble().borrow(), None, "what is on its way is not gone");
    store.now().await.unwrap();
    moving.finish().unwrap();
    assert_eq!(insist(&store, create("after")).await, CommitOutcome::Applied);
    let mut hints = other.hints();
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        for id in writer.await.unwrap() {
            assert!(is_created(&store, &id).await, "{id}");
        }
    }
    for number in 0..50 {
        assert!(is_created(&other, &format!("before-{number}")).await, "{number}");
    }
    assert_eq!(cluster.nodes[to].command(&["EXISTS", key]).unwrap(), "1");
    // Hints are heard from the new node.
    let heard = async {
        for number in 0.. {
            let hint = Hint { topic: "ready".to_owned(), body: "now".into() };
            let commit = Commit { hints: vec![hint], ..create(&format!("hint-{number}")) };
            assert_eq!(insist(&store, commit).await, CommitOutcome::Applied);
            if let Ok(Some(_)) = tokio::time::timeout(Duration::from_millis(200), hints.next()).await {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), heard).await.unwrap();
}

#[tokio::test]
async fn a_commit_that_must_be_on_a_replica_is_answered_once_it_is() {
    let mut server = server().await;
    let settings = vec![("replicaof".to_owned(), format!("127.0.0.1 {}", server.port()))];
    let mut replica = RedisServer::start(ServerOptions { settings, ..ServerOptions::default() }).await.unwrap();
    let mut options = RedisOptions::standalone(server.url());
    (options.replicas, options.command_timeout) = (1, Duration::from_millis(600));
    let store = RedisStore::open(options).await.unwrap();
    // This version of Redis waits for the replica's memory, not for its disk: no more is claimed.
    assert!(matches!(store.durability(), Durability::Fsynced | Durability::FsyncedReplicated));
    until_it_follows(&replica).await;

    let commits: Vec<_> = (0..200)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(create(&number.to_string())).await })
        })
        .collect();
    for (number, commit) in commits.into_iter().enumerate() {
        assert_eq!(commit.await.unwrap(), Ok(CommitOutcome::Applied), "{number}");
        let id = format!("{{toolplane}}:r:i:{number}");
        assert_eq!(replica.command(&["EXISTS", &id]).unwrap(), "1", "{id} was answered before the replica had it");
    }

    replica.pause().unwrap();
    let error = store.commit(create("alone")).await.unwrap_err();
    assert_eq!(error.code(), "store.outcome_unknown", "{error}");
    replica.resume().unwrap();
    // A refusal is certain without any replica.
    assert!(matches!(store.commit(create("alone")).await, Ok(CommitOutcome::Lost { .. })));
    server.kill();
}

async fn until_it_follows(replica: &RedisServer) {
    for _ in 0..500 {
        if replica.command(&["INFO", "replication"]).unwrap().contains("master_link_status:up") {
            return;
        }
        toolplane_wait::look_again().await;
    }
    panic!("the replica does not follow");
}
