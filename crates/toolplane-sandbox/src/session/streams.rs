//! The two streams of a session, each with a count and a rate.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;
use tokio::process::ChildStdout;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::limits::Rate;
use crate::running::pace::Pace;

/// Counts what flows, and holds it up.
#[derive(Debug)]
struct Meter {
    pace: Pace,
    waiting: Option<Pin<Box<Sleep>>>,
    bytes: Arc<AtomicU64>,
}

impl Meter {
    fn new(rate: Rate, bytes: Arc<AtomicU64>) -> Self {
        Self { pace: Pace::new(rate, Instant::now()), waiting: None, bytes }
    }

    /// Until more may flow.
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(until) = self.pace.wait(Instant::now()) {
            let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep_until(until)));
            ready!(waiting.as_mut().poll(context));
            self.waiting = None;
        }
        Poll::Ready(())
    }

    fn flowed(&mut self, bytes: usize) {
        self.pace.flowed(bytes as u64, Instant::now());
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Writes to the standard input of a session's program. Dropping it closes that.
#[derive(Debug)]
pub struct SessionInput {
    pipe: Option<pipe::Sender>,
    meter: Meter,
}

impl SessionInput {
    pub(super) fn new(pipe: pipe::Sender, rate: Rate) -> Self {
        Self { pipe: Some(pipe), meter: Meter::new(rate, Arc::default()) }
    }

    /// Bytes the program was given so far. Some of them may still be in the pipe.
    pub fn bytes(&self) -> u64 {
        self.meter.bytes.load(Ordering::Relaxed)
    }
}

impl AsyncWrite for SessionInput {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { pipe, meter } = &mut *self;
        let Some(pipe) = pipe else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        ready!(meter.poll_turn(context));
        let written = ready!(Pin::new(pipe).poll_write(context, bytes))?;
        meter.flowed(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A pipe holds nothing back.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe = None;
        Poll::Ready(Ok(()))
    }
}

/// Reads the standard output of a session's program. When it is dropped, the program's next write fails.
#[derive(Debug)]
pub struct SessionOutput {
    stdout: ChildStdout,
    meter: Meter,
}

impl SessionOutput {
    pub(super) fn new(stdout: ChildStdout, rate: Rate, bytes: Arc<AtomicU64>) -> Self {
        Self { stdout, meter: Meter::new(rate, bytes) }
    }

    /// Bytes that were read so far.
    pub fn bytes(&self) -> u64 {
        self.meter.bytes.load(Ordering::Relaxed)
    }
}

impl AsyncRead for SessionOutput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stdout, meter } = &mut *self;
        ready!(meter.poll_turn(context));
        let before = buffer.filled().len();
        ready!(Pin::new(stdout).poll_read(context, buffer))?;
        meter.flowed(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}
