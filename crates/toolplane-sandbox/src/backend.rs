//! What every sandbox backend offers.

use std::future::Future;
use std::pin::Pin;

use crate::error::SandboxError;
use crate::posture::Posture;
use crate::running::{OutputTap, Running};
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
}
