//! A TCP proxy that does to connections what bad networks do.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::Problem;

const CHUNK: usize = 64 * 1024;

/// What the proxy does with the bytes that pass, from the moment it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: bytes pass.
    #[default]
    Pass,
    /// Every chunk waits, in both directions.
    Delay(Duration),
    /// Bytes vanish in both directions; connections stay open, and new ones are accepted.
    Blackhole,
    /// Open connections end in an orderly way, and new ones do at once.
    Drop,
    /// Open connections end with a reset, and new ones do at once.
    Reset,
    /// The next request that contains these bytes is passed on, but the connection ends instead of its answer. Happens
    /// once; then bytes pass again.
    SwallowReply(Vec<u8>),
}

/// A proxy on a port of the loopback address. Dropping it ends all its connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    _accepting: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Shared {
    target: SocketAddr,
    fault: watch::Sender<Fault>,
    accepted: AtomicU64,
    swallowed: AtomicU64,
}

impl Proxy {
    /// Listens on a free port and passes connections on to `target`.
    pub async fn start(target: SocketAddr) -> Result<Self, Problem> {
        let problem = |error: std::io::Error| Problem::Missing(format!("the proxy cannot listen: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(problem)?;
        let port = listener.local_addr().map_err(problem)?.port();
        let (fault, _) = watch::channel(Fault::Pass);
        let (accepted, swallowed) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared = Arc::new(Shared { target, fault, accepted, swallowed });
        let accepting = AbortOnDropHandle::new(tokio::spawn(accept(listener, Arc::clone(&shared))));
        Ok(Self { port, shared, _accepting: accepting })
    }

    /// The port it listens on, at `127.0.0.1`.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on, on open and on new connections.
    pub fn set(&self, fault: Fault) {
        self.shared.fault.send_replace(fault);
    }

    /// How many connections were accepted so far.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// How many replies were swallowed so far.
    pub fn swallowed(&self) -> u64 {
        self.shared.swallowed.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and their connections with them.
    let mut open = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        shared.accepted.fetch_add(1, Ordering::Relaxed);
        open.spawn(pass(client, Arc::clone(&shared)));
        while open.try_join_next().is_some() {}
    }
}

async fn pass(mut client: TcpStream, shared: Arc<Shared>) {
    let Ok(mut server) = TcpStream::connect(shared.target).await else { return };
    // Small requests must not wait for each other. A connection that is already gone ends below.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let swallow = AtomicBool::new(false);
    let up = copy(from_client, to_server, shared.fault.subscribe(), |fault, chunk| {
        if let Fault::SwallowReply(wanted) = fault
            && chunk.windows(wanted.len()).any(|part| part == wanted)
            && shared.fault.send_if_modified(|now| std::mem::take(now) != Fault::Pass)
        {
            swallow.store(true, Ordering::Release);
        }
        true
    });
    let down = copy(from_server, to_client, shared.fault.subscribe(), |_, _| {
        let swallowed = swallow.load(Ordering::Acquire);
        shared.swallowed.fetch_add(u64::from(swallowed), Ordering::Relaxed);
        !swallowed
    });
    let mut faults = shared.fault.subscribe();
    let reset = tokio::select! {
        () = up => false,
        () = down => false,
        reset = broken(&mut faults) => reset,
    };
    if reset {
        // A socket that may not linger answers its close with a reset.
        let _ = client.set_zero_linger();
    }
}

// Ends when the fault says that connections end; true with a reset.
async fn broken(faults: &mut watch::Receiver<Fault>) -> bool {
    let wanted = faults.wait_for(|fault| matches!(fault, Fault::Drop | Fault::Reset)).await;
    wanted.is_ok_and(|fault| *fault == Fault::Reset)
}

// Ends with the connection, or when `look` says that a chunk is the last one and not to be passed on.
async fn copy(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    faults: watch::Receiver<Fault>,
    look: impl Fn(&Fault, &[u8]) -> bool,
) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        let fault = faults.borrow().clone();
        if !look(&fault, &chunk[..read]) {
            return;
        }
        match fault {
            Fault::Blackhole => continue,
            Fault::Delay(delay) => toolplane_wait::pause(delay, "the fault is a delay").await,
            _ => {}
        }
        if to.write_all(&chunk[..read]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
