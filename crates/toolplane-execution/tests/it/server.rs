//! A real HTTP server on a loopback address of its own, with the answers the tests need.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<AtomicUsize>,
}

impl Server {
    /// Serves on `address` until the test ends. `elsewhere` is where `/redirect-out` leads.
    pub(crate) async fn start(address: &str, elsewhere: String) -> Self {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, elsewhere.clone()));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn connections(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, elsewhere: String) -> Option<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let text = String::from_utf8_lossy(&request).into_owned();
    let length = text.to_ascii_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let start = text.find("\r\n\r\n")? + 4;
    while request.len() - start < length.unwrap_or(0) {
        stream.read_buf(&mut request).await.ok()?;
    }
    let path = text.split(' ').nth(1)?.to_owned();
    let redirect =
        |to: &str| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let head = |more: &str| format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{more}\r\n");
    let answer = match path.split('?').next()? {
        "/echo" => [head("Content-Type: text/plain\r\n").into_bytes(), request].concat(),
        "/json" => (head("Content-Type: application/json; charset=utf-8\r\nSet-Cookie: a=b\r\n")
            + r#"{"n": 12345678901234567890}"#)
            .into(),
        "/status/404" => b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope".to_vec(),
        "/status/503" => {
            b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec()
        }
        "/redirect" => redirect("/echo").into(),
        "/redirect-out" => redirect(&elsewhere).into(),
        "/moved" => redirect("/echo").replace("302 Found", "307 Temporary Redirect").into(),
        "/moved-out" => redirect(&elsewhere).replace("302 Found", "307 Temporary Redirect").into(),
        "/redirect-bare" => redirect("//169.254.169.254/").into(),
        "/redirect-file" => redirect("file:///etc/passwd").into(),
        "/redirect-gopher" => redirect("gopher://127.0.0.1:6379/_FLUSHALL").into(),
        "/loop" => redirect("/loop").into(),
        "/liar" => {
            (head("Content-Type: application/json\r\nContent-Length: 99999999999999\r\n") + "\u{fffd}short").into()
        }
        "/gzip" => [head("Content-Encoding: gzip\r\n").into_bytes(), vec![0x1f; 10 << 20]].concat(),
        "/large" => [head("Content-Type: text/csv\r\n").into_bytes(), large().into_bytes()].concat(),
        "/binary" => [head("").into_bytes(), vec![0, 159, 146, 150]].concat(),
        "/flood" => return flood(stream, head("Content-Type: application/json\r\n"), Duration::ZERO).await,
        "/drip" => return flood(stream, head(""), Duration::from_millis(50)).await,
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
    };
    stream.write_all(&answer).await.ok()?;
    stream.shutdown().await.ok()
}

/// More text than is held in memory of a body.
pub(crate) fn large() -> String {
    (0..300_000).map(|row| format!("{row},{row}\n")).collect()
}

/// Writes without end: fast in large pieces, or slowly byte by byte.
async fn flood(mut stream: TcpStream, head: String, pause: Duration) -> Option<()> {
    stream.write_all(head.as_bytes()).await.ok()?;
    let piece = if pause.is_zero() { vec![b'A'; 1 << 16] } else { vec![b'A'] };
    loop {
        stream.write_all(&piece).await.ok()?;
        toolplane_wait::pause(pause, "the fault is a slow server").await;
    }
}
