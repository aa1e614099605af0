//! Several shards of one namespace: on one server, on several, and in a cluster.

use std::sync::Arc;

use toolplane_store::conformance::run_all;
use toolplane_store::{CommitOutcome, Place, Placement, RecordKey, ShardedStore, Store};
use toolplane_store_redis::{OpenError, RedisOptions, RedisStore, Servers};
use toolplane_testkit::redis::{RedisCluster, RedisOptions as ServerOptions, RedisServer};

use super::support::{create, is_created, key, server};

/// Options of so many shards, one on each of these servers in turn.
fn on(servers: &[&RedisServer], count: usize) -> Vec<RedisOptions> {
    servers.iter().cycle().take(count).map(|server| RedisOptions::standalone(server.url())).collect()
}

async fn refused(shards: Vec<RedisOptions>) -> String {
    let error = RedisStore::open_shards(shards).await.map(drop).unwrap_err();
    assert!(matches!(error, OpenError::Shards { .. }) && error.code() == "store.shards", "{error}");
    error.to_string()
}

/// Everything in one of several shards: the suite makes commits of any names together.
#[derive(Debug)]
struct AllIn(usize);

impl Placement for AllIn {
    fn record(&self, _: &RecordKey) -> Place {
        Place::At(self.0)
    }
    fn entry(&self, _: &str, _: &str) -> Place {
        Place::At(self.0)
    }
    fn index(&self, _: &str) -> Place {
        Place::At(self.0)
    }
    fn stream(&self, _: &str) -> Place {
        Place::At(self.0)
    }
}

#[tokio::test]
async fn a_store_of_several_shards_conforms() {
    let server = server().await;
    let made = std::sync::atomic::AtomicUsize::new(0);
    let (made, server) = (&made, &server);
    run_all(async || {
        let number = made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut options = on(&[server], 2);
        options.iter_mut().for_each(|options| options.namespace = format!("suite-{number}"));
        let shards = RedisStore::open_shards(options).await.unwrap().into_iter();
        let shards = shards.map(|shard| Arc::new(shard) as Arc<dyn Store>).collect();
        Arc::new(ShardedStore::new(shards, Arc::new(AllIn(number % 2)))) as Arc<dyn Store>
    })
    .await;
}

#[tokio::test]
async fn shards_of_one_namespace_share_nothing_and_are_found_again() {
    let (one, other) = (server().await, server().await);
    for servers in [vec![&one], vec![&one, &other]] {
        let mut options = on(&servers, 3);
        options.iter_mut().for_each(|options| options.namespace = format!("ns-{}", servers.len()));
        for round in 0..2 {
            let shards = RedisStore::open_shards(options.clone()).await.unwrap();
            for (number, shard) in shards.iter().enumerate() {
                assert_eq!(is_created(shard, "x").await, round > 0, "shard {number}");
                let outcome = shard.commit(create("x")).await.unwrap();
                assert_eq!(outcome == CommitOutcome::Applied, round == 0);
                assert_eq!(shard.get(&key("y")).await, Ok(None));
            }
        }
    }
    assert_eq!(one.command(&["GET", "{ns-2}:shards"]).unwrap(), "3");
    assert!(other.command(&["GET", "{ns-2/1}:shards"]).unwrap().starts_with("3 1 "));
}

#[tokio::test]
async fn the_number_of_shards_stays() {
    let server = server().await;
    drop(RedisStore::open(RedisOptions::standalone(server.url())).await.unwrap());
    assert_eq!(server.command(&["KEYS", "*"]).unwrap(), "{toolplane}:id", "one shard has what it always had");
    let said = refused(on(&[&server], 3)).await;
    assert!(said.contains("made with `shards = 1`, and cannot be opened with 3"), "{said}");

    server.command(&["FLUSHALL"]).unwrap();
    drop(RedisStore::open_shards(on(&[&server], 3)).await.unwrap());
    for count in [1, 2, 4] {
        let said = refused(on(&[&server], count)).await;
        assert!(said.contains("made with `shards = 3`"), "{said}");
    }
    drop(RedisStore::open_shards(on(&[&server], 3)).await.unwrap());
}

#[tokio::test]
async fn a_shard_that_is_not_where_it_was_is_noticed_before_anything_is_written() {
    let (one, other, third) = (server().await, server().await, server().await);
    drop(RedisStore::open_shards(on(&[&one, &other], 2)).await.unwrap());

    let said = refused(on(&[&other, &one], 2)).await;
    assert!(said.contains("in the order they always had"), "{said}");
    let said = refused(on(&[&one, &third], 2)).await;
    assert!(said.contains("shard 1 is not there"), "{said}");
    assert_eq!(third.command(&["DBSIZE"]).unwrap(), "0");
    other.command(&["FLUSHALL"]).unwrap();
    let said = refused(on(&[&one, &other], 2)).await;
    assert!(said.contains("shard 1 is not there"), "{said}");

    // Shards of another store.
    drop(RedisStore::open_shards(on(&[&third, &other], 2)).await.unwrap());
    let said = refused(on(&[&one, &other], 2)).await;
    assert!(said.contains("belongs to another store"), "{said}");
}

#[tokio::test]
async fn shards_that_were_only_begun_are_finished_by_the_next_process() {
    let server = server().await;
    drop(RedisStore::open_shards(on(&[&server], 3)).await.unwrap());
    // As if the process had ended after it made the first two.
    server.command(&["SET", "{toolplane}:shards", "3 begun"]).unwrap();
    server.command(&["DEL", "{toolplane/2}:id", "{toolplane/2}:shards"]).unwrap();
    let shards = RedisStore::open_shards(on(&[&server], 3)).await.unwrap();
    assert_eq!(shards[2].commit(create("x")).await, Ok(CommitOutcome::Applied));
    assert_eq!(server.command(&["GET", "{toolplane}:shards"]).unwrap(), "3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_cluster_each_shard_has_a_slot() {
    let cluster = RedisCluster::start(ServerOptions::default()).await.unwrap();
    let options = vec![RedisOptions::new(Servers::Cluster { urls: cluster.urls() }); 3];
    let shards = RedisStore::open_shards(options).await.unwrap();
    for (number, shard) in shards.iter().enumerate() {
        assert_eq!(shard.commit(create("x")).await, Ok(CommitOutcome::Applied));
        let name = if number == 0 { "{toolplane}:x".to_owned() } else { format!("{{toolplane/{number}}}:x") };
        let owner = cluster.owner(&name).unwrap();
        assert_eq!(cluster.nodes[owner].command(&["EXISTS", &name]).unwrap(), "1");
    }
}
