//! The worker's side of a grant: answers on the socket that process 1 of the sandbox opened.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::request::{self, MAX_HEAD, Request};
use super::{Gate, GateError, PlainRequest, Target};
use crate::exit::Violation;

/// Most connections of one run at a time; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 64;
/// How long a program may take to say whom it wants to reach.
const HEAD_BOUND: Duration = Duration::from_secs(10);
/// How long, and how much, is still read after a request was declined.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: u64 = 256 * 1024;
/// Distinct targets that are told apart when they are refused; further ones are counted with the last.
const MAX_DISTINCT: usize = 64;

/// Refused targets, and how often.
type Refused = Arc<Mutex<BTreeMap<Target, u64>>>;

/// A proxy that answers for as long as this lives. Dropping it ends every connection.
#[derive(Debug)]
pub(crate) struct Proxy {
    task: JoinHandle<()>,
    refused: Refused,
}

impl Proxy {
    #[expect(
        clippy::disallowed_methods,
        reason = "it ends with its handle, which the run keeps; each connection is in its set"
    )]
    pub(crate) fn start(listener: OwnedFd, gate: Arc<dyn Gate>) -> io::Result<Self> {
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let refused = Refused::default();
        let task = tokio::spawn(serve(listener, gate, Arc::clone(&refused)));
        Ok(Self { task, refused })
    }

    /// What was refused so far.
    pub(crate) fn violations(&self) -> Vec<Violation> {
        let violation = |(target, count): (&Target, &u64)| Violation {
            layer: "network".into(),
            syscall: "connect".into(),
            detail: format!("{}:{}", target.host, target.port),
            count: *count,
            probe: false,
        };
        self.refused.lock().iter().map(violation).collect()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, gate: Arc<dyn Gate>, refused: Refused) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(answer(stream, Arc::clone(&gate), Arc::clone(&refused)));
                }
                // A connection that ended before it was accepted; or this process has no descriptors, until one ends.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// One connection. What goes wrong is told to the program by an answer, or by the end of the connection.
async fn answer(mut stream: TcpStream, gate: Arc<dyn Gate>, refused: Refused) {
    let head = tokio::time::timeout(HEAD_BOUND, read_head(&mut stream)).await;
    let Ok(Ok(Some((Request { target, plain }, rest)))) = head else {
        return decline(&mut stream, "400 Bad Request", "this proxy takes CONNECT and requests for http:// addresses")
            .await;
    };
    let by_gate = match plain.as_ref().and_then(|plain| gate.answer(&target, plain, &rest, &mut stream)) {
        Some(answering) => Some(answering.await),
        None => None,
    };
    match by_gate {
        Some(Ok(())) => drop(stream.shutdown().await),
        Some(Err(error)) => refuse(&mut stream, target, error, &refused).await,
        None => connect(stream, target, plain, &rest, gate.as_ref(), &refused).await,
    }
}

/// A connection to the host, and what the program and the host say on it.
async fn connect(
    mut stream: TcpStream,
    target: Target,
    plain: Option<PlainRequest>,
    rest: &[u8],
    gate: &dyn Gate,
    refused: &Refused,
) {
    match gate.connect(target.clone()).await {
        Ok(mut host) => {
            let first: &[u8] = if target.tunnel { b"HTTP/1.1 200 Connection established\r\n\r\n" } else { b"" };
            let begun = async {
                stream.write_all(first).await?;
                host.write_all(&plain.map(|plain| plain.head()).unwrap_or_default()).await?;
                host.write_all(rest).await
            };
            if begun.await.is_ok() {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut host).await;
            }
        }
        Err(error) => refuse(&mut stream, target, error, refused).await,
    }
}

/// Tells the program why it gets nothing; what it must not reach is put on record.
async fn refuse(stream: &mut TcpStream, target: Target, error: GateError, refused: &Refused) {
    let status = match &error {
        GateError::Refused(_) => "403 Forbidden",
        GateError::Failed(_) => "502 Bad Gateway",
        GateError::Unfit(_) => "400 Bad Request",
    };
    if matches!(error, GateError::Refused(_)) {
        note(refused, target);
    }
    decline(stream, status, &error.to_string()).await;
}

fn note(refused: &Refused, target: Target) {
    let mut refused = refused.lock();
    if refused.len() < MAX_DISTINCT || refused.contains_key(&target) {
        *refused.entry(target).or_default() += 1;
    } else if let Some(mut last) = refused.last_entry() {
        *last.get_mut() += 1;
    }
}

/// A request, and what came behind its head; nothing when it cannot be read.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<(Request, Vec<u8>)>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = request::end_of_head(&bytes) {
            let rest = bytes.split_off(end);
            return Ok(request::read(&bytes).map(|request| (request, rest)));
        }
        let room = (MAX_HEAD - bytes.len()) as u64;
        if room == 0 || stream.take(room).read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

async fn decline(stream: &mut TcpStream, status: &str, text: &str) {
    let length = text.len() + 1;
    let fields = format!("Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close");
    let _ = stream.write_all(format!("HTTP/1.1 {status}\r\n{fields}\r\n\r\n{text}\n").as_bytes()).await;
    let _ = stream.shutdown().await;
    // A connection that is closed with something unread takes the answer along.
    let rest = async { tokio::io::copy(&mut stream.take(LINGER_BYTES), &mut tokio::io::sink()).await };
    let _ = tokio::time::timeout(LINGER, rest).await;
}
