//! The trace of a call of a tool, from the client's own span to the tool.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::{Value, json};
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::trace::{Span, Trace};

use super::bed::{Client, Doors, RULES, text};
use crate::bed::PATIENCE;

const OWN: &str = "b7ad6b7169203331";
const REQUEST: &str = "POST /mcp";
const MCP: &str = "tools/call conf__greet";
const CALL: &str = "toolplane.v1.InvocationService/Call";

fn of_kind<'a>(trace: &'a Trace, name: &str, kind: SpanKind) -> Option<&'a Span> {
    trace.named(name).into_iter().find(|span| span.kind == kind)
}

/// The trace once it has everything from the request at the door to the tool at the worker.
async fn complete(receiver: &OtlpReceiver, id: &str) -> Trace {
    let there = |trace: &Trace| {
        let server = |name| of_kind(trace, name, SpanKind::Server).is_some();
        server(MCP) && server(CALL) && !trace.named("execute_tool").is_empty()
    };
    receiver.wait_for(id, PATIENCE, there).await.unwrap()
}

/// Proves that the tool ran beneath the request at the door, by way of the scheduler.
fn check(trace: &Trace) {
    let tool = trace.named("execute_tool")[0];
    let above = trace.ancestors(tool);
    let places: Vec<_> = ["process ", "send ", "agenttool.invocation", CALL, CALL, MCP]
        .iter()
        .scan(0, |from, name| {
            let at = above[*from..].iter().position(|span| span.starts_with(name)).map(|at| at + *from);
            *from = at.map_or(above.len(), |at| at + 1);
            Some(at)
        })
        .collect();
    assert!(places.iter().all(Option::is_some), "{places:?} in {above:?} of\n{}", trace.render());
    assert!(!format!("{:?}", trace.spans()).contains("of mine"), "arguments stay out of it");
}

#[tokio::test]
async fn a_call_of_a_tool_is_one_trace_through_all_roles() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Doors::options(RULES, "").env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let doors = Doors::of(options).await;
    let client = Client::new().begin(&doors.url).await;
    let params = || json!({ "name": "conf__greet", "arguments": { "name": "of mine" } });
    let request =
        |id: u32, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });

    // By the header of the request.
    let id = "0af7651916cd43dd8448eb211c80319c";
    let traced = client.clone().header("traceparent", &format!("00-{id}-{OWN}-01"));
    let answer = traced.post(&doors.url, &request(1, params())).await.last().await;
    assert_eq!(text(&answer), "Hello, of mine!");
    let trace = complete(&receiver, id).await;
    check(&trace);
    let [http, mcp] = [REQUEST, MCP].map(|name| of_kind(&trace, name, SpanKind::Server).unwrap());
    assert_eq!((http.parent_span_id.as_str(), &mcp.parent_span_id), (OWN, &http.span_id));

    // By what the message itself says: the request of HTTP is another trace, and linked.
    let id = "11111111111111112222222222222222";
    let mut said = params();
    said["_meta"] = json!({ "traceparent": format!("00-{id}-{OWN}-01") });
    let answer = client.post(&doors.url, &request(2, said)).await.last().await;
    assert_eq!(text(&answer), "Hello, of mine!");
    let trace = complete(&receiver, id).await;
    check(&trace);
    let mcp = of_kind(&trace, MCP, SpanKind::Server).unwrap();
    assert_eq!(mcp.parent_span_id, OWN);
    assert!(of_kind(&trace, REQUEST, SpanKind::Server).is_none() && mcp.links.len() == 1, "{:?}", mcp.links);
}
