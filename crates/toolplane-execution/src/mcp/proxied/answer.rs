//! The answer of a host, as a program gets it: masked, in pieces, and nothing after it.

use std::io;

use futures_util::StreamExt as _;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use toolplane_credentials::Mask;

/// Fields that are of one connection, or say how long a body is that may become longer.
const OWN_FIELDS: &[&str] =
    &["connection", "keep-alive", "content-length", "transfer-encoding", "trailer", "upgrade", "proxy-authenticate"];

/// Writes the answer. One that breaks off has no end, so that the program does not take it for a whole one.
pub(super) async fn write(response: Response, mask: &Mask, is_head: bool, stream: &mut TcpStream) {
    let without_body = is_head || matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let head = head(response.status(), response.headers(), mask, !without_body);
    if stream.write_all(&head).await.is_ok() && !without_body {
        // A program that has gone wants no more of it.
        let _ = write_body(response, mask, stream).await;
    }
}

fn head(status: StatusCode, headers: &HeaderMap, mask: &Mask, has_body: bool) -> Vec<u8> {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
    let is_sent = |name: &str| !OWN_FIELDS.contains(&name) && mask.text(name) == name;
    for (name, value) in headers.iter().filter(|(name, _)| is_sent(name.as_str())) {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(&mask.bytes(value.as_bytes()));
        head.extend_from_slice(b"\r\n");
    }
    if has_body {
        head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}

async fn write_body(response: Response, mask: &Mask, stream: &mut TcpStream) -> io::Result<()> {
    let (mut masked, mut pieces) = (mask.stream(), response.bytes_stream());
    while let Some(piece) = pieces.next().await {
        let mut out = Vec::new();
        let Ok(piece) = piece else {
            masked.finish_cut(&mut out);
            return write_chunk(&out, stream).await;
        };
        masked.push(&piece, &mut out);
        write_chunk(&out, stream).await?;
    }
    let mut out = Vec::new();
    masked.finish(&mut out);
    write_chunk(&out, stream).await?;
    stream.write_all(b"0\r\n\r\n").await
}

/// An empty one would be the last.
async fn write_chunk(bytes: &[u8], stream: &mut TcpStream) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let size = format!("{:x}\r\n", bytes.len());
    stream.write_all(&[size.as_bytes(), bytes, b"\r\n"].concat()).await
}
