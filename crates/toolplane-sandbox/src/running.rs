//! A run while it lasts: its output, its progress, and its end.

mod driver;
mod observe;
pub(crate) mod pace;
pub(crate) mod reports;

pub use observe::Observer;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::capture::{Capture, OutputStream};
use crate::cgroup::RunGroup;
use crate::error::SandboxError;
use crate::exit::Exit;
use crate::limits::{Rate, RunLimits};
use crate::network::Proxy;
use crate::slot::Slot;
use crate::workspace::Visit;
use observe::Ask;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    GoOn,
    Close,
    Cancel,
    Abandon,
}

/// A tool whose program runs, and everything that goes with it.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) control: UnixStream,
    pub(crate) reports: Reports,
    pub(crate) held: HostResources,
}

/// What is done with the output of a run.
pub(crate) enum Listening {
    /// Both streams are read as fast as they come, up to a total. What does not fit into memory goes to files in the directory.
    Both(Option<OutputTap>, Option<PathBuf>),
    /// Only standard error is read, at this rate; somebody else reads standard output and counts it here.
    Errors(Rate, Arc<AtomicU64>),
}

/// What was kept of both streams so far.
type Captures = Arc<Mutex<[Capture; 2]>>;

/// What a run keeps on the host until it has ended.
#[derive(Debug)]
pub(crate) struct HostResources {
    pub(crate) group: RunGroup,
    pub(crate) _slot: Option<Slot>,
    /// The writable workspace.
    pub(crate) writable: Option<Visit>,
    /// What connects the tool to hosts.
    pub(crate) proxy: Option<Proxy>,
}

/// A tool that was started. Dropping it kills the whole tree.
#[derive(Debug)]
pub struct Running {
    driver: JoinHandle<Result<Exit, SandboxError>>,
    wish: watch::Sender<Wish>,
    progress: watch::Receiver<Progress>,
    killer: Killer,
    observer: Observer,
}

/// What a driver hears from the owner of its run, and tells him.
struct Ears {
    wished: watch::Receiver<Wish>,
    asked: mpsc::Receiver<Ask>,
    progress: watch::Sender<Progress>,
}

/// Cancels a run from elsewhere.
#[derive(Clone, Debug)]
pub struct Canceler(watch::Sender<Wish>);

impl Canceler {
    /// Asks the tool to end (SIGTERM), and kills the tree after the grace of its limits. Returns at once.
    pub fn cancel(&self) {
        self.go_on_to(Wish::Cancel);
    }

    /// Waits for the tool to end by itself for the grace of its limits, and then does as [`Canceler::cancel`]. Returns at once.
    /// For tools that end with their standard input, which whoever writes to it has closed.
    pub fn close(&self) {
        self.go_on_to(Wish::Close);
    }

    /// Wishes only grow.
    fn go_on_to(&self, wanted: Wish) {
        self.0.send_if_modified(|wish| {
            let more = *wish < wanted;
            if more {
                *wish = wanted;
            }
            more
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
    pub(crate) fn start(started: Started, limits: RunLimits, listening: Listening) -> Result<Self, SandboxError> {
        let (wish, wished) = watch::channel(Wish::GoOn);
        let (report, progress) = watch::channel(Progress::default());
        let (ask, asked) = mpsc::channel(observe::MAX_WAITING);
        let killer = Killer::of(&started.child);
        let ears = Ears { wished, asked, progress: report };
        let driver = driver::Driver::new(started, limits, listening, ears)?;
        let observer = Observer::new(ask, driver.captures());
        Ok(Self { driver: tokio::spawn(driver.run()), wish, progress, killer, observer })
    }

    /// A handle to look at the run while a task waits for it.
    pub fn observer(&self) -> Observer {
        self.observer.clone()
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
