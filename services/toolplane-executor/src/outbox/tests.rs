use std::sync::Arc;
use std::time::Duration;

use toolplane_records::payload::JsonPayload;
use toolplane_records::progress::ToolProgress;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ProgressStatus, ResultStatus};

use super::{Outbox, OutboxReader, RECEIPT_DELAY};
use crate::assignments::{Assignment, Assignments, OfferTaken};
use crate::messages::{CallTraits, Ended, ExecutionReport, Hello, Lease, ReleaseReason, WorkerReport};
use crate::worker::{Capabilities, Identity, Introduction};

fn lease(name: &str) -> Lease {
    Lease::example(name)
}

fn introduction() -> Arc<Introduction> {
    let dir = tempfile::tempdir().unwrap();
    let capabilities =
        Capabilities { pools: vec![], native_tools: vec![], gaps: vec![], posture: JsonPayload::of(&()) };
    Arc::new(Introduction {
        image: String::new(),
        identity: Identity::take(dir.path(), None).unwrap(),
        slots: 4,
        capabilities,
        credentials: Arc::default(),
    })
}

fn ended_with(name: &str, text: &str) -> Arc<Ended> {
    let report = ExecutionReport {
        status: ResultStatus::Succeeded,
        summary: String::new(),
        content: vec![ContentBlock::Text { text: text.to_owned() }],
        artifacts: Vec::new(),
        structured_content: None,
        error: None,
        persisted: vec![],
        output_bytes: 0,
        started_at: Timestamp::from_millis(0),
        duration: Duration::ZERO,
        evidence: None,
        context_modifiers: vec![],
    };
    Arc::new(Ended { lease: lease(name), report })
}

fn ended(name: &str) -> Arc<Ended> {
    ended_with(name, "")
}

fn large(name: &str) -> Arc<Ended> {
    ended_with(name, &"x".repeat(350_000))
}

fn progress(sequence: u64) -> Box<ToolProgress> {
    let json = serde_json::json!({
        "progress_id": "p", "invocation_id": "a", "sequence": sequence, "status": ProgressStatus::Running,
        "timestamp": "2026-01-01T00:00:00Z",
    });
    serde_json::from_value(json).unwrap()
}

fn running(held: &Assignments, name: &str) {
    let traits = CallTraits { idempotent: true, supports_cancel: true, exclusive_lock: false };
    let taken = held.take(Arc::new(Assignment::new(lease(name), traits)));
    assert!(matches!(taken, OfferTaken::Taken { .. }) && held.begin(&lease(name)));
}

/// Names of the reports of the next message, in order.
async fn next(reader: &mut OutboxReader, outbox: &Outbox, held: &Assignments) -> Vec<&'static str> {
    let message = tokio::time::timeout(Duration::from_secs(60), reader.next(outbox, held)).await;
    let reports = message.expect("there is something to say").unwrap_or_default();
    let name = |report: &WorkerReport| match report {
        WorkerReport::Hello(_) => "hello",
        WorkerReport::Ready { .. } => "ready",
        WorkerReport::Received(_) => "received",
        WorkerReport::StartRequested(_) => "start",
        WorkerReport::Progress { .. } => "progress",
        WorkerReport::Partial { .. } => "partial",
        WorkerReport::Ended(_) => "ended",
        WorkerReport::CancelAcknowledged { .. } => "cancel",
        WorkerReport::Heartbeat { .. } => "heartbeat",
        WorkerReport::Released { .. } => "released",
        WorkerReport::Goodbye => "goodbye",
        WorkerReport::InputRequested(_) => "question",
        WorkerReport::ProviderChanged(_) => "provider changed",
        WorkerReport::Credentials(_) => "credentials",
    };
    reports.iter().map(name).collect()
}

async fn hello(reader: &mut OutboxReader, outbox: &Outbox, held: &Assignments) -> Hello {
    let message = reader.next(outbox, held).await.expect("a hello");
    match message.into_iter().next() {
        Some(WorkerReport::Hello(hello)) => *hello,
        other => panic!("no hello but {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn ends_that_do_not_fit_into_a_hello_follow_it_under_leases_that_go_on() {
    let (outbox, held) = (Outbox::default(), Assignments::new(4));
    for name in ["a", "b"] {
        running(&held, name);
        assert!(held.end(large(name)));
    }
    let mut reader = outbox.open(&held, introduction());
    let hello = hello(&mut reader, &outbox, &held).await;
    assert_eq!((hello.finished.len(), hello.held.len(), hello.endings_follow), (1, 1, true));
    assert_ne!(Some(&hello.finished[0].lease), hello.held.first());
    assert_eq!(next(&mut reader, &outbox, &held).await, ["ended", "ready"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_ready_leaves_together_and_news_come_before_the_end() {
    let (outbox, held) = (Outbox::default(), Assignments::new(4));
    let mut reader = outbox.open(&held, introduction());
    assert_eq!(next(&mut reader, &outbox, &held).await, ["hello"]);
    assert_eq!(next(&mut reader, &outbox, &held).await, ["ready"]);
    running(&held, "a");
    running(&held, "b");
    for sequence in 1..=3 {
        outbox.progress(lease("a"), progress(sequence));
    }
    assert!(held.end(ended("a")) && held.end(ended("b")));
    outbox.ended(ended("a"));
    outbox.ended(ended("b"));
    outbox.heartbeat();
    assert_eq!(next(&mut reader, &outbox, &held).await, ["heartbeat", "progress", "ended", "ended", "ready"]);
}

#[tokio::test(start_paused = true)]
async fn a_receipt_waits_a_little_and_an_end_makes_it_needless() {
    let (outbox, held) = (Outbox::default(), Assignments::new(4));
    let mut reader = outbox.open(&held, introduction());
    next(&mut reader, &outbox, &held).await;
    next(&mut reader, &outbox, &held).await;
    running(&held, "short");
    running(&held, "long");
    outbox.receipt(lease("short"));
    outbox.receipt(lease("long"));
    assert!(held.end(ended("short")));
    let begun = tokio::time::Instant::now();
    assert_eq!(next(&mut reader, &outbox, &held).await, ["received"]);
    assert!(begun.elapsed() >= RECEIPT_DELAY && begun.elapsed() < RECEIPT_DELAY * 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_stream_says_again_what_the_old_one_may_have_lost() {
    let (outbox, held) = (Outbox::default(), Assignments::new(4));
    let mut old = outbox.open(&held, introduction());
    running(&held, "ended");
    assert!(held.end(ended("ended")));
    outbox.ended(ended("ended"));
    let asking = Arc::new(Assignment::new(lease("asking"), CallTraits::default()));
    assert!(matches!(held.take(asking.clone()), OfferTaken::Taken { .. }));
    let _grant = asking.grant.expect();
    outbox.start_requested(lease("asking"));
    outbox.detach();
    outbox.released(lease("given-back"), ReleaseReason::Draining);
    let mut new = outbox.open(&held, introduction());
    let hello = hello(&mut new, &outbox, &held).await;
    assert_eq!((hello.held, hello.finished), (vec![lease("asking")], vec![ended("ended")]));
    assert_eq!(next(&mut new, &outbox, &held).await, ["start", "released", "ready"]);
    assert!(old.next(&outbox, &held).await.is_none(), "the old stream is over");
}

#[tokio::test(start_paused = true)]
async fn large_ends_do_not_share_a_message_and_the_goodbye_is_last() {
    let (outbox, held) = (Outbox::default(), Assignments::new(4));
    let mut reader = outbox.open(&held, introduction());
    next(&mut reader, &outbox, &held).await;
    outbox.ended(large("a"));
    outbox.ended(large("b"));
    outbox.goodbye();
    assert_eq!(next(&mut reader, &outbox, &held).await, ["ended"]);
    assert_eq!(next(&mut reader, &outbox, &held).await, ["ended", "ready", "goodbye"]);
    assert!(reader.next(&outbox, &held).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_end_that_has_not_left_yet_is_not_said_twice() {
    let (outbox, held) = (Outbox::default(), Assignments::new(4));
    let mut reader = outbox.open(&held, introduction());
    next(&mut reader, &outbox, &held).await;
    (0..100).for_each(|_| outbox.ended(ended("a")));
    assert_eq!(next(&mut reader, &outbox, &held).await, ["ended", "ready"]);
    outbox.ended(ended("a"));
    assert_eq!(next(&mut reader, &outbox, &held).await, ["ended", "ready"], "it has left: it may be lost");
    let mut reader = outbox.open(&held, introduction());
    outbox.ended(ended("a"));
    assert_eq!(next(&mut reader, &outbox, &held).await, ["hello"]);
    assert_eq!(
        next(&mut reader, &outbox, &held).await,
        ["ended", "ready"],
        "a new stream knows nothing of the old one"
    );
}
