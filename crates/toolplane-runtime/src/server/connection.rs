//! Accepted connections that can be cut, and that gather what many calls have to say into few writes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use futures_util::{Stream, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::transport::server::{Connected, TcpIncoming};

use super::life::{ConnectionLife, Lifeline};
use super::seats::Seats;
use crate::tls::{answer_to_plain, is_plain};

/// Pause after a failed accept: without it, running out of file descriptors would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Connections of a listener, without Nagle's delay.
pub(super) fn incoming(listener: TcpListener, keepalive: Duration, seats: Seats) -> impl Stream<Item = TcpStream> {
    let accepted = TcpIncoming::from(listener).with_nodelay(Some(true)).with_keepalive(Some(keepalive));
    accepted.filter_map(move |accepted| {
        let seats = seats.clone();
        async move {
            match accepted {
                Ok(stream) => Some(stream),
                Err(error) => {
                    tracing::debug!(%error, "cannot accept a connection");
                    // Most often no descriptor is left; the one who waits in front of the door may be an operator.
                    seats.relieve();
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    None
                }
            }
        }
    })
}

/// Bytes that wait for a flush before they are written anyway; also the size of a write that does not wait.
const GATHERED: usize = 32 * 1024;

/// One connection.
///
/// HTTP/2 flushes whenever the connection's task ran, which is after every frame of every call. So a flush first lets
/// every task that is ready by now have its turn, and then writes what all of them added: under load many calls share a
/// system call, and alone a call waits for no other.
pub(super) struct Connection {
    stream: TcpStream,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    line: Lifeline,
    greeting: Greeting,
    /// Taken, and not yet given to the system.
    waiting: BytesMut,
    /// The tasks that were ready when the flush was asked for had their turn.
    yielded: bool,
}

/// What a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Greeting {
    /// Whatever it is, it is passed on.
    Passed,
    /// TLS is expected, and nothing came yet.
    ExpectsTls,
    /// It was plain text and was answered; what else comes is of no interest.
    Answered,
}

impl Connection {
    /// The connection ends with an error once its lifeline is cut. A client that does not speak TLS where that is expected is
    /// told so.
    pub(super) fn new(stream: TcpStream, line: Lifeline, expects_tls: bool) -> Self {
        let greeting = if expects_tls { Greeting::ExpectsTls } else { Greeting::Passed };
        let cut = Box::pin(line.cut.clone().cancelled_owned());
        Self { stream, cut, line, greeting, waiting: BytesMut::new(), yielded: false }
    }

    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.cut.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }

    /// Gives everything that waits to the system.
    fn write_out(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.waiting))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.waiting.advance(written);
        }
        self.yielded = false;
        Poll::Ready(Ok(()))
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionLife;

    fn connect_info(&self) -> ConnectionLife {
        self.line.life.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check(cx)?;
        if self.greeting == Greeting::Passed {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let first = &buf.filled()[before..];
        if self.greeting == Greeting::ExpectsTls {
            self.greeting = if is_plain(first) { Greeting::Answered } else { Greeting::Passed };
            if self.greeting == Greeting::Answered {
                // A client that does not take a few bytes at its beginning is not told.
                let _ = self.stream.try_write(&answer_to_plain(first));
            }
        }
        if self.greeting == Greeting::Answered && !first.is_empty() {
            // Closing while something comes in would take back the answer: the client closes, or its time is up.
            buf.set_filled(before);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let size: usize = bufs.iter().map(|buf| buf.len()).sum();
        if self.waiting.len() + size > GATHERED {
            ready!(self.write_out(cx))?;
            if size >= GATHERED {
                return Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
            }
        }
        for buf in bufs {
            self.waiting.extend_from_slice(buf);
        }
        Poll::Ready(Ok(size))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.waiting.is_empty() && !self.yielded {
            self.yielded = true;
            // Woken while it runs, a task comes after those that are ready.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        ready!(self.write_out(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_out(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
