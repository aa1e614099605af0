//! A small token server: HTTP/1.1 on loopback, with answers that the test says.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What a request said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// From how many there were before and the request to status, further headers and body; no answer at all when there is none.
type Script = Box<dyn Fn(usize, &Received) -> Option<(u16, &'static str, String)> + Send + Sync>;

pub(crate) struct TokenServer {
    pub(crate) url: String,
    pub(crate) received: Arc<Mutex<Vec<Received>>>,
    _serving: JoinSet<()>,
}

impl TokenServer {
    pub(crate) async fn start(
        script: impl Fn(usize, &Received) -> Option<(u16, &'static str, String)> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/token", listener.local_addr().unwrap());
        let (received, script): (Arc<Mutex<Vec<Received>>>, Script) = (Arc::default(), Box::new(script));
        let (seen, script) = (Arc::clone(&received), Arc::new(script));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&seen), Arc::clone(&script)));
            }
        });
        Self { url, received, _serving: serving }
    }

    /// How many requests there were.
    pub(crate) fn count(&self) -> usize {
        self.received.lock().len()
    }
}

/// One request a connection.
async fn serve(mut stream: TcpStream, seen: Arc<Mutex<Vec<Received>>>, script: Arc<Script>) {
    let mut bytes = Vec::new();
    let request = loop {
        let mut part = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut part).await else { return };
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok();
        if body.len() >= head.lines().find_map(length).unwrap_or_default() {
            break Received { head: head.to_owned(), body: body.to_owned() };
        }
    };
    let answer = {
        let mut seen = seen.lock();
        let answer = script(seen.len(), &request);
        seen.push(request);
        answer
    };
    let Some((status, headers, body)) = answer else { return std::future::pending().await };
    let text =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len());
    // The client may be gone.
    let _ = stream.write_all(text.as_bytes()).await;
}

/// An answer with a token that is good for so many seconds.
pub(crate) fn granted(token: &str, seconds: u64) -> Option<(u16, &'static str, String)> {
    let body = format!(r#"{{"access_token":"{token}","token_type":"Bearer","expires_in":{seconds}}}"#);
    Some((200, "content-type: application/json\r\n", body))
}
