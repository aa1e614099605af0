//! An embedding endpoint on loopback that knows which of a few things a text is about.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const TOPICS: [&[&str]; 3] = [&["umbrella", "forecast", "rain"], &["invoice", "money", "pay"], &["picture", "photo"]];

/// What was asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The first line, and the value of `Authorization`.
    pub(super) line: String,
    pub(super) authorization: String,
    pub(super) body: Body,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Body {
    pub(super) model: String,
    pub(super) input: Vec<String>,
    pub(super) dimensions: Option<usize>,
}

/// Answers before it is understood: a status, and a header; none for vectors.
type Rule = Box<dyn FnMut(&Asked) -> Option<(u16, &'static str)> + Send>;

/// The endpoint.
#[derive(Clone)]
pub(super) struct Fake(Arc<Inner>);

struct Inner {
    url: String,
    asked: Mutex<Vec<Asked>>,
    rule: Mutex<Rule>,
}

impl Fake {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/v1/embeddings", listener.local_addr().unwrap());
        let fake = Self(Arc::new(Inner { url, asked: Mutex::default(), rule: Mutex::new(Box::new(|_| None)) }));
        let serving = fake.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serving.clone().answer(connection));
            }
        });
        fake
    }

    pub(super) fn url(&self) -> &str {
        &self.0.url
    }

    pub(super) fn rule(&self, rule: impl FnMut(&Asked) -> Option<(u16, &'static str)> + Send + 'static) {
        *self.0.rule.lock() = Box::new(rule);
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.0.asked.lock().clone()
    }

    /// Answers requests of one connection until it ends.
    async fn answer(self, mut connection: TcpStream) -> Option<()> {
        let mut read = Vec::new();
        loop {
            let head = loop {
                if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                    break String::from_utf8(read.drain(..end + 4).collect()).ok()?;
                }
                more(&mut connection, &mut read).await?;
            };
            let field = |name: &str| {
                let of = |line: &str| {
                    let (key, value) = line.split_once(':')?;
                    key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
                };
                head.lines().find_map(of).unwrap_or_default()
            };
            let length: usize = field("content-length").parse().ok()?;
            while read.len() < length {
                more(&mut connection, &mut read).await?;
            }
            let body = serde_json::from_slice(&read.drain(..length).collect::<Vec<u8>>()).ok()?;
            let line = head.lines().next()?.to_owned();
            let asked = Asked { line, authorization: field("authorization"), body };
            let (status, header) = (self.0.rule.lock())(&asked).unwrap_or((200, ""));
            let answer = if status == 200 { vectors(&asked.body) } else { json!({ "error": head }).to_string() };
            self.0.asked.lock().push(asked);
            let head = format!("HTTP/1.1 {status} So\r\ncontent-length: {}\r\n{header}\r\n", answer.len());
            connection.write_all((head + &answer).as_bytes()).await.ok()?;
        }
    }
}

async fn more(connection: &mut TcpStream, read: &mut Vec<u8>) -> Option<()> {
    let mut part = [0; 4096];
    let count = connection.read(&mut part).await.ok().filter(|count| *count > 0)?;
    read.extend_from_slice(&part[..count]);
    Some(())
}

/// In another order than asked, with their index.
fn vectors(body: &Body) -> String {
    let about = |text: &str, topic: &[&str]| if topic.iter().any(|word| text.contains(word)) { 1.0 } else { 0.0 };
    let data = body.input.iter().enumerate().rev().map(|(index, text)| {
        let vector: Vec<f64> = TOPICS.iter().map(|topic| about(text, topic)).chain([0.01]).collect();
        json!({ "object": "embedding", "index": index, "embedding": vector })
    });
    json!({ "data": data.collect::<Vec<_>>(), "usage": { "total_tokens": body.input.len() } }).to_string()
}
