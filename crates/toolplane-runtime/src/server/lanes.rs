//! Connections spread over servers that differ only in how old their connections become.

use std::io;

use futures_util::future::{BoxFuture, try_join_all};
use futures_util::{Stream, StreamExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::error::ServerError;
use super::life::{ConnectionAge, Lifeline};
use super::seats::Seats;

/// Connections on their way to a server; it takes them at once.
const UNDER_WAY: usize = 64;

/// The servers of one listener. Connections are given to them in turn.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    serving: Vec<BoxFuture<'static, Result<(), ServerError>>>,
    /// What comes in is to be TLS.
    tls: bool,
}

struct Lane {
    age: Option<ConnectionAge>,
    ends: CancellationToken,
    cut: CancellationToken,
    connections: mpsc::Sender<io::Result<Connection>>,
}

impl Lanes {
    /// No lane yet, for a listener that encrypts or not.
    pub(super) fn new(tls: bool) -> Self {
        Self { tls, ..Self::default() }
    }

    /// Adds a lane; the stream is what its server takes connections from.
    pub(super) fn add(
        &mut self,
        age: Option<ConnectionAge>,
        ends: &CancellationToken,
        cut: &CancellationToken,
    ) -> ReceiverStream<io::Result<Connection>> {
        let (connections, taken) = mpsc::channel(UNDER_WAY);
        self.lanes.push(Lane { age, ends: ends.clone(), cut: cut.clone(), connections });
        ReceiverStream::new(taken)
    }

    /// The server of the lane that was added last.
    pub(super) fn serve(&mut self, serving: impl Future<Output = Result<(), ServerError>> + Send + 'static) {
        self.serving.push(Box::pin(serving));
    }

    /// Gives connections to the lanes until `stop`, then closes the listener; ends when every server has ended.
    pub(super) async fn run(
        self,
        incoming: impl Stream<Item = TcpStream>,
        seats: Seats,
        stop: CancellationToken,
    ) -> Result<(), ServerError> {
        let Self { lanes, serving, tls } = self;
        let giving = async {
            stop.run_until_cancelled(give(incoming, lanes, seats, tls)).await;
            Ok(())
        };
        tokio::try_join!(giving, try_join_all(serving)).map(drop)
    }
}

async fn give(incoming: impl Stream<Item = TcpStream>, lanes: Vec<Lane>, seats: Seats, tls: bool) {
    let mut incoming = std::pin::pin!(incoming);
    let mut lanes = lanes.iter().cycle();
    loop {
        let stream = tokio::select! {
            next = incoming.next() => match next {
                Some(stream) => stream,
                None => return,
            },
            () = seats.overdue() => continue,
        };
        // One that has gone already has no address.
        let Ok(address) = stream.peer_addr() else { continue };
        let Some(lane) = lanes.next() else { return };
        let cut = lane.cut.child_token();
        let Some(place) = seats.arrive(address.ip(), &cut) else { continue };
        let line = Lifeline::begin(lane.age, &lane.ends, cut, Some(place));
        // A server that has ended ends the whole; no receiver is left.
        let _ = lane.connections.send(Ok(Connection::new(stream, line, tls))).await;
    }
}
