//! Two schedulers over a real Redis.

use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::redis::RedisServer;

use super::*;

async fn server() -> RedisServer {
    RedisServer::start(Default::default()).await.expect("a Redis server")
}

async fn store(server: &RedisServer) -> Arc<RedisStore> {
    Arc::new(RedisStore::open(RedisOptions::standalone(server.url())).await.expect("the store"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_two_schedulers_all_end_once_and_leave_nothing_but_themselves() {
    let server = server().await;
    let (one, other) = (Bench::over(store(&server).await).await, Bench::over(store(&server).await).await);
    let _workers = [one.eager_worker("w1", 4).await, other.eager_worker("w2", 4).await];
    let asks = (0..200).map(|number| {
        let bench = [&one, &other][number % 2];
        let id = format!("inv_{number}");
        let watch = [&other, &one][number % 2].parts.watchers.watch_new(&call_key(&id));
        async move {
            bench.admit(ask(id)).await.unwrap();
            follow(watch).await
        }
    });
    for (log, terminal) in futures_util::future::join_all(asks).await {
        assert_eq!(terminal.result.status, ResultStatus::Succeeded);
        assert_eq!(log.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=log.len() as u64).collect::<Vec<_>>());
    }
    let left = one.store.indexes("").await.unwrap();
    assert_eq!(left, ["ended", "invocations/default", "schedulers"]);
    assert_eq!(one.audit.repairs() + other.audit.repairs(), 0);
}

#[tokio::test]
async fn an_idempotent_call_costs_two_scripts() {
    let server = server().await;
    let store = store(&server).await;
    // Nothing but the calls themselves: the sweep's own reads would be counted too.
    let quiet = PartsOptions { tick_ms: 3_600_000, ..options() };
    let bench = Bench::with(store.clone(), quiet).await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    let mut scripts = Vec::new();
    for number in 0..10 {
        let before = store.stats();
        bench.admit(ask(format!("inv_{number}"))).await.unwrap();
        let (_, lease, _) = offered(&mut messages).await;
        finish(&bench.parts.calls, &lease).await.unwrap();
        let after = store.stats();
        assert_eq!(after.commits - before.commits, 2, "accepted with its claim, and ended");
        scripts.push(after.scripts - before.scripts);
    }
    scripts.sort_unstable();
    // The dispatcher looks around once a second, whatever happens: that falls into some of them.
    assert_eq!(scripts[4], 2, "{scripts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_stands_still_for_longer_than_a_lease_ends_no_lease() {
    let mut server = server().await;
    let options = PartsOptions { lease_ms: 3_000, ..options() };
    let bench = Bench::with(store(&server).await, options).await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    bench.admit(Ask { idempotent: false, ..ask("inv_a") }).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    bench.parts.starts.start(&lease, 3_000).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.pause().unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    server.resume().unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let renew = |_: &Invocation| Command::Renew { lease: lease.clone(), lease_ms: 3_000 };
    bench.parts.calls.command(&lease.call(), renew).await.expect("the lease was over for nobody");
    finish(&bench.parts.calls, &lease).await.unwrap();
}
