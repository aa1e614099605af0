//! Connections between Unix sockets, made by process 1 in place of the tool.
//!
//! A path of the file system leads to the process that listens there, also out of the sandbox: a socket of the host in
//! the workspace is one. So the kernel asks about every `connect`, and process 1 does it itself with a copy of the
//! tool's socket and of the address, which the tool cannot change meanwhile. It goes where only the sandbox can listen:
//! to sockets in its own scratch directories and to abstract names, which belong to its network namespace.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};

use super::sys::{self, SyscallNotice};
use crate::inside::SCRATCH;

/// Directories only this sandbox can put a socket in.
const OURS: &[&str] = &[SCRATCH, "/dev/shm"];
/// Bytes of an address before its path.
const FAMILY_BYTES: usize = 2;
/// Longest address of a Unix socket.
const MAX_ADDRESS: usize = 110;

/// How a `connect` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connected {
    /// As the kernel would have ended it: 0, or an error number.
    Answered(i32),
    /// It would have left the sandbox, or could not be looked at.
    Denied,
}

/// Connects the socket the question is about, if it stays inside.
pub(super) fn connect(question: &SyscallNotice, listener: std::os::fd::BorrowedFd<'_>) -> Connected {
    let Some((address, socket)) = take(question) else { return Connected::Denied };
    // The thread that asked may be gone and its number taken by another one: then what was read is not its own.
    if !sys::still_asks(listener, question.id) {
        return Connected::Denied;
    }
    let answer = |result: io::Result<()>| match result {
        Ok(()) => Connected::Answered(0),
        Err(error) => Connected::Answered(error.raw_os_error().unwrap_or(libc::EIO)),
    };
    let Some(path) = path_of(&address) else {
        return answer(sys::connect(socket.as_fd(), &address));
    };
    match find(question.pid, path) {
        Ok(Some(found)) => {
            let mut through = address[..FAMILY_BYTES].to_vec();
            through.extend_from_slice(format!("/proc/self/fd/{}\0", found.as_raw_fd()).as_bytes());
            answer(sys::connect(socket.as_fd(), &through))
        }
        Ok(None) => Connected::Denied,
        Err(error) => answer(Err(error.into())),
    }
}

/// The address, and a copy of the socket: the tool's own, whatever it does with its number meanwhile.
fn take(question: &SyscallNotice) -> Option<(Vec<u8>, OwnedFd)> {
    let [fd, at, length, ..] = question.arguments;
    let length = (length as u32 as usize).min(MAX_ADDRESS);
    let address = sys::read_memory(question.pid, at, length).ok()?;
    let pidfd = rustix::process::pidfd_open(process_of(question.pid)?, PidfdFlags::empty()).ok()?;
    let socket = rustix::process::pidfd_getfd(pidfd, fd as i32, PidfdGetfdFlags::empty()).ok()?;
    (address.len() >= FAMILY_BYTES).then_some((address, socket))
}

/// The process a thread belongs to.
fn process_of(thread: u32) -> Option<Pid> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let id = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()?;
    Pid::from_raw(id)
}

/// The path of an address; nothing when it has none (an abstract name, no name, another family).
fn path_of(address: &[u8]) -> Option<&Path> {
    let (family, path) = address.split_first_chunk::<FAMILY_BYTES>()?;
    let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
    let named = i32::from(u16::from_ne_bytes(*family)) == libc::AF_UNIX && end > 0;
    named.then(|| Path::new(OsStr::from_bytes(&path[..end])))
}

/// What is at `path` as the thread sees it, held open; nothing when that is not ours. Errors are what the tool is told.
fn find(thread: u32, path: &Path) -> Result<Option<OwnedFd>, Errno> {
    let base = match path.is_absolute() {
        true => None,
        false => Some(File::open(format!("/proc/{thread}/cwd")).map_err(|_| Errno::ACCESS)?),
    };
    let base = base.as_ref().map_or(CWD, |base| base.as_fd());
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let found = rustix::fs::openat2(base, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)?;
    let stat = rustix::fs::fstat(&found)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
        return Err(Errno::CONNREFUSED);
    }
    let ours = OURS.iter().any(|dir| rustix::fs::stat(*dir).is_ok_and(|place| place.st_dev == stat.st_dev));
    Ok(ours.then_some(found))
}
