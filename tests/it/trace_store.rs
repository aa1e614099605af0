//! A call as a real store of traces gives it back. The store is large (`cargo xtask traces` installs it), so this is asked for.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;
use toolplane_testkit::process::Process;
use toolplane_testkit::trace::{AgentTrace, Span, Trace};
use toolplane_testkit::{Options, ports};
use toolplane_wait::eventually;

use crate::bed::{Bed, PATIENCE, RULES};
use crate::traces::{SECRET, traced};

/// The store makes a database at its first start.
const START: Duration = Duration::from_secs(120);

struct Phoenix {
    _process: Process,
    http: String,
    grpc: String,
    client: reqwest::Client,
}

impl Phoenix {
    async fn start(folder: &Path) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let (http, grpc) = (ports::free(), ports::free());
        let mut command = Command::new(root.join("target/venv-phoenix/bin/phoenix"));
        command.arg("serve").env("PHOENIX_WORKING_DIR", folder).env("PHOENIX_HOST", "127.0.0.1");
        command.env("PHOENIX_PORT", http.to_string()).env("PHOENIX_GRPC_PORT", grpc.to_string());
        command.env("PHOENIX_TELEMETRY_ENABLED", "false");
        let process =
            Process::start("phoenix", &mut command, &folder.join("phoenix.log")).expect("run `cargo xtask traces`");
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        let (http, grpc) = (format!("http://127.0.0.1:{http}"), format!("http://127.0.0.1:{grpc}"));
        let phoenix = Self { _process: process, http, grpc, client };
        eventually("the store of traces answers", START, async || phoenix.ask("v1/projects").await.map(drop)).await;
        phoenix
    }

    async fn ask(&self, path: &str) -> Option<Value> {
        let answer = self.client.get(format!("{}/{path}", self.http)).send().await.ok()?;
        serde_json::from_slice(&answer.error_for_status().ok()?.bytes().await.ok()?).ok()
    }

    /// The spans it has of a trace, in the form it received them.
    async fn trace(&self, trace_id: &str) -> Option<Trace> {
        let path = format!("v1/projects/default/spans/otlpv1?limit=1000&trace_id={trace_id}");
        let spans = self.ask(&path).await?["data"].as_array()?.iter().map(span).collect::<Option<Vec<_>>>()?;
        Some(Trace::new(spans.into_iter().filter(|span| span.trace_id == trace_id).collect()))
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    Some(value.get(name)?.as_str()?.to_owned())
}

/// A span as this store tells it. It forgets kinds and links, so all are told as internal ones without.
fn span(value: &Value) -> Option<Span> {
    let attributes = value["attributes"].as_array()?.iter();
    let attributes = attributes.filter_map(|pair| {
        let value = pair["value"].as_object()?.values().find(|value| !value.is_null())?;
        Some((text(pair, "key")?, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    });
    Some(Span {
        trace_id: text(value, "trace_id")?,
        span_id: text(value, "span_id")?,
        parent_span_id: text(value, "parent_span_id").unwrap_or_default(),
        name: text(value, "name")?,
        kind: SpanKind::Internal,
        service: String::new(),
        start_ns: value["start_time_unix_nano"].as_u64()?,
        end_ns: value["end_time_unix_nano"].as_u64()?,
        attributes: attributes.collect(),
        links: Vec::new(),
        error: value["status"]["code"] == 2,
    })
}

/// Of two spans with this name, the other's parent.
fn outer<'a>(trace: &'a Trace, name: &str) -> Option<&'a Span> {
    let [one, other] = trace.named(name).try_into().ok()?;
    match (one.parent_span_id == other.span_id, other.parent_span_id == one.span_id) {
        (true, false) => Some(other),
        (false, true) => Some(one),
        _ => None,
    }
}

/// The span of the call itself.
const CALL: &str = "agenttool.invocation text.word_count";
const RPCS: [&str; 2] = ["toolplane.v1.SurfaceService/ResolveTool", "toolplane.v1.PermissionService/Decide"];

/// Whether all of a call is there, from the agent's request to the tool.
fn is_whole(trace: &Trace) -> bool {
    let tool = trace.named("execute_tool");
    let up = tool.first().map(|tool| trace.ancestors(tool)).unwrap_or_default();
    up.last().is_some_and(|top| top == "toolplane.v1.InvocationService/Invoke")
        && RPCS.iter().all(|name| outer(trace, name).is_some())
}

#[tokio::test]
#[ignore = "needs a large store: `cargo xtask traces`"]
async fn a_call_is_one_tree_in_a_store_of_traces() {
    let folder = tempfile::tempdir().unwrap();
    let phoenix = Phoenix::start(folder.path()).await;
    let bed = Bed::with(Options::new(RULES).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", &phoenix.grpc)).await;
    std::fs::write(bed.cluster.workspace().join(SECRET), "a b c\n").unwrap();
    let agent = AgentTrace::start();
    let result = traced(&bed, &agent, "text.word_count", &format!("{{\"path\":\"{SECRET}\"}}")).await;
    assert!(!result.is_error, "{:?}", result.error);
    let trace = eventually("the whole trace can be asked for", PATIENCE, async || {
        phoenix.trace(agent.trace_id()).await.filter(is_whole)
    })
    .await;
    assert_eq!(trace.roots().len(), 1, "more than one tree:\n{}", trace.render());
    let server = trace.named("toolplane.v1.InvocationService/Invoke")[0];
    assert_eq!(server.parent_span_id, agent.span_id(), "the agent's context was not taken");
    let tool = trace.named("execute_tool")[0];
    let way = ["process agenttool.invocations", "send agenttool.invocations", CALL, &server.name];
    assert_eq!(trace.ancestors(tool), way, "{}", trace.render());
    for name in RPCS {
        let client = outer(&trace, name).unwrap();
        assert_eq!(trace.ancestors(client)[0], CALL, "{}", trace.render());
    }
    assert_eq!(tool.attribute("gen_ai.tool.name"), "text.word_count");
    assert_eq!(tool.attribute("gen_ai.operation.name"), "execute_tool");
    assert!(!trace.spans().iter().any(|span| span.error), "an error in\n{}", trace.render());
    assert!(!format!("{trace:?}").contains(SECRET), "the arguments are in\n{}", trace.render());
    println!("{}", trace.render());
}
