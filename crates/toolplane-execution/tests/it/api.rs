//! A real HTTP API on loopback that says what it was asked, with the answers the tests need; and a token server beside it.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// One request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    fn echo(&self) -> Value {
        json!({ "method": self.method, "target": self.target, "headers": self.headers,
            "body": String::from_utf8_lossy(&self.body) })
    }
}

/// What is answered: the status line's rest, further headers, and the body.
pub(crate) struct Reply(pub(crate) &'static str, pub(crate) Vec<(&'static str, String)>, pub(crate) Vec<u8>);

impl Reply {
    pub(crate) fn json(status: &'static str, body: &Value) -> Self {
        Self(status, vec![("Content-Type", "application/json".to_owned())], body.to_string().into_bytes())
    }
}

type Answers = Arc<dyn Fn(&Asked, usize) -> Reply + Send + Sync>;

/// A server that keeps what it was asked.
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Api {
    /// Echoes every request as JSON.
    pub(crate) async fn echo() -> Self {
        Self::start(|asked, _| Reply::json("200 OK", &asked.echo())).await
    }

    /// Answers with `answers`, which is told the request and how many came before.
    pub(crate) async fn start(answers: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, answers): (_, Answers) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answers));
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&kept), Arc::clone(&answers)));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    pub(crate) fn last(&self) -> Asked {
        self.asked.lock().last().cloned().unwrap()
    }
}

async fn serve(mut stream: TcpStream, kept: Arc<Mutex<Vec<Asked>>>, answers: Answers) -> Option<()> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let start = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..start]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    while bytes.len() - start < length.unwrap_or(0) {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let asked = Asked { method, target, headers, body: bytes[start..].to_vec() };
    let before = {
        let mut kept = kept.lock();
        kept.push(asked.clone());
        kept.len() - 1
    };
    let Reply(status, headers, body) = answers(&asked, before);
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
    stream.write_all(head.as_bytes()).await.ok()?;
    if asked.method != "HEAD" {
        stream.write_all(&body).await.ok()?;
    }
    stream.shutdown().await.ok()
}
