//! What clients with sessions do beside asking: listen, go on with a stream they lost, cancel, and end.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_proto::v1;
use toolplane_runtime::tasks;

use super::headers::{EVENTS, takes};
use super::{asked, empty, events, exchange, is_stateless, refused, session};
use crate::door::Door;
use crate::mcp::call::{self, Begun};
use crate::mcp::client::{Meta, Scope, Session};
use crate::mcp::exchange::Place;
use crate::mcp::fault::Fault;
use crate::mcp::listen;
use crate::mcp::seal::Purpose;
use crate::upstream::Upstream;

const LAST_EVENT: &str = "last-event-id";
/// Calls of an ended session that are looked for at a time.
const PAGE: i32 = 1000;

/// A client listens, or goes on with a stream it lost.
pub(crate) async fn get(
    State(door): State<Arc<Door>>,
    Extension(upstream): Extension<Upstream>,
    headers: HeaderMap,
) -> Response {
    if is_stateless(&headers) {
        return empty(StatusCode::METHOD_NOT_ALLOWED);
    }
    if !takes(&headers, EVENTS) {
        return empty(StatusCode::NOT_ACCEPTABLE);
    }
    let principal: Arc<str> = upstream.principal().into();
    let (session, client) = match session(&door, &headers, &principal) {
        Ok(found) => found,
        Err(fault) => return refused(&door, b"null", &fault),
    };
    let place: Option<Option<Place>> = headers.get(LAST_EVENT).map(|id| {
        let id = id.to_str().ok()?;
        door.front.seals.open(Purpose::Event, &principal, id)
    });
    let place = match place {
        Some(Some(place)) => Some(place),
        Some(None) => {
            return refused(&door, b"null", &Fault::no_message("`Last-Event-ID` is of no stream of this session"));
        }
        None => None,
    };
    let scope = Some(Scope(session.nonce));
    let (id, meta) = match &place {
        Some(place) => (Bytes::from(place.request.clone()), Meta::of_progress(place.progress.as_deref())),
        None => (Bytes::from_static(b"null"), Meta::default()),
    };
    let (x, told) = exchange(&door, upstream, principal, client, scope, id, meta);
    // It listens, or has the id of an event: either way it can do so at another process.
    let (asked, x) = (asked(&door, &x, true), Arc::new(x));
    let answer: BoxFuture<'static, _> = match place {
        Some(place) => {
            let begun = Begun { id: place.invocation, tool: place.tool, arguments: place.arguments, seq: place.seq };
            Box::pin(async move { call::follow(&x, begun, None).await })
        }
        None => {
            // From the moment the stream is there, no change is missed.
            let heard = listen::hear(&x).await;
            Box::pin(async move { heard.tell(&x, None).await })
        }
    };
    events::response(events::at_once(asked, answer, told))
}

/// A client ends its session: what it still waits for is no longer wanted.
pub(crate) async fn delete(
    State(door): State<Arc<Door>>,
    Extension(upstream): Extension<Upstream>,
    headers: HeaderMap,
) -> Response {
    if is_stateless(&headers) {
        return empty(StatusCode::METHOD_NOT_ALLOWED);
    }
    match session(&door, &headers, &upstream.principal()) {
        Ok((session, _)) => {
            door.front.ended.put(&session.nonce);
            tasks::spawn("mcp cancel", async move { cancel_all(&upstream, &session).await });
            empty(StatusCode::NO_CONTENT)
        }
        Err(fault) => refused(&door, b"null", &fault),
    }
}

/// Cancels what a session still waits for.
async fn cancel_all(upstream: &Upstream, session: &Session) {
    let session_ref = call::session_ref(&session.nonce);
    let request = v1::ListInvocationsRequest { session_ref, page_size: PAGE, ..Default::default() };
    let Ok(answer) = upstream.invocations().list_invocations(request).await else { return };
    for call in answer.into_inner().invocations {
        if call.ended_at.is_none() {
            call::cancel(upstream, &call.invocation_id, "the MCP client ended its session").await;
        }
    }
}

/// A notification of a client.
pub(super) fn notified(
    door: &Door,
    upstream: Upstream,
    principal: &str,
    session: &Session,
    method: &str,
    params: &Bytes,
) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: Box<RawValue>,
    }
    if method != "notifications/cancelled" {
        return;
    }
    let Ok(cancelled) = serde_json::from_slice::<Cancelled>(params) else { return };
    let unique = Some((session.nonce.as_str(), cancelled.request_id.get().as_bytes()));
    let id = call::invocation_of(&door.front.seals, principal, unique);
    tasks::spawn("mcp cancel", async move { call::cancel(&upstream, &id, call::LET_GO).await });
}
