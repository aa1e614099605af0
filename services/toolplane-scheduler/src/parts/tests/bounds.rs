//! Bounds: running, waiting and rates, exactly, however many race for the last place.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::spread::Spread;
use super::*;

fn bounded(bounds: ConfiguredBounds) -> PartsOptions {
    PartsOptions { bounds, ..options() }
}

#[tokio::test(start_paused = true)]
async fn exactly_as_many_wait_as_may_however_many_ask_at_once() {
    for shards in [1, 2, 5] {
        as_many_wait_as_may(&Spread::over(shards)).await;
    }
}

async fn as_many_wait_as_may(cluster: &Spread) {
    let few = || cluster.options(bounded(ConfiguredBounds { max_waiting: 25, ..ConfiguredBounds::default() }));
    let benches = [Bench::with(cluster.member(), few()).await, Bench::with(cluster.member(), few()).await];
    let asks = (0..200).map(|number| benches[number % 2].admit(ask(format!("inv_{number}"))));
    let answers = futures_util::future::join_all(asks).await;
    let (mut accepted, mut refused) = (0, 0);
    for answer in &answers {
        match answer {
            Ok(Admitted::New(_)) => accepted += 1,
            Err(RecordError::QueueFull { waiting: 25, retry_after, .. }) => {
                assert!((50..=30_000).contains(&retry_after.as_millis()), "{retry_after:?}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((accepted, refused), (25, 175));
    for (number, answer) in answers.iter().enumerate().filter(|(_, answer)| answer.is_err()) {
        let id = call_key(format!("inv_{number}"));
        assert!(
            matches!(benches[0].parts.calls.records().get(&id).await, Err(RecordError::NotFound)),
            "{answer:?} left something"
        );
    }
    // Another tenant has its own places, and what is claimed makes room.
    benches[0].admit(Ask { tenant: "other", ..ask("inv_other") }).await.unwrap();
    let _worker = benches[1].eager_worker("w1", 4).await;
    for number in 0..100 {
        match benches[0].admit(ask(format!("inv_again_{number}"))).await {
            Ok(_) => return,
            Err(RecordError::QueueFull { .. }) => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("no place became free");
}

/// The most calls that ran at a time, by the offers of two eager workers of two schedulers.
async fn most_running(cluster: &Spread, bounds: ConfiguredBounds, calls: Vec<Ask>) -> (usize, usize) {
    let (running, most, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), calls.len());
    let benches = [
        Bench::with(cluster.member(), cluster.options(bounded(bounds.clone()))).await,
        Bench::with(cluster.member(), cluster.options(bounded(bounds))).await,
    ];
    for (number, bench) in benches.iter().enumerate() {
        let (_, mut messages) = bench.worker_named(&format!("w{number}"), 16, vec![]).await;
        let (calls, running, most) = (bench.parts.calls.clone(), running.clone(), most.clone());
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                let WorkerMessage::Offer { record, .. } = message else { continue };
                let lease = LeaseKey::of(&record, record.lease.as_ref().unwrap());
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                let (calls, running) = (calls.clone(), running.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    finish(&calls, &lease).await.unwrap();
                });
            }
        });
    }
    let watches: Vec<_> = calls.iter().map(|call| benches[0].parts.watchers.watch_new(&call_key(&call.id))).collect();
    let asks = calls.into_iter().enumerate().map(|(number, call)| benches[number % 2].admit(call));
    for answer in futures_util::future::join_all(asks).await {
        answer.unwrap();
    }
    for watch in watches {
        follow(watch).await;
    }
    for index in ["running/tenant/default", "running/tool/tool_n.slow", "waiting/default"] {
        assert_eq!(benches[0].members(index).await, Vec::<String>::new(), "{index}");
    }
    (most.load(Ordering::SeqCst), ended)
}

#[tokio::test(start_paused = true)]
async fn a_tenant_runs_no_more_calls_than_it_may() {
    let bounds = ConfiguredBounds { max_running_per_tenant: 3, ..ConfiguredBounds::default() };
    for shards in [1, 3] {
        let calls = (0..60).map(|number| ask(format!("inv_{number}"))).collect();
        let (most, _) = most_running(&Spread::over(shards), bounds.clone(), calls).await;
        assert_eq!(most, 3, "never more, and no place stays empty");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_runs_no_more_calls_than_it_may_and_holds_no_other_tool_up() {
    let tools = vec![ToolBound { tool: "n.s*".into(), max_running: 2, rate_per_s: 0 }];
    let bounds = ConfiguredBounds { tools, ..ConfiguredBounds::default() };
    let calls = (0..40).map(|number| Ask { tool: "n.slow", ..ask(format!("inv_{number}")) });
    for shards in [1, 4] {
        let (most, _) = most_running(&Spread::over(shards), bounds.clone(), calls.clone().collect()).await;
        assert_eq!(most, 2);
    }

    let bench = Bench::with(Arc::new(memory()), bounded(bounds)).await;
    for number in 0..10 {
        bench.admit(Ask { tool: "n.slow", ..ask(format!("inv_slow_{number}")) }).await.unwrap();
    }
    bench.admit(ask("inv_quick")).await.unwrap();
    let (_link, mut messages) = bench.worker(8, vec![]).await;
    let mut offers = Vec::new();
    for _ in 0..3 {
        offers.push(offered(&mut messages).await.0.tool_name.clone());
    }
    offers.sort_unstable();
    assert_eq!(offers, ["n.slow", "n.slow", "n.t"], "the other tool's call passes those that may not run");
    let id = call_key("inv_express");
    let Admitted::New(record) = bench.admit(Ask { ..ask("inv_express") }).await.unwrap() else { panic!() };
    assert_eq!(record.status, InvocationStatus::Running, "{id} need not wait for those that may not run either");
    let Admitted::New(record) = bench.admit(Ask { tool: "n.slow", ..ask("inv_late") }).await.unwrap() else { panic!() };
    assert_eq!(record.status, InvocationStatus::Queued, "an express claim keeps the bound too");
}

#[tokio::test(start_paused = true)]
async fn rates_are_kept_per_tenant_and_tool_and_a_refusal_says_when_to_come_back() {
    let tools = vec![ToolBound { tool: "n.rare".into(), max_running: 0, rate_per_s: 1 }];
    let bounds = ConfiguredBounds { rate_per_tenant: 1, rate_burst: 5, tools, ..ConfiguredBounds::default() };
    let bench = Bench::with(Arc::new(memory()), bounded(bounds)).await;
    let mut accepted = 0;
    for number in 0..20 {
        match bench.admit(ask(format!("inv_{number}"))).await {
            Ok(_) => accepted += 1,
            Err(RecordError::TooFast { subject, retry_after }) => {
                assert_eq!(subject, "tenant/default");
                assert!((50..=1_200).contains(&retry_after.as_millis()), "{retry_after:?}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!((5..=7).contains(&accepted), "{accepted} of a burst of 5");
    bench.admit(Ask { tenant: "b", tool: "n.rare", ..ask("inv_rare") }).await.unwrap();
    let again = bench.admit(Ask { tenant: "c", tool: "n.rare", ..ask("inv_rare_2") }).await.unwrap_err();
    assert!(matches!(&again, RecordError::TooFast { subject, .. } if subject == "tool/tool_n.rare"), "{again}");
    assert_eq!(bench.members("living").await.len(), accepted + 1, "nothing is stored of a refused call");
}

#[tokio::test(start_paused = true)]
async fn a_malformed_pattern_is_refused_at_start() {
    let tools =
        vec![ToolBound { tool: "n.[".into(), ..ToolBound { tool: String::new(), max_running: 1, rate_per_s: 0 } }];
    let options = bounded(ConfiguredBounds { tools, ..ConfiguredBounds::default() });
    let opened = Parts::open(Arc::new(memory()), objects(), options, outside());
    assert!(matches!(opened.await, Err(RecordError::Pattern(_))));
}

/// Without the word that a place is free, the next call would wait for the next look into the store.
#[tokio::test(start_paused = true)]
async fn a_place_that_is_given_back_is_taken_at_once() {
    let options = bounded(ConfiguredBounds { max_running_per_tenant: 1, ..ConfiguredBounds::default() });
    let bench = Bench::with(Arc::new(memory()), options).await;
    let (_link, mut messages) = bench.worker(2, vec![]).await;
    bench.admit(ask("inv_a")).await.unwrap();
    bench.admit(ask("inv_b")).await.unwrap();
    let (_, first, _) = offered(&mut messages).await;
    // The clock is paused: this lets the dispatcher find that no place is left for the second one.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = tokio::time::Instant::now();
    finish(&bench.parts.calls, &first).await.unwrap();
    offered(&mut messages).await;
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
}
