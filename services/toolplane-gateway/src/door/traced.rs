//! The body of an answer, within the span of its request.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use toolplane_runtime::telemetry::spans::http::Exchange;

/// A body that keeps the span of its request until it has ended, or nobody waits for it any more.
#[derive(Debug)]
pub(super) struct TracedBody {
    inner: Body,
    exchange: Exchange,
}

impl TracedBody {
    pub(super) fn new(inner: Body, exchange: Exchange) -> Self {
        Self { inner, exchange }
    }
}

impl http_body::Body for TracedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let polled = this.exchange.in_scope(|| Pin::new(&mut this.inner).poll_frame(cx));
        if let Poll::Ready(Some(Err(_))) = &polled {
            this.exchange.failed("broken_off");
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
