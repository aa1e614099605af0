//! A run while it lasts: its output, its progress, and its end.

mod driver;
pub(crate) mod reports;

use std::path::PathBuf;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::bubblewrap::Slot;
use crate::capture::OutputStream;
use crate::cgroup::RunGroup;
use crate::error::SandboxError;
use crate::exit::Exit;
use crate::limits::Limits;
use crate::protected::Snapshot;
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
pub(crate) struct Held {
    pub(crate) group: RunGroup,
    pub(crate) _slot: Option<Slot>,
    /// The writable workspace and its protected paths before the run.
    pub(crate) writable: Option<(PathBuf, Snapshot)>,
}

/// A tool that was started. Dropping it kills the whole tree.
#[derive(Debug)]
pub struct Running {
    driver: JoinHandle<Result<Exit, SandboxError>>,
    wish: watch::Sender<Wish>,
    progress: watch::Receiver<Progress>,
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

impl Running {
    pub(crate) fn start(
        child: Child,
        control: UnixStream,
        reports: Reports,
        held: Held,
        limits: Limits,
        tap: Option<OutputTap>,
    ) -> Result<Self, SandboxError> {
        let (wish, wished) = watch::channel(Wish::GoOn);
        let (report, progress) = watch::channel(Progress::default());
        let driver = driver::Driver::new(child, control, reports, held, limits, tap, wished, report)?;
        Ok(Self { driver: tokio::spawn(driver.run()), wish, progress })
    }

    /// How far the run has come; changes with every chunk of output.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// A handle to cancel the run while somebody waits for it.
    pub fn canceler(&self) -> Canceler {
        Canceler(self.wish.clone())
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
