//! Several schedulers over one store.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;

use super::shared::Cluster;
use super::*;

async fn pair() -> (Bench, Bench, Arc<Cluster>) {
    let cluster = Cluster::new();
    (Bench::over(cluster.member()).await, Bench::over(cluster.member()).await, cluster)
}

#[tokio::test(start_paused = true)]
async fn a_call_accepted_by_one_runs_at_the_worker_of_the_other_and_both_see_it_end() {
    let (one, other, _) = pair().await;
    let (_link, mut messages) = other.worker(1, vec![]).await;
    let id = call_key("inv_a");
    let mine = one.parts.watchers.watch_new(&id);
    one.admit(ask("inv_a")).await.unwrap();
    let (_, lease, input) = offered(&mut messages).await;
    assert_eq!(input.text(), "{\"a\":1}");
    let theirs = other.parts.watchers.watch(&id, 1).await.unwrap();
    finish(&other.parts.calls, &lease).await.unwrap();
    let ((log, terminal), (same, _)) = (follow(mine).await, follow(theirs).await);
    assert_eq!(terminal.result.status, ResultStatus::Succeeded);
    assert_eq!(log, same);
    assert!(matches!(one.admit(ask("inv_a")).await.unwrap(), Admitted::Exists(_)));
}

#[tokio::test(start_paused = true)]
async fn without_hints_everything_still_arrives() {
    let cluster = Cluster::new();
    let member = cluster.member();
    member.deaf.store(true, Ordering::Relaxed);
    let (one, other) = (Bench::over(member).await, Bench::over(cluster.member()).await);
    let _worker = one.eager_worker("w1", 1).await;
    let watch = other.parts.watchers.watch_new(&call_key("inv_a"));
    other.admit(ask("inv_a")).await.unwrap();
    assert_eq!(follow(watch).await.1.result.status, ResultStatus::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn racing_claims_lease_each_call_once_and_every_fence_is_new() {
    let (one, other, _) = pair().await;
    for number in 0..200 {
        // Accepted before any worker is there, so that both schedulers find the same queue.
        [&one, &other][number % 2].admit(ask(format!("inv_{number}"))).await.unwrap();
    }
    let (mut seen, mut fences) = (HashSet::new(), BTreeMap::new());
    let (_l1, mut first) = one.worker_named("w1", 8, vec![]).await;
    let (_l2, mut second) = other.worker_named("w2", 8, vec![]).await;
    while seen.len() < 200 {
        let (calls, (record, lease, _)) = tokio::select! {
            offer = offered(&mut first) => (&one.parts.calls, offer),
            offer = offered(&mut second) => (&other.parts.calls, offer),
        };
        assert!(seen.insert(record.invocation_id.clone()), "{} was offered twice", record.invocation_id);
        let fence = record.lease.as_ref().unwrap().fence;
        assert_eq!(fences.insert(fence, record.invocation_id.clone()), None, "fences are unique");
        assert_eq!(record.last_fence, fence);
        finish(calls, &lease).await.unwrap();
    }
    assert_eq!(one.members("waiting/default").await, Vec::<String>::new());
    assert_eq!(one.audit.repairs() + other.audit.repairs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_moves_between_schedulers_gets_growing_fences() {
    let (one, other, _) = pair().await;
    let (_l1, mut first) = one.worker_named("w1", 1, vec![]).await;
    let (_l2, mut second) = other.worker_named("w2", 1, vec![]).await;
    one.admit(ask("inv_a")).await.unwrap();
    let mut last = 0;
    for _ in 0..6 {
        let (calls, (record, lease, _)) = tokio::select! {
            offer = offered(&mut first) => (&one.parts.calls, offer),
            offer = offered(&mut second) => (&other.parts.calls, offer),
        };
        let fence = record.lease.as_ref().unwrap().fence;
        assert!(fence > last, "{fence} after {last}");
        last = fence;
        let back = |_: &Invocation| Command::Release { lease: lease.clone(), reason: "full".into() };
        calls.command(&lease.call(), back).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_to_another_scheduler_than_the_one_that_leased_counts() {
    let (one, other, _) = pair().await;
    let (link, mut messages) = one.worker(1, vec![]).await;
    one.admit(Ask { idempotent: false, ..ask("inv_a") }).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    // The worker moved: it starts there and ends there.
    let start = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 15_000 };
    other.parts.calls.command(&lease.call(), start).await.unwrap();
    finish(&other.parts.calls, &lease).await.unwrap();
    // The first scheduler still remembers the lease; it still decides as the store says.
    let stale = finish(&one.parts.calls, &lease).await.unwrap_err();
    assert!(matches!(stale, RecordError::Refused { refusal: Refusal::Terminal(_), .. }), "{stale}");
    assert!(one.parts.calls.leased(&lease).await.is_err());
    for _ in 0..500 {
        if link.in_flight().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the slot was not given back");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_reaches_a_worker_that_is_connected_elsewhere() {
    let (one, other, _) = pair().await;
    let (_link, mut messages) = one.worker(1, vec![]).await;
    one.admit(ask("inv_a")).await.unwrap();
    let (record, ..) = offered(&mut messages).await;
    let cancel = |_: &Invocation| Command::RequestCancel {
        requested_by: "user".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    other.parts.calls.command(&record.key(), cancel).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(10), messages.recv()).await.unwrap().unwrap();
    assert!(matches!(told, WorkerMessage::Lease(toolplane_lifecycle::LeaseMessage::Cancel { .. })), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn lost_answers_are_asked_for_again_and_nothing_happens_twice() {
    let cluster = Cluster::new();
    let member = cluster.member();
    let bench = Bench::over(member.clone()).await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    for number in 0..20 {
        let id = format!("inv_{number}");
        member.swallow.store(2, Ordering::SeqCst);
        let admitted = bench.admit(ask(&id)).await.unwrap();
        assert!(matches!(admitted, Admitted::New(_)), "the first answer was lost, the acceptance was not");
        let (_, lease, _) = offered(&mut messages).await;
        member.swallow.store(1, Ordering::SeqCst);
        finish(&bench.parts.calls, &lease).await.unwrap();
        let log = bench.parts.calls.records().log(&lease.call()).await.unwrap();
        assert_eq!(log.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=log.len() as u64).collect::<Vec<_>>());
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_is_an_error_and_leaves_nothing() {
    let cluster = Cluster::new();
    let member = cluster.member();
    let bench = Bench::over(member.clone()).await;
    let (link, mut messages) = bench.worker(1, vec![]).await;
    member.refuse.store(1_000, Ordering::SeqCst);
    let refused = bench.admit(ask("inv_a")).await.unwrap_err();
    assert!(matches!(refused, RecordError::Store(_)), "{refused}");
    member.refuse.store(0, Ordering::SeqCst);
    assert!(link.in_flight().is_empty(), "the slot of the claim that was not stored is free");
    assert!(matches!(bench.parts.calls.records().get(&call_key("inv_a")).await, Err(RecordError::NotFound)));
    bench.admit(ask("inv_a")).await.unwrap();
    offered(&mut messages).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_costs_few_commits() {
    let cluster = Cluster::new();
    let member = cluster.member();
    // Nothing but the calls themselves: the sweep's own commits would be counted too.
    let bench = Bench::with(member.clone(), PartsOptions { tick_ms: 3_600_000, ..options() }).await;
    bench.admit(Ask { idempotent: false, ..ask("inv_warm") }).await.unwrap();
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    let mut run = async |call: Option<Ask>| {
        let before = member.commits.load(Ordering::SeqCst);
        if let Some(call) = call {
            bench.admit(call).await.unwrap();
        }
        let (record, lease, _) = offered(&mut messages).await;
        if !record.safety.is_idempotent {
            bench.parts.starts.start(&lease, 15_000).await.unwrap();
        }
        finish(&bench.parts.calls, &lease).await.unwrap();
        member.commits.load(Ordering::SeqCst) - before
    };
    assert!(run(None).await <= 3, "claimed, started and ended");
    assert_eq!(run(Some(ask("inv_a"))).await, 2, "accepted with its claim, and ended");
    assert_eq!(run(Some(Ask { idempotent: false, ..ask("inv_b") })).await, 3, "its start is durable before its effect");
}

#[tokio::test(start_paused = true)]
async fn schedulers_have_numbers_of_their_own_and_give_them_back() {
    let cluster = Cluster::new();
    let engines = futures_util::future::join_all((0..5).map(|_| Bench::over(cluster.member()))).await;
    assert_eq!(engines[0].members("schedulers").await.len(), 5);
    let leaving = engines[4].parts.fleet.schedulers();
    leaving.leave().await;
    assert_eq!(engines[0].members("schedulers").await.len(), 4);
    leaving.show(Vec::new(), engines[4].parts.calls.now().await.unwrap()).await.unwrap();
    assert_eq!(engines[0].members("schedulers").await.len(), 4, "one that left does not come back by itself");
    let next = Bench::over(cluster.member()).await;
    assert_eq!(next.members("schedulers").await.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_that_comes_back_takes_its_own_number_again() {
    let cluster = Cluster::new();
    let endpoint = || PartsOptions { endpoint: Some("http://127.0.0.1:7430".to_owned()), ..options() };
    // More lives than there are numbers, none of which had the time to give its number back.
    for _ in 0..70 {
        let life = Parts::open(cluster.member(), objects(), endpoint(), outside()).await.unwrap().parts;
        let now = life.calls.now().await.unwrap();
        life.fleet.schedulers().show(Vec::new(), now).await.unwrap();
    }
    let other = Bench::over(cluster.member()).await;
    assert_eq!(other.members("schedulers").await.len(), 2);
}

/// A worker is its credential's on every scheduler, as long as one that lives holds its stream.
#[tokio::test(start_paused = true)]
async fn every_scheduler_knows_whose_a_worker_is_and_who_holds_its_stream() {
    let (one, other, _) = pair().await;
    let (link, _messages) = one.worker(1, vec![]).await;
    let info = WorkerInfo { actor: Some("acme/pool-a".to_owned()), ..link.info.clone() };
    let link = Arc::new(WorkerLink::new(info, mpsc::unbounded_channel().0));
    one.parts.fleet.connect(&link).await;
    while !other.parts.fleet.schedulers().lives(one.parts.fleet.schedulers().name()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let id = &link.info.worker_id;
    assert_eq!(other.parts.fleet.actor_of(id).await.unwrap().as_deref(), Some("acme/pool-a"));
    let recorded = other.parts.fleet.recorded().await.unwrap();
    let recorded = recorded.iter().find(|one| one.info.worker_id == *id).unwrap();
    assert_eq!(recorded.scheduler, one.parts.fleet.schedulers().name());
    one.parts.fleet.left(&link, false).await;
    assert_eq!(other.parts.fleet.actor_of(id).await.unwrap(), None, "nobody holds its stream any more");
}
