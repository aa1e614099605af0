//! Bytes of a body, handed on in pieces as they arrive.

use axum::body::Body;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, Value};
use tokio::sync::mpsc;
use tonic::{Request, Status};

use super::methods::Method;
use super::{body, rpc};
use crate::upstream::Upstream;

/// Most bytes of one piece.
const PIECE: usize = 1024 * 1024;
/// Number of the field that holds them.
const DATA: u32 = 1;

/// Hands the body on, and returns the answer. Fails as the role does, and with `FAILED_PRECONDITION` when the body breaks off: then the
/// role is not told that this was all of it.
pub(crate) async fn answer(upstream: &Upstream, method: &Method, content: Body) -> Result<Bytes, Status> {
    let (broken, mut breaks) = mpsc::channel(1);
    let pieces = pieces(content, method.input.clone(), broken);
    let asked = std::pin::pin!(rpc::upload(upstream, method, Request::new(pieces)));
    tokio::select! {
        answer = asked => answer,
        Some(()) = breaks.recv() => Err(body::incomplete("the body ends before its end").into()),
    }
}

/// The pieces of a body. Where it breaks off they never end, and `broken` is told.
fn pieces(
    content: Body,
    descriptor: MessageDescriptor,
    broken: mpsc::Sender<()>,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let whole = content.into_data_stream().then(move |part| {
        let broken = broken.clone();
        async move {
            match part {
                Ok(part) => part,
                Err(_) => {
                    let _ = broken.send(()).await;
                    std::future::pending().await
                }
            }
        }
    });
    whole.flat_map(move |mut part| {
        let mut messages = Vec::new();
        while !part.is_empty() {
            let mut message = DynamicMessage::new(descriptor.clone());
            message.set_field_by_number(DATA, Value::Bytes(part.split_to(part.len().min(PIECE))));
            messages.push(Bytes::from(message.encode_to_vec()));
        }
        futures_util::stream::iter(messages)
    })
}
