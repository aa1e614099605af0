//! Several schedulers over a store of several shards: what is promised of one store holds over all of them.

use std::sync::atomic::Ordering;

use toolplane_store::ShardedStore;

use super::shared::{Cluster, Member};
use super::*;
use crate::storage::Shards;

/// What all members have in common: one store, or several that are its shards.
pub(super) struct Spread(Vec<Arc<Cluster>>);

impl Spread {
    pub(super) fn over(shards: usize) -> Self {
        Self((0..shards).map(|_| Cluster::new()).collect())
    }

    /// One member's way to the store.
    pub(super) fn member(&self) -> Arc<dyn Store> {
        self.parts_of_member().0
    }

    /// The same, with its way to each shard.
    fn parts_of_member(&self) -> (Arc<dyn Store>, Vec<Arc<Member>>) {
        let members: Vec<_> = self.0.iter().map(Cluster::member).collect();
        let stores: Vec<_> = members.iter().map(|member| member.clone() as Arc<dyn Store>).collect();
        match stores.as_slice() {
            [one] => (one.clone(), members),
            _ => (Arc::new(ShardedStore::new(stores, Arc::new(self.shards()))), members),
        }
    }

    pub(super) fn shards(&self) -> Shards {
        Shards::new(self.0.len())
    }

    /// `options` of a scheduler of this store.
    pub(super) fn options(&self, options: PartsOptions) -> PartsOptions {
        PartsOptions { shards: self.shards(), ..options }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_two_schedulers_all_end_once_and_leave_nothing_but_themselves() {
    let cluster = Spread::over(3);
    let bench = async || Bench::with(cluster.member(), cluster.options(options())).await;
    let (one, other) = (bench().await, bench().await);
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
    assert_eq!(one.store.indexes("").await.unwrap(), ["ended", "invocations/default", "schedulers"]);
    assert_eq!(one.members("ended").await.len(), 200);
    for shard in &cluster.0 {
        assert!((30..=110).contains(&shard.member().index_len("ended").await.unwrap()), "each shard has its part");
    }
    assert_eq!(one.audit.repairs() + other.audit.repairs(), 0);
    let filter = CallFilter::default();
    let page = one.parts.calls.records().list(&TenantId::unauthenticated(), &filter, None, 500).await.unwrap();
    assert_eq!(page.records.len(), 200);
    let order: Vec<_> = page.records.iter().map(|record| record.created_at).collect();
    assert!(order.is_sorted_by(|later, earlier| later >= earlier), "the newest first, over all shards");
}

/// Commits that do not arrive and answers that are lost, in each shard in turn, while places go from shard to shard.
#[tokio::test(start_paused = true)]
async fn permits_are_exact_while_shards_lose_commits_and_answers() {
    let cluster = Spread::over(3);
    let bounds = ConfiguredBounds { max_running_per_tenant: 2, ..ConfiguredBounds::default() };
    let (store, ways) = cluster.parts_of_member();
    let bench = Bench::with(store, cluster.options(PartsOptions { bounds, ..options() })).await;
    let (_link, mut messages) = bench.worker(8, vec![]).await;
    let calls = bench.parts.calls.clone();
    let worker = tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            let WorkerMessage::Offer { record, .. } = message else { continue };
            let lease = LeaseKey::of(&record, record.lease.as_ref().unwrap());
            while finish(&calls, &lease).await.is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    let watches: Vec<_> =
        (0..60).map(|number| bench.parts.watchers.watch_new(&call_key(format!("inv_{number}")))).collect();
    for number in 0..60 {
        let way = &ways[number % 3];
        way.swallow.store(1, Ordering::SeqCst);
        while bench.admit(ask(format!("inv_{number}"))).await.is_err() {}
        ways[(number + 1) % 3].refuse.store(1, Ordering::SeqCst);
        let running = bench.store.index_len("running/tenant/default").await.unwrap();
        assert!(running <= 2, "{running} run");
    }
    for watch in watches {
        follow(watch).await;
    }
    assert_eq!(bench.members("running/tenant/default").await, Vec::<String>::new());
    assert_eq!(bench.members("waiting/default").await, Vec::<String>::new());
    worker.abort();
}

/// Ended calls of all shards are removed, and their keys are remembered and forgotten.
#[tokio::test(start_paused = true)]
async fn what_is_over_is_removed_from_every_shard() {
    let cluster = Spread::over(3);
    let short = PartsOptions { retention_ms: 1_000, key_window_ms: 5_000, ..options() };
    let bench = Bench::with(cluster.member(), cluster.options(short)).await;
    let _worker = bench.eager_worker("w1", 4).await;
    for number in 0..40 {
        let id = format!("inv_{number}");
        let watch = bench.parts.watchers.watch_new(&call_key(&id));
        bench.admit(ask(id)).await.unwrap();
        follow(watch).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!((bench.members("ended").await.len(), bench.members("dedupe").await.len()), (0, 40));
    assert!(matches!(bench.admit(ask("inv_7")).await, Err(RecordError::KeyExpired { .. })));
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(bench.store.indexes("").await.unwrap(), ["schedulers"]);
}

/// While a shard takes no commits, workers cannot renew, so nobody calls a lease over, wherever the call lies.
#[tokio::test(start_paused = true)]
async fn a_shard_that_takes_no_commits_ends_no_lease() {
    let cluster = Spread::over(3);
    let (store, ways) = cluster.parts_of_member();
    let bench = Bench::with(store, cluster.options(PartsOptions { lease_ms: 3_000, ..options() })).await;
    let (_link, mut messages) = bench.worker(4, vec![]).await;
    let id =
        (0..).map(|number| format!("inv_{number}")).find(|id| cluster.shards().of_call(&call_key(id)) == 2).unwrap();
    bench.admit(Ask { idempotent: false, ..ask(id) }).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    bench.parts.starts.start(&lease, 3_000).await.unwrap();
    ways[2].refuse.store(u32::MAX, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(10)).await;
    ways[2].refuse.store(0, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let renew = |_: &Invocation| Command::Renew { lease: lease.clone(), lease_ms: 3_000 };
    bench.parts.calls.command(&lease.call(), renew).await.expect("the lease was over for nobody");
    finish(&bench.parts.calls, &lease).await.unwrap();
}
