//! Calls of the roles with messages as the bytes they travel in.

use std::time::Duration;

use crate::upstream::Way;
use bytes::{Buf, BufMut as _, Bytes};
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Request, Response, Status, Streaming};
use toolplane_records::codes;
use toolplane_runtime::{ApiError, status};

use super::methods::Method;
use crate::upstream::Upstream;

/// Messages pass through as they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// A message of the answer, read.
pub(crate) fn read(bytes: Bytes, descriptor: &MessageDescriptor) -> Result<DynamicMessage, Status> {
    DynamicMessage::decode(descriptor.clone(), bytes)
        .map_err(|error| ApiError::internal(codes::ANSWER_UNREADABLE, error).into())
}

/// A status as callers hear of it: what is wrong between the processes of a cluster may name its hosts, so it stays in the log.
fn told(method: &Method, status: Status) -> Status {
    match status::reason(&status).as_deref().and_then(codes::Code::find) {
        Some(codes::NO_CONNECTION | codes::TLS_FAILED) => {
            tracing::warn!(role = %method.role, message = status.message(), "a role cannot be reached");
            let message = format!("the {} service cannot be reached", method.role);
            ApiError::unavailable(codes::PEER_UNAVAILABLE, message).into()
        }
        _ => status,
    }
}

/// A message on its way; `timeout` becomes the deadline of the call.
pub(crate) fn request(message: &DynamicMessage, timeout: Option<Duration>) -> Request<Bytes> {
    let mut request = Request::new(Bytes::from(message.encode_to_vec()));
    if let Some(timeout) = timeout {
        request.set_timeout(timeout);
    }
    request
}

async fn client(upstream: &Upstream, method: &Method) -> Result<Grpc<Way>, Status> {
    let mut client = upstream.raw(method.role);
    // The channel answers for itself: a peer that is away is a status of the call.
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(client)
}

/// A message, and a message.
pub(crate) async fn unary(
    upstream: &Upstream,
    method: &Method,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, Status> {
    let answer = client(upstream, method).await?.unary(request, method.path.clone(), Raw).await;
    answer.map_err(|status| told(method, status))
}

/// A message, and many.
pub(crate) async fn stream(
    upstream: &Upstream,
    method: &Method,
    request: Request<Bytes>,
) -> Result<Streaming<Bytes>, Status> {
    let answer = client(upstream, method).await?.server_streaming(request, method.path.clone(), Raw).await;
    answer.map(Response::into_inner).map_err(|status| told(method, status))
}

/// Many messages, and one.
pub(crate) async fn upload<S>(upstream: &Upstream, method: &Method, request: Request<S>) -> Result<Bytes, Status>
where
    S: futures_util::Stream<Item = Bytes> + Send + 'static,
{
    let answer = client(upstream, method).await?.client_streaming(request, method.path.clone(), Raw).await;
    answer.map(Response::into_inner).map_err(|status| told(method, status))
}
