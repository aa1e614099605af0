//! Modes of files.

use rustix::fs::Mode;
use rustix::io::Errno;
use std::os::fd::{AsRawFd as _, OwnedFd};

/// Changes the mode of a file that is only held (`O_PATH`).
pub(super) fn change_mode(held: &OwnedFd, mode: u32) -> Result<(), Errno> {
    rustix::fs::chmod(magic(held), Mode::from_raw_mode(mode & 0o7777))
}

/// The path at which a file that is only held can be named.
pub(super) fn magic(held: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", held.as_raw_fd())
}
