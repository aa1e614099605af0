use std::sync::Arc;
use std::time::Duration;

use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{ExecutionDone, LeaseRef, ToolProgress, WorkerHello};

use super::{Outbox, RECEIPT_DELAY, Reader};
use crate::leases::{Leases, Taken};
use crate::seat::{Nature, Seat};

fn lease(name: &str) -> LeaseRef {
    LeaseRef { invocation_id: name.to_owned(), lease_no: 1, lease_id: format!("lease-{name}") }
}

fn done(name: &str) -> ExecutionDone {
    ExecutionDone { lease: Some(lease(name)), outcome: None }
}

fn running(leases: &Leases, name: &str) {
    let nature = Nature { idempotent: true, supports_cancel: true, exclusive_lock: false };
    assert!(matches!(leases.seat(Arc::new(Seat::new(lease(name), nature))), Taken::Seated { .. }));
    assert!(leases.begin(&lease(name)));
}

/// Names of the reports of the next message, in order.
async fn next(reader: &mut Reader, outbox: &Outbox, leases: &Leases) -> Vec<&'static str> {
    let message = tokio::time::timeout(Duration::from_secs(60), reader.next(outbox, leases)).await;
    let reports = message.expect("there is something to say").map(|message| message.reports).unwrap_or_default();
    let name = |report: Report| match report {
        Report::Hello(_) => "hello",
        Report::Ready(_) => "ready",
        Report::Received(_) => "received",
        Report::StartRequested(_) => "start",
        Report::Progress(_) => "progress",
        Report::Done(_) => "done",
        Report::CancelAcknowledged(_) => "cancel",
        Report::Heartbeat(_) => "heartbeat",
        Report::Released(_) => "released",
        Report::Goodbye(_) => "goodbye",
        Report::InputRequested(_) => "question",
    };
    reports.into_iter().filter_map(|report| report.report).map(name).collect()
}

async fn hello(reader: &mut Reader, outbox: &Outbox, leases: &Leases) -> WorkerHello {
    let message = reader.next(outbox, leases).await.expect("a hello");
    match message.reports.into_iter().next().and_then(|report| report.report) {
        Some(Report::Hello(hello)) => hello,
        other => panic!("no hello but {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn ends_that_do_not_fit_into_a_hello_follow_it_under_leases_that_go_on() {
    let (outbox, leases) = (Outbox::default(), Leases::new(4));
    for name in ["a", "b"] {
        running(&leases, name);
        let outcome = toolplane_proto::v1::ExecutionOutcome { summary: "x".repeat(700_000), ..Default::default() };
        assert!(leases.end(&lease(name), ExecutionDone { outcome: Some(outcome), ..done(name) }));
    }
    let introduced = WorkerHello { previous_incarnation_dead: true, ..WorkerHello::default() };
    let mut reader = outbox.open(&leases, introduced);
    let hello = hello(&mut reader, &outbox, &leases).await;
    assert_eq!((hello.finished.len(), hello.held.len(), hello.previous_incarnation_dead), (1, 1, false));
    assert_ne!(hello.finished[0].lease.as_ref(), hello.held.first());
    assert_eq!(next(&mut reader, &outbox, &leases).await, ["done", "ready"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_ready_leaves_together_and_news_come_before_the_end() {
    let (outbox, leases) = (Outbox::default(), Leases::new(4));
    let mut reader = outbox.open(&leases, WorkerHello::default());
    assert_eq!(next(&mut reader, &outbox, &leases).await, ["hello"]);
    assert_eq!(next(&mut reader, &outbox, &leases).await, ["ready"]);
    running(&leases, "a");
    running(&leases, "b");
    for sequence in 1..=3 {
        outbox.progress(lease("a"), ToolProgress { sequence, ..ToolProgress::default() });
    }
    assert!(leases.end(&lease("a"), done("a")) && leases.end(&lease("b"), done("b")));
    outbox.done(done("a"));
    outbox.done(done("b"));
    outbox.heartbeat();
    assert_eq!(next(&mut reader, &outbox, &leases).await, ["heartbeat", "progress", "done", "done", "ready"]);
}

#[tokio::test(start_paused = true)]
async fn a_receipt_waits_a_little_and_an_end_makes_it_needless() {
    let (outbox, leases) = (Outbox::default(), Leases::new(4));
    let mut reader = outbox.open(&leases, WorkerHello::default());
    next(&mut reader, &outbox, &leases).await;
    next(&mut reader, &outbox, &leases).await;
    running(&leases, "short");
    running(&leases, "long");
    outbox.receipt(lease("short"));
    outbox.receipt(lease("long"));
    assert!(leases.end(&lease("short"), done("short")));
    let begun = tokio::time::Instant::now();
    assert_eq!(next(&mut reader, &outbox, &leases).await, ["received"]);
    assert!(begun.elapsed() >= RECEIPT_DELAY && begun.elapsed() < RECEIPT_DELAY * 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_stream_says_again_what_the_old_one_may_have_lost() {
    let (outbox, leases) = (Outbox::default(), Leases::new(4));
    let mut old = outbox.open(&leases, WorkerHello::default());
    running(&leases, "ended");
    assert!(leases.end(&lease("ended"), done("ended")));
    outbox.done(done("ended"));
    let asking = Arc::new(Seat::new(lease("asking"), Nature::default()));
    assert!(matches!(leases.seat(asking.clone()), Taken::Seated { .. }));
    let _grant = asking.expect_grant();
    outbox.start_requested(lease("asking"));
    outbox.detach();
    outbox.released(lease("given-back"), "draining");
    let mut new = outbox.open(&leases, WorkerHello::default());
    let hello = hello(&mut new, &outbox, &leases).await;
    assert_eq!((hello.held, hello.finished), (vec![lease("asking")], vec![done("ended")]));
    assert_eq!(next(&mut new, &outbox, &leases).await, ["start", "released", "ready"]);
    assert_eq!(old.next(&outbox, &leases).await, None, "the old stream is over");
}

#[tokio::test(start_paused = true)]
async fn large_ends_do_not_share_a_message_and_the_goodbye_is_last() {
    let (outbox, leases) = (Outbox::default(), Leases::new(4));
    let mut reader = outbox.open(&leases, WorkerHello::default());
    next(&mut reader, &outbox, &leases).await;
    let large = |name: &str| {
        let outcome = toolplane_proto::v1::ExecutionOutcome { summary: "x".repeat(700_000), ..Default::default() };
        ExecutionDone { outcome: Some(outcome), ..done(name) }
    };
    outbox.done(large("a"));
    outbox.done(large("b"));
    outbox.goodbye();
    assert_eq!(next(&mut reader, &outbox, &leases).await, ["done"]);
    assert_eq!(next(&mut reader, &outbox, &leases).await, ["done", "ready", "goodbye"]);
    assert_eq!(reader.next(&outbox, &leases).await, None);
}
