//! One request, from its head to the response.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request as HttpRequest;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use prost_reflect::DynamicMessage;
use tokio::time::Instant;
use tonic::Status;

use super::cursor::Cursor;
use super::events::{Events, Stops};
use super::methods::{Method, Shape};
use super::{body, download, headers, read, rpc, upload, waiting, write};
use crate::door::Door;
use crate::door::refusal::{self, refusal};
use crate::upstream::Upstream;

/// Answers a request for `method` by the caller of `upstream`.
pub(crate) async fn answer(door: Arc<Door>, upstream: Upstream, method: Arc<Method>, request: HttpRequest) -> Response {
    let call = Call { door: &door, upstream: &upstream, method: &method };
    call.answer(request).await.unwrap_or_else(|status| refusal(&status))
}

struct Call<'a> {
    door: &'a Door,
    upstream: &'a Upstream,
    method: &'a Method,
}

impl Call<'_> {
    async fn answer(&self, request: HttpRequest) -> Result<Response, Status> {
        // Before anything of the request is read: a caller that may not use a method learns nothing of what exists.
        self.upstream.check(&self.method.name)?;
        let (head, content) = request.into_parts();
        let timeout = headers::timeout(&head.headers)?;
        let answering = self.shaped(&head.headers, content, timeout);
        match timeout {
            None => answering.await,
            Some(timeout) => tokio::time::timeout(timeout, answering)
                .await
                .unwrap_or_else(|_| Err(Status::deadline_exceeded("the time the caller gave is over"))),
        }
    }

    async fn shaped(&self, headers: &HeaderMap, content: Body, timeout: Option<Duration>) -> Result<Response, Status> {
        match self.method.shape {
            Shape::Upload => {
                let answer = upload::answer(self.upstream, self.method, content).await?;
                Ok(written(&rpc::read(answer, &self.method.output)?))
            }
            Shape::Unary => {
                let message = self.message(headers, content).await?;
                let answer = waiting::unary(self.door, self.upstream, self.method, message, timeout).await?;
                Ok(written(&answer))
            }
            Shape::Download if !download::as_events(headers) => {
                let message = self.message(headers, content).await?;
                download::answer(self.upstream, self.method, headers, message).await
            }
            Shape::Stream | Shape::Download => self.events(headers, content, timeout).await,
        }
    }

    async fn events(&self, headers: &HeaderMap, content: Body, timeout: Option<Duration>) -> Result<Response, Status> {
        let mut message = self.message(headers, content).await?;
        let cursor = Cursor::begin(&self.method.output);
        if let Some(id) = headers::last_event_id(headers)? {
            cursor.resume(id, &mut message)?;
        }
        let messages = rpc::stream(self.upstream, self.method, rpc::request(&message, timeout)).await?;
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let output = self.method.output.clone();
        let moves = cursor.goes_on_anywhere(&self.method.input);
        let stops = Stops { drains: self.door.drains.clone(), ends: self.door.ends.clone() };
        Ok(Events { messages, output, cursor, moves, deadline, stops }.into_response())
    }

    /// The message of the request.
    async fn message(&self, headers: &HeaderMap, content: Body) -> Result<DynamicMessage, Status> {
        body::expect_json(headers)?;
        let text = body::whole(headers, content, self.door.max_body_bytes).await?;
        let mut message = read::message(&text, &self.method.input)?;
        headers::fill_key(headers, &mut message)?;
        headers::fill_request_id(headers, &mut message);
        Ok(message)
    }
}

fn written(message: &DynamicMessage) -> Response {
    let mut response = Response::new(Body::from(write::message(message)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(wait) = waiting::comes_back_after(message) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(refusal::seconds(wait)));
    }
    response
}
