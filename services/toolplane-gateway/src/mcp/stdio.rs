//! The protocol over a pair of byte streams: one message a line, for clients that start their servers as programs.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use toolplane_mcp::message::{self, Message};
use toolplane_runtime::clock;
use toolplane_runtime::config::McpConfig;

use crate::mcp::client::{Client, Meta, Scope, Session};
use crate::mcp::exchange::{Exchange, Out};
use crate::mcp::fault::Fault;
use crate::mcp::front::Front;
use crate::mcp::http::written;
use crate::mcp::seal::{Seals, nonce};
use crate::mcp::version::Version;
use crate::mcp::{call, dispatch, incoming};
use crate::upstream::Upstream;

/// Longest line that is read, in bytes.
const LINE: usize = 16 << 20;
/// How long requests may take that are not answered yet when the client closes its stream.
const LAST: std::time::Duration = std::time::Duration::from_secs(2);
/// Most messages that wait to be written.
const WAITING: usize = 256;

/// How a client is served by lines.
#[derive(Clone, Debug, Default)]
pub struct StdioOptions {
    /// What clients see, and how long calls are waited for.
    pub mcp: McpConfig,
}

/// Serves one client until its stream ends; then what it still waits for is canceled.
///
/// Fails when reading or writing fails, and when a line is longer than 16 MiB.
pub async fn serve_lines(
    upstream: Upstream,
    options: StdioOptions,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let nonce = nonce();
    // What is sealed comes back to this very process.
    // It ends with its client, and with nothing else.
    let drains = CancellationToken::new();
    let front = Arc::new(Front::new(Arc::new(options.mcp), Seals::of([nonce.as_bytes()]), drains));
    let (lines, written) = mpsc::channel(WAITING);
    let connection = Connection {
        front,
        upstream,
        scope: Scope(nonce),
        session: None,
        lines,
        running: HashMap::new(),
        tasks: JoinSet::new(),
    };
    // The writer ends when nobody has anything more to say.
    tokio::try_join!(connection.read(input), write(written, output)).map(|_| ())
}

async fn write(mut lines: mpsc::Receiver<Bytes>, mut output: impl AsyncWrite + Unpin) -> std::io::Result<()> {
    while let Some(line) = lines.recv().await {
        output.write_all(&line).await?;
        output.write_all(b"\n").await?;
        output.flush().await?;
    }
    Ok(())
}

struct Connection {
    front: Arc<Front>,
    upstream: Upstream,
    scope: Scope,
    /// What was agreed on, where the client began with `initialize`.
    session: Option<Client>,
    lines: mpsc::Sender<Bytes>,
    /// Requests that are being answered, by their ids as they were written.
    running: HashMap<Bytes, AbortHandle>,
    tasks: JoinSet<Bytes>,
}

impl Connection {
    async fn read(mut self, mut input: impl AsyncBufRead + Unpin) -> std::io::Result<()> {
        let mut line = Vec::new();
        loop {
            tokio::select! {
                read = next_line(&mut input, &mut line) => {
                    if !read? {
                        break;
                    }
                    let taken = Bytes::from(std::mem::take(&mut line));
                    if !taken.trim_ascii().is_empty() {
                        self.take(&taken).await;
                    }
                }
                Some(ended) = self.tasks.join_next() => {
                    if let Ok(id) = ended {
                        self.running.remove(&id);
                    }
                }
            }
        }
        // What is nearly done is answered; for the rest there is nobody any more.
        let _ = tokio::time::timeout(LAST, async { while self.tasks.join_next().await.is_some() {} }).await;
        let running: Vec<Bytes> = self.running.keys().cloned().collect();
        for id in running {
            self.cancel(&id);
        }
        while self.tasks.join_next().await.is_some() {}
        Ok(())
    }

    async fn take(&mut self, line: &Bytes) {
        let message = match incoming::read(line) {
            Ok(message) => message,
            Err(unfit) => return self.send(written(&unfit.id, &unfit.fault)).await,
        };
        match message {
            Message::Request { id, method, params } => {
                if let Err(fault) = self.request(id.clone(), method, params).await {
                    self.send(written(&id, &fault)).await;
                }
            }
            Message::Notification { method, params } => self.notified(&method, &params),
            Message::Answer { id, outcome } => {
                let (front, upstream) = (Arc::clone(&self.front), self.upstream.clone());
                let id: String = id.and_then(|id| serde_json::from_slice(&id).ok()).unwrap_or_default();
                let outcome = outcome.map_err(|error| error.message);
                self.tasks.spawn(async move {
                    // What is wrong with an answer is nothing to answer.
                    let _ = call::answer(&front, &upstream, "", &id, outcome).await;
                    Bytes::new()
                });
            }
        }
    }

    async fn send(&self, line: Bytes) {
        let _ = self.lines.send(line).await;
    }

    async fn request(&mut self, id: Bytes, method: String, params: Bytes) -> Result<(), Fault> {
        if method == "initialize" {
            let now = clock::since_epoch().as_secs();
            let session = Session::begin(&params, String::new(), now)?;
            let Some(client) = session.client(now) else { return Err(Fault::params("this version is not spoken")) };
            let result = dispatch::initialized(client.version).write(client.version);
            self.session = Some(client);
            self.send(message::write_result(&id, &result)).await;
            return Ok(());
        }
        let meta = Meta::of(&params)?;
        let client = match (meta.version(), &self.session) {
            (Some(said), _) => match Version::parse(said).filter(|version| !version.has_sessions()) {
                Some(version) => meta.client(version)?,
                None => return Err(Fault::version(said)),
            },
            (None, Some(client)) => client.clone(),
            (None, None) => {
                return Err(Fault::meta("`_meta` does not say the version of the protocol, and nothing was agreed on"));
            }
        };
        let version = client.version;
        let (out, mut told) = Out::new();
        let x = Arc::new(Exchange {
            front: Arc::clone(&self.front),
            upstream: self.upstream.clone(),
            principal: "".into(),
            client,
            scope: Some(self.scope.clone()),
            resumes: false,
            over_http: false,
            id: id.clone(),
            meta,
            out,
        });
        let (lines, key) = (self.lines.clone(), id.clone());
        let task = self.tasks.spawn(async move {
            let answer = dispatch::answer(x, &method, &params);
            tokio::pin!(answer);
            let ended = loop {
                tokio::select! {
                    biased;
                    Some(heard) = told.recv() => { let _ = lines.send(heard.message).await; }
                    ended = &mut answer => break ended,
                }
            };
            while let Ok(heard) = told.try_recv() {
                let _ = lines.send(heard.message).await;
            }
            let line = match ended {
                Ok(reply) => message::write_result(&id, &reply.write(version)),
                Err(fault) => written(&id, &fault),
            };
            let _ = lines.send(line).await;
            id
        });
        self.running.insert(key, task);
        Ok(())
    }

    fn notified(&mut self, method: &str, params: &Bytes) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled {
            request_id: Box<RawValue>,
        }
        if method != "notifications/cancelled" {
            return;
        }
        let Ok(cancelled) = serde_json::from_slice::<Cancelled>(params) else { return };
        let id = Bytes::from(cancelled.request_id.get().to_owned());
        self.cancel(&id);
    }

    /// Stops answering a request, and cancels its call.
    fn cancel(&mut self, id: &Bytes) {
        let Some(task) = self.running.remove(id) else { return };
        task.abort();
        let invocation = call::invocation_of(&self.front.seals, "", Some((&self.scope.0, id)));
        let upstream = self.upstream.clone();
        self.tasks.spawn(async move {
            call::cancel(&upstream, &invocation, call::LET_GO).await;
            Bytes::new()
        });
    }
}

/// Reads one line without its end; whether there was one. What was read before this is dropped stays in `line`.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> std::io::Result<bool> {
    loop {
        let read = input.fill_buf().await?;
        if read.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(read.len());
        line.extend_from_slice(&read[..taken]);
        let used = taken + usize::from(end.is_some());
        input.consume(used);
        if line.len() > LINE {
            return Err(std::io::Error::other(format!("a line has more than {LINE} bytes")));
        }
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_one_after_the_other() {
        let mut input = tokio::io::BufReader::with_capacity(3, &b"first\n\nlast"[..]);
        let mut lines = Vec::new();
        let mut line = Vec::new();
        while next_line(&mut input, &mut line).await.unwrap() {
            lines.push(String::from_utf8(std::mem::take(&mut line)).unwrap());
        }
        assert_eq!(lines, ["first", "", "last"]);
    }
}
