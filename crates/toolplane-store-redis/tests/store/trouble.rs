//! Servers that change under a running store: emptied, switched to lose records, away.

use std::time::Duration;

use tokio::sync::watch;
use toolplane_store::{Commit, CommitOutcome, Retry, Store};
use toolplane_store_redis::{RedisOptions, RedisStore, Trouble};
use toolplane_testkit::redis::RedisServer;

use super::support::{create, is_created, key, server, store_on};

const LIMIT: Duration = Duration::from_secs(20);

/// A store that takes nothing new while the server may lose it, as processes open it.
async fn strict(server: &RedisServer) -> RedisStore {
    RedisStore::open(RedisOptions { refuse_buffered: true, ..RedisOptions::standalone(server.url()) }).await.unwrap()
}

async fn becomes(trouble: &mut watch::Receiver<Option<Trouble>>, expected: Option<Trouble>) {
    let found = tokio::time::timeout(LIMIT, trouble.wait_for(|now| *now == expected)).await;
    assert!(found.is_ok(), "{expected:?} was never found");
}

fn essential(id: &str) -> Commit {
    Commit { essential: true, ..create(id) }
}

#[tokio::test]
async fn an_emptied_server_takes_and_tells_nothing_until_the_records_are_back() {
    let server = server().await;
    let (store, other) = (store_on(&server).await, store_on(&server).await);
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
    let name = server.command(&["GET", "{toolplane}:id"]).unwrap();
    let mut trouble = store.trouble();
    server.command(&["FLUSHALL"]).unwrap();
    // The very next commit finds out, and so does a process that only reads.
    for commit in [create("b"), essential("c")] {
        let refused = store.commit(commit).await.unwrap_err();
        assert_eq!((refused.code(), refused.retry()), ("store.unsafe", Retry::Definite), "{refused}");
    }
    becomes(&mut trouble, Some(Trouble::Emptied)).await;
    becomes(&mut other.trouble(), Some(Trouble::Emptied)).await;
    for store in [&store, &other] {
        assert_eq!(store.get(&key("a")).await.unwrap_err().code(), "store.unsafe", "that `a` never was would be a lie");
        assert_eq!(store.index_len("all").await.unwrap_err().code(), "store.unsafe");
        assert_eq!(store.events("a", 1, 9).await.unwrap_err().code(), "store.unsafe");
    }
    // A process that starts anew has a new store; the others know that it is not theirs.
    let fresh = store_on(&server).await;
    assert_eq!(fresh.commit(create("d")).await, Ok(CommitOutcome::Applied));
    assert_eq!(store.commit(create("e")).await.unwrap_err().code(), "store.unsafe");
    // The records are brought back, and their name with them.
    server.command(&["SET", "{toolplane}:id", name.trim()]).unwrap();
    becomes(&mut trouble, None).await;
    assert_eq!(store.commit(create("b")).await, Ok(CommitOutcome::Applied));
    assert!(is_created(&store, "b").await && !is_created(&store, "e").await);
}

#[tokio::test]
async fn a_server_that_stops_flushing_gets_nothing_new() {
    let server = server().await;
    let store = strict(&server).await;
    let mut trouble = store.trouble();
    for (at, (setting, bad, good)) in
        [("appendfsync", "no", "always"), ("appendfsync", "everysec", "always"), ("appendonly", "no", "yes")]
            .into_iter()
            .enumerate()
    {
        server.config_set(setting, bad).unwrap();
        becomes(&mut trouble, Some(Trouble::Buffered)).await;
        let refused = store.commit(create("new")).await.unwrap_err();
        assert_eq!((refused.code(), refused.retry()), ("store.unsafe", Retry::Definite), "{setting} {bad}: {refused}");
        assert_eq!(store.commit(essential(&at.to_string())).await, Ok(CommitOutcome::Applied), "what runs may end");
        assert!(is_created(&store, &at.to_string()).await, "and be read");
        server.config_set(setting, good).unwrap();
        becomes(&mut trouble, None).await;
    }
    assert_eq!(store.commit(create("new")).await, Ok(CommitOutcome::Applied));
}

#[tokio::test]
async fn a_server_that_begins_to_evict_gets_nothing_new() {
    let server = server().await;
    let store = store_on(&server).await;
    let mut trouble = store.trouble();
    server.config_set("maxmemory-policy", "allkeys-lru").unwrap();
    becomes(&mut trouble, Some(Trouble::Evicts { policy: "allkeys-lru".to_owned() })).await;
    assert_eq!(store.commit(create("a")).await.unwrap_err().code(), "store.unsafe");
    assert_eq!(store.commit(essential("b")).await, Ok(CommitOutcome::Applied));
    server.config_set("maxmemory-policy", "noeviction").unwrap();
    becomes(&mut trouble, None).await;
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
}

#[tokio::test]
async fn a_server_that_goes_away_is_in_the_news_and_so_is_its_return() {
    let mut server = server().await;
    let store = store_on(&server).await;
    let mut trouble = store.trouble();
    server.kill();
    becomes(&mut trouble, Some(Trouble::Away)).await;
    server.restart().await.unwrap();
    becomes(&mut trouble, None).await;
}
