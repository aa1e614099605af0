//! What metrics say of calls: each thing once, by whichever scheduler stored it, and what only others know is not in them.

use toolplane_metrics::{Value, collect};

use super::shared::Cluster;
use super::*;

/// The series of `metric` whose labels begin with `labels`, added up: counts, levels, or numbers of measured values.
fn told(metric: &str, labels: &[&str]) -> u64 {
    let families = collect();
    let points = families.iter().filter(|family| family.about.name == metric).flat_map(|family| &family.points);
    let these = points.filter(|point| point.labels.iter().zip(labels).all(|(said, wanted)| said == wanted));
    let numbers = these.map(|point| match &point.value {
        Value::Count(count) => *count,
        Value::Level(level) => u64::try_from(*level).unwrap(),
        Value::Spread(spread) => spread.count(),
    });
    numbers.sum()
}

fn named(id: &str, tool: &'static str, idempotent: bool) -> Ask {
    Ask { tool, idempotent, ..ask(id) }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_counted_once_from_its_acceptance_to_its_end() {
    const TOOL: &str = "account.once";
    let bench = Bench::new().await;
    bench.admit(named("inv_a", TOOL, false)).await.unwrap();
    // The same call again is no other call.
    bench.admit(named("inv_a", TOOL, false)).await.unwrap();
    assert_eq!(told("toolplane.calls.accepted", &[TOOL]), 1);
    assert_eq!(told("toolplane.call.queue.wait", &[TOOL]), 0, "nothing has started");
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    let (_, lease, _) = offered(&mut messages).await;
    let start = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 15_000 };
    bench.parts.calls.command(&lease.call(), start).await.unwrap();
    // What only renews a lease says nothing.
    bench.parts.calls.command(&lease.call(), start).await.unwrap();
    assert_eq!(told("toolplane.call.queue.wait", &[TOOL]), 1);
    finish(&bench.parts.calls, &lease).await.unwrap();
    finish(&bench.parts.calls, &lease).await.unwrap_err();
    assert_eq!(told("toolplane.calls.ended", &[TOOL, "succeeded", ""]), 1);
    assert_eq!(told("toolplane.call.duration", &[TOOL, "succeeded"]), 1);
    assert_eq!(told("toolplane.call.execution.duration", &[TOOL, "succeeded"]), 1);
    assert_eq!(told("toolplane.call.retries", &[TOOL]), 0);
    assert_eq!(told("toolplane.decisions", &["allow"]), 1);
}

#[tokio::test(start_paused = true)]
async fn two_schedulers_of_one_store_count_a_call_together_once() {
    const TOOL: &str = "account.shared";
    let cluster = Cluster::new();
    let (one, other) = (Bench::over(cluster.member()).await, Bench::over(cluster.member()).await);
    let (_link, mut messages) = one.worker(1, vec![]).await;
    other.admit(named("inv_a", TOOL, true)).await.unwrap();
    one.parts.queues.ring();
    let (_, lease, _) = offered(&mut messages).await;
    finish(&other.parts.calls, &lease).await.unwrap();
    finish(&one.parts.calls, &lease).await.unwrap_err();
    assert_eq!(told("toolplane.calls.accepted", &[TOOL]), 1);
    assert_eq!(told("toolplane.call.queue.wait", &[TOOL]), 1);
    assert_eq!(told("toolplane.calls.ended", &[TOOL]), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_worker_and_the_execution_after_it_are_counted_by_their_reasons() {
    const TOOL: &str = "account.lost";
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    bench.admit(named("inv_a", TOOL, true)).await.unwrap();
    let (record, lease, _) = offered(&mut messages).await;
    let confirm = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 15_000 };
    bench.parts.calls.command(&lease.call(), confirm).await.unwrap();
    let gone = Command::WorkerGone {
        worker_id: WorkerId::from_trusted("w1"),
        incarnation: record.lease.as_ref().unwrap().incarnation.clone(),
    };
    bench.parts.calls.command(&lease.call(), move |_| gone.clone()).await.unwrap();
    assert_eq!(told("toolplane.lease.losses", &["worker_gone"]), 1);
    assert_eq!(told("toolplane.calls.requeued", &[TOOL, "worker_gone"]), 1);
    let (_, lease, _) = offered(&mut messages).await;
    assert_eq!(told("toolplane.call.retries", &[TOOL]), 1);
    let release = |_: &Invocation| Command::Release { lease: lease.clone(), reason: "my user's own words".to_owned() };
    bench.parts.calls.command(&lease.call(), release).await.unwrap();
    assert_eq!(told("toolplane.calls.requeued", &[TOOL, "given_back"]), 1, "a worker's words are no label");
    assert_eq!(told("toolplane.lease.losses", &[]), 1, "a call that is given back is no loss");
}
