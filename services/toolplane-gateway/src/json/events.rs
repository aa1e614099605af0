//! A stream of messages as server-sent events.
//!
//! Each message is one event of the kind `message`, which needs no `event:` line. The last one is `end`, or `error` with what went
//! wrong. Where a stream can be taken up again, `id:` says from where.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use prost_reflect::MessageDescriptor;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};
use toolplane_runtime::draining;

use super::cursor::Cursor;
use super::{rpc, write};
use crate::door::refusal;

/// How often a quiet stream says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream on its way.
pub(crate) struct Events {
    pub(crate) messages: Streaming<Bytes>,
    pub(crate) output: MessageDescriptor,
    pub(crate) cursor: Cursor,
    /// When the caller stops waiting.
    pub(crate) deadline: Option<Instant>,
    /// Its caller can go on elsewhere and loses nothing.
    pub(crate) moves: bool,
    pub(crate) stops: Stops,
}

/// What ends a stream while the listener drains.
#[derive(Clone, Debug)]
pub(crate) struct Stops {
    /// Streams that lose nothing end at once, see [`draining`].
    pub(crate) drains: CancellationToken,
    /// The others are told why, a moment before the listener is cut.
    pub(crate) ends: CancellationToken,
}

impl Events {
    /// The response that carries them. Dropping it drops the stream of the role.
    pub(crate) fn into_response(self) -> Response {
        let events = futures_util::stream::unfold(Some(self), |events| async move {
            let mut events = events?;
            let (text, last) = events.next().await;
            Some((Ok::<_, Infallible>(text), (!last).then_some(events)))
        });
        let mut response = Response::new(Body::from_stream(events));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies of this kind hold answers back until they are long.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    /// The next event, and whether it is the last one.
    async fn next(&mut self) -> (Bytes, bool) {
        let deadline = self.deadline;
        let late = async move {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        // What is there already goes out first.
        let heard = tokio::select! {
            biased;
            heard = self.messages.message() => heard,
            () = late => Err(Status::deadline_exceeded("the time the caller gave is over")),
            () = self.stops.drains.cancelled(), if self.moves => Err(draining::last_words().into()),
            () = self.stops.ends.cancelled() => Err(draining::last_words().into()),
            () = tokio::time::sleep(KEEP_ALIVE) => return (Bytes::from_static(b": waiting\n\n"), false),
        };
        let message = match heard {
            Ok(Some(bytes)) => rpc::read(bytes, &self.output),
            Ok(None) => return (event(Some("end"), None, b"{}"), true),
            Err(status) => Err(status),
        };
        match message {
            Ok(message) => {
                self.cursor.pass(&message);
                // What it began is told.
                self.moves |= self.cursor.is_some();
                (event(None, self.cursor.id(), &write::message(&message)), false)
            }
            Err(status) => {
                let told = serde_json::json!({ "error": refusal::error(&status) });
                (event(Some("error"), None, told.to_string().as_bytes()), true)
            }
        }
    }
}

/// One event. A line break within the JSON, where it means nothing, becomes one between two lines of data.
fn event(kind: Option<&str>, id: Option<String>, data: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(data.len() + 48);
    if let Some(kind) = kind {
        text.extend_from_slice(format!("event: {kind}\n").as_bytes());
    }
    if let Some(id) = id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    text.extend_from_slice(b"data: ");
    let mut rest = data;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        let (line, after) = rest.split_at(at);
        text.extend_from_slice(line);
        text.extend_from_slice(b"\ndata: ");
        rest = after.strip_prefix(b"\r\n").unwrap_or_else(|| &after[1..]);
    }
    text.extend_from_slice(rest);
    text.extend_from_slice(b"\n\n");
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_what_the_format_says() {
        assert_eq!(&event(None, Some("7".to_owned()), b"{\"a\":1}")[..], b"id: 7\ndata: {\"a\":1}\n\n");
        assert_eq!(&event(Some("end"), None, b"{}")[..], b"event: end\ndata: {}\n\n");
        assert_eq!(
            &event(None, None, b"{\n\"a\":\r\n1\r}")[..],
            b"data: {\ndata: \"a\":\ndata: 1\ndata: }\n\n",
            "no line of a value is taken for one of the format"
        );
    }
}
