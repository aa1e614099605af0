//! One call is one trace, from the agent's own span to the tool.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use toolplane_proto::v1;
use toolplane_testkit::Options;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::trace::{AgentTrace, Span, Trace};

use crate::bed::{Bed, PATIENCE, RULES};

/// Something in the arguments that must not be in any span.
pub(crate) const SECRET: &str = "hunter2-secret-file.txt";

pub(crate) async fn traced(bed: &Bed, agent: &AgentTrace, tool: &str, input: &str) -> v1::ToolResult {
    let request = agent.request(v1::InvokeRequest { spec: Some(bed.spec(tool, input)), ..Default::default() });
    let mut stream = bed.clients.invocations().invoke(request).await.unwrap().into_inner();
    while let Some(message) = stream.message().await.unwrap() {
        if let Some(result) = message.result {
            return *result;
        }
    }
    panic!("no result");
}

#[track_caller]
fn only<'a>(trace: &'a Trace, name: &str, kind: SpanKind) -> &'a Span {
    let found: Vec<&Span> = trace.named(name).into_iter().filter(|span| span.kind == kind).collect();
    assert_eq!(found.len(), 1, "{name} ({kind:?}) in\n{}", trace.render());
    found[0]
}

#[track_caller]
fn child(trace: &Trace, of: &Span, name: &str, kind: SpanKind) -> Span {
    let span = only(trace, name, kind);
    assert_eq!(span.parent_span_id, of.span_id, "{name} hangs elsewhere in\n{}", trace.render());
    span.clone()
}

#[tokio::test]
async fn a_call_is_one_trace() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(RULES).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let bed = Bed::with(options).await;
    std::fs::write(bed.cluster.workspace().join(SECRET), "a b c\n").unwrap();
    let agent = AgentTrace::start();
    let result = traced(&bed, &agent, "text.word_count", &format!("{{\"path\":\"{SECRET}\"}}")).await;
    assert!(!result.is_error, "{:?}", result.error);
    assert_eq!(result.telemetry_refs[0].trace_id, agent.trace_id());

    let complete = |trace: &Trace| {
        !trace.named("execute_tool").is_empty() && !trace.named("toolplane.v1.InvocationService/Invoke").is_empty()
    };
    let trace = receiver.wait_for(agent.trace_id(), PATIENCE, complete).await.unwrap();
    let server = only(&trace, "toolplane.v1.InvocationService/Invoke", SpanKind::Server).clone();
    assert_eq!(server.parent_span_id, agent.span_id(), "the agent's context was not taken");
    assert_eq!(trace.roots().len(), 1, "more than one tree:\n{}", trace.render());
    assert_eq!(server.attribute("rpc.system.name"), "grpc");

    let call = child(&trace, &server, "agenttool.invocation", SpanKind::Internal);
    for rpc in ["toolplane.v1.SurfaceService/ResolveTool", "toolplane.v1.PermissionService/Decide"] {
        let client = child(&trace, &call, rpc, SpanKind::Client);
        child(&trace, &client, rpc, SpanKind::Server);
    }
    let send = child(&trace, &call, "send agenttool.invocations", SpanKind::Producer);
    let process = child(&trace, &send, "process agenttool.invocations", SpanKind::Consumer);
    assert!(process.links.iter().any(|(_, span)| *span == send.span_id), "not linked to what queued it");
    let tool = child(&trace, &process, "execute_tool text.word_count", SpanKind::Internal);
    assert_eq!(tool.attribute("gen_ai.operation.name"), "execute_tool");
    assert_eq!(tool.attribute("gen_ai.tool.name"), "text.word_count");
    assert_eq!(tool.attribute("error.type"), "");
    assert!(!trace.spans().iter().any(|span| span.error), "an error in\n{}", trace.render());
    for span in trace.spans() {
        let told = span.attributes.values().any(|value| value.contains(SECRET));
        assert!(!told, "`{}` tells the arguments: {:?}", span.name, span.attributes);
    }
}

/// What did not run has no span of having run, and a correct refusal is no fault.
#[tokio::test]
async fn a_refusal_is_no_execution() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(RULES).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let bed = Bed::with(options).await;
    let agent = AgentTrace::start();
    let result = traced(&bed, &agent, "http.fetch", r#"{"url":"http://127.0.0.1:9/"}"#).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Denied, "{:?}", result.error);
    let complete = |trace: &Trace| !trace.named("toolplane.v1.InvocationService/Invoke").is_empty();
    let trace = receiver.wait_for(agent.trace_id(), PATIENCE, complete).await.unwrap();
    let call = only(&trace, "agenttool.invocation", SpanKind::Internal);
    assert!(!call.error, "a denial is marked as a fault");
    assert_eq!(call.attribute("agenttool.error_class"), "permission_denied");
    for name in ["execute_tool", "send ", "process "] {
        assert!(trace.named(name).is_empty(), "{name} in\n{}", trace.render());
    }
}

/// A failing tool marks its own span, with the class of the standard.
#[tokio::test]
async fn a_failure_is_marked_where_it_happened() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(RULES).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let bed = Bed::with(options).await;
    let agent = AgentTrace::start();
    let result = traced(&bed, &agent, "text.word_count", r#"{"path":"not-there.txt"}"#).await;
    assert!(result.is_error);
    let complete = |trace: &Trace| !trace.named("execute_tool").is_empty();
    let trace = receiver.wait_for(agent.trace_id(), PATIENCE, complete).await.unwrap();
    let tool = only(&trace, "execute_tool", SpanKind::Internal);
    assert!(tool.error);
    assert_eq!(tool.attribute("error.type"), result.error.unwrap().error_class);
}

/// A failure is worth a look whatever the sampler says; of what went well nothing is kept then.
#[tokio::test]
async fn a_failure_is_kept_where_the_sampler_says_no() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(RULES)
        .env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint())
        .env("TOOLPLANE__TELEMETRY__SAMPLE_RATIO", "0");
    let bed = Bed::with(options).await;
    std::fs::write(bed.cluster.workspace().join("there.txt"), "a b c\n").unwrap();
    let good = bed.call("text.word_count", r#"{"path":"there.txt"}"#).await;
    let bad = bed.call("text.word_count", r#"{"path":"not-there.txt"}"#).await;
    assert!(!good.is_error && bad.is_error);
    let whole = |trace: &Trace| {
        ["toolplane.v1.InvocationService/Invoke", "agenttool.invocation", "process", "execute_tool"]
            .iter()
            .all(|name| !trace.named(name).is_empty())
    };
    let trace = receiver.wait_for(&bad.telemetry_refs[0].trace_id, PATIENCE, whole).await.unwrap();
    assert!(only(&trace, "execute_tool", SpanKind::Internal).error, "{}", trace.render());
    assert!(receiver.trace(&good.telemetry_refs[0].trace_id).spans().is_empty());
}
