//! One call: granted, refused, canceled, timed out, fenced.

use std::time::Duration;

use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{
    AbortReason, CancelExecution, ContentBlock, LeaseFenced, LeaseRef, ResultStatus, StartGranted, StartRefused,
};
use toolplane_records::payload::JsonPayload;

use crate::fake::{Connection, Fake};
use crate::worker::{Call, Worker, gone, there};

async fn connected() -> (Fake, Worker, Connection) {
    let mut fake = Fake::start().await;
    let worker = Worker::start(&fake.url).await;
    let connection = fake.connection().await;
    (fake, worker, connection)
}

fn cancel(lease: &LeaseRef) -> Command {
    Command::Cancel(CancelExecution {
        lease: Some(lease.clone()),
        abort_reason: "user_interruption".to_owned(),
        abort_reason_code: AbortReason::UserInterruption.into(),
        message: String::new(),
    })
}

async fn cancel_acknowledged(connection: &mut Connection, lease: &LeaseRef) -> bool {
    let answer = connection.until("an answer to the cancel", |report| match report {
        Report::CancelAcknowledged(answer) if answer.lease.as_ref() == Some(lease) => Some(answer.supported),
        _ => None,
    });
    answer.await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_introduces_itself_and_runs_a_call() {
    let (fake, worker, mut connection) = connected().await;
    let hello = &connection.hello;
    assert_eq!(hello.worker_id, worker.handle.worker_id().as_str());
    assert_eq!(hello.incarnation, worker.handle.incarnation());
    assert!(hello.previous_incarnation_dead && hello.slots == 4 && hello.held.is_empty());
    for pool in ["native", "files", "shell", "process"] {
        assert!(
            hello.pools.iter().any(|served| served == pool),
            "{pool} is served: {:?} {:?}",
            hello.pools,
            hello.gaps
        );
    }
    let posture = JsonPayload::try_from(hello.posture.clone().expect("the posture is told")).unwrap().to_value();
    assert_eq!(posture["available"], true, "{posture}");

    let (lease, offer) = Call::native("native.echo", r#"{"say":"hällo"}"#).offer("echo");
    connection.send(offer);
    let outcome = connection.done(&lease).await;
    assert_eq!((outcome.status.as_str(), outcome.is_error), ("succeeded", false));
    assert_eq!(outcome.status_code(), ResultStatus::Succeeded);
    assert_eq!(texts(&outcome.content), [r#"{"say":"hällo"}"#]);
    assert_eq!(texts(&outcome.model_facing_content), [r#"{"say":"hällo"}"#]);
    assert!(outcome.structured_content.is_some() && outcome.started_at.is_some() && outcome.persisted.is_empty());
    // Held until it is acknowledged.
    fake.beats.renews(&lease).await;
    connection.acknowledge(&lease);
    fake.beats.rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unacknowledged_end_is_said_again() {
    let (_fake, _worker, mut connection) = connected().await;
    let (lease, offer) = Call::native("native.noop", "{}").offer("again");
    connection.send(offer);
    let first = connection.done(&lease).await;
    assert!(
        matches!(first.content[..], [ref block] if matches!(block.block, Some(Block::Empty(_)))),
        "empty is explicit"
    );
    assert_eq!(connection.done(&lease).await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_must_not_run_twice_starts_without_a_grant() {
    let (fake, _worker, mut connection) = connected().await;
    let (granted, offer) = Call::shell("echo ran").needs_grant().offer("granted");
    connection.send(offer);
    let (refused, offer) = Call::shell("echo ran").needs_grant().offer("refused");
    connection.send(offer);
    let mut asked = Vec::new();
    while asked.len() < 2 {
        let lease = connection.until("a request to start", |report| match report {
            Report::StartRequested(start) => start.lease.clone(),
            _ => None,
        });
        asked.push(lease.await);
    }
    assert!(asked.contains(&granted) && asked.contains(&refused));
    let early = connection.listen(Duration::from_millis(300)).await;
    assert!(!early.iter().any(|report| matches!(report, Report::Done(_) | Report::Progress(_))), "{early:?}");
    connection.send(Command::StartRefused(StartRefused { lease: Some(refused.clone()), reason: "canceled".into() }));
    connection.send(Command::StartGranted(StartGranted { lease: Some(granted.clone()) }));
    let outcome = connection.done(&granted).await;
    assert_eq!(texts(&outcome.content), ["ran\n"]);
    fake.beats.renews_only(&granted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_process_is_gone_and_says_so() {
    let (_fake, _worker, mut connection) = connected().await;
    // Put together by the shell, so that only the sleep itself, after the echo, shows the number.
    let (lease, offer) = Call::shell("echo begun; sleep 6161.2$((4 + 1))").offer("cancel");
    connection.send(offer);
    there("6161.25").await;
    connection.send(cancel(&lease));
    assert!(cancel_acknowledged(&mut connection, &lease).await);
    let outcome = connection.done(&lease).await;
    let error = outcome.error.expect("a canceled call has an error");
    assert_eq!(outcome.status_code, i32::from(ResultStatus::Canceled));
    assert_eq!((error.error_class.as_str(), error.abort_reason.as_str()), ("canceled", "user_interruption"));
    assert_eq!(texts(&outcome.content), ["begun\n"], "what it gave is kept");
    gone("6161.25").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_cannot_be_canceled_goes_on() {
    let (_fake, _worker, mut connection) = connected().await;
    let (lease, offer) = Call::native("native.sleep", r#"{"ms":600}"#).not_cancelable().offer("stubborn");
    connection.send(offer);
    connection.until("a receipt", |report| matches!(report, Report::Received(_)).then_some(())).await;
    connection.send(cancel(&lease));
    assert!(!cancel_acknowledged(&mut connection, &lease).await);
    assert_eq!(connection.done(&lease).await.status, "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_has_only_its_time() {
    let (_fake, _worker, mut connection) = connected().await;
    let (lease, offer) = Call::shell("sleep 6262.25").timeout_ms(400).offer("timeout");
    connection.send(offer);
    let outcome = connection.done(&lease).await;
    let error = outcome.error.expect("a timeout has an error");
    assert_eq!((outcome.status.as_str(), outcome.is_error), ("timed_out", true));
    assert_eq!((error.error_code.as_str(), error.error_class.as_str()), ("exec.timeout", "timeout"));
    assert_eq!(error.side_effects.as_deref(), Some("unknown"));
    assert!(outcome.duration_ms >= 400);
    gone("6262.25").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fenced_execution_is_killed_and_never_heard_of() {
    let (fake, _worker, mut connection) = connected().await;
    let (lease, offer) = Call::shell("sleep 6363.25").offer("fenced");
    connection.send(offer);
    there("6363.25").await;
    connection.send(Command::Fenced(LeaseFenced { lease: Some(lease.clone()) }));
    gone("6363.25").await;
    fake.beats.rest().await;
    let heard = connection.listen(Duration::from_millis(400)).await;
    assert!(!heard.iter().any(|report| matches!(report, Report::Done(_) | Report::Released(_))), "{heard:?}");
    let free = heard.iter().rev().find_map(|report| match report {
        Report::Heartbeat(beat) => Some(beat.free_slots),
        _ => None,
    });
    assert_eq!(free, Some(4), "its slot is free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_counts_lines_and_comes_before_the_end() {
    let (_fake, _worker, mut connection) = connected().await;
    let (lease, offer) = Call::shell("for i in 1 2 3 4 5 6; do echo line $i; sleep 0.2; done").offer("progress");
    connection.send(offer);
    let (mut lines, mut sequences) = (Vec::new(), Vec::new());
    connection
        .until("the end", |report| match report {
            Report::Progress(news) => {
                let progress = news.progress.clone().expect("progress is told");
                lines.extend(progress.line_count);
                sequences.push(progress.sequence);
                None
            }
            Report::Done(done) => (done.lease.as_ref() == Some(&lease)).then_some(()),
            _ => None,
        })
        .await;
    assert!(lines.is_sorted() && lines.last() == Some(&6), "{lines:?}");
    assert!(sequences.is_sorted() && (2..=9).contains(&sequences.len()), "{sequences:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_cannot_be_read_is_refused_as_a_result() {
    let (_fake, _worker, mut connection) = connected().await;
    let (lease, offer) = Call::native("native.echo", "{broken").offer("broken");
    connection.send(offer);
    let outcome = connection.done(&lease).await;
    let error = outcome.error.expect("it says why");
    assert_eq!((outcome.status.as_str(), error.error_code.as_str()), ("failed", "exec.dispatch_unreadable"));
    assert_eq!(error.side_effects.as_deref(), Some("none"));
}

pub(crate) fn texts(content: &[ContentBlock]) -> Vec<&str> {
    let blocks = content.iter().filter_map(|block| block.block.as_ref());
    blocks.filter_map(|block| if let Block::Text(text) = block { Some(text.text.as_str()) } else { None }).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_do_not_share_a_workspace() {
    let mut fake = Fake::start().await;
    let _worker = Worker::start(&fake.url).await;
    let mut connection = fake.connection().await;
    let mut said = Vec::new();
    for (name, tenant) in [("a", "acme"), ("b", "../acme"), ("c", "acme"), ("d", "default"), ("e", "")] {
        let call = Call::shell("ls -A; pwd; echo mine > of-$TOOLPLANE_INVOCATION_ID");
        let (lease, offer) = call.change(|dispatch| dispatch.tenant = tenant.to_owned()).offer(name);
        connection.send(offer);
        let outcome = connection.done(&lease).await;
        assert_eq!((outcome.status.as_str(), outcome.error), ("succeeded", None), "{tenant}");
        said.push(texts(&outcome.content).concat());
    }
    let expected = ["/workspace\n", "/workspace\n", "of-inv_a\n/workspace\n"];
    assert_eq!(said[..3], expected);
    for other in &said[3..] {
        assert!(!other.contains("of-inv_a") && !other.contains("of-inv_b"), "{other}");
    }
}
