//! A response followed to its end: its status recorded, a panic within it caught.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use toolplane_metrics::table;
use toolplane_records::codes;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::body::Body;
use tonic::{Code, Status};

use super::life::Until;
use super::seats::Busy;
use crate::code_name::code_name;
use crate::status::ApiError;
use crate::tasks::panic_text;
use crate::telemetry::Span;
use crate::telemetry::spans::rpc;

/// The span of one call, ended exactly once; a call dropped before its end was cancelled.
#[derive(Debug)]
pub(crate) struct Observation {
    span: Span,
    end: Option<fn(&Span, Code)>,
    /// The method, and when the call began, where that is measured.
    measured: Option<(&'static str, Instant)>,
    /// The connection is at work as long as this call is.
    _busy: Option<Busy>,
}

impl Observation {
    /// Of a call to this process; it is measured as one of `method`, where that is given.
    pub(crate) fn server(span: Span, method: Option<&'static str>, busy: Option<Busy>) -> Self {
        let measured = method.map(|method| (method, Instant::now()));
        Self { span, end: Some(rpc::end_server), measured, _busy: busy }
    }

    pub(crate) fn client(span: Span) -> Self {
        Self { span, end: Some(rpc::end_client), measured: None, _busy: None }
    }

    pub(crate) fn end(&mut self, code: Code) {
        if let Some(end) = self.end.take() {
            end(&self.span, code);
        }
        if let Some((method, began)) = self.measured.take() {
            table::RPC_SERVER.record([method, code_name(code)], began.elapsed());
        }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.end(Code::Cancelled);
    }
}

/// A body that ends an [`Observation`], and ends itself when it is told to.
pub(crate) struct ObservedBody {
    inner: Body,
    observation: Observation,
    until: Option<Until>,
    /// Made when the body first has nothing to say: most bodies never wait.
    ending: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    ended: bool,
}

impl ObservedBody {
    pub(crate) fn new(inner: Body, observation: Observation, until: Option<Until>) -> Self {
        Self { inner, observation, until, ending: None, ended: false }
    }

    /// Ends the stream with trailers of our own.
    fn cut(&mut self, error: ApiError) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.ended = true;
        let status = Status::from(error);
        self.observation.end(status.code());
        let mut trailers = http::HeaderMap::new();
        match status.add_header(&mut trailers) {
            Ok(()) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Err(status) => Poll::Ready(Some(Err(status))),
        }
    }
}

impl HttpBody for ObservedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        let (inner, span) = (&mut this.inner, &this.observation.span);
        let polled = catch_unwind(AssertUnwindSafe(|| span.in_scope(|| Pin::new(inner).poll_frame(cx))));
        match polled {
            Err(panic) => this.cut(ApiError::internal(codes::PANIC, panic_text(&*panic))),
            Ok(Poll::Ready(Some(Ok(frame)))) => {
                if let Some(trailers) = frame.trailers_ref() {
                    let code = trailers
                        .get(Status::GRPC_STATUS)
                        .map_or(Code::Unknown, |code| Code::from_bytes(code.as_bytes()));
                    this.observation.end(code);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Ok(Poll::Ready(Some(Err(status)))) => {
                this.observation.end(status.code());
                Poll::Ready(Some(Err(status)))
            }
            Ok(Poll::Ready(None)) => Poll::Ready(None),
            // What is ready goes out first, so a watcher still sees the last change.
            Ok(Poll::Pending) => {
                let Some(until) = &this.until else { return Poll::Pending };
                let ending = this.ending.get_or_insert_with(|| Box::pin(until.token.clone().cancelled_owned()));
                match ending.as_mut().poll(cx) {
                    Poll::Ready(()) => {
                        let last_words = until.last_words.clone();
                        this.cut(last_words)
                    }
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
