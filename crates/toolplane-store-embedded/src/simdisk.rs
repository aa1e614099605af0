//! A disk in memory that can lose what was not flushed, and can fail.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use redb::{Builder, Database, StorageBackend};

/// One simulated file. Clones are the same file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimFile(Arc<Mutex<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    /// What the process sees.
    seen: Vec<u8>,
    /// What a power cut leaves for certain.
    flushed: Vec<u8>,
    /// What was done since the last flush, in order.
    pending: Vec<Change>,
    /// Calls that write or flush, so far.
    calls: u64,
    /// The call that fails, and all after it.
    fail_at: Option<u64>,
    flushes: u64,
}

#[derive(Clone, Debug)]
enum Change {
    Resize(usize),
    Write(usize, Vec<u8>),
}

impl SimFile {
    pub(crate) fn database(&self) -> Database {
        Builder::new().create_with_backend(self.clone()).unwrap()
    }

    /// Fails the `count`-th writing or flushing call from now on, and every later one.
    pub(crate) fn fail_after(&self, count: u64) {
        let mut disk = self.0.lock();
        disk.fail_at = Some(disk.calls + count);
    }

    pub(crate) fn flushes(&self) -> u64 {
        self.0.lock().flushes
    }

    /// The file after a power cut: what was flushed, and of what was not, whatever `survives` says. A surviving write
    /// may be torn at a sector.
    pub(crate) fn after_power_cut(&self, mut random: impl FnMut(u64) -> u64) -> Self {
        const SECTOR: u64 = 512;
        let disk = self.0.lock();
        let mut left = disk.flushed.clone();
        for change in &disk.pending {
            match change {
                Change::Resize(len) if random(2) == 0 => left.resize(*len, 0),
                Change::Write(offset, bytes) if random(2) == 0 => {
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
        Self(Arc::new(Mutex::new(Disk { seen, flushed: left, ..Disk::default() })))
    }

    fn change(&self, change: Change) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.count()?;
        apply(&mut disk.seen, &change);
        disk.pending.push(change);
        Ok(())
    }
}

impl Disk {
    fn count(&mut self) -> io::Result<()> {
        self.calls += 1;
        if self.fail_at.is_some_and(|at| self.calls >= at) {
            return Err(io::Error::other("simulated failure"));
        }
        Ok(())
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Resize(len) => bytes.resize(*len, 0),
        Change::Write(offset, data) => place(bytes, *offset, data),
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
        Ok(self.0.lock().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let disk = self.0.lock();
        let offset = offset as usize;
        let found = disk.seen.get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Change::Resize(len as usize))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.count()?;
        disk.flushes += 1;
        for change in std::mem::take(&mut disk.pending) {
            apply(&mut disk.flushed, &change);
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Change::Write(offset as usize, data.to_vec()))
    }
}
