//! A run while it lasts: its output, its progress, and its end.

mod driver;
pub(crate) mod reports;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::capture::OutputStream;
use crate::cgroup::RunGroup;
use crate::error::SandboxError;
use crate::exit::Exit;
use crate::limits::RunLimits;
use crate::slot::Slot;
use crate::workspace::Visit;
use reports::Reports;

/// Given every chunk of output as it is read, exact bytes, in the order of its stream. Must not block.
pub type OutputTap = Box<dyn FnMut(OutputStream, &[u8]) + Send>;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes written to standard output.
    pub stdout_bytes: u64,
    /// Lines written to standard output.
    pub stdout_lines: u64,
    /// Bytes written to standard error.
    pub stderr_bytes: u64,
    /// Lines written to standard error.
    pub stderr_lines: u64,
    /// Since the tool was started, when the last output was read.
    pub elapsed: Duration,
}

/// What the owner of a run wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    GoOn,
    Cancel,
    Abandon,
}

/// What a run keeps on the host until it has ended.
#[derive(Debug)]
pub(crate) struct HostResources {
    pub(crate) group: RunGroup,
    pub(crate) _slot: Option<Slot>,
    /// The writable workspace.
    pub(crate) writable: Option<Visit>,
}

/// A tool that was started. Dropping it kills the whole tree.
#[derive(Debug)]
pub struct Running {
    driver: JoinHandle<Result<Exit, SandboxError>>,
    wish: watch::Sender<Wish>,
    progress: watch::Receiver<Progress>,
    killer: Killer,
}

/// Cancels a run from elsewhere.
#[derive(Clone, Debug)]
pub struct Canceler(watch::Sender<Wish>);

impl Canceler {
    /// Asks the tool to end (SIGTERM), and kills the tree after the grace of its limits. Returns at once.
    pub fn cancel(&self) {
        self.0.send_if_modified(|wish| {
            let first = *wish == Wish::GoOn;
            if first {
                *wish = Wish::Cancel;
            }
            first
        });
    }
}

/// Kills a run from any thread, without the runtime that runs it.
#[derive(Clone, Debug)]
pub struct Killer(Option<Arc<OwnedFd>>);

impl Killer {
    /// A killer of `child`, by a handle that never means another process; nothing when it has ended already.
    fn of(child: &Child) -> Self {
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Self(handle.map(Arc::new))
    }

    /// Kills the whole tree with SIGKILL: process 1 dies with bubblewrap, and everything else with process 1. Does not
    /// wait for it. Harmless after the end of the run.
    pub fn kill(&self) {
        if let Some(handle) = &self.0 {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }
}

impl Running {
    #[expect(
        clippy::disallowed_methods,
        reason = "the driver tells its own end, a panic too, through the handle that is kept"
    )]
    pub(crate) fn start(
        child: Child,
        control: UnixStream,
        reports: Reports,
        held: HostResources,
        limits: RunLimits,
        tap: Option<OutputTap>,
    ) -> Result<Self, SandboxError> {
        let (wish, wished) = watch::channel(Wish::GoOn);
        let (report, progress) = watch::channel(Progress::default());
        let killer = Killer::of(&child);
        let driver = driver::Driver::new(child, control, reports, held, limits, tap, wished, report)?;
        Ok(Self { driver: tokio::spawn(driver.run()), wish, progress, killer })
    }

    /// How far the run has come; changes with every chunk of output.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// A handle to cancel the run while a task waits for it.
    pub fn canceler(&self) -> Canceler {
        Canceler(self.wish.clone())
    }

    /// A handle to kill the run without waiting for anything, not even for this runtime.
    pub fn killer(&self) -> Killer {
        self.killer.clone()
    }

    /// Asks the tool to end; see [`Canceler::cancel`].
    pub fn cancel(&self) {
        self.canceler().cancel();
    }

    /// Waits for the end. When it returns, nothing of the tree is left.
    ///
    /// Fails with [`SandboxError::Lost`] if the sandbox was killed from outside.
    pub async fn wait(mut self) -> Result<Exit, SandboxError> {
        match (&mut self.driver).await {
            Ok(outcome) => outcome,
            Err(_) => Err(SandboxError::Lost { detail: "the worker is shutting down".into() }),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.wish.send_replace(Wish::Abandon);
    }
}
