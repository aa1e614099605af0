//! The answer of a request as events, where something is said before it.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::unfold;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use tokio::sync::mpsc::Receiver;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use toolplane_mcp::message::write_result;
use toolplane_runtime::draining;

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

/// What ends a stream before its answer, while the listener drains.
#[derive(Clone, Debug)]
pub(super) struct Stops {
    /// Streams that lose nothing end at once, so that their clients go on at another process.
    pub(super) drains: CancellationToken,
    /// The others are told why, a moment before the listener is cut.
    pub(super) ends: CancellationToken,
}

/// A request, as far as its stream has to know it.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) id: Bytes,
    pub(super) version: Version,
    pub(super) out: Out,
    /// Nothing is lost with its stream: its client listens and has no answer to wait for, or has the id of an event to go on from.
    pub(super) moves: bool,
    pub(super) stops: Stops,
}

/// What comes first.
pub(super) enum First {
    Answer(Result<Reply, Fault>),
    Events(Events),
}

/// A request on its way to its answer. Dropped, nothing more is done for it.
pub(super) struct Events {
    asked: Asked,
    answer: Option<Answer>,
    told: Receiver<Told>,
    /// What was heard already.
    ready: Vec<Bytes>,
}

/// Waits for what comes first: the answer, or anything before it.
pub(super) async fn first(asked: Asked, mut answer: Answer, mut told: Receiver<Told>) -> First {
    let heard = tokio::select! {
        // An answer that is there stands alone only if nothing was said before.
        biased;
        heard = told.recv() => heard,
        ended = &mut answer => match told.try_recv() {
            Ok(heard) => {
                let mut events = Events { asked, answer: None, told, ready: vec![event(&heard)] };
                events.end(ended);
                return First::Events(events);
            }
            Err(_) => return First::Answer(ended),
        },
        () = asked.stops.ends.cancelled() => None,
        () = sleep(QUIET) => None,
    };
    let mut events = at_once(asked, answer, told);
    events.ready.extend(heard.map(|heard| events.asked.told(&heard)));
    First::Events(events)
}

/// A stream that begins at once.
pub(super) fn at_once(mut asked: Asked, answer: Answer, told: Receiver<Told>) -> Events {
    // Where a client goes on that loses the stream before it heard anything: since 2025-11-25 it is told at once.
    let start = asked.out.start().filter(|_| asked.version >= Version::V2025November);
    let start = start.map(|start| Bytes::from(format!("id: {start}\nretry: {AGAIN}\ndata: \n\n")));
    asked.moves |= start.is_some();
    Events { asked, answer: Some(answer), told, ready: start.into_iter().collect() }
}

/// A message as one event.
fn event(told: &Told) -> Bytes {
    let message = String::from_utf8_lossy(&told.message);
    let id = told.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("event: message\n{id}data: {message}\n\n"))
}

impl Asked {
    /// A message as an event that the client gets: from one with an id on, it can go on elsewhere.
    fn told(&mut self, told: &Told) -> Bytes {
        self.moves |= told.id.is_some();
        event(told)
    }
}

/// What happens next to a stream without an answer.
enum Next {
    Heard(Told),
    Ended(Result<Reply, Fault>),
    /// Its client goes on elsewhere.
    Moved,
    /// Nothing, for a while.
    Quiet,
}

impl Events {
    /// The next event; nothing at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.ready.is_empty() {
            return Some(self.ready.remove(0));
        }
        let answer = self.answer.as_mut()?;
        let stops = &self.asked.stops;
        let next = tokio::select! {
            biased;
            () = stops.drains.cancelled(), if self.asked.moves => Next::Moved,
            Some(heard) = self.told.recv() => Next::Heard(heard),
            ended = answer => Next::Ended(ended),
            () = stops.ends.cancelled() => Next::Ended(Err(stopping())),
            () = sleep(ALIVE) => Next::Quiet,
        };
        match next {
            Next::Heard(heard) => Some(self.asked.told(&heard)),
            Next::Ended(ended) => {
                self.end(ended);
                Some(self.ready.remove(0))
            }
            Next::Moved => None,
            Next::Quiet => Some(Bytes::from_static(b": alive\n\n")),
        }
    }

    /// What was said before the answer, and the answer.
    fn end(&mut self, ended: Result<Reply, Fault>) {
        self.answer = None;
        while let Ok(heard) = self.told.try_recv() {
            self.ready.push(event(&heard));
        }
        let message = match ended {
            Ok(reply) => write_result(&self.asked.id, &reply.write(self.asked.version)),
            Err(fault) => written(&self.asked.id, &fault),
        };
        self.ready.push(event(&Told { id: None, message }));
    }
}

/// The last words for a client that cannot go on elsewhere with what it asked.
fn stopping() -> Fault {
    Fault::from(Status::from(draining::last_words()))
}

pub(super) fn response(events: Events) -> Response {
    let stream = unfold(events, |mut events| async move { Some((Ok::<_, Infallible>(events.next().await?), events)) });
    let mut response = Response::new(Body::from_stream(stream));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    fn asked(version: Version) -> (Asked, Receiver<Told>) {
        let (out, told) = Out::new();
        let stops = Stops { drains: CancellationToken::new(), ends: CancellationToken::new() };
        (Asked { id: Bytes::from_static(b"7"), version, out, moves: false, stops }, told)
    }

    fn text(event: Option<Bytes>) -> String {
        String::from_utf8(event.expect("an event").to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_stream_that_can_go_on_elsewhere_ends_when_the_process_drains() {
        let (asked, told) = asked(Version::V2025November);
        let drains = asked.stops.drains.clone();
        let mut listens = at_once(Asked { moves: true, ..asked }, Box::pin(pending()), told);
        drains.cancel();
        assert_eq!(listens.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_whose_answer_would_be_lost_stays_until_the_end() {
        let (asked, told) = asked(Version::V2026July);
        let stops = asked.stops.clone();
        let mut waits = at_once(asked, Box::pin(pending()), told);
        stops.drains.cancel();
        assert_eq!(text(waits.next().await), ": alive\n\n");
        stops.ends.cancel();
        let last = text(waits.next().await);
        assert!(last.contains("\"id\":7") && last.contains("DRAINING"), "{last}");
        assert_eq!(waits.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_comes_while_the_process_drains() {
        let (asked, told) = asked(Version::V2026July);
        asked.stops.drains.cancel();
        let answer = async {
            sleep(QUIET * 2).await;
            Ok(Reply::new())
        };
        let First::Events(mut events) = first(asked, Box::pin(answer), told).await else { panic!("it takes long") };
        assert!(text(events.next().await).contains("\"result\""));
        assert_eq!(events.next().await, None);
    }
}
