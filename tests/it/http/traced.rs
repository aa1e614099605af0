//! The trace of a request.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;
use toolplane_testkit::Options;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::trace::{Span, Trace};

use super::{Http, spec};
use crate::bed::{Bed, PATIENCE, RULES};

const CALL: &str = "toolplane.v1.InvocationService/Call";
const REQUEST: &str = "POST /v1/call";

fn find<'a>(trace: &'a Trace, name: &str, kind: SpanKind) -> Option<&'a Span> {
    trace.spans().iter().find(|span| span.name == name && span.kind == kind)
}

/// What the caller does, what the gateway answers and what the roles do for it is one trace.
#[tokio::test]
async fn a_request_is_one_trace() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(RULES).http().env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let bed = Bed::with(options).await;
    let http = Http::of(&bed.cluster.http().unwrap());
    let (id, own) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let body = spec("native.echo", json!({ "secret": "of mine" })).to_string();
    let answer =
        http.request("call").header("traceparent", format!("00-{id}-{own}-01")).body(body).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    let complete = |trace: &Trace| {
        find(trace, REQUEST, SpanKind::Server).is_some() && find(trace, CALL, SpanKind::Server).is_some()
    };
    let trace = receiver.wait_for(id, PATIENCE, complete).await.unwrap();
    let request = find(&trace, REQUEST, SpanKind::Server).unwrap();
    let [asked, served] = [SpanKind::Client, SpanKind::Server].map(|kind| find(&trace, CALL, kind).unwrap());
    assert_eq!(request.parent_span_id, own);
    assert_eq!((&asked.parent_span_id, &served.parent_span_id), (&request.span_id, &asked.span_id));
    assert_eq!((request.attribute("http.route"), request.attribute("http.response.status_code")), ("/v1/call", "200"));
    assert!(!format!("{:?}", trace.spans()).contains("of mine"), "arguments stay out of it");
}
