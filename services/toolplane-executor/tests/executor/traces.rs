//! Spans, received by a real OTLP receiver.

use toolplane_records::payload::JsonPayload;
use toolplane_runtime::{Config, telemetry};
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::trace::{AgentTrace, Trace};

use crate::fake::{Fake, PATIENCE};
use crate::worker::{Call, Worker, toolbox};

/// The trace of a call that was queued in `queued`, once it has `spans` spans.
async fn trace(receiver: &OtlpReceiver, queued: &AgentTrace, spans: usize) -> Trace {
    receiver.wait_for(queued.trace_id(), PATIENCE, |trace| trace.spans().len() >= spans).await.unwrap()
}

// One test, because a process has one telemetry.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_continues_the_trace_it_was_queued_in() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let mut settings = Config::default();
    settings.telemetry.otlp_endpoint = Some(receiver.endpoint().to_owned());
    settings.log.filter = "warn".to_owned();
    let guard = telemetry::init(&settings.telemetry, &settings.log, "executor").unwrap();
    let mut fake = Fake::start().await;
    let _worker = Worker::start(&fake.url).await;
    let mut connection = fake.connection().await;

    let queued = AgentTrace::start();
    let (lease, offer) =
        Call::native("native.echo", r#"{"secret":"hidden"}"#).in_trace(&queued.traceparent()).offer("traced");
    connection.send(offer);
    connection.done(&lease).await;
    tokio::task::block_in_place(|| guard.flush());
    let good = trace(&receiver, &queued, 2).await;
    let [process, tool] = good.spans() else { panic!("{}", good.render()) };
    assert_eq!((process.name.as_str(), tool.name.as_str()), ("process agenttool.invocations", "execute_tool test"));
    assert_eq!((process.parent_span_id.as_str(), tool.parent_span_id.as_str()), (queued.span_id(), &*process.span_id));
    assert_eq!(process.links, [(queued.trace_id().to_owned(), queued.span_id().to_owned())]);
    assert_eq!(tool.attribute("gen_ai.operation.name"), "execute_tool");
    assert!(!process.error && !tool.error);
    assert!(!format!("{:?}", good.spans()).contains("hidden"), "arguments and results stay out");

    let queued = AgentTrace::start();
    let call = Call::shell("exit 3").in_trace(&queued.traceparent());
    let (lease, offer) = call.offer("failing");
    connection.send(offer);
    assert_eq!(connection.done(&lease).await.status, "failed");
    let queued_broken = AgentTrace::start();
    let (lease, offer) = Call::native("native.echo", "{broken").in_trace(&queued_broken.traceparent()).offer("unread");
    connection.send(offer);
    connection.done(&lease).await;
    tokio::task::block_in_place(|| guard.flush());
    let bad = trace(&receiver, &queued, 2).await;
    assert!(bad.spans().iter().all(|span| span.error && span.attribute("error.type") == "execution_failed"));
    assert!(
        receiver.trace(queued_broken.trace_id()).named("execute_tool").is_empty(),
        "what did not run has no such span"
    );
    what_hooks_have_not_seen_is_in_no_span(&guard, &receiver).await;
}

/// With content wanted, spans hold the copy of the input that may be shown, and no result that hooks have not seen.
async fn what_hooks_have_not_seen_is_in_no_span(guard: &telemetry::TelemetryGuard, receiver: &OtlpReceiver) {
    let mut fake = Fake::start().await;
    let _worker = Worker::start_with(&fake.url, toolbox().await, |options| options.capture_content = true);
    let mut connection = fake.connection().await;
    for hooks_follow in [true, false] {
        let queued = AgentTrace::start();
        let call = Call::native("native.echo", r#"{"secret":"hidden"}"#).in_trace(&queued.traceparent());
        let call = call.change(|dispatch| {
            dispatch.hooks_follow = hooks_follow;
            dispatch.observable_input = Some((&JsonPayload::from_checked(r#"{"secret":"[redacted]"}"#)).into());
        });
        let (lease, offer) = call.offer(&format!("hooked-{hooks_follow}"));
        connection.send(offer);
        connection.done(&lease).await;
        tokio::task::block_in_place(|| guard.flush());
        let trace = trace(receiver, &queued, 2).await;
        let tool = trace.named("execute_tool ")[0].clone();
        assert_eq!(tool.attribute("gen_ai.tool.call.arguments"), r#"{"secret":"[redacted]"}"#);
        assert_eq!(format!("{:?}", trace.spans()).contains("hidden"), !hooks_follow, "{}", trace.render());
    }
}
