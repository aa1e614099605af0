//! The launcher program: what runs between the worker and the tool. Single-threaded throughout.
//!
//! `outer` runs on the host: it joins the control groups, becomes a user of its own when it is root, and turns into
//! bubblewrap. `inner` runs as process 1 of the sandbox: it checks that every layer holds, starts the tool behind the
//! system call filter, and ends the tree. `self-test` and `linger` are tools for the posture probe.

mod filter;
mod inner;
mod outer;
mod reaper;
mod selftest;
mod sockets;
mod staging;
mod start;
mod sys;
mod verify;

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::ExitCode;

use crate::wire::{self, LauncherReport};

pub(crate) use selftest::Facts;

/// The control channel, in both stages.
const CONTROL_FD: i32 = 3;

/// Runs the part named by the first argument.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(wire::PART_OUTER) => outer::run(),
        Some(wire::PART_INNER) => inner::run(),
        Some(wire::PART_SELF_TEST) => selftest::run(&arguments.collect::<Vec<_>>()),
        Some(wire::PART_LINGER) => selftest::linger(&arguments.collect::<Vec<_>>()),
        _ => {
            eprintln!("this program is started by toolplane workers, not by hand");
            ExitCode::from(64)
        }
    }
}

/// A failed step of the launcher.
#[derive(Debug)]
struct StageFailure {
    stage: &'static str,
    errno: Option<i32>,
    detail: String,
}

impl StageFailure {
    fn new(stage: &'static str, detail: impl Into<String>) -> Self {
        Self { stage, errno: None, detail: detail.into() }
    }

    /// For `map_err`: the step `stage` failed with an error of the operating system.
    fn at<E: Into<io::Error>>(stage: &'static str) -> impl Fn(E) -> Self {
        move |error| {
            let error = error.into();
            Self { stage, errno: error.raw_os_error(), detail: error.to_string() }
        }
    }

    fn report(self) -> LauncherReport {
        LauncherReport::Failed { stage: self.stage.into(), errno: self.errno, detail: self.detail }
    }
}

/// Takes over the control channel. To be called once, by the stage that owns it.
fn control_channel() -> File {
    // SAFETY: the worker (outer stage) and the outer stage (inner stage) put the channel at this number for us alone.
    #[expect(unsafe_code, reason = "takes ownership of an inherited descriptor")]
    let fd = unsafe { OwnedFd::from_raw_fd(CONTROL_FD) };
    File::from(fd)
}
