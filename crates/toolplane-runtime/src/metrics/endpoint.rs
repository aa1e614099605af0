//! `GET /metrics`, as Prometheus asks for it. On loopback anybody may read it, in clear text, as with health checks; beyond loopback
//! the connection is encrypted and the caller is an operator or an auditor.

use std::convert::Infallible;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use toolplane_metrics::text::{self, Format};
use tower::service_fn;

use crate::caller::Role;
use crate::config::{GatewayConfig, ServerConfig};
use crate::server::{Bound, ServerError};
use crate::shutdown::Shutdown;
use crate::status::ApiError;
use crate::tasks::Tasks;
use crate::web::{Callers, WebServer, WebSettings};

/// Readers at once: they are few, and come every some seconds.
const MOST_CONNECTIONS: usize = 32;
/// A reader that is slower than this when the process ends is cut off.
const DRAIN: Duration = Duration::from_secs(1);

/// Answers at a port that is held, for as long as the process has something to do.
///
/// Fails with [`ServerError::Exposed`] for a port beyond loopback without encryption and known callers, and with
/// [`ServerError::File`] when one of their files cannot be used.
pub(crate) fn answer(bound: Bound, config: &ServerConfig, tasks: &Tasks) -> Result<(), ServerError> {
    let mut settings = WebSettings::from_config(config, &GatewayConfig::default())?;
    if bound.address().ip().is_loopback() {
        (settings.tls, settings.auth) = (None, None);
    }
    settings.max_connections = MOST_CONNECTIONS;
    settings.drain_timeout = DRAIN;
    let server = WebServer::new(bound, settings)?;
    println!("metrics on {}", server.address());
    let (callers, shutdown) = (server.callers(), tasks.shutdown().clone());
    tasks.spawn("metrics", serve(server, callers, shutdown));
    Ok(())
}

async fn serve(server: WebServer, callers: Callers, shutdown: Shutdown) {
    let service = service_fn(move |request: Request<Incoming>| {
        let callers = callers.clone();
        async move {
            let (head, _) = request.into_parts();
            let answered = match callers.identify(&head.headers, &head.extensions).await {
                Ok(caller) if caller.is(Role::Operator) || caller.is(Role::Auditor) => page(&head),
                Ok(_) => plain(StatusCode::FORBIDDEN, "metrics are for operators and auditors\n"),
                Err(ApiError::Unavailable { .. }) => plain(StatusCode::SERVICE_UNAVAILABLE, "try again later\n"),
                Err(_) => plain(StatusCode::UNAUTHORIZED, "a credential is required\n"),
            };
            Ok::<_, Infallible>(answered)
        }
    });
    server.run(service, shutdown).await;
}

fn page(head: &http::request::Parts) -> Response<String> {
    if head.uri.path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "only /metrics is here\n");
    }
    if head.method != Method::GET && head.method != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is answered\n");
    }
    let accept = head.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let format = Format::asked(accept);
    with_type(StatusCode::OK, format.media_type(), text::page(&toolplane_metrics::collect(), format))
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    with_type(status, "text/plain; charset=utf-8", text.to_owned())
}

fn with_type(status: StatusCode, media_type: &'static str, body: String) -> Response<String> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(media_type));
    response
}
