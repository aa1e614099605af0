//! A real OTLP gRPC receiver that keeps every span it is sent, and the newest metrics of each process.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::metrics::v1::{Metric, ResourceMetrics};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Request, Response, Status};

use crate::Problem;
use crate::trace::{Span, Trace};

/// The receiver. Dropping it closes its listener.
#[derive(Debug)]
pub struct OtlpReceiver {
    endpoint: String,
    spans: Arc<Mutex<Vec<Span>>>,
    metrics: Arc<Mutex<Newest>>,
    _stop: DropGuard,
}

/// What each process said of everything last, by its `service.name`.
type Newest = BTreeMap<String, Vec<Metric>>;

impl OtlpReceiver {
    /// Listens on a free port of the loopback address.
    pub async fn start() -> Result<Self, Problem> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(Problem::file("a free port"))?;
        let address = bound.local_addr().map_err(Problem::file("a free port"))?;
        let spans = Arc::new(Mutex::new(Vec::new()));
        let metrics = Arc::new(Mutex::new(Newest::new()));
        let collector = Collector { spans: Arc::clone(&spans), metrics: Arc::clone(&metrics) };
        let service = TraceServiceServer::new(collector.clone());
        let token = CancellationToken::new();
        let stop = token.clone().drop_guard();
        let server =
            tonic::transport::Server::builder().add_service(service).add_service(MetricsServiceServer::new(collector));
        tokio::spawn(async move {
            let served =
                server.serve_with_incoming_shutdown(TcpListenerStream::new(bound), token.cancelled_owned()).await;
            if let Err(error) = served {
                eprintln!("the OTLP receiver ended: {error}");
            }
        });
        Ok(Self { endpoint: format!("http://{address}"), spans, metrics, _stop: stop })
    }

    /// What to configure as `telemetry.otlp_endpoint`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Every span received so far.
    pub fn spans(&self) -> Vec<Span> {
        self.spans.lock().clone()
    }

    /// The spans of one trace received so far.
    pub fn trace(&self, trace_id: &str) -> Trace {
        Trace::new(self.spans().into_iter().filter(|span| span.trace_id == trace_id).collect())
    }

    /// Waits until the process that calls itself `service` has sent metrics like `complete` wants them. They are all of a process.
    pub async fn metrics_of(
        &self,
        service: &str,
        patience: Duration,
        complete: impl Fn(&[Metric]) -> bool,
    ) -> Result<Vec<Metric>, Problem> {
        let start = Instant::now();
        loop {
            let metrics = self.metrics.lock().get(service).cloned().unwrap_or_default();
            if complete(&metrics) {
                return Ok(metrics);
            }
            if start.elapsed() > patience {
                return Err(Problem::TooLate {
                    what: format!("metrics of {service}"),
                    millis: patience.as_millis(),
                    said: format!("; so far there is: {metrics:#?}"),
                });
            }
            toolplane_wait::look_again().await;
        }
    }

    /// Waits until the trace has what `complete` wants. Exporters send in batches, so spans come late and out of order.
    pub async fn wait_for(
        &self,
        trace_id: &str,
        patience: Duration,
        complete: impl Fn(&Trace) -> bool,
    ) -> Result<Trace, Problem> {
        let start = Instant::now();
        loop {
            let trace = self.trace(trace_id);
            if complete(&trace) {
                return Ok(trace);
            }
            if start.elapsed() > patience {
                return Err(Problem::TooLate {
                    what: format!("a complete trace {trace_id}"),
                    millis: patience.as_millis(),
                    said: format!("; so far there is:\n{}", trace.render()),
                });
            }
            toolplane_wait::look_again().await;
        }
    }
}

#[derive(Clone)]
struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    metrics: Arc<Mutex<Newest>>,
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        for of_process in request.into_inner().resource_metrics {
            let name = service_name(&of_process);
            let metrics = of_process.scope_metrics.into_iter().flat_map(|scope| scope.metrics).collect();
            self.metrics.lock().insert(name, metrics);
        }
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

fn service_name(of_process: &ResourceMetrics) -> String {
    let attributes = of_process.resource.iter().flat_map(|resource| &resource.attributes);
    let named = attributes.filter(|attribute| attribute.key == "service.name");
    let values = named.filter_map(|attribute| attribute.value.as_ref()?.value.clone());
    let mut texts = values.filter_map(|value| match value {
        any_value::Value::StringValue(text) => Some(text),
        _ => None,
    });
    texts.next().unwrap_or_default()
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let resources = request.into_inner().resource_spans;
        let spans = resources.into_iter().flat_map(Span::read);
        self.spans.lock().extend(spans);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}
