//! The ledger of one start of the worker: a line per edge of an effect, on disk before the tool goes on.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::history::{Edge, Effect, Entry, Record, now_ms};
use crate::trouble::Trouble;

/// Where effects are written.
#[derive(Debug)]
pub(crate) struct Ledger(File);

impl Ledger {
    /// A new ledger.
    pub(crate) fn create(path: &Path) -> Result<Self, Trouble> {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(Trouble::file(path))?;
        Ok(Self(file))
    }

    /// Writes one line. When this returns, a kill of the process cannot take it back.
    pub(crate) fn write(&self, effect: Effect, edge: Edge) -> std::io::Result<()> {
        let entry = Entry { at_ms: now_ms(), record: Record::Ledger(Effect { edge, ..effect }) };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        // One write of an append-only file: lines of calls that run side by side never mix.
        (&self.0).write_all(&line)?;
        self.0.sync_data()
    }
}

/// Takes the lock of the worker's folder, waiting for a predecessor that is just being killed.
pub(crate) fn lock(path: &Path) -> Result<File, Trouble> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(Trouble::file(path))?;
    let locked = rustix::fs::flock(&file, FlockOperation::LockExclusive);
    locked.map_err(|errno| Trouble::file(path)(errno.into()))?;
    Ok(file)
}
