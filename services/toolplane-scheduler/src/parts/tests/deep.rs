//! A very deep queue. Ignored by default, because filling it takes a while: run with `--run-ignored only`.

use std::time::Instant;

use toolplane_store_embedded::EmbeddedStore;

use super::*;

/// Calls in the deep queue.
const DEEP: usize = 100_000;
/// Calls measured.
const MEASURED: usize = 500;

/// Time until each of some waiting calls is offered, one slot at a time, microseconds, sorted.
async fn claims(bench: &Bench) -> Vec<u128> {
    let (link, mut messages) = bench.worker(1, vec![]).await;
    let (_, mut lease, _) = offered(&mut messages).await;
    let mut times = Vec::new();
    for _ in 0..MEASURED {
        let began = Instant::now();
        finish(&bench.parts.calls, &lease).await.unwrap();
        lease = offered(&mut messages).await.1;
        times.push(began.elapsed().as_micros());
    }
    link.drain();
    finish(&bench.parts.calls, &lease).await.unwrap();
    times.sort_unstable();
    times
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "fills a store with 100,000 waiting calls"]
async fn a_claim_costs_the_same_however_many_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path(), Default::default()).unwrap());
    let bounds = ConfiguredBounds { max_waiting: u64::MAX, ..ConfiguredBounds::default() };
    let bench = Bench::with(store, PartsOptions { bounds, tick_ms: 1_000, ..options() }).await;
    let fill = async |from: usize, count: usize| {
        for chunk in (from..from + count).collect::<Vec<_>>().chunks(256) {
            let asks = chunk.iter().map(|number| bench.admit(ask(format!("inv_{number:07}"))));
            for admitted in futures_util::future::join_all(asks).await {
                admitted.unwrap();
            }
        }
    };
    fill(0, MEASURED + 2).await;
    let shallow = claims(&bench).await;
    fill(MEASURED + 2, DEEP).await;
    let deep = claims(&bench).await;
    let at = |times: &[u128], part: usize| times[times.len() * part / 100];
    println!(
        "end to next offer, p50/p99: {}/{} us with few waiting, {}/{} us with {DEEP}",
        at(&shallow, 50),
        at(&shallow, 99),
        at(&deep, 50),
        at(&deep, 99)
    );
    assert!(at(&deep, 50) < at(&shallow, 50) * 4 + 2_000, "claims became slow");
}
