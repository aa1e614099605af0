//! The life of a worker: lost streams, drain, missing sandbox, busy tools.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolplane_execution::{Toolbox, ToolboxOptions};
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{ExecutionDone, GoAway, StartGranted};

use crate::fake::{Fake, HEARTBEAT_MS};
use crate::worker::{Call, Worker, config, gone, lease, schedulers, there, toolbox};

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_on_without_a_stream_and_their_end_is_reported_until_acknowledged() {
    let mut fake = Fake::start().await;
    let worker = Worker::start(&fake.url).await;
    let connection = fake.connection().await;
    let (lease, offer) = Call::native("native.sleep", r#"{"ms":3000}"#).offer("held");
    connection.send(offer);
    fake.beats.renews(&lease).await;
    drop(connection);
    let mut connection = fake.connection().await;
    assert_eq!(connection.hello.held, std::slice::from_ref(&lease));
    assert_eq!(connection.hello.incarnation, worker.handle.incarnation());
    let first = connection.done(&lease).await;
    assert_eq!(first.status, "succeeded");
    drop(connection);
    connection = fake.connection().await;
    let done = ExecutionDone { lease: Some(lease.clone()), outcome: Some(Box::new(first)) };
    assert_eq!((connection.hello.held.len(), &connection.hello.finished), (0, &vec![done]), "not acknowledged");
    connection.acknowledge(&lease);
    fake.beats.rest().await;
    drop(connection);
    let hello = fake.connection().await.hello;
    assert!(hello.held.is_empty() && hello.finished.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_gives_back_what_it_can_and_says_what_it_had_to_stop() {
    let mut fake = Fake::start().await;
    let worker = Worker::start_with(&fake.url, toolbox().await, |options| options.drain = Duration::from_millis(400));
    let mut connection = fake.connection().await;
    let (once, offer) = Call::shell("sleep 6464.25").needs_grant().offer("once");
    connection.send(offer);
    let requested = |report: &Report| matches!(report, Report::StartRequested(start) if start.lease.as_ref() == Some(&lease("once")));
    connection.until("a request to start", |report| requested(report).then_some(())).await;
    connection.send(Command::StartGranted(StartGranted { lease: Some(once.clone()) }));
    let (again, offer) = Call::native("native.sleep", r#"{"ms":60000}"#).offer("again");
    connection.send(offer);
    let (waiting, offer) = Call::native("native.noop", "{}").needs_grant().offer("waiting");
    connection.send(offer);
    there("6464.25").await;
    fake.beats.renews(&waiting).await;
    worker.shutdown.request();
    let (mut released, mut done) = (Vec::new(), None);
    while released.len() < 2 || done.is_none() {
        let report = connection.until("the drain's reports", |report| match report {
            Report::Released(_) | Report::Done(_) => Some(report.clone()),
            _ => None,
        });
        match report.await {
            Report::Released(back) => {
                // While it drains, nothing new is taken.
                if released.is_empty() {
                    connection.send(Call::native("native.noop", "{}").offer("late").1);
                }
                released.push((back.lease.expect("of a lease").invocation_id, back.reason));
            }
            Report::Done(end) => done = end.outcome,
            _ => {}
        }
    }
    let outcome = done.expect("the non-idempotent call has an end");
    let error = outcome.error.expect("it says why");
    assert_eq!((outcome.status.as_str(), error.error_code.as_str()), ("synthetic_error", "exec.outcome_unknown"));
    assert_eq!(error.abort_reason, "runtime_shutdown");
    assert_eq!(error.side_effects.as_deref(), Some("unknown"));
    gone("6464.25").await;
    connection.acknowledge(&once);
    let mut rest = connection.listen(Duration::from_secs(5)).await;
    let more = rest.iter().filter_map(|report| match report {
        Report::Released(back) => Some((back.lease.clone().expect("of a lease").invocation_id, back.reason.clone())),
        _ => None,
    });
    released.extend(more);
    released.sort();
    let names = [again.invocation_id, "inv_late".to_owned(), waiting.invocation_id];
    assert_eq!(released, names.map(|name| (name, "draining".to_owned())));
    assert!(matches!(rest.pop(), Some(Report::Goodbye(_))), "the goodbye is last");
    drop(connection);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_gives_back_at_once_what_others_can_run_and_waits_for_the_rest() {
    let mut fake = Fake::start().await;
    let worker = Worker::start_with(&fake.url, toolbox().await, |options| options.drain = Duration::from_secs(60));
    let mut connection = fake.connection().await;
    let (again, offer) = Call::native("native.sleep", r#"{"ms":300000}"#).offer("again");
    connection.send(offer);
    let (once, offer) = Call::shell("sleep 3.25").needs_grant().offer("once");
    connection.send(offer);
    let requested = |report: &Report| matches!(report, Report::StartRequested(_)).then_some(());
    connection.until("a request to start", requested).await;
    connection.send(Command::StartGranted(StartGranted { lease: Some(once.clone()) }));
    there("3.25").await;
    worker.shutdown.request();
    let released = connection.until("a call given back", |report| match report {
        Report::Released(back) => back.lease.clone(),
        Report::Done(done) => panic!("{done:?} came first"),
        _ => None,
    });
    assert_eq!(released.await, again);
    assert_eq!(connection.done(&once).await.status, "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_goes_on_with_another_scheduler() {
    let (mut first, mut second) = (Fake::start().await, Fake::start().await);
    let worker = Worker::start_with(&first.url, toolbox().await, |options| options.drain = Duration::from_secs(60));
    let mut connection = first.connection().await;
    let (once, offer) = Call::shell("sleep 2.75").needs_grant().offer("once");
    connection.send(offer);
    let requested = |report: &Report| matches!(report, Report::StartRequested(_)).then_some(());
    connection.until("a request to start", requested).await;
    connection.send(Command::StartGranted(StartGranted { lease: Some(once.clone()) }));
    there("2.75").await;
    let away = GoAway { reason: "draining".to_owned(), schedulers: vec![second.url.clone()] };
    connection.send(Command::GoAway(away));
    connection.until("a goodbye", |report| matches!(report, Report::Goodbye(_)).then_some(())).await;
    worker.shutdown.request();
    drop(connection);
    let mut connection = second.connection().await;
    assert_eq!(connection.done(&once).await.status, "succeeded");
    connection.acknowledge(&once);
    connection.until("a goodbye", |report| matches!(report, Report::Goodbye(_)).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_worker_ends_at_once() {
    let mut fake = Fake::start().await;
    let dir = tempfile::tempdir().unwrap();
    let options = toolplane_executor::ExecutorOptions::from_config(&config(dir.path())).unwrap();
    let shutdown = toolplane_runtime::Shutdown::new();
    let tools = toolbox().await;
    let mut handle =
        toolplane_executor::ExecutorRole::open(options, tools, schedulers(&[&fake.url]), shutdown.clone()).unwrap();
    let mut connection = fake.connection().await;
    handle.connected().await;
    shutdown.request();
    connection.until("a goodbye", |report| matches!(report, Report::Goodbye(_)).then_some(())).await;
    connection.closed().await;
    drop(connection);
    tokio::time::timeout(crate::fake::PATIENCE, handle.ended()).await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_sent_away_finishes_and_comes_back() {
    let mut fake = Fake::start().await;
    let _worker = Worker::start(&fake.url).await;
    let mut connection = fake.connection().await;
    let (lease, offer) = Call::native("native.sleep", r#"{"ms":400}"#).offer("last");
    connection.send(offer);
    connection.send(Command::GoAway(GoAway { reason: "draining".to_owned(), schedulers: Vec::new() }));
    assert_eq!(connection.done(&lease).await.status, "succeeded");
    connection.acknowledge(&lease);
    connection.until("a goodbye", |report| matches!(report, Report::Goodbye(_)).then_some(())).await;
    drop(connection);
    let mut connection = fake.connection().await;
    assert!(connection.hello.held.is_empty());
    let free = connection.until("a wish for calls", |report| match report {
        Report::Ready(ready) => Some(ready.free_slots),
        _ => None,
    });
    assert_eq!(free.await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_sandbox_it_says_so_and_runs_nothing_that_needs_it() {
    let mut fake = Fake::start().await;
    let dir = tempfile::tempdir().unwrap();
    let mut options = ToolboxOptions::new(dir.path());
    options.sandbox.bwrap = Some(dir.path().join("no-bwrap-here"));
    let _worker = Worker::start_with(&fake.url, Arc::new(Toolbox::probe(options).await), |_| {});
    let mut connection = fake.connection().await;
    let gaps: Vec<_> = connection.hello.gaps.iter().map(|gap| (gap.pool.as_str(), gap.reason_code.as_str())).collect();
    assert!(gaps.contains(&("shell", "sandbox_unavailable")) && gaps.contains(&("process", "sandbox_unavailable")));
    assert!(connection.hello.gaps.iter().all(|gap| !gap.message.is_empty()));
    assert!(!connection.hello.pools.iter().any(|pool| pool == "shell" || pool == "process"));
    // If it is still offered, it is refused and not run.
    let marker = dir.path().join("ran");
    let (lease, offer) = Call::shell(&format!("touch {}", marker.display())).offer("unsandboxed");
    connection.send(offer);
    let outcome = connection.done(&lease).await;
    let error = outcome.error.expect("it says why");
    assert_eq!((outcome.status.as_str(), error.error_class.as_str()), ("failed", "capability_gap"));
    assert!(!marker.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_blocks_every_thread_delays_no_heartbeat() {
    let mut fake = Fake::start().await;
    let tools = toolbox().await;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let worker = {
        let _within = runtime.enter();
        Worker::start_with(&fake.url, tools, |_| {})
    };
    let connection = fake.connection().await;
    let (lease, offer) = Call::native("native.sleep", r#"{"ms":60000}"#).offer("beside");
    connection.send(offer);
    fake.beats.renews(&lease).await;
    let (begun, stop) = (Instant::now(), Duration::from_secs(2));
    let busy = runtime.spawn(async move { toolplane_wait::block(stop, "a tool that keeps its thread") });
    let mut beats = 0;
    while begun.elapsed() < stop - Duration::from_millis(500) {
        fake.beats.renews(&lease).await;
        beats += 1;
    }
    assert!(!busy.is_finished(), "the tools' only thread was blocked all the time");
    // A fifth of what is due, for slow machines.
    assert!(beats >= 1500 / HEARTBEAT_MS / 5, "{beats} heartbeats");
    drop(worker);
    runtime.shutdown_background();
}
