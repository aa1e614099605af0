//! What can only be seen with a process of its own: the global telemetry, exporting to a real OTLP receiver, and signals.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]
#![expect(clippy::expect_used, reason = "a test that cannot go on should say where")]

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::{Request, Response, Status};
use toolplane_runtime::server::access::Row;
use toolplane_runtime::server::{Server, ServerSettings, Services, bind};
use toolplane_runtime::telemetry::spans::{self, CallFacts};
use toolplane_runtime::{Config, Role, Shutdown, telemetry};

const ROWS: &[Row] = &[("opentelemetry.proto.collector.trace.v1.TraceService/Export", &Role::ALL)];
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().expect("collector").push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    fn spans(&self) -> Vec<Span> {
        let requests = self.0.lock().expect("collector").clone();
        let resources = requests.into_iter().flat_map(|request| request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    fn services(&self) -> Vec<String> {
        let requests = self.0.lock().expect("collector").clone();
        let resources = requests.into_iter().flat_map(|request| request.resource_spans);
        let attributes = resources.filter_map(|resource| resource.resource).flat_map(|resource| resource.attributes);
        attributes.filter(|one| one.key == "service.name").map(|one| format!("{:?}", one.value)).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_reach_a_collector_before_the_process_ends() {
    let collector = Collector::default();
    let bound = bind("127.0.0.1:0".parse().expect("address")).await.expect("bind");
    let services = Services::default().with(TraceServiceServer::new(collector.clone()));
    let settings = ServerSettings { access: ROWS, ..ServerSettings::default() };
    let server = Server::new(bound, services, settings).expect("server");
    let endpoint = format!("http://{}", server.address());
    let stop = Shutdown::new();
    let ended = tokio::spawn(server.run(stop.clone()));

    let mut config = Config::default();
    config.telemetry.otlp_endpoint = Some(endpoint);
    let guard = telemetry::init(&config.telemetry, &config.log, "executor").expect("telemetry");
    let again = telemetry::init(&config.telemetry, &config.log, "executor");
    assert_eq!(again.expect_err("only once").code(), "TELEMETRY_ALREADY_SET");
    let call = CallFacts {
        invocation_id: "inv_1",
        tool_name: "files.read_file",
        tool_id: "t1",
        tenant: "default",
        native_call_id: "call_1",
    };
    spans::invocation(&call).in_scope(|| {
        tracing::info!("a log line is no span");
        drop(tracing::info_span!("a span of somebody else"));
        drop(spans::execute_tool(&call));
    });
    guard.shutdown().await;

    let spans = collector.spans();
    let of = |name: &str| {
        let ours = spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
        assert_eq!(ours.len(), 1, "{name} among {:?}", spans.iter().map(|span| &span.name).collect::<Vec<_>>());
        ours[0].clone()
    };
    let (invocation, tool) = (of("agenttool.invocation files.read_file"), of("execute_tool files.read_file"));
    assert_eq!(tool.parent_span_id, invocation.span_id);
    assert_eq!(tool.trace_id, invocation.trace_id);
    assert!(!spans.iter().any(|span| span.name.contains("somebody else")));
    assert!(collector.services().iter().all(|name| name.contains("toolplane-executor")), "{:?}", collector.services());
    stop.request();
    tokio::time::timeout(LIMIT, ended).await.expect("in time").expect("server").expect("drained");
}

#[tokio::test]
async fn one_signal_asks_and_a_second_insists() {
    let shutdown = Shutdown::new();
    shutdown.on_signals().expect("signals");
    terminate();
    tokio::time::timeout(LIMIT, shutdown.requested()).await.expect("asked");
    let forced = shutdown.forced();
    let early = tokio::time::timeout(Duration::from_millis(20), shutdown.forced()).await;
    assert!(early.is_err(), "one signal is only a wish");
    terminate();
    tokio::time::timeout(LIMIT, forced).await.expect("insisted");
}

fn terminate() {
    let sent = Command::new("kill").args(["-TERM", &std::process::id().to_string()]).status();
    assert!(sent.expect("kill").success());
}
