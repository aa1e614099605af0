//! A scheduler that has nothing to do: time alone makes it no larger.

use super::*;

const KIB: usize = 1024;
/// Room for what an allocator keeps for itself.
const SLACK_KIB: usize = 6 * KIB;

/// Memory of this process, in KiB. Each test has a process of its own.
fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Ended calls, waiting calls and their watchers, and then half an hour in which nothing happens: timers, membership, retention and
/// audit run hundreds of times.
#[tokio::test(start_paused = true)]
async fn idle_time_costs_no_memory() {
    let bench = Bench::with(Arc::new(memory()), PartsOptions { tick_ms: 1_000, ..options() }).await;
    let link = bench.eager_worker("w1", 8).await;
    for number in 0..50 {
        bench.admit(ask(format!("inv_ended_{number}"))).await.unwrap();
        let (_, terminal) =
            follow(bench.parts.watchers.watch(&call_key(format!("inv_ended_{number}")), 1).await.unwrap()).await;
        assert!(terminal.result.error.is_none());
    }
    bench.parts.workers.disconnect(&link);
    let mut watchers = Vec::new();
    for number in 0..50 {
        bench.admit(ask(format!("inv_waiting_{number}"))).await.unwrap();
        let mut watch = bench.parts.watchers.watch(&call_key(format!("inv_waiting_{number}")), 1).await.unwrap();
        watchers.push(tokio::spawn(async move { while watch.next().await.is_ok_and(|item| item.is_some()) {} }));
    }
    tokio::time::sleep(Duration::from_secs(300)).await;
    let before = resident_kib();
    tokio::time::sleep(Duration::from_secs(1_800)).await;
    let after = resident_kib();
    assert!(after <= before + SLACK_KIB, "half an hour took {before} KiB to {after} KiB");
    watchers.iter().for_each(tokio::task::JoinHandle::abort);
}
