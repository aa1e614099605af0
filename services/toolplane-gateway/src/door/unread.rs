//! Bodies that nobody reads to their end, because the request was refused before.
//!
//! Over HTTP/1.1 a client that still writes when its connection is closed sees a broken connection, and not the answer that says why. So
//! the rest of a body is read and thrown away for a while.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body::{Body as _, Frame, SizeHint};
use toolplane_runtime::tasks;

/// How much of a body is read for nothing, and for how long.
const MOST: usize = 16 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// The body of a request. What is left of it when it is dropped is read and thrown away.
#[derive(Debug)]
pub(super) struct DrainedBody(Option<Body>);

impl DrainedBody {
    pub(super) fn new(body: Body) -> Self {
        Self(Some(body))
    }
}

impl http_body::Body for DrainedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.0 = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        let Some(body) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        // At the very end of a process there is nobody left to read it.
        if tokio::runtime::Handle::try_current().is_ok() {
            drop(tasks::spawn("unread body", read_away(body)));
        }
    }
}

async fn read_away(body: Body) {
    let reading = async {
        let (mut parts, mut left) = (body.into_data_stream(), MOST);
        while let Some(Ok(part)) = parts.next().await {
            let Some(rest) = left.checked_sub(part.len()) else { return };
            left = rest;
        }
    };
    let _ = tokio::time::timeout(PATIENCE, reading).await;
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn what_nobody_reads_is_read_away() {
        let (sender, receiver) = mpsc::channel::<Result<Bytes, std::io::Error>>(1);
        let parts =
            futures_util::stream::unfold(receiver, |mut parts| async move { Some((parts.recv().await?, parts)) });
        drop(DrainedBody::new(Body::from_stream(parts)));
        for _ in 0..100 {
            sender.send(Ok(Bytes::from_static(b"more"))).await.expect("somebody reads it");
        }
        drop(sender);
    }
}
