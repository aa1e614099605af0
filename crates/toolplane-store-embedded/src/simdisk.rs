//! A disk in memory that can lose what was not flushed, and can fail.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use redb::{Builder, Database, StorageBackend};

use crate::log::files::{LogDirectory, LogFile};

/// Counts the calls that write or flush, and makes one of them and all after it fail.
#[derive(Clone, Debug, Default)]
struct CallCounter(Arc<Mutex<Counted>>);

#[derive(Debug, Default)]
struct Counted {
    calls: u64,
    fail_at: Option<u64>,
    flushes: u64,
}

/// One simulated file. Clones are the same file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimFile {
    calls: CallCounter,
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug, Default)]
struct Disk {
    /// What the process sees.
    seen: Vec<u8>,
    /// What a power cut leaves for certain.
    flushed: Vec<u8>,
    /// What was done since the last flush, in order.
    pending: Vec<FileChange>,
}

/// A simulated directory of log segments. Clones are the same directory; its files share its calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimDirectory {
    calls: CallCounter,
    names: Arc<Mutex<DirectoryState>>,
}

#[derive(Debug, Default)]
struct DirectoryState {
    seen: BTreeMap<u64, SimFile>,
    flushed: BTreeMap<u64, SimFile>,
    pending: Vec<NameChange>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Create(u64, SimFile),
    Rename(u64, u64),
    Remove(u64),
}

#[derive(Clone, Debug)]
enum FileChange {
    Resize(usize),
    Write(usize, Vec<u8>),
}

impl CallCounter {
    fn fail_after(&self, count: u64) {
        let mut counted = self.0.lock();
        counted.fail_at = Some(counted.calls + count);
    }

    fn count(&self) -> io::Result<()> {
        let mut counted = self.0.lock();
        counted.calls += 1;
        if counted.fail_at.is_some_and(|at| counted.calls >= at) {
            return Err(io::Error::other("simulated failure"));
        }
        Ok(())
    }

    fn count_flush(&self) -> io::Result<()> {
        self.count()?;
        self.0.lock().flushes += 1;
        Ok(())
    }
}

// === files ===

impl SimFile {
    pub(crate) fn database(&self) -> Database {
        Builder::new().create_with_backend(self.clone()).unwrap()
    }

    /// Fails the `count`-th writing or flushing call from now on, and every later one.
    pub(crate) fn fail_after(&self, count: u64) {
        self.calls.fail_after(count);
    }

    /// The file after a power cut: what was flushed, and of what was not, whatever `random` says. A surviving write
    /// may be torn at a sector.
    pub(crate) fn after_power_cut(&self, mut random: impl FnMut(u64) -> u64) -> Self {
        const SECTOR: u64 = 512;
        let disk = self.disk.lock();
        let mut left = disk.flushed.clone();
        for change in &disk.pending {
            match change {
                FileChange::Resize(len) if random(2) == 0 => left.resize(*len, 0),
                FileChange::Write(offset, bytes) if random(2) == 0 => {
                    let sectors = (bytes.len() as u64).div_ceil(SECTOR);
                    let kept = match random(3) {
                        0 => random(sectors + 1) * SECTOR,
                        _ => sectors * SECTOR,
                    };
                    let kept = bytes.len().min(kept as usize);
                    place(&mut left, *offset, &bytes[..kept]);
                }
                _ => {}
            }
        }
        let seen = left.clone();
        Self { disk: Arc::new(Mutex::new(Disk { seen, flushed: left, ..Disk::default() })), ..Self::default() }
    }

    fn change(&self, change: FileChange) -> io::Result<()> {
        self.calls.count()?;
        let mut disk = self.disk.lock();
        apply(&mut disk.seen, &change);
        disk.pending.push(change);
        Ok(())
    }

    // As on a real system, a flush that failed is not made up for: what it was to write counts as written afterwards.
    fn flush_changes(&self) -> io::Result<()> {
        let flushed = self.calls.count_flush();
        let mut disk = self.disk.lock();
        let pending = std::mem::take(&mut disk.pending);
        flushed?;
        for change in pending {
            apply(&mut disk.flushed, &change);
        }
        Ok(())
    }
}

fn apply(bytes: &mut Vec<u8>, change: &FileChange) {
    match change {
        FileChange::Resize(len) => bytes.resize(*len, 0),
        FileChange::Write(offset, data) => place(bytes, *offset, data),
    }
}

// A write that survives beyond a lost resize makes the file that long, as it would on disk.
fn place(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if bytes.len() < offset + data.len() {
        bytes.resize(offset + data.len(), 0);
    }
    bytes[offset..offset + data.len()].copy_from_slice(data);
}

impl StorageBackend for SimFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let disk = self.disk.lock();
        let offset = offset as usize;
        let found = disk.seen.get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(FileChange::Resize(len as usize))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.flush_changes()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(FileChange::Write(offset as usize, data.to_vec()))
    }
}

impl LogFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().seen.len() as u64)
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        Ok(self.disk.lock().seen.clone())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(FileChange::Write(offset as usize, bytes.to_vec()))
    }

    fn flush(&self) -> io::Result<()> {
        self.flush_changes()
    }
}

// === directories ===

impl SimDirectory {
    /// Fails the `count`-th call from now on that changes or flushes the directory or a file in it, and every later one.
    pub(crate) fn fail_after(&self, count: u64) {
        self.calls.fail_after(count);
    }

    /// How many flushes there were, of files and names.
    pub(crate) fn flushes(&self) -> u64 {
        self.calls.0.lock().flushes
    }

    /// The segments the process sees.
    pub(crate) fn segments(&self) -> BTreeMap<u64, SimFile> {
        self.names.lock().seen.clone()
    }

    /// The directory after a power cut; see [`SimFile::after_power_cut`]. Changes of names survive one by one too.
    pub(crate) fn after_power_cut(&self, mut random: impl FnMut(u64) -> u64) -> Self {
        let left = Self::default();
        let names = self.names.lock();
        let mut kept = names.flushed.clone();
        for change in &names.pending {
            if random(2) == 0 {
                change.apply(&mut kept);
            }
        }
        let files = kept
            .into_iter()
            .map(|(name, file)| (name, SimFile { calls: left.calls.clone(), ..file.after_power_cut(&mut random) }));
        let files: BTreeMap<_, _> = files.collect();
        *left.names.lock() = DirectoryState { seen: files.clone(), flushed: files, pending: Vec::new() };
        left
    }

    fn change(&self, change: NameChange) -> io::Result<()> {
        self.calls.count()?;
        let mut names = self.names.lock();
        change.apply(&mut names.seen);
        names.pending.push(change);
        Ok(())
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<u64, SimFile>) {
        match self {
            Self::Create(name, file) => drop(names.insert(*name, file.clone())),
            Self::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(*to, file);
                }
            }
            Self::Remove(name) => drop(names.remove(name)),
        }
    }
}

impl LogDirectory for SimDirectory {
    fn list(&self) -> io::Result<Vec<u64>> {
        Ok(self.names.lock().seen.keys().copied().collect())
    }

    fn open(&self, first_lsn: u64) -> io::Result<Box<dyn LogFile>> {
        if let Some(file) = self.names.lock().seen.get(&first_lsn) {
            return Ok(Box::new(file.clone()));
        }
        let file = SimFile { calls: self.calls.clone(), ..SimFile::default() };
        self.change(NameChange::Create(first_lsn, file.clone()))?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: u64, to: u64) -> io::Result<()> {
        self.change(NameChange::Rename(from, to))
    }

    fn remove(&self, first_lsn: u64) -> io::Result<()> {
        self.change(NameChange::Remove(first_lsn))
    }

    fn flush(&self) -> io::Result<()> {
        self.calls.count_flush()?;
        let mut names = self.names.lock();
        for change in std::mem::take(&mut names.pending) {
            change.apply(&mut names.flushed);
        }
        Ok(())
    }
}
