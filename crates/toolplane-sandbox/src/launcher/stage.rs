//! A failed step of the launcher, and the channel it is told through.

use crate::wire::LauncherReport;
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// The control channel, in both stages.
pub(super) const CONTROL_FD: i32 = 3;

/// A failed step of the launcher.
#[derive(Debug)]
pub(super) struct StageFailure {
    pub(super) stage: &'static str,
    pub(super) errno: Option<i32>,
    pub(super) detail: String,
}

impl StageFailure {
    pub(super) fn new(stage: &'static str, detail: impl Into<String>) -> Self {
        Self { stage, errno: None, detail: detail.into() }
    }

    /// For `map_err`: the step `stage` failed with an error of the operating system.
    pub(super) fn at<E: Into<io::Error>>(stage: &'static str) -> impl Fn(E) -> Self {
        move |error| {
            let error = error.into();
            Self { stage, errno: error.raw_os_error(), detail: error.to_string() }
        }
    }

    pub(super) fn report(self) -> LauncherReport {
        LauncherReport::Failed { stage: self.stage.into(), errno: self.errno, detail: self.detail }
    }
}

/// Takes over the control channel. To be called once, by the stage that owns it.
pub(super) fn control_channel() -> File {
    // SAFETY: the worker (outer stage) and the outer stage (inner stage) put the channel at this number for us alone.
    #[expect(unsafe_code, reason = "takes ownership of an inherited descriptor")]
    let fd = unsafe { OwnedFd::from_raw_fd(CONTROL_FD) };
    File::from(fd)
}
