//! What happens around every call: its span, its caller, a panic caught, the transport's own statuses put right.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use toolplane_records::codes;

use futures_util::FutureExt as _;
use futures_util::future::Either;
use opentelemetry::context::FutureExt as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::{Code, Status};
use toolplane_metrics::names;
use tower::{Layer, Service};

use super::access::Access;
use super::auth::{Auth, Identified, OwnProcess};
use super::life::{ConnectionLife, Until};
use super::observed::{Observation, ObservedBody};
use super::remap;
use super::seats::Seat;
use super::services::Catalog;
use crate::caller::{self, Caller};
use crate::draining;
use crate::status::ApiError;
use crate::tasks::panic_text;
use crate::telemetry::Span;
use crate::telemetry::context::parent_from_headers;
use crate::telemetry::semconv::general;
use crate::telemetry::spans::rpc;

type Request = http::Request<Body>;
type Response = http::Response<Body>;

/// The stream that would otherwise keep every drain waiting.
const HEALTH_WATCH: &str = "grpc.health.v1.Health/Watch";

/// Puts [`CallService`] around the routes.
#[derive(Clone, Debug)]
pub(super) struct CallLayer(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    catalog: Catalog,
    access: Access,
    auth: Option<Arc<Auth>>,
    draining: CancellationToken,
}

impl Rules {
    fn draining(&self) -> Until {
        Until { token: self.draining.clone(), last_words: draining::last_words() }
    }

    /// Who calls; no credential is asked for where a method is open to all.
    fn identify(&self, request: &Request) -> Identified {
        match &self.auth {
            Some(auth) if !Access::is_open(method_of(request)) => {
                auth.identify(request.headers(), request.extensions())
            }
            // In its own process a role speaks for its callers whether or not credentials are asked for.
            None if request.extensions().get::<OwnProcess>().is_some() => Identified::Now(Ok(Caller::this_process())),
            _ => Identified::Now(Ok(Caller::unauthenticated())),
        }
    }

    /// Lets a request of this sender in, for itself or for whom it speaks, and notes the caller in it.
    fn admit(&self, own: &Arc<Caller>, request: &mut Request) -> Result<(), ApiError> {
        let (caller, roles) = caller::speaks_for(own, request.headers())?;
        if let Some(seat) = request.extensions().get::<ConnectionLife>().and_then(ConnectionLife::seat) {
            if Access::is_open(method_of(request)) { seat.probes() } else { seat.used_by(own) }?;
        }
        self.access.check(method_of(request), roles)?;
        request.extensions_mut().insert(caller);
        Ok(())
    }
}

/// `package.Service/Method`.
fn method_of(request: &Request) -> &str {
    request.uri().path().trim_start_matches('/')
}

impl CallLayer {
    pub(super) fn new(catalog: Catalog, access: Access, auth: Option<Arc<Auth>>, draining: CancellationToken) -> Self {
        Self(Arc::new(Rules { catalog, access, auth, draining }))
    }
}

impl<S> Layer<S> for CallLayer {
    type Service = CallService<S>;

    fn layer(&self, inner: S) -> CallService<S> {
        CallService { inner, rules: Arc::clone(&self.0) }
    }
}

/// The routes with everything around them.
#[derive(Clone, Debug)]
pub(super) struct CallService<S> {
    inner: S,
    rules: Arc<Rules>,
}

impl<S> Service<Request> for CallService<S>
where
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let method = method_of(&request);
        let parent = parent_from_headers(request.headers());
        let catalog = &self.rules.catalog;
        let (span, measured) = if catalog.traces(method) {
            let known = catalog.knows(method);
            let measured = if known { names::METHODS.name(method) } else { general::OTHER };
            (rpc::server(method, known, parent.clone()), Some(measured))
        } else {
            (Span::none(), None)
        };
        let seat = request.extensions().get::<ConnectionLife>().and_then(ConnectionLife::seat);
        let observation = Observation::server(span.clone(), measured, seat.map(Seat::begin));
        let until = match method {
            HEALTH_WATCH => Some(self.rules.draining()),
            _ => request.extensions().get::<ConnectionLife>().map(ConnectionLife::until),
        };
        let identifying = match self.rules.identify(&request) {
            Identified::Now(found) => match found.and_then(|own| self.rules.admit(&own, &mut request)) {
                Ok(()) => None,
                Err(refusal) => return Box::pin(std::future::ready(Ok(finish(refusal.into(), observation)))),
            },
            Identified::Later(identifying) => Some((identifying, Arc::clone(&self.rules))),
        };
        // The service that was polled ready must be the one called.
        let mut inner = self.inner.clone();
        std::mem::swap(&mut inner, &mut self.inner);
        let call = async move {
            if let Some((identifying, rules)) = identifying
                && let Err(refusal) = identifying.await.and_then(|own| rules.admit(&own, &mut request))
            {
                return Ok(Status::from(refusal).into_http());
            }
            inner.call(request).await
        };
        let call = AssertUnwindSafe(call).catch_unwind();
        let call = async move {
            match call.await {
                Ok(Ok(response)) => Ok(watch(response, observation, until)),
                Ok(Err(error)) => Err(error),
                Err(panic) => {
                    let status = ApiError::internal(codes::PANIC, panic_text(&*panic)).into();
                    Ok(finish(status, observation))
                }
            }
        };
        // Where nothing is recorded, what the caller sent must still reach whom this call calls.
        let call = match span.context().cloned().or(parent) {
            Some(context) => Either::Left(call.with_context(context)),
            None => Either::Right(call),
        };
        Box::pin(finished(crate::tasks::spawn("request", call)))
    }
}

/// The answer of a call that runs by itself: a caller that leaves, or whose deadline passes, stops waiting and stops
/// nothing. What a handler has begun to change, it changes wholly.
async fn finished<E>(running: JoinHandle<Result<Response, E>>) -> Result<Response, E> {
    match running.await {
        Ok(answer) => answer,
        // Panics are caught within; this is the end of the process.
        Err(_) => Ok(Status::from(ApiError::unavailable(codes::STOPPING, "this process is stopping")).into_http()),
    }
}

fn finish(status: Status, mut observation: Observation) -> Response {
    observation.end(status.code());
    status.into_http()
}

/// Follows the response to its status: in the headers when the call failed at once, else in the trailers.
fn watch(response: Response, mut observation: Observation, until: Option<Until>) -> Response {
    if let Some(corrected) = response.extensions().get::<Status>().and_then(remap::corrected) {
        return finish(corrected, observation);
    }
    if let Some(code) = response.headers().get(Status::GRPC_STATUS) {
        observation.end(Code::from_bytes(code.as_bytes()));
        return response;
    }
    response.map(|body| Body::new(ObservedBody::new(body, observation, until)))
}
