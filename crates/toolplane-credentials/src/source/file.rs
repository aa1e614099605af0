//! A secret in a file.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::OFlags;

use crate::error::SourceFault;
use crate::secret::{MAX_SECRET_BYTES, Secret};

/// A file that changed this recently may change again without its time showing it.
const FRESH: Duration = Duration::from_secs(3);
/// Permissions of others than the owner.
const OTHERS: u32 = 0o077;

/// How a file was when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    place: (u64, u64),
    changed: (i64, i64),
    written: (i64, i64),
    bytes: u64,
}

impl FileStamp {
    /// How long ago the file was written; nothing when that lies ahead.
    pub(crate) fn written_ago(&self) -> Option<Duration> {
        let (seconds, nanos) = (u64::try_from(self.written.0).ok()?, u32::try_from(self.written.1).ok()?);
        (UNIX_EPOCH + Duration::new(seconds, nanos)).elapsed().ok()
    }
}

/// Reads the file; `None` when it is as `seen`. Links are followed, because that is how mounted secrets are exchanged at once. Blocks
/// on the disk.
pub(super) fn look(path: &Path, seen: Option<FileStamp>) -> Result<Option<(Secret, FileStamp)>, SourceFault> {
    // A pipe that nobody writes to must not keep us.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => SourceFault::NoFile,
        ErrorKind::PermissionDenied => SourceFault::NoAccess,
        _ => SourceFault::Io,
    })?;
    let meta = file.metadata().map_err(|_| SourceFault::Io)?;
    check(&meta)?;
    let stamp = FileStamp {
        place: (meta.dev(), meta.ino()),
        changed: (meta.ctime(), meta.ctime_nsec()),
        written: (meta.mtime(), meta.mtime_nsec()),
        bytes: meta.len(),
    };
    let is_fresh = meta.modified().ok().and_then(|at| at.elapsed().ok()).is_none_or(|age| age < FRESH);
    if seen == Some(stamp) && !is_fresh {
        return Ok(None);
    }
    Ok(Some((read(&file)?, stamp)))
}

fn check(meta: &Metadata) -> Result<(), SourceFault> {
    if !meta.is_file() {
        return Err(SourceFault::NotAFile);
    }
    if meta.mode() & OTHERS != 0 {
        return Err(SourceFault::Exposed(meta.mode() & 0o777));
    }
    let own = rustix::process::geteuid().as_raw();
    if meta.uid() != own && meta.uid() != 0 { Err(SourceFault::Foreign) } else { Ok(()) }
}

fn read(file: &File) -> Result<Secret, SourceFault> {
    // All of it at once: a vector that grows leaves its old bytes behind.
    let mut bytes = Vec::with_capacity(MAX_SECRET_BYTES + 2);
    let most = u64::try_from(MAX_SECRET_BYTES + 1).unwrap_or(u64::MAX);
    file.take(most).read_to_end(&mut bytes).map_err(|_| SourceFault::Io)?;
    Ok(Secret::new(bytes))
}
