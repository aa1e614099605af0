//! The body of a request, from a program to a host.

use std::io;

use bytes::Bytes;
use futures_util::stream;
use reqwest::header::CONTENT_LENGTH;
use reqwest::{RequestBuilder, Response};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use toolplane_sandbox::GateError;

/// Most bytes of a piece.
const PIECE: usize = 16 * 1024;

/// How long a body is; nothing when the request has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body(Option<u64>);

impl Body {
    /// What the fields of a request say. One that could be read in two ways is refused.
    pub(super) fn of(fields: &[(String, String)]) -> Result<Self, GateError> {
        let named = |wanted: &str| {
            let wanted = wanted.to_owned();
            fields.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(&wanted)).map(|(_, value)| value.trim())
        };
        if named("transfer-encoding").next().is_some() {
            return Err(GateError::Unfit("a body must say how long it is (Content-Length)".to_owned()));
        }
        let lengths: Vec<&str> = named("content-length").collect();
        match lengths.as_slice() {
            [] => Ok(Self(None)),
            [length] if !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit()) => {
                let length = length.parse().map_err(|_| GateError::Unfit("the body is too long".to_owned()))?;
                Ok(Self(Some(length)))
            }
            _ => Err(GateError::Unfit("the length of the body is not one number".to_owned())),
        }
    }

    /// Sends a request with this body, which begins with `begun` and goes on in `stream`. It is read as it is sent, until there is an
    /// answer.
    pub(super) async fn sent_with(
        self,
        request: RequestBuilder,
        begun: &[u8],
        stream: &mut TcpStream,
    ) -> reqwest::Result<Response> {
        let Some(length) = self.0 else { return request.send().await };
        let (pieces, mut sent) = mpsc::channel::<io::Result<Bytes>>(1);
        let body = stream::poll_fn(move |context| sent.poll_recv(context));
        let request = request.header(CONTENT_LENGTH, length).body(reqwest::Body::wrap_stream(body));
        let read = async {
            read(length, begun, stream, pieces).await;
            std::future::pending().await
        };
        tokio::select! {
            response = request.send() => response,
            never = read => never,
        }
    }
}

/// Passes the pieces of a body on. One that ends early is an error, so that no host takes it for a whole one.
async fn read(length: u64, begun: &[u8], stream: &mut TcpStream, pieces: mpsc::Sender<io::Result<Bytes>>) {
    let first = &begun[..begun.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
    if !first.is_empty() && pieces.send(Ok(Bytes::copy_from_slice(first))).await.is_err() {
        return;
    }
    let mut left = length - first.len() as u64;
    while left > 0 {
        let mut piece = Vec::with_capacity(PIECE);
        let read = (&mut *stream).take(left.min(PIECE as u64)).read_buf(&mut piece).await;
        let next = match read {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(Bytes::from(piece)),
            Err(error) => Err(error),
        };
        left -= next.as_ref().map_or(left, |piece| piece.len() as u64);
        if pieces.send(next).await.is_err() {
            return;
        }
    }
}
