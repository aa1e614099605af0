//! The suite, and random runs beside the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use toolplane_store::Store;
use toolplane_store::conformance::{compare_many, run_all};
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::redis::{Fsync, RedisOptions as ServerOptions, RedisServer};

use super::support::server;

/// Random runs of forty commands on one server, eight at once.
async fn compare(seeds: std::ops::Range<u64>) {
    let options = ServerOptions { fsync: Fsync::No, ..ServerOptions::default() };
    let server = RedisServer::start(options).await.unwrap();
    let store = RedisStore::open(RedisOptions::standalone(server.url())).await.unwrap();
    let start = Instant::now();
    let each = (seeds.end - seeds.start).div_ceil(8);
    let parts = (0..8).map(|part| {
        let first = seeds.start + part * each;
        let (seeds, store) = (first..(first + each).min(seeds.end), store.clone());
        tokio::spawn(async move { compare_many(&store, seeds, 40).await })
    });
    for part in parts.collect::<Vec<_>>() {
        part.await.unwrap();
    }
    println!("{} runs of 40 commands in {:?}", seeds.end - seeds.start, start.elapsed());
}

#[tokio::test]
async fn the_store_conforms() {
    let server = server().await;
    let made = AtomicU32::new(0);
    let (made, server) = (&made, &server);
    run_all(async || {
        let mut options = RedisOptions::standalone(server.url());
        options.namespace = format!("suite-{}", made.fetch_add(1, Ordering::Relaxed));
        Arc::new(RedisStore::open(options).await.unwrap()) as Arc<dyn Store>
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_runs_match_the_model() {
    compare(0..500).await;
}

/// The long form of the test above.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; `cargo xtask faults --full` runs it"]
async fn twenty_thousand_random_runs_match_the_model() {
    compare(0..20_000).await;
}
