//! What every request over HTTP passes, whatever it asks: may it name this host, may its page ask, who sends it.

mod coding;
mod guard;
pub(crate) mod refusal;
mod traced;
mod unread;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use futures_util::FutureExt as _;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ORIGIN, VARY, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Uri, Version};
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status};
use toolplane_records::codes;
use toolplane_runtime::ApiError;
use toolplane_runtime::config::AuthConfig;
use toolplane_runtime::tasks::panic_text;
use toolplane_runtime::telemetry::spans::http::{Exchange, RequestFacts};
use toolplane_runtime::web::Callers;
use tower::ServiceExt as _;

use crate::mcp::Front;
use crate::options::GatewayOptions;
use crate::upstream::Roles;
use crate::{json, mcp};

use guard::Guard;
pub(crate) use refusal::{error, refusal};
use traced::TracedBody;
use unread::DrainedBody;

/// Where clients of OAuth find out who gives tokens for this listener (RFC 9728).
pub(crate) const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Door {
    guard: Guard,
    callers: Callers,
    pub(crate) roles: Roles,
    /// The URL under which clients reach this listener, without a slash at its end.
    pub(crate) url: String,
    /// The scopes of OAuth that let a client call tools, where roles are scopes.
    scope: Option<String>,
    /// What MCP is answered by.
    pub(crate) front: Arc<Front>,
    /// Who may call, as it was configured.
    pub(crate) auth: Option<Arc<AuthConfig>>,
    pub(crate) max_body_bytes: usize,
    /// Whether the description of the API is for everybody.
    pub(crate) reflection: bool,
    encrypted: bool,
    /// The listener drains: streams that their clients can go on with at another process end.
    pub(crate) drains: CancellationToken,
    /// Ends streams that go on while the listener drains, a moment before it is cut.
    pub(crate) ends: CancellationToken,
}

impl Door {
    pub(crate) fn new(
        options: &GatewayOptions,
        callers: Callers,
        address: SocketAddr,
        encrypted: bool,
        roles: Roles,
        front: Front,
    ) -> Self {
        let scheme = if encrypted { "https" } else { "http" };
        let url = options.listener.public_url.clone().unwrap_or_else(|| format!("{scheme}://{address}"));
        Self {
            guard: Guard::new(&options.listener, address),
            callers,
            roles,
            url: url.trim_end_matches('/').to_owned(),
            scope: mcp::scope_of_calls(options.auth.as_deref()),
            // One token, so that a stream that can go on elsewhere is never answered that its call has not ended.
            drains: front.drains.clone(),
            front: Arc::new(front),
            auth: options.auth.clone(),
            max_body_bytes: options.max_message_bytes,
            reflection: options.reflection,
            encrypted,
            ends: CancellationToken::new(),
        }
    }

    /// Puts into a refusal what a client of OAuth has to know to come back with a better token (RFC 6750, RFC 9728).
    pub(crate) fn challenge(&self, error: Option<&'static str>, response: &mut Response) {
        let error = error.map(|error| format!("error=\"{error}\", ")).unwrap_or_default();
        let scope = self.scope.as_ref().map(|scope| format!("scope=\"{scope}\", ")).unwrap_or_default();
        let text = format!("Bearer {error}{scope}resource_metadata=\"{}{RESOURCE_METADATA}\"", self.url);
        if let Ok(challenge) = HeaderValue::try_from(text) {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
    }
}

/// Answers every request.
pub(crate) fn service(
    door: Arc<Door>,
) -> impl tower::Service<
    http::Request<Incoming>,
    Response = Response,
    Error = Infallible,
    Future = impl Future<Output = Result<Response, Infallible>> + Send + 'static,
> + Clone
+ Send
+ 'static {
    let known = Router::new().merge(json::routes()).merge(mcp::routes());
    let known = known.layer(from_fn(coding::plain)).layer(from_fn_with_state(Arc::clone(&door), identified));
    let open = Router::new().merge(json::open_routes(&door)).merge(mcp::open_routes(&door));
    let routes = known
        .merge(open)
        .fallback(async |uri: Uri| refusal(&ApiError::not_found("path", uri.path()).into()))
        .layer(DefaultBodyLimit::max(door.max_body_bytes))
        .layer(from_fn_with_state(Arc::clone(&door), guarded))
        .layer(from_fn(caught))
        .layer(from_fn_with_state(Arc::clone(&door), traced))
        .with_state(door);
    routes.into_service::<Body>().map_request(|request: http::Request<Incoming>| match request.version() {
        // A stream of HTTP/2 ends without its connection.
        Version::HTTP_2 => request.map(Body::new),
        _ => request.map(|body| Body::new(DrainedBody::new(Body::new(body)))),
    })
}

/// Puts a span around a request and its answer, to the end of its body.
async fn traced(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    let facts = RequestFacts { method: request.method(), route, encrypted: door.encrypted };
    let exchange = Exchange::begin(&facts, request.headers());
    let response = exchange.within(next.run(request)).await;
    exchange.answered(response.status());
    response.map(|body| Body::new(TracedBody::new(body, exchange)))
}

/// Answers where the code that should answer panics; the connection goes on.
async fn caught(request: Request, next: Next) -> Response {
    let answering = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    answering.unwrap_or_else(|panic| refusal(&ApiError::internal(codes::PANIC, panic_text(&*panic)).into()))
}

/// Lets requests through that name this host and do not come from a page of somebody else's.
async fn guarded(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    if let Err(status) = door.guard.check(request.headers(), request.uri()) {
        return refusal(&status);
    }
    let mut response = match request.method() {
        &Method::OPTIONS if origin.is_some() => guard::preflight(),
        _ => next.run(request).await,
    };
    if let Some(origin) = origin {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
        guard::expose(response.headers_mut());
    }
    response
}

/// Finds out who sends a request, and hands on the roles as that caller reaches them.
async fn identified(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    match door.callers.identify(request.headers(), request.extensions()).await {
        Ok(caller) => {
            request.extensions_mut().insert(door.roles.serving(caller));
            next.run(request).await
        }
        Err(error) => {
            let shown = error.reason() != codes::TOKEN_MISSING.as_str();
            let status = Status::from(error);
            let mut response = refusal(&status);
            if status.code() == Code::Unauthenticated {
                door.challenge(shown.then_some("invalid_token"), &mut response);
            }
            response
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn broken() -> Response {
        panic!("of no use to a caller")
    }

    #[tokio::test]
    async fn a_panic_is_answered_and_told_to_nobody_outside() {
        let routes: Router = Router::new().route("/", axum::routing::get(broken)).layer(from_fn(caught));
        let answer = routes.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(answer.status(), http::StatusCode::INTERNAL_SERVER_ERROR);
        let text = axum::body::to_bytes(answer.into_body(), 4096).await.unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        assert!(text.contains("\"PANIC\"") && !text.contains("of no use"), "{text}");
    }
}
