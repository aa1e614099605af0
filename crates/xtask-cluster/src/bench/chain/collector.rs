//! Where the cluster of the bench sends its spans: a receiver that counts them and reads no further.
//!
//! It shares the machine with what is measured, so it must cost little: what reading spans costs is the collector's affair.

use std::convert::Infallible;
use std::future::Ready;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::body::Body;
use tonic::server::{NamedService, UnaryService};
use tonic::{Response, Status};
use tonic_prost::ProstCodec;
use toolplane_testkit::Problem;

/// The receiver. Dropping it closes its listener.
#[derive(Debug)]
pub(super) struct Collector {
    endpoint: String,
    received: Arc<AtomicU64>,
    _stop: DropGuard,
}

impl Collector {
    /// Listens on a free port of the loopback address.
    pub(super) async fn start() -> Result<Self, Problem> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(Problem::file("a free port"))?;
        let address = bound.local_addr().map_err(Problem::file("a free port"))?;
        let received = Arc::new(AtomicU64::new(0));
        let service = Counter(Arc::clone(&received));
        let token = CancellationToken::new();
        let stop = token.clone().drop_guard();
        let server = tonic::transport::Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming_shutdown(TcpListenerStream::new(bound), token.cancelled_owned()));
        Ok(Self { endpoint: format!("http://{address}"), received, _stop: stop })
    }

    /// What to configure as `telemetry.otlp_endpoint`.
    pub(super) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// How many spans came.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

/// `ExportTraceServiceRequest`, down to the spans.
#[derive(Clone, PartialEq, prost::Message)]
struct Export {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ResourceSpans {
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ScopeSpans {
    #[prost(bytes = "bytes", repeated, tag = "2")]
    spans: Vec<Bytes>,
}

/// `ExportTraceServiceResponse` of a receiver that took everything.
#[derive(Clone, PartialEq, prost::Message)]
struct Taken {}

#[derive(Clone, Debug)]
struct Counter(Arc<AtomicU64>);

impl NamedService for Counter {
    const NAME: &'static str = "opentelemetry.proto.collector.trace.v1.TraceService";
}

impl UnaryService<Export> for Counter {
    type Response = Taken;
    type Future = Ready<Result<Response<Taken>, Status>>;

    fn call(&mut self, request: tonic::Request<Export>) -> Self::Future {
        let scopes = request.get_ref().resource_spans.iter().flat_map(|resource| &resource.scope_spans);
        let spans: usize = scopes.map(|scope| scope.spans.len()).sum();
        self.0.fetch_add(spans as u64, Ordering::Relaxed);
        std::future::ready(Ok(Response::new(Taken {})))
    }
}

type Answer = std::pin::Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

impl tower::Service<Request<Body>> for Counter {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let counter = self.clone();
        Box::pin(async move {
            let codec = ProstCodec::<Taken, Export>::default();
            Ok(tonic::server::Grpc::new(codec).unary(counter, request).await)
        })
    }
}
