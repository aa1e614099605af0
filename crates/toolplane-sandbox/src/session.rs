//! A run that stays open and talks: its standard input and output are streams of whoever opened it.
//!
//! Both are pipes with the buffer of the operating system, and nothing is read ahead: a program that writes what nobody reads waits,
//! and so does a caller that writes what the program does not read.

mod streams;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::net::unix::pipe;

use crate::error::SandboxError;
use crate::exit::Exit;
use crate::limits::{RunLimits, StreamRates};
use crate::running::{Listening, Running, Started};

pub use streams::{SessionInput, SessionOutput};

/// A program that was started and talks. Its parts may go to different tasks; dropping `running` kills the whole tree.
#[derive(Debug)]
pub struct Session {
    /// What the program reads. Dropping it, or shutting it down, is the end of its input. Writing fails with
    /// [`std::io::ErrorKind::BrokenPipe`] when the program has closed its input or has ended.
    pub input: SessionInput,
    /// What the program writes, up to the end of the tree, which is seen as the end of the stream.
    pub output: SessionOutput,
    /// The run itself: its end, what it uses, what it said on standard error ([`Running::observer`]), and how to end it.
    pub running: Running,
}

impl Session {
    pub(crate) fn start(
        mut started: Started,
        input: pipe::Sender,
        limits: RunLimits,
        rates: &StreamRates,
    ) -> Result<Self, SandboxError> {
        let Some(stdout) = started.child.stdout.take() else {
            return Err(SandboxError::Lost { detail: "the output of the program is not connected".into() });
        };
        let read = Arc::new(AtomicU64::new(0));
        let output = SessionOutput::new(stdout, rates.output, Arc::clone(&read));
        let running = Running::start(started, limits, Listening::Errors(rates.errors, read))?;
        Ok(Self { input: SessionInput::new(input, rates.input), output, running })
    }

    /// Waits for the end of the program, which is told as that of a run: signal, exit code, bounds it ran into, violations. Its input
    /// stays open, and what it still writes waits for a reader: take the parts to talk meanwhile.
    ///
    /// Fails with [`SandboxError::Lost`] if the sandbox was killed from outside.
    pub async fn wait(self) -> Result<Exit, SandboxError> {
        let Self { input: _input, output: _output, running } = self;
        running.wait().await
    }

    /// Ends the program politely: closes its input, reads on and drops what it still writes, and after the grace of its limits asks the
    /// whole tree to end (SIGTERM), and kills it after as much again. When it returns, nothing of the tree is left.
    ///
    /// Fails like [`Session::wait`].
    pub async fn close(self) -> Result<Exit, SandboxError> {
        let Self { input, mut output, running } = self;
        drop(input);
        running.canceler().close();
        let drain = async {
            let _ = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
            std::future::pending().await
        };
        tokio::select! {
            ended = running.wait() => ended,
            never = drain => never,
        }
    }
}
