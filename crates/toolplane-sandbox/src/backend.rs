//! What every sandbox backend offers.

use std::future::Future;
use std::pin::Pin;

use crate::error::SandboxError;
use crate::limits::StreamRates;
use crate::posture::Posture;
use crate::running::{OutputTap, Running};
use crate::session::Session;
use crate::spec::SandboxSpec;

/// A future that can be sent between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that runs tools in a sandbox.
pub trait SandboxBackend: Send + Sync + std::fmt::Debug {
    /// Finds out, by running inside the sandbox, what it gives on this machine. Takes about a second.
    ///
    /// Never fails: what cannot be probed is not available, and the posture says why.
    fn probe(&self) -> BoxFuture<'_, Posture>;

    /// Starts a run and returns once the tool's program runs. `tap` is given every chunk of output as it is read.
    ///
    /// Fails with [`SandboxError::Invalid`], [`SandboxError::Full`], [`SandboxError::Unavailable`] or
    /// [`SandboxError::SetupFailed`]; in all these cases the tool was not started. Dropping the future ends the attempt and everything it started.
    fn spawn(&self, spec: SandboxSpec, tap: Option<OutputTap>) -> BoxFuture<'_, Result<Running, SandboxError>>;

    /// Starts a run that talks: its standard input and output are streams of the caller, which flow no faster than `rates`.
    /// Returns once the program runs. Of its output nothing is kept and no total is bound; standard error is kept as in
    /// [`SandboxBackend::spawn`].
    ///
    /// Fails like [`SandboxBackend::spawn`], and with [`SandboxError::Invalid`] when the specification has a standard input of its own.
    fn open(&self, spec: SandboxSpec, rates: StreamRates) -> BoxFuture<'_, Result<Session, SandboxError>>;
}
