//! Batches and lock domains, coordinated by one scheduler or by two that share a store.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolplane_records::batch::{Batch, BatchMember, BatchPlace};
use toolplane_records::scheduling::{ResourceLock, SchedulerPolicy};
use toolplane_store::ScoreRange;

use super::shared::Cluster;
use super::*;

/// How long a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a call shares with others.
#[derive(Clone, Default)]
struct Share {
    batch: Option<BatchPlace>,
    locks: Vec<ResourceLock>,
    domain: Option<SmolStr>,
}

fn exclusive(key: &str) -> Vec<ResourceLock> {
    vec![ResourceLock { key: key.into(), mode: LockMode::Exclusive }]
}

/// The admission of a call like any other, but with what it shares.
async fn sharing(bench: &Bench, id: &str, share: Share) -> Admission {
    let plain = bench.admission(ask(id)).await;
    let record = plain.transition.invocation.clone();
    let acceptance = Acceptance {
        invocation_id: record.invocation_id.clone(),
        tenant: record.tenant,
        tool_id: record.tool_id,
        tool_name: record.tool_name,
        surface_id: None,
        surface_moment: None,
        native_call_id: None,
        native_ids: Default::default(),
        inputs: record.inputs,
        actor_ref: None,
        runtime_refs: vec![],
        telemetry_refs: vec![],
        scheduler_policy_ref: None,
        idempotency_key: None,
        request_digest: record.request_digest,
        deadline_at: None,
        safety: record.safety,
        mutations: vec![],
        session_ref: None,
        band: record.band,
        resource_locks: share.locks,
        lock_domain: share.domain,
        background: false,
        held_by_batch: share.batch.is_some(),
        hooks: Vec::new(),
        caller_ref: None,
        caller_actor: None,
        keeping: Default::default(),
        assurance: None,
        inherited_taints: Vec::new(),
        permission_mode: None,
        batch: share.batch,
    };
    let ready = Preparation::Ready { decision: plain.decisions[0].clone(), dispatch: record.dispatch.unwrap() };
    let transition = accept(acceptance, ready, record.created_at).unwrap();
    Admission { transition, ..*plain }
}

async fn batch_of(bench: &Bench, name: &str, count: u32, policy: SchedulerPolicy) -> BatchAdmission {
    let batch_id = BatchId::from_trusted(name);
    let (mut members, mut admissions) = (Vec::new(), Vec::new());
    for index in 0..count {
        let id = format!("{name}-{index}");
        let place = BatchPlace { batch_id: batch_id.clone(), index };
        admissions.push(sharing(bench, &id, Share { batch: Some(place), ..Share::default() }).await);
        members.push(BatchMember {
            invocation_id: InvocationId::from_trusted(id),
            tool_name: "n.t".into(),
            depends_on: vec![],
            sibling_failure_policy: None,
            interrupt_behavior: InterruptBehavior::Block,
            background: false,
            released: false,
            ended: None,
            yield_seq: None,
            canceled_by: None,
            discarded: false,
        });
    }
    let batch = Batch {
        schema_version: toolplane_records::schema_version(),
        batch_id,
        tenant: TenantId::unauthenticated(),
        policy,
        session_ref: None,
        lock_domain: None,
        request_digest: toolplane_records::payload::Digest::of(name.as_bytes()),
        idempotency_key: None,
        created_at: bench.parts.calls.now().await.unwrap(),
        members,
        next_yield: 0,
        yields: 0,
        ended_at: None,
    };
    BatchAdmission { batch, admissions }
}

/// Everything a watcher is told: positions of results in their order, and each call's log.
async fn told(mut watch: BatchWatch) -> (Vec<u32>, std::collections::BTreeMap<u32, Vec<LogEvent>>, Batch) {
    let (mut order, mut logs) = (Vec::new(), std::collections::BTreeMap::<u32, Vec<LogEvent>>::new());
    loop {
        match tokio::time::timeout(PATIENCE, watch.next()).await.unwrap().unwrap().unwrap() {
            BatchNews::Items(items) => {
                for item in items {
                    logs.entry(item.index).or_default().extend(item.events);
                    if item.terminal.is_some() {
                        order.push(item.index);
                        assert_eq!(item.yield_seq, order.len() as u64);
                    }
                }
            }
            BatchNews::End(end) => {
                assert!(watch.next().await.unwrap().is_none(), "nothing follows the end");
                return (order, logs, end.batch.unwrap());
            }
        }
    }
}

/// Nothing remains to be coordinated.
async fn assert_quiet(bench: &Bench) {
    let start = std::time::Instant::now();
    while !bench.store.indexes(keys::COORDINATION).await.unwrap().is_empty() {
        assert!(start.elapsed() < PATIENCE, "scopes are left: {:?}", bench.store.indexes(keys::COORDINATION).await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_runs_over_two_schedulers_and_both_tell_the_same() {
    let cluster = Cluster::new();
    let (one, other) = (cluster.member(), cluster.member());
    let (here, there) = (Bench::over(one.clone()).await, Bench::over(other.clone()).await);
    here.eager_worker("w1", 1).await;
    there.eager_worker("w2", 1).await;
    let policy = SchedulerPolicy { max_parallel: Some(3), ..SchedulerPolicy::default() };
    let admission = batch_of(&here, "batch_two", 12, policy).await;
    // Answers of some commits are lost on the way: nothing happens twice for that.
    one.swallow.store(2, Ordering::SeqCst);
    let AdmittedBatch::New(batch, records) = here.parts.groups.admit_batch(admission).await.unwrap() else {
        panic!("not accepted")
    };
    assert_eq!(records.len(), 12);
    assert_eq!(batch.members.iter().filter(|member| member.released).count(), 3, "released in the acceptance itself");
    other.swallow.store(2, Ordering::SeqCst);
    let watches = [
        here.parts.groups.watch_batch(&batch, BatchStart::default()),
        there.parts.groups.watch_batch(&batch, BatchStart::default()),
    ];
    for watch in watches {
        let (order, logs, end) = told(watch).await;
        assert_eq!(order, (0..12).collect::<Vec<_>>());
        for log in logs.values() {
            assert!(log.iter().zip(1..).all(|(event, seq)| event.seq == seq), "a gap in {log:?}");
            assert_eq!(log.last().unwrap().class, EventClass::Yielded);
        }
        assert_eq!((end.yields, end.next_yield, end.ended_at.is_some()), (12, 12, true));
    }
    assert_quiet(&here).await;
    // A watcher that comes back late, knowing some, is told the rest.
    let start =
        BatchStart { after_yield_seq: 10, from: (0..12).map(|index| (index, 10_000)).collect(), traces: vec![] };
    let mut watch = here.parts.groups.watch_batch(&batch, start);
    let mut late = Vec::new();
    while let Some(BatchNews::Items(items)) = watch.next().await.unwrap() {
        late.extend(items.into_iter().map(|item| (item.index, item.yield_seq, item.events.len())));
    }
    assert_eq!(late, [(10, 11, 0), (11, 12, 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_accepted_whole_or_not_at_all() {
    let bench = Bench::new().await;
    bench.admit(ask("batch_part-1")).await.unwrap();
    let admission = batch_of(&bench, "batch_part", 3, SchedulerPolicy::default()).await;
    let outcome = bench.parts.groups.admit_batch(admission).await.unwrap();
    assert!(matches!(outcome, AdmittedBatch::Taken(id) if id.as_str() == "batch_part-1"));
    assert!(
        bench
            .parts
            .groups
            .batch(&TenantId::unauthenticated(), &BatchId::from_trusted("batch_part"))
            .await
            .unwrap()
            .is_none()
    );
    let id = call_key("batch_part-0");
    assert!(matches!(bench.parts.calls.records().get(&id).await, Err(RecordError::NotFound)));

    let admission = batch_of(&bench, "batch_whole", 3, SchedulerPolicy::default()).await;
    assert!(matches!(bench.parts.groups.admit_batch(admission).await.unwrap(), AdmittedBatch::New(..)));
    let again = batch_of(&bench, "batch_whole", 3, SchedulerPolicy::default()).await;
    assert!(matches!(bench.parts.groups.admit_batch(again).await.unwrap(), AdmittedBatch::Exists(_)));
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_scheduler_left_unsettled_another_settles() {
    let cluster = Cluster::new();
    let dead = Bench::over(cluster.member()).await;
    // It accepts, but nothing of it runs any more.
    dead.running.abort();
    let share = Share { locks: exclusive("db"), domain: Some("d".into()), ..Share::default() };
    for name in ["first", "left"] {
        let admission = sharing(&dead, name, share.clone()).await;
        dead.parts.admissions.admit(Box::new(admission)).await.unwrap();
    }
    let id = call_key("left");
    assert_eq!(dead.parts.calls.records().get(&id).await.unwrap().holds, [Hold::Locks], "the first has the lock");

    let alive = Bench::over(cluster.member()).await;
    alive.eager_worker("w1", 1).await;
    let (log, terminal) = follow(alive.parts.watchers.watch(&id, 1).await.unwrap()).await;
    assert_eq!(terminal.result.status, ResultStatus::Succeeded);
    assert!(log.iter().any(|event| event.class == EventClass::ExtLockGranted));
    assert_quiet(&alive).await;
    let idle = alive.store.scan("idle/locks", ScoreRange::all(), 10).await.unwrap();
    assert_eq!(idle.len(), 1, "an idle domain is noted, so that its record can be removed");
}

/// A call that shares what nobody else uses costs as much as one that shares nothing, until it ends.
#[tokio::test(start_paused = true)]
async fn free_locks_are_granted_by_the_commit_that_accepts_the_call() {
    let cluster = Cluster::new();
    let member = cluster.member();
    let bench = Bench::with(member.clone(), PartsOptions { tick_ms: 3_600_000, ..options() }).await;
    let (_link, mut messages) = bench.worker(2, vec![]).await;
    let share = |mode| Share {
        locks: vec![ResourceLock { key: "context".into(), mode }],
        domain: Some("session:s".into()),
        ..Share::default()
    };
    bench.admit(ask("inv_warm")).await.unwrap();
    finish(&bench.parts.calls, &offered(&mut messages).await.1).await.unwrap();
    let before = member.commits.load(Ordering::SeqCst);
    let first = sharing(&bench, "first", share(LockMode::Shared)).await;
    bench.parts.admissions.admit(Box::new(first)).await.unwrap();
    let (record, lease, _) = offered(&mut messages).await;
    assert_eq!(member.commits.load(Ordering::SeqCst) - before, 1, "accepted, granted and claimed");
    assert!(record.lock_fence.is_some() && record.holds.is_empty());
    // Beside it, and after it has ended and its ticket may not be taken back yet.
    for name in ["beside", "after"] {
        let admission = sharing(&bench, name, share(LockMode::Shared)).await;
        bench.parts.admissions.admit(Box::new(admission)).await.unwrap();
        let (_, lease, _) = offered(&mut messages).await;
        finish(&bench.parts.calls, &lease).await.unwrap();
    }
    // One that excludes the first waits for its end, and none overtakes it.
    let alone = sharing(&bench, "alone", share(LockMode::Exclusive)).await;
    bench.parts.admissions.admit(Box::new(alone)).await.unwrap();
    let late = sharing(&bench, "late", share(LockMode::Shared)).await;
    bench.parts.admissions.admit(Box::new(late)).await.unwrap();
    for name in ["alone", "late"] {
        let record = bench.parts.calls.records().get(&call_key(name)).await.unwrap();
        assert_eq!(record.holds, [Hold::Locks], "{name}");
    }
    finish(&bench.parts.calls, &lease).await.unwrap();
    for name in ["alone", "late"] {
        let (record, lease, _) = offered(&mut messages).await;
        assert_eq!(record.invocation_id.as_str(), name);
        finish(&bench.parts.calls, &lease).await.unwrap();
    }
    assert_quiet(&bench).await;
}

/// A worker that notes how many calls it runs at once, and the fences it was given.
async fn counting_worker(bench: &Bench, name: &str, running: Arc<AtomicUsize>, most: Arc<AtomicUsize>) {
    let (_, mut messages) = bench.worker_named(name, 4, vec![]).await;
    let calls = bench.parts.calls.clone();
    tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            let WorkerMessage::Offer { record, .. } = message else { continue };
            let (calls, running, most) = (calls.clone(), running.clone(), most.clone());
            tokio::spawn(async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(3)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                let lease = LeaseKey::of(&record, record.lease.as_ref().unwrap());
                finish(&calls, &lease).await.unwrap();
            });
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_excludes_over_two_schedulers_and_fences_follow_the_tickets() {
    let cluster = Cluster::new();
    let benches = [Bench::over(cluster.member()).await, Bench::over(cluster.member()).await];
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for (number, bench) in benches.iter().enumerate() {
        counting_worker(bench, &format!("w{number}"), running.clone(), most.clone()).await;
    }
    let share = Share { locks: exclusive("db"), domain: Some("session:s".into()), ..Share::default() };
    let mut ids = Vec::new();
    for number in 0..24 {
        let bench = &benches[number % 2];
        let admission = sharing(bench, &format!("locked-{number:02}"), share.clone()).await;
        ids.push(admission.transition.id().clone());
        bench.parts.admissions.admit(Box::new(admission)).await.unwrap();
    }
    let mut fences = Vec::new();
    for id in &ids {
        follow(benches[0].parts.watchers.watch(&call_key(id), 1).await.unwrap()).await;
        let record = benches[0].parts.calls.records().get(&call_key(id)).await.unwrap();
        fences.push((record.lock_fence.unwrap(), record.started_at.unwrap(), id.clone()));
    }
    assert_eq!(most.load(Ordering::SeqCst), 1, "two calls held one lock");
    fences.sort();
    assert!(fences.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{fences:?}");
    assert_quiet(&benches[0]).await;
}

#[tokio::test(start_paused = true)]
async fn ended_batches_and_idle_domains_are_removed_when_their_time_is_over() {
    let bench = Bench::new().await;
    bench.eager_worker("w1", 2).await;
    let admission = batch_of(&bench, "batch_old", 2, SchedulerPolicy::default()).await;
    let AdmittedBatch::New(batch, _) = bench.parts.groups.admit_batch(admission).await.unwrap() else { panic!() };
    told(bench.parts.groups.watch_batch(&batch, BatchStart::default())).await;
    let share = Share { locks: exclusive("db"), domain: Some("d".into()), ..Share::default() };
    let admission = sharing(&bench, "locked", share).await;
    bench.parts.admissions.admit(Box::new(admission)).await.unwrap();
    follow(bench.parts.watchers.watch(&call_key("locked"), 1).await.unwrap()).await;
    assert_quiet(&bench).await;

    let now = bench.parts.calls.now().await.unwrap();
    let retention = GroupRetention::new(bench.parts.calls.storage().clone(), 1_000_000, 1_000_000);
    retention.tidy(now).await.unwrap();
    assert!(bench.parts.groups.batch(&batch.tenant, &batch.batch_id).await.unwrap().is_some(), "too early");
    let later = now.plus_millis(2 * 3_600_000);
    retention.tidy(later).await.unwrap();
    assert!(bench.parts.groups.batch(&batch.tenant, &batch.batch_id).await.unwrap().is_none());
    for index in ["idle/locks", "ended-batches", "batches/default"] {
        assert!(bench.members(index).await.is_empty(), "{index} is not empty");
    }
}

/// The same of a batch: its key leads to it under whatever id, and is remembered as long as it says.
#[tokio::test(start_paused = true)]
async fn the_key_of_a_batch_with_an_id_of_its_own_leads_to_it() {
    let bench = Bench::new().await;
    bench.eager_worker("w1", 2).await;
    let with_key = async |name: &str| {
        let mut admission = batch_of(&bench, name, 2, SchedulerPolicy::default()).await;
        admission.batch.idempotency_key = Some("k".into());
        bench.parts.groups.admit_batch(admission).await
    };
    let AdmittedBatch::New(batch, _) = with_key("batch_a").await.unwrap() else { panic!() };
    told(bench.parts.groups.watch_batch(&batch, BatchStart::default())).await;
    let AdmittedBatch::Exists(known) = with_key("batch_b").await.unwrap() else { panic!("accepted twice") };
    assert_eq!(known.batch_id, batch.batch_id);
    assert_quiet(&bench).await;

    let retention = GroupRetention::new(bench.parts.calls.storage().clone(), 1_000_000, 2_000_000);
    retention.tidy(bench.parts.calls.now().await.unwrap().plus_millis(1_100_000)).await.unwrap();
    assert!(bench.parts.groups.batch(&batch.tenant, &batch.batch_id).await.unwrap().is_none());
    let again = with_key("batch_c").await.unwrap_err();
    assert!(matches!(again, RecordError::KeyExpired { .. }), "{again}");
    let notes = bench.members("dedupe").await;
    assert_eq!(notes.len(), 1, "forgotten when its window is over: {notes:?}");
}

/// Calls of a batch that wait for each other are waiting calls from their acceptance on, and none when one of them has failed and
/// the others were canceled for it: both are decided by the batch itself.
#[tokio::test(start_paused = true)]
async fn calls_held_by_their_batch_wait_until_it_lets_them_go() {
    let bench = Bench::new().await;
    let policy = SchedulerPolicy {
        max_parallel: Some(1),
        sibling_failure_policy: Some(SiblingFailurePolicy::CancelSiblings),
        ..SchedulerPolicy::default()
    };
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    let admission = batch_of(&bench, "batch_held", 4, policy).await;
    let AdmittedBatch::New(batch, _) = bench.parts.groups.admit_batch(admission).await.unwrap() else {
        panic!("refused")
    };
    let (_, lease, _) = offered(&mut messages).await;
    let waiting = keys::waiting(&TenantId::unauthenticated());
    assert_eq!(bench.members(&waiting).await.len(), 3, "all but the one that was claimed");
    let failed = Box::new(ReportedOutcome { status: ResultStatus::Failed, ..*succeeded("") });
    let command = |_: &Invocation| Command::Complete { lease: lease.clone(), outcome: failed.clone() };
    bench.parts.calls.command(&lease.call(), command).await.unwrap();
    let (_, _, ended) = told(bench.parts.groups.watch_batch(&batch, BatchStart::default())).await;
    assert!(ended.ended_at.is_some());
    assert_eq!(bench.members(&waiting).await, Vec::<String>::new());
    assert_eq!(bench.audit.repairs(), 0, "nothing had to be repaired");
}
