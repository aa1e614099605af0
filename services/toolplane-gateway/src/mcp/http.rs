//! The protocol over HTTP (Streamable HTTP): one request of HTTP for each message of a client, answered with JSON, or with a stream of
//! events where something is said before the answer.

mod events;
mod headers;
mod sessions;

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use toolplane_mcp::message::{self, Message};
use toolplane_runtime::clock;

use crate::door::Door;
use crate::mcp::client::{Client, Meta, Scope, Session};
use crate::mcp::exchange::{Exchange, Out};
use crate::mcp::fault::Fault;
use crate::mcp::seal::{Purpose, nonce};
use crate::mcp::version::Version;
use crate::mcp::{call, dispatch, incoming};
use crate::upstream::Upstream;

pub(crate) use sessions::{delete, get};

/// Names the session of a request.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// A message of a client.
pub(crate) async fn post(
    State(door): State<Arc<Door>>,
    Extension(upstream): Extension<Upstream>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(status) = headers::check_media(&headers) {
        return empty(status);
    }
    let message = match incoming::read(&body) {
        Ok(message) => message,
        Err(unfit) => return refused(&door, &unfit.id, &unfit.fault),
    };
    let id = match &message {
        Message::Request { id, .. } => id.clone(),
        _ => Bytes::from_static(b"null"),
    };
    match taken(&door, upstream, &headers, message).await {
        Ok(response) => response,
        Err(fault) => refused(&door, &id, &fault),
    }
}

async fn taken(door: &Arc<Door>, upstream: Upstream, headers: &HeaderMap, message: Message) -> Result<Response, Fault> {
    let principal: Arc<str> = upstream.principal().into();
    match message {
        Message::Request { id, method, params } => {
            let meta = Meta::of(&params)?;
            if let Some(version) = headers::stateless(headers, &meta)? {
                headers::check_routing(headers, &method, &params)?;
                let client = meta.client(version)?;
                let x = exchange(door, upstream, principal, client, None, id, meta);
                return Ok(run(door, x, method, params).await);
            }
            if method == "initialize" {
                return initialize(door, &principal, &id, &params);
            }
            let (session, client) = session(door, headers, &principal)?;
            let x = exchange(door, upstream, principal, client, Some(Scope(session.nonce)), id, meta);
            Ok(run(door, x, method, params).await)
        }
        Message::Notification { method, params } => {
            if headers.contains_key(&SESSION) {
                let (session, _) = session(door, headers, &principal)?;
                sessions::notified(door, upstream, &principal, &session, &method, &params);
            }
            Ok(empty(StatusCode::ACCEPTED))
        }
        Message::Answer { id, outcome } => {
            session(door, headers, &principal)?;
            let id: String = id.and_then(|id| serde_json::from_slice(&id).ok()).unwrap_or_default();
            let outcome = outcome.map_err(|error| error.message);
            call::answer(&door.front, &upstream, &principal, &id, outcome).await?;
            Ok(empty(StatusCode::ACCEPTED))
        }
    }
}

fn exchange(
    door: &Door,
    upstream: Upstream,
    principal: Arc<str>,
    client: Client,
    scope: Option<Scope>,
    id: Bytes,
    meta: Meta,
) -> (Exchange, tokio::sync::mpsc::Receiver<crate::mcp::exchange::Told>) {
    let (out, receiver) = Out::new();
    let front = Arc::clone(&door.front);
    let resumes = scope.is_some();
    (Exchange { front, upstream, principal, client, scope, resumes, over_http: true, id, meta, out }, receiver)
}

/// Begins a session.
fn initialize(door: &Door, principal: &str, id: &Bytes, params: &Bytes) -> Result<Response, Fault> {
    let now = clock::since_epoch().as_secs();
    let session = Session::begin(params, nonce(), now)?;
    let Some(client) = session.client(now) else { return Err(Fault::params("this version is not spoken")) };
    let result = dispatch::initialized(client.version).write(client.version);
    let mut response = json(StatusCode::OK, message::write_result(id, &result));
    let sealed = door.front.seals.seal(Purpose::Session, principal, &session);
    if let Ok(sealed) = HeaderValue::try_from(sealed) {
        response.headers_mut().insert(SESSION, sealed);
    }
    Ok(response)
}

/// The session a request belongs to.
fn session(door: &Door, headers: &HeaderMap, principal: &str) -> Result<(Session, Client), Fault> {
    let Some(sealed) = headers.get(&SESSION) else {
        return Err(Fault::no_message("the header `Mcp-Session-Id` is missing; a session begins with `initialize`"));
    };
    let ended = || Fault {
        http: Some(StatusCode::NOT_FOUND),
        ..Fault::no_message("there is no such session; begin a new one")
    };
    let sealed = sealed.to_str().map_err(|_| ended())?;
    let session: Session = door.front.seals.open(Purpose::Session, principal, sealed).ok_or_else(ended)?;
    if door.front.ended.has(&session.nonce) {
        return Err(ended());
    }
    let client = session.client(clock::since_epoch().as_secs()).ok_or_else(ended)?;
    Ok((session, client))
}

/// Answers a request: with JSON where the answer comes first, else with events.
async fn run(
    door: &Arc<Door>,
    (x, told): (Exchange, tokio::sync::mpsc::Receiver<crate::mcp::exchange::Told>),
    method: String,
    params: Bytes,
) -> Response {
    let (id, version) = (x.id.clone(), x.client.version);
    // A subscription is never answered.
    let asked = asked(door, &x, method == "subscriptions/listen");
    let x = Arc::new(x);
    let answer = async move { dispatch::answer(x, &method, &params).await };
    match events::first(asked, Box::pin(answer), told).await {
        events::First::Answer(Ok(reply)) => json(StatusCode::OK, message::write_result(&id, &reply.write(version))),
        events::First::Answer(Err(fault)) => refused(door, &id, &fault),
        events::First::Events(events) => events::response(events),
    }
}

/// A request as its stream has to know it. `moves`: nothing is lost with the stream.
fn asked(door: &Door, x: &Exchange, moves: bool) -> events::Asked {
    let stops = events::Stops { drains: door.drains.clone(), ends: door.ends.clone() };
    events::Asked { id: x.id.clone(), version: x.client.version, out: x.out.clone(), moves, stops }
}

/// A request answered with an error.
fn refused(door: &Door, id: &[u8], fault: &Fault) -> Response {
    let body = written(&Bytes::copy_from_slice(id), fault);
    let mut response = json(fault.http.unwrap_or(StatusCode::OK), body);
    if fault.is_forbidden() {
        door.challenge(Some("insufficient_scope"), &mut response);
    }
    response
}

pub(crate) fn written(id: &Bytes, fault: &Fault) -> Bytes {
    let data = fault.data.as_ref().map(ToString::to_string);
    message::write_failure(id, fault.code, &fault.message, data.as_deref())
}

fn json(status: StatusCode, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

/// Whether a request is of the version that knows POST alone.
fn is_stateless(headers: &HeaderMap) -> bool {
    headers::version(headers) == Some(Version::V2026July.as_str()) || !headers.contains_key(&SESSION)
}
