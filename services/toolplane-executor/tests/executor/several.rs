//! Several schedulers: none of them is missed.

use std::sync::atomic::Ordering;

use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{GoAway, StartGranted};

use crate::fake::{Connection, Fake};
use crate::worker::{Call, Worker, lease, toolbox};

/// Two schedulers and a worker that knows both: the one it is connected to, the other one, and the stream.
async fn pair() -> (Fake, Fake, Worker, Connection) {
    let (mut one, mut other) = (Fake::start().await, Fake::start().await);
    let worker = Worker::start_among(&[&one.url, &other.url], toolbox().await, |_| {});
    tokio::select! {
        connection = one.connection() => (one, other, worker, connection),
        connection = other.connection() => (other, one, worker, connection),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_one_dies_everything_goes_on_with_the_other() {
    let (first, mut second, _worker, mut connection) = pair().await;
    let (running, offer) = Call::shell("sleep 2; seq 1 40000").offer("running");
    connection.send(offer);
    let (ended, offer) = Call::native("native.noop", "{}").offer("ended");
    connection.send(offer);
    let (asking, offer) = Call::native("native.noop", "{}").needs_grant().offer("asking");
    connection.send(offer);
    let first_end = connection.done(&ended).await;
    first.beats.renews(&running).await;
    // It dies whole: its stream, its heartbeats, its uploads.
    first.beats.away.store(true, Ordering::SeqCst);
    first.uploads.failures.store(u32::MAX, Ordering::SeqCst);
    first.close();
    drop(connection);
    let mut connection = second.connection().await;
    let mut held = connection.hello.held.clone();
    held.sort_by(|a, b| a.invocation_id.cmp(&b.invocation_id));
    assert_eq!(held, [asking.clone(), running.clone()]);
    let told = &connection.hello.finished[..];
    assert!(matches!(told, [end] if end.lease.as_ref() == Some(&ended) && end.outcome.as_deref() == Some(&first_end)));
    connection.acknowledge(&ended);
    // The question whether it may start is asked again, and both calls end as if nothing had been.
    let asked =
        |report: &Report| matches!(report, Report::StartRequested(start) if start.lease.as_ref() == Some(&asking));
    connection.until("a request to start", |report| asked(report).then_some(())).await;
    connection.send(Command::StartGranted(StartGranted { lease: Some(asking.clone()) }));
    assert_eq!(connection.done(&asking).await.status, "succeeded");
    second.beats.renews(&running).await;
    let outcome = connection.done(&running).await;
    assert_eq!(outcome.status, "succeeded");
    assert!(second.uploads.kept.lock().unwrap().contains_key("result"), "kept through the other one");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_goes_is_left_at_once_with_calls_running() {
    let (first, mut second, _worker, mut connection) = pair().await;
    let (running, offer) = Call::native("native.sleep", r#"{"ms":60000}"#).offer("running");
    connection.send(offer);
    first.beats.renews(&running).await;
    connection.send(Command::GoAway(GoAway { reason: "draining".to_owned(), schedulers: Vec::new() }));
    connection.until("a goodbye", |report| matches!(report, Report::Goodbye(_)).then_some(())).await;
    drop(connection);
    let connection = second.connection().await;
    assert_eq!(connection.hello.held, [running]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_goes_may_say_who_stays() {
    let (mut first, mut second) = (Fake::start().await, Fake::start().await);
    let _worker = Worker::start(&first.url).await;
    let connection = first.connection().await;
    let away = GoAway { reason: "draining".to_owned(), schedulers: vec![second.url.clone()] };
    connection.send(Command::GoAway(away));
    drop(second.connection().await);
    second.close();
    // A scheduler that was only heard of is forgotten when it fails.
    first.connection().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_comes_twice_is_answered_twice_and_run_once() {
    let mut fake = Fake::start().await;
    let _worker = Worker::start(&fake.url).await;
    let mut connection = fake.connection().await;
    let offer = || Call::native("native.noop", "{}").needs_grant().offer("twice").1;
    connection.send(offer());
    let asked = |report: &Report| matches!(report, Report::StartRequested(_)).then_some(());
    connection.until("a request to start", asked).await;
    connection.send(offer());
    connection.until("the request again", asked).await;
    connection.send(Command::StartGranted(StartGranted { lease: Some(lease("twice")) }));
    let end = connection.done(&lease("twice")).await;
    connection.send(offer());
    assert_eq!(connection.done(&lease("twice")).await, end, "its end is said again, and it did not run again");
}
