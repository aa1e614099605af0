//! Paths given by callers, and files opened by them.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use toolplane_catalog::values;
use toolplane_records::codes;
use toolplane_records::error::ToolError;

use super::dir::Dir;
use super::site::Site;
use super::target::FileTarget;
use super::walk::{PathWalk, Purpose};
use crate::denied::Access;
use crate::failure::{excerpt, execution_failed, invalid_input, nothing_done, path_of};

/// The path relative to the workspace, as the check before the call reads it: see [`values::readable`].
pub(super) fn relative(path: &str) -> Result<String, ToolError> {
    values::readable(path).map_err(|error| *error)
}

/// A regular file, opened for reading without ever waiting for one.
pub(super) fn open_file(site: &Site, relative: &str, given: &str) -> Result<(File, u64), ToolError> {
    // Opening a FIFO without `NONBLOCK` waits for a writer.
    let file = File::from(open(&site.dir, relative, given, OFlags::NONBLOCK)?);
    let metadata = file.metadata().map_err(|error| refused(given, &error))?;
    if metadata.is_dir() {
        return Err(invalid_input("path", "is a directory, not a file"));
    }
    if !metadata.is_file() {
        return Err(invalid_input("path", "is not a regular file"));
    }
    site.guard.admit(&file, Access::Read, given)?;
    Ok((file, metadata.len()))
}

/// A directory, opened to look into it.
pub(super) fn open_dir(dir: &Dir, relative: &str, given: &str) -> Result<Dir, ToolError> {
    if relative == "." {
        return dir.try_clone().map_err(|error| refused(given, &error));
    }
    open(dir, relative, given, OFlags::DIRECTORY).map(Dir::from_fd)
}

/// What a path names.
pub(super) enum Opened {
    /// A directory, opened to look into it.
    Dir(Dir),
    /// A regular file, not yet looked at by the guard of denied paths.
    File(File),
}

/// A directory or a regular file, opened without ever waiting for one.
pub(super) fn open_either(dir: &Dir, relative: &str, given: &str) -> Result<Opened, ToolError> {
    if relative == "." {
        return open_dir(dir, relative, given).map(Opened::Dir);
    }
    let file = File::from(open(dir, relative, given, OFlags::NONBLOCK)?);
    let kind = file.metadata().map_err(|error| refused(given, &error))?.file_type();
    match kind {
        kind if kind.is_dir() => Ok(Opened::Dir(Dir::from_fd(file.into()))),
        kind if kind.is_file() => Ok(Opened::File(file)),
        _ => Err(invalid_input("path", "is not a regular file")),
    }
}

/// What is there under exactly this path, without going through links.
fn open(dir: &Dir, relative: &str, given: &str, how: OFlags) -> Result<OwnedFd, ToolError> {
    if relative == "." {
        return Err(invalid_input("path", "is a directory, not a file"));
    }
    let FileTarget { directory, name } = PathWalk::new(dir, relative, given, Purpose::Read)?.run()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | how;
    rustix::fs::openat(&directory, &name, flags, Mode::empty()).map_err(|error| match error {
        // A link took its place since the walk.
        Errno::LOOP => outside(given),
        Errno::NOTDIR => invalid_input("path", "is a file, not a directory"),
        error => refused(given, &error.into()),
    })
}

/// The error for a path the operating system refused.
pub(super) fn refused(path: &str, error: &io::Error) -> ToolError {
    let shown = excerpt(path);
    match error.kind() {
        io::ErrorKind::NotFound => {
            execution_failed(codes::PATH_NOT_FOUND, format!("there is no `{shown}` in the workspace"))
        }
        io::ErrorKind::NotADirectory => invalid_input("path", "goes through a file as if it were a directory"),
        io::ErrorKind::InvalidFilename => invalid_input("path", "has a name that is too long"),
        _ => match error.raw_os_error() {
            // A socket, or a device without a driver behind it.
            Some(6) => invalid_input("path", "is not a regular file"),
            _ => execution_failed(codes::PATH_UNREADABLE, format!("`{shown}` cannot be read: {error}")),
        },
    }
}

/// The error for a path that leads out of the workspace.
pub(super) fn outside(path: &str) -> ToolError {
    *values::outside(path)
}

/// The error for a path that a link turns aside: permission was decided about another path than the one it leads to.
pub(super) fn linked(path: &str, found: &str) -> ToolError {
    let (shown, real) = (excerpt(path), excerpt(found));
    let message = format!("`{shown}` leads to `{real}` through a link; name that path instead");
    nothing_done(ToolError { blocked_path: Some(path_of(found)), ..ToolError::of(codes::PATH_LINKED, message) })
}
