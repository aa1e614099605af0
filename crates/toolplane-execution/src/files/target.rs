//! The file a tool is about to write: found once, checked, and held so that nothing can be put in its place.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use toolplane_catalog::values;
use toolplane_records::codes;
use toolplane_records::error::ToolError;

use super::dir::Dir;
use super::place::{outside, refused};
use super::site::Site;
use super::walk::{PathWalk, Purpose};
use crate::denied::Access;
use crate::failure::{excerpt, execution_failed, invalid_input, nothing_done};

/// The directory of the file, open, and the file's name in it.
#[derive(Debug)]
pub(super) struct FileTarget {
    pub(super) directory: OwnedFd,
    pub(super) name: String,
}

/// A file that is there already.
#[derive(Debug)]
pub(super) struct Existing {
    file: File,
    pub(super) mode: Mode,
    pub(super) size: u64,
    pub(super) identity: FileIdentity,
}

/// What changes when a program writes or replaces a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileIdentity([u64; 6]);

impl FileIdentity {
    pub(super) fn of(stat: &Stat) -> Self {
        let whole = |value: i64| value as u64;
        Self([
            stat.st_dev,
            stat.st_ino,
            whole(stat.st_size),
            whole(stat.st_mtime),
            stat.st_mtime_nsec,
            whole(stat.st_ctime) ^ stat.st_ctime_nsec.rotate_left(32),
        ])
    }
}

impl FileTarget {
    /// Finds the place `given` names. With `parents`, directories that are missing are made.
    ///
    /// A path that links turn aside is refused with the name of what it leads to. Protected paths are refused by the name that was
    /// given and by the one that was found.
    pub(super) fn find(workspace: &Dir, given: &str, parents: bool) -> Result<Self, ToolError> {
        let relative = values::writable(given).map_err(|error| *error)?;
        PathWalk::new(workspace, &relative, given, Purpose::Write { make: parents })?.run()
    }

    /// The file that is there, `None` when there is none. One that has a denied name too is refused.
    pub(super) fn existing(&self, site: &Site, given: &str) -> Result<Option<Existing>, ToolError> {
        // Opening a FIFO without `NONBLOCK` waits for a process at its other end.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(outside(given)),
            Err(error) => return Err(refused(given, &error.into())),
        };
        let stat = rustix::fs::fstat(&file).map_err(|error| refused(given, &error.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(invalid_input("path", "is a directory, not a file")),
            _ => return Err(invalid_input("path", "is not a regular file")),
        }
        site.guard.admit(&file, Access::Write, given)?;
        Ok(Some(Existing {
            file: file.into(),
            mode: Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(0o777),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            identity: FileIdentity::of(&stat),
        }))
    }

    /// What changes when the file at this place is written or replaced; `None` when there is nothing.
    pub(super) fn identity(&self) -> Option<FileIdentity> {
        let stat = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileIdentity::of(&stat))
    }
}

impl Existing {
    /// The bytes of the file, `None` when there are more than `most`.
    pub(super) fn read(&mut self, most: u64, given: &str) -> Result<Option<Vec<u8>>, ToolError> {
        if self.size > most {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        let read = (&mut self.file).take(most + 1).read_to_end(&mut bytes);
        let length = read.map_err(|error| refused(given, &error))?;
        Ok((length as u64 <= most).then_some(bytes))
    }
}

/// Refuses what no tool writes, by the path that was found.
pub(super) fn refuse_protected(path: &str) -> Result<(), ToolError> {
    values::unprotected(path).map_err(|error| *error)
}

/// The error for a place the operating system lets no process write.
pub(super) fn unwritable(given: &str, error: Errno) -> ToolError {
    let message = format!("`{}` cannot be written: {}", excerpt(given), std::io::Error::from(error));
    nothing_done(execution_failed(codes::PATH_UNWRITABLE, message))
}
