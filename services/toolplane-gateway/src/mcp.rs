//! MCP: tools, calls and kept outputs of a cluster as a server of the Model Context Protocol, over HTTP and standard input.
//!
//! ```text
//! http    POST, GET, DELETE /mcp ─┐                 ┌─► tools       what a client sees, and is called what
//! stdio   lines                  ─┴─► dispatch ─────┼─► call        tools/call: accepted, followed, asked about, answered
//!                                      (one span)   ├─► resources   what calls keep
//!                                                   └─► listen      changes of the list
//! ```
//!
//! What a client has to keep for us is sealed (`seal`): the id of a session is what the session agreed on, and the id of a question, a
//! task, an event or a state says which call it is about. So no process remembers a client, and any process can go on with it.
//!
//! The official SDK (`rmcp`) is not used, for the reasons in `toolplane-mcp`, and because its sessions live in one process.

mod call;
mod client;
mod dispatch;
mod exchange;
mod fault;
mod front;
#[cfg(test)]
mod fuzz;
mod http;
mod incoming;
mod key;
mod listen;
mod log;
mod names;
mod oauth;
mod questions;
mod reply;
mod resources;
mod seal;
mod stdio;
mod tools;
mod version;

use std::sync::Arc;

use ::http::HeaderValue;
use ::http::header::CONTENT_TYPE;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};

use crate::door::{Door, RESOURCE_METADATA, refusal};

pub(crate) use front::Front;
pub(crate) use key::seals;
pub(crate) use oauth::scope_of_calls;
pub use stdio::{StdioOptions, serve_lines};

/// Where MCP is spoken.
const PATH: &str = "/mcp";

/// What is answered to callers that are known.
pub(crate) fn routes() -> Router<Arc<Door>> {
    Router::new().route(PATH, post(http::post).get(http::get).delete(http::delete))
}

/// What is answered to everybody.
pub(crate) fn open_routes(_door: &Door) -> Router<Arc<Door>> {
    let metadata = || get(metadata);
    Router::new().route(RESOURCE_METADATA, metadata()).route(&format!("{RESOURCE_METADATA}{PATH}"), metadata())
}

/// Who gives tokens.
async fn metadata(State(door): State<Arc<Door>>) -> Response {
    match oauth::metadata(&door.url, door.auth.as_deref()) {
        Some(metadata) => {
            let mut response = Response::new(Body::from(metadata.to_string()));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        None => refusal(&toolplane_runtime::ApiError::not_found("path", RESOURCE_METADATA).into()),
    }
}
