//! Calls of the API as JSON over HTTP: every public method, found in the descriptors of the contract. Nothing is written for one
//! method alone.
//!
//! ```text
//! POST /v1/<method>  ─► may this caller? ─► body ─► read ─► the role, by its own message bytes ─► write ─► answer
//!                                                                 └── many messages ─► events (SSE), or the bytes themselves
//! ```

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::response::Response;
use axum::routing::post;
use axum::{Router, body::Body};
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Uri};
use toolplane_records::codes;
use toolplane_runtime::ApiError;

use crate::door::{Door, refusal};
use crate::upstream::Upstream;

mod answer;
mod body;
mod cursor;
mod download;
mod events;
#[cfg(test)]
mod fuzz;
mod headers;
mod methods;
pub(crate) mod openapi;
mod read;
mod rpc;
mod upload;
mod waiting;
mod words;
mod write;

/// Where the description of all this is.
const DESCRIPTION: &str = "/v1/openapi.json";

/// What is answered to callers that are known.
pub(crate) fn routes() -> Router<Arc<Door>> {
    let mut routes = Router::new();
    for method in methods::all() {
        let asked = Arc::clone(method);
        let answer =
            async move |State(door): State<Arc<Door>>, Extension(upstream): Extension<Upstream>, request: Request| {
                answer::answer(door, upstream, asked, request).await
            };
        routes = routes.route(&method.route, post(answer));
    }
    routes.method_not_allowed_fallback(async |uri: Uri| only("POST", &uri))
}

/// What is answered to everybody.
pub(crate) fn open_routes(door: &Door) -> Router<Arc<Door>> {
    if !door.reflection {
        return Router::new();
    }
    let description = Router::new().route(DESCRIPTION, axum::routing::get(async || description()));
    description.method_not_allowed_fallback(async |uri: Uri| only("GET, HEAD", &uri))
}

fn description() -> Response {
    let mut response = Response::new(Body::from(openapi::DOCUMENT));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// What is said to a request with another method.
fn only(methods: &'static str, uri: &Uri) -> Response {
    let refused = ApiError::FailedPrecondition {
        reason: codes::HTTP_METHOD,
        subject: "method".to_owned(),
        message: format!("`{}` is asked with {methods}", uri.path()),
    };
    let mut response = refusal(&refused.into());
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}
