//! Calls of the API as JSON over HTTP.

use std::sync::Arc;

use axum::Router;

use crate::door::Door;

/// What is answered to callers that are known.
pub(crate) fn routes() -> Router<Arc<Door>> {
    Router::new()
}

/// What is answered to everybody.
pub(crate) fn open_routes() -> Router<Arc<Door>> {
    Router::new()
}
