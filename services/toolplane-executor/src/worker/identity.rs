//! Who this worker is: a name that survives restarts, and the proof that no earlier start of it is alive.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use toolplane_records::ids::WorkerId;
use uuid::Uuid;

use crate::error::ExecutorError;

#[cfg(test)]
mod tests;

/// Name and start of a worker. While it lives, no other process can be the same worker.
#[derive(Debug)]
pub(crate) struct Identity {
    /// Stable over restarts.
    pub(crate) worker_id: WorkerId,
    /// New at every start.
    pub(crate) incarnation: String,
    /// The directory that is this worker's alone while it lives.
    pub(crate) home: PathBuf,
    /// Locked until the process ends. Tools are killed with their worker (the sandbox dies with its parent), so the
    /// worker that gets this lock knows that nothing of an earlier start is left.
    _lock: File,
}

impl Identity {
    /// Takes the identity kept below `<data_dir>/executor`, or the name `wanted`.
    ///
    /// Fails with [`ExecutorError::Locked`] while another worker uses the directory.
    pub(crate) fn take(data_dir: &Path, wanted: Option<WorkerId>) -> Result<Self, ExecutorError> {
        let home = data_dir.join("executor");
        fs::create_dir_all(&home).map_err(ExecutorError::file(&home))?;
        let lock = lock(&home.join("lock"))?;
        let worker_id = match wanted {
            Some(worker_id) => worker_id,
            None => kept_name(&home)?,
        };
        Ok(Self { worker_id, incarnation: Uuid::new_v4().simple().to_string(), home, _lock: lock })
    }
}

fn lock(path: &Path) -> Result<File, ExecutorError> {
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let file = opened.map_err(ExecutorError::file(path))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(ExecutorError::Locked { path: path.to_owned() }),
        Err(errno) => Err(ExecutorError::File { path: path.to_owned(), source: errno.into() }),
    }
}

fn kept_name(home: &Path) -> Result<WorkerId, ExecutorError> {
    let path = home.join("worker_id");
    match fs::read_to_string(&path) {
        Ok(text) => parse(&path, text.trim()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = format!("wkr_{}", Uuid::new_v4().simple());
            keep(home, &path, &name).map_err(ExecutorError::file(&path))?;
            parse(&path, &name)
        }
        Err(error) => Err(ExecutorError::file(&path)(error)),
    }
}

fn parse(path: &Path, text: &str) -> Result<WorkerId, ExecutorError> {
    WorkerId::parse(text).map_err(|rule| ExecutorError::WorkerId {
        path: path.to_owned(),
        text: text.chars().take(64).collect(),
        rule,
    })
}

/// Written aside and renamed, so that a crash leaves the whole name or none.
fn keep(home: &Path, path: &PathBuf, name: &str) -> io::Result<()> {
    let aside = home.join("worker_id.new");
    let mut file = File::create(&aside)?;
    writeln!(file, "{name}")?;
    file.sync_all()?;
    fs::rename(&aside, path)?;
    File::open(home)?.sync_all()
}
