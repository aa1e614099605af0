//! The answer of a request as events, where something is said before it.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{Stream, unfold};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;
use toolplane_mcp::message::write_result;

use super::headers::EVENTS;
use super::written;
use crate::mcp::exchange::{Out, Told};
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::version::Version;

/// How long an answer is waited for before its client is shown that something is done.
const QUIET: Duration = Duration::from_secs(2);
/// How often a client that hears nothing is shown that its stream lives.
const ALIVE: Duration = Duration::from_secs(15);

/// How long a client should wait before it goes on with a stream it lost, in milliseconds.
const AGAIN: u64 = 500;

type Answer = BoxFuture<'static, Result<Reply, Fault>>;

/// What comes first.
pub(super) enum First {
    Answer(Result<Reply, Fault>),
    Events(Events),
}

/// A request on its way to its answer. Dropped, nothing more is done for it.
pub(super) struct Events {
    answer: Option<Answer>,
    told: Receiver<Told>,
    version: Version,
    id: Bytes,
    /// What was heard already.
    ready: Vec<Bytes>,
}

/// Waits for what comes first: the answer, or anything before it.
pub(super) async fn first(
    mut answer: Answer,
    mut told: Receiver<Told>,
    out: &Out,
    version: Version,
    id: Bytes,
) -> First {
    let heard = tokio::select! {
        // An answer that is there stands alone only if nothing was said before.
        biased;
        heard = told.recv() => heard,
        ended = &mut answer => match told.try_recv() {
            Ok(heard) => {
                let mut ready = vec![event(&heard)];
                while let Ok(heard) = told.try_recv() {
                    ready.push(event(&heard));
                }
                ready.push(last(&id, version, ended));
                return First::Events(Events { answer: None, told, version, id, ready });
            }
            Err(_) => return First::Answer(ended),
        },
        () = tokio::time::sleep(QUIET) => None,
    };
    First::Events(begun(answer, told, out, version, id, heard.as_ref()))
}

/// A stream that begins at once.
pub(super) fn at_once(answer: Answer, told: Receiver<Told>, out: &Out, version: Version, id: Bytes) -> Events {
    begun(answer, told, out, version, id, None)
}

fn begun(answer: Answer, told: Receiver<Told>, out: &Out, version: Version, id: Bytes, heard: Option<&Told>) -> Events {
    // Where a client goes on that loses the stream before it heard anything: since 2025-11-25 it is told at once.
    let start = out.start().filter(|_| version >= Version::V2025November);
    let start = start.map(|start| Bytes::from(format!("id: {start}\nretry: {AGAIN}\ndata: \n\n")));
    let ready = start.into_iter().chain(heard.map(event)).collect();
    Events { answer: Some(answer), told, version, id, ready }
}

/// A message as one event.
fn event(told: &Told) -> Bytes {
    let message = String::from_utf8_lossy(&told.message);
    let id = told.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("event: message\n{id}data: {message}\n\n"))
}

fn last(id: &Bytes, version: Version, ended: Result<Reply, Fault>) -> Bytes {
    let message = match ended {
        Ok(reply) => write_result(id, &reply.write(version)),
        Err(fault) => written(id, &fault),
    };
    event(&Told { id: None, message })
}

/// The events one after the other, up to the answer.
fn stream(events: Events) -> impl Stream<Item = Result<Bytes, Infallible>> {
    unfold(events, |mut events| async move {
        if !events.ready.is_empty() {
            return Some((Ok(events.ready.remove(0)), events));
        }
        let answer = events.answer.as_mut()?;
        let next = timeout(ALIVE, async {
            tokio::select! {
                biased;
                Some(heard) = events.told.recv() => Ok(heard),
                ended = answer => Err(ended),
            }
        });
        let bytes = match next.await {
            Ok(Ok(heard)) => event(&heard),
            Ok(Err(ended)) => {
                events.answer = None;
                while let Ok(heard) = events.told.try_recv() {
                    events.ready.push(event(&heard));
                }
                events.ready.push(last(&events.id, events.version, ended));
                events.ready.remove(0)
            }
            Err(_) => Bytes::from_static(b": alive\n\n"),
        };
        Some((Ok(bytes), events))
    })
}

pub(super) fn response(events: Events) -> Response {
    let mut response = Response::new(Body::from_stream(stream(events)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
