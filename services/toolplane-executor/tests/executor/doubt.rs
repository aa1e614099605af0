//! Leases: what renews them, what it costs, and what happens when they are not renewed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{CancelExecution, HeartbeatResponse, LeaseRef, StartGranted, Welcome};

use crate::fake::{Connection, Fake, MAX_INLINE, TERMS};
use crate::worker::{Call, Worker, gone, process_with, there, toolbox};

/// Terms under which no lease is in doubt only because the machine is slow.
const PATIENT: Welcome = Welcome { lease_ms: 4_500, ..TERMS };

async fn connected(terms: Welcome) -> (Fake, Worker, Connection) {
    let mut fake = Fake::start_with(terms).await;
    let worker = Worker::start(&fake.url).await;
    let connection = fake.connection().await;
    (fake, worker, connection)
}

/// Lets a call start that has to ask for it.
async fn grant(connection: &mut Connection, lease: &LeaseRef) {
    let asks = |report: &Report| matches!(report, Report::StartRequested(start) if start.lease.as_ref() == Some(lease));
    connection.until("a request to start", |report| asks(report).then_some(())).await;
    connection.send(Command::StartGranted(StartGranted { lease: Some(lease.clone()) }));
}

#[tokio::test(flavor = "multi_thread")]
async fn short_calls_cost_no_heartbeat() {
    let slow = Welcome { heartbeat_ms: 60_000, lease_ms: 300_000, max_inline_bytes: MAX_INLINE };
    let (fake, _worker, mut connection) = connected(slow).await;
    for number in 0..20 {
        let (lease, offer) = Call::native("native.noop", "{}").offer(&format!("short-{number}"));
        connection.send(offer);
        connection.done(&lease).await;
        connection.acknowledge(&lease);
    }
    assert_eq!(fake.beats.heard.lock().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_heartbeat_may_stop_and_take_away() {
    let (fake, _worker, mut connection) = connected(TERMS).await;
    let (canceled, offer) = Call::shell("sleep 6565.25").offer("canceled");
    connection.send(offer);
    let (fenced, offer) = Call::shell("sleep 6666.25").offer("fenced");
    connection.send(offer);
    tokio::join!(there("6565.25"), there("6666.25"));
    let cancel = CancelExecution { lease: Some(canceled.clone()), ..CancelExecution::default() };
    let answer = HeartbeatResponse { cancels: vec![cancel], fenced: vec![fenced.clone()], ..Default::default() };
    *fake.beats.answer.lock().unwrap() = answer;
    assert_eq!(connection.done(&canceled).await.status, "canceled");
    tokio::join!(gone("6565.25"), gone("6666.25"));
    *fake.beats.answer.lock().unwrap() = HeartbeatResponse::default();
    connection.acknowledge(&canceled);
    fake.beats.rest().await;
    let heard = connection.listen(Duration::from_millis(300)).await;
    assert!(!heard.iter().any(|report| matches!(report, Report::Done(_) | Report::Released(_))), "{heard:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_scheduler_is_asked_on_the_stream_and_a_newer_one_is_not() {
    let (fake, _worker, mut connection) = connected(TERMS).await;
    fake.beats.unknown.store(true, Ordering::SeqCst);
    let (lease, offer) = Call::native("native.sleep", r#"{"ms":300000}"#).offer("long");
    connection.send(offer);
    let renewed = |report: &Report| matches!(report, Report::Heartbeat(beat) if beat.leases.contains(&lease));
    connection.until("a renewal on the stream", |report| renewed(report).then_some(())).await;
    fake.beats.unknown.store(false, Ordering::SeqCst);
    fake.beats.renews(&lease).await;
    let quiet = |report: &Report| matches!(report, Report::Heartbeat(beat) if beat.leases.is_empty());
    connection.until("a sign of life without leases", |report| quiet(report).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_holder_starts_only_under_a_lease_that_stands() {
    let (fake, _worker, mut connection) = connected(TERMS).await;
    fake.beats.away.store(true, Ordering::SeqCst);
    let (locked, offer) = Call::native("native.noop", "{}").exclusive().offer("locked");
    connection.send(offer);
    let (free, offer) = Call::native("native.noop", "{}").offer("free");
    connection.send(offer);
    connection.done(&free).await;
    let heard = connection.listen(Duration::from_millis(400)).await;
    let ended = |report: &Report| matches!(report, Report::Done(done) if done.lease.as_ref() == Some(&locked));
    assert!(!heard.iter().any(ended), "{heard:?}");
    fake.beats.away.store(false, Ordering::SeqCst);
    assert_eq!(connection.done(&locked).await.status, "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_doubt_lock_holders_are_killed_and_others_run_on() {
    let (fake, _worker, mut connection) = connected(PATIENT).await;
    // None of them listens to a polite request.
    let stubborn = |number: &str| Call::shell(&format!("trap '' TERM; sleep {number}"));
    let (again, offer) = stubborn("6767.25").exclusive().offer("again");
    connection.send(offer);
    let (once, offer) = stubborn("6868.25").exclusive().needs_grant().offer("once");
    connection.send(offer);
    let (free, offer) = stubborn("6969.25").offer("free");
    connection.send(offer);
    grant(&mut connection, &once).await;
    tokio::join!(there("6767.25"), there("6868.25"), there("6969.25"));
    fake.beats.renews(&free).await;
    fake.beats.away.store(true, Ordering::SeqCst);
    let (mut released, mut unknown) = (None, None);
    let both = connection.until("both ends", |report| {
        match report {
            Report::Released(back) => released = Some(back.clone()),
            Report::Done(done) => unknown = Some(done.clone()),
            _ => {}
        }
        released.clone().zip(unknown.clone())
    });
    let (released, unknown) = both.await;
    assert_eq!((released.lease, released.reason.as_str()), (Some(again), "lease_in_doubt"));
    assert_eq!(unknown.lease, Some(once));
    let error = unknown.outcome.unwrap().error.unwrap();
    assert_eq!((error.error_code.as_str(), error.side_effects.as_deref()), ("exec.outcome_unknown", Some("unknown")));
    tokio::join!(gone("6767.25"), gone("6868.25"));
    assert!(process_with("6969.25"), "the store decides about a call without a lock");
    fake.beats.away.store(false, Ordering::SeqCst);
    fake.beats.renews(&free).await;
}

/// The scheduler answers, but its store does not: a lease it is unsure of is not renewed.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_the_scheduler_is_unsure_of_counts_as_not_renewed() {
    let (fake, _worker, mut connection) = connected(TERMS).await;
    let (locked, offer) = Call::shell("sleep 7474.25").exclusive().offer("locked");
    connection.send(offer);
    there("7474.25").await;
    let answer = HeartbeatResponse { unsure: vec![locked.clone()], ..HeartbeatResponse::default() };
    *fake.beats.answer.lock().unwrap() = answer;
    let released = |report: &Report| match report {
        Report::Released(back) => Some(back.clone()),
        _ => None,
    };
    let released = connection.until("the call given back", released).await;
    assert_eq!((released.lease, released.reason.as_str()), (Some(locked), "lease_in_doubt"));
    gone("7474.25").await;
}

#[test]
fn a_blocked_runtime_keeps_no_lock_holder_alive() {
    let tools = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let test = tokio::runtime::Runtime::new().unwrap();
    test.block_on(async {
        let mut fake = Fake::start_with(PATIENT).await;
        let toolbox = toolbox().await;
        let worker = {
            let _within = tools.enter();
            Worker::start_with(&fake.url, toolbox, |_| {})
        };
        let connection = fake.connection().await;
        let (lease, offer) = Call::shell("sleep 7070.25").exclusive().offer("held");
        connection.send(offer);
        there("7070.25").await;
        fake.beats.renews(&lease).await;
        let busy =
            tools.spawn(async { toolplane_wait::block(Duration::from_secs(20), "a tool that keeps its thread") });
        fake.beats.away.store(true, Ordering::SeqCst);
        gone("7070.25").await;
        assert!(!busy.is_finished(), "it was killed by a thread that does not need the tools' runtime");
        drop(worker);
    });
    tools.shutdown_background();
}
