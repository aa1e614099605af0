//! The store's directory: who may have it open, and which files lie in it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use redb::{Builder, Database};
use rustix::fs::{FlockOperation, flock};

use crate::fault::{OpenError, contained};
use crate::log::files::{LogDirectory, RealDirectory};
use crate::mend::{mend, was_mended};
use crate::options::EmbeddedOptions;
use crate::space::{RealSpace, SpaceSource};

const LOCK: &str = "LOCK";
/// The file of the tables.
pub(crate) const STATE: &str = "state.redb";

/// What a store keeps its data in, and the claim on the directory.
pub(crate) struct Files {
    /// Groups of commits not yet known to be in the tables.
    pub(crate) log: Box<dyn LogDirectory>,
    /// The tables a checkpoint writes.
    pub(crate) state: Database,
    /// The tables were written anew because of damage, now or when they were opened before.
    pub(crate) mended: bool,
    /// Tells how much room there is.
    pub(crate) space: Box<dyn SpaceSource>,
    /// Held for as long as the files are open; dropped last.
    pub(crate) _lock: Option<DirectoryLock>,
}

/// An exclusive claim on the directory. The system releases it when the file closes, so also when the process dies.
pub(crate) struct DirectoryLock {
    file: File,
}

impl Files {
    /// Creates or opens the directory at `path` and claims it.
    pub(crate) fn open(path: &Path, options: &EmbeddedOptions) -> Result<Self, OpenError> {
        create_directory(path)?;
        let lock = DirectoryLock::acquire(path)?;
        let fresh = !path.join(STATE).exists();
        let mut state = open_database(&path.join(STATE), options.cache_bytes)?;
        if fresh {
            flush_directory(path)?;
        } else {
            state = mend(path, state, options.cache_bytes)?;
        }
        let (log, space) = (Box::new(RealDirectory(path.to_owned())), Box::new(RealSpace(path.to_owned())));
        Ok(Self { log, state, mended: was_mended(path)?, space, _lock: Some(lock) })
    }
}

impl DirectoryLock {
    pub(crate) fn acquire(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join(LOCK);
        let file = open_file(&path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(OpenError::Locked { path: directory.to_owned() }),
            Err(error) => Err(failed("lock", &path)(error.into())),
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Closing releases the claim too, but not while a process that is just being forked still has the file open.
        if let Err(error) = flock(&self.file, FlockOperation::Unlock) {
            tracing::warn!(%error, "the claim on the store's directory ends only with the file");
        }
    }
}

/// Opens the tables in the file at `path`, or makes it.
pub(crate) fn open_database(path: &Path, cache_bytes: usize) -> Result<Database, OpenError> {
    let file = open_file(path)?;
    let opened = contained(|| Ok(Builder::new().set_cache_size(cache_bytes).create_file(file)?));
    opened.map_err(|fault| OpenError::from(fault).below(path))
}

fn open_file(path: &Path) -> Result<File, OpenError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed("open", path))
}

// Creates what is missing, for this user only, and makes the new names themselves durable.
fn create_directory(path: &Path) -> Result<(), OpenError> {
    if path.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> =
        path.ancestors().take_while(|part| !part.as_os_str().is_empty() && !part.exists()).collect();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("create directory", path))?;
    for created in missing {
        match created.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => flush_directory(parent)?,
            _ => flush_directory(Path::new("."))?,
        }
    }
    Ok(())
}

pub(crate) fn flush_directory(path: &Path) -> Result<(), OpenError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("flush directory", path))
}

pub(crate) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OpenError {
    let path: PathBuf = path.to_owned();
    move |source| OpenError::File { action, path, source }
}
