//! One call at a time: acceptance, claim, lease, end.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_call_meets_a_free_worker_in_one_commit_and_its_watcher_sees_every_event() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(2, vec![]).await;
    let id = call_key("inv_a");
    let watch = bench.parts.watchers.watch_new(&id);
    let Admitted::New(record) = bench.parts.admissions.admit(bench.call("inv_a", true).await).await.unwrap() else {
        panic!()
    };
    assert_eq!(record.status, InvocationStatus::Running, "idempotent calls start with the claim");
    let (_, lease, input) = offered(&mut messages).await;
    assert_eq!(input.text(), "{\"a\":1}");
    finish(&bench.parts.calls, &lease).await.unwrap();
    let (log, terminal) = follow(watch).await;
    assert_eq!(terminal.result.status, ResultStatus::Succeeded);
    assert_eq!(log.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=log.len() as u64).collect::<Vec<_>>());
    for from in 1..=log.len() as u64 {
        let (suffix, _) = follow(bench.parts.watchers.watch(&id, from).await.unwrap()).await;
        assert_eq!(suffix, log[usize::try_from(from).unwrap() - 1..], "a watch from {from} misses nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_id_is_accepted_once() {
    let bench = Bench::new().await;
    let (first, second) = (bench.call("inv_a", true).await, bench.call("inv_a", true).await);
    assert!(matches!(bench.parts.admissions.admit(first).await.unwrap(), Admitted::New(_)));
    assert!(matches!(bench.parts.admissions.admit(second).await.unwrap(), Admitted::Exists(_)));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_is_offered_when_a_worker_comes_and_a_stale_lease_changes_nothing() {
    let bench = Bench::new().await;
    bench.parts.admissions.admit(bench.call("inv_a", false).await).await.unwrap();
    let (link, mut messages) = bench.worker(1, vec![]).await;
    let (record, lease, _) = offered(&mut messages).await;
    assert_eq!(record.status, InvocationStatus::Queued, "a non-idempotent call waits for its start");
    let start = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 15_000 };
    bench.parts.calls.command(&lease.call(), start).await.unwrap();
    let stale = LeaseKey { lease_no: lease.lease_no + 1, ..lease.clone() };
    let refused = finish(&bench.parts.calls, &stale).await.unwrap_err();
    assert!(matches!(refused, RecordError::Refused { refusal: Refusal::Fenced, .. }));
    finish(&bench.parts.calls, &lease).await.unwrap();
    assert!(link.in_flight().is_empty(), "the slot is free again");
    let again = finish(&bench.parts.calls, &lease).await.unwrap_err();
    assert!(matches!(again, RecordError::Refused { refusal: Refusal::Terminal(_), .. }));
}

#[tokio::test(start_paused = true)]
async fn many_calls_through_few_slots_each_end_once() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(4, vec![]).await;
    let calls = bench.parts.calls.clone();
    tokio::spawn(async move {
        loop {
            let (_, lease, _) = offered(&mut messages).await;
            let calls = calls.clone();
            tokio::spawn(async move { finish(&calls, &lease).await.unwrap() });
        }
    });
    let mut watches = Vec::new();
    for number in 0..200 {
        let id = format!("inv_{number}");
        let watch = bench.parts.watchers.watch_new(&call_key(&id));
        bench.parts.admissions.admit(bench.call(&id, true).await).await.unwrap();
        watches.push(watch);
    }
    for watch in watches {
        assert_eq!(follow(watch).await.1.result.status, ResultStatus::Succeeded);
    }
    let left = bench.store.indexes("").await.unwrap();
    assert_eq!(left, ["ended", "invocations/default"], "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn a_tenant_cannot_fill_the_queue_without_bound() {
    let bench = Bench::new().await;
    let mut refused = 0;
    for number in 0..1_200 {
        let call = bench.call(&format!("inv_{number}"), true).await;
        match bench.parts.admissions.admit(call).await {
            Ok(_) => {}
            Err(RecordError::QueueFull { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        if number % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(refused >= 100, "{refused} calls were refused");
    let refused = call_key("inv_1199");
    assert!(
        matches!(bench.parts.calls.records().get(&refused).await, Err(RecordError::NotFound)),
        "nothing is stored of a refused call"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pool_every_worker_declines_is_a_capability_gap() {
    let bench = Bench::new().await;
    let gap =
        PoolGap { pool: "native".into(), reason_code: "sandbox_unavailable".into(), message: "no sandbox".into() };
    bench.parts.admissions.admit(bench.call("inv_a", true).await).await.unwrap();
    let _worker = bench.worker(1, vec![gap]).await;
    let (_, terminal) = follow(bench.parts.watchers.watch(&call_key("inv_a"), 1).await.unwrap()).await;
    let error = terminal.result.error.clone().unwrap();
    assert_eq!(
        (error.error_class, error.error_code.as_str()),
        (ErrorClass::CapabilityGap, "placement.sandbox_unavailable")
    );
}

#[tokio::test(start_paused = true)]
async fn a_restarted_worker_ends_its_earlier_leases_and_the_next_scheduler_goes_on() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(2, vec![]).await;
    bench.parts.admissions.admit(bench.call("inv_safe", true).await).await.unwrap();
    bench.parts.admissions.admit(bench.call("inv_once", false).await).await.unwrap();
    for _ in 0..2 {
        let (_, lease, _) = offered(&mut messages).await;
        let start = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 15_000 };
        bench.parts.calls.command(&lease.call(), start).await.unwrap();
    }
    let again = Bench::over(bench.store.clone()).await;
    assert_eq!(lost::end_leases(&again.parts.calls, &WorkerId::from_trusted("w1"), "second").await.unwrap(), 2);
    let once = again.parts.calls.records().result(&call_key("inv_once")).await.unwrap().unwrap();
    assert_eq!(once.result.error.unwrap().error_code, "exec.outcome_unknown");
    let (_link, mut messages) = again.worker(1, vec![]).await;
    let (record, lease, _) = offered(&mut messages).await;
    assert_eq!(record.invocation_id.as_str(), "inv_safe");
    assert!(finish(&again.parts.calls, &lease).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_being_changed_at_its_turn_has_it_as_soon_as_that_is_over() {
    // The sweep would ring too.
    let bench = Bench::with(Arc::new(memory()), PartsOptions { tick_ms: 3_600_000, ..options() }).await;
    bench.admit(ask("inv_a")).await.unwrap();
    let changed = bench.parts.calls.lock(&call_key("inv_a")).await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    // Long enough for the dispatcher to pass over the call, and shorter than the pause until its own next look.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(messages.try_recv().is_err(), "nobody is offered what is being changed");
    let free = tokio::time::Instant::now();
    bench.parts.calls.release(vec![(call_key("inv_a"), changed)]);
    offered(&mut messages).await;
    assert_eq!(free.elapsed(), Duration::ZERO);
}
