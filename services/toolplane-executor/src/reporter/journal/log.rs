//! The files behind the journal.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::frame::{self, Kind};
use crate::messages::Lease;

/// Bytes after which a new segment begins.
pub(super) const SEGMENT_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes from which a log without endings is emptied.
const IDLE_BYTES: u64 = 256 * 1024;
/// Most bytes of endings that wait to be acknowledged; above it none is kept.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// Names an ending in the log. The id of the lease is in it, because nothing else is unique.
pub(super) fn key_of(lease: &Lease) -> String {
    format!("{} {} {}", lease.invocation_id, lease.number, lease.id)
}

/// One segment: how many of its endings are still needed, and its size.
#[derive(Debug, Default)]
struct Segment {
    live: usize,
    bytes: u64,
}

/// Segments of a log; all but the newest are only waited out.
#[derive(Debug)]
pub(super) struct Log {
    dir: PathBuf,
    file: File,
    newest: u64,
    segments: BTreeMap<u64, Segment>,
    /// In which segment the endings are that are still needed.
    places: HashMap<String, u64>,
    pending: Vec<u8>,
    pub(super) most_bytes: u64,
}

impl Log {
    /// Opens the log in `dir`, and gives the entries that are still needed, oldest first.
    pub(super) fn open(dir: &Path) -> io::Result<(Self, Vec<Vec<u8>>)> {
        fs::create_dir_all(dir)?;
        let (mut segments, mut order) = (BTreeMap::new(), 0);
        let mut left: HashMap<Vec<u8>, (usize, u64, Vec<u8>)> = HashMap::new();
        for number in numbers(dir)? {
            let bytes = fs::read(path(dir, number))?;
            segments.insert(number, Segment { live: 0, bytes: bytes.len() as u64 });
            for (kind, body) in frame::read(&bytes) {
                match kind {
                    Kind::Kept => {
                        let at = body.iter().position(|byte| *byte == 0).unwrap_or(body.len());
                        let entry = body.get(at + 1..).unwrap_or_default().to_vec();
                        order += 1;
                        left.insert(body[..at].to_vec(), (order, number, entry));
                    }
                    Kind::Settled => drop(left.remove(body)),
                }
            }
        }
        let newest = segments.last_key_value().map_or(1, |(number, _)| number + 1);
        let file = create(dir, newest)?;
        let mut log = Self {
            dir: dir.to_owned(),
            file,
            newest,
            segments,
            places: HashMap::new(),
            pending: Vec::new(),
            most_bytes: MOST_BYTES,
        };
        log.segments.insert(newest, Segment::default());
        let mut left: Vec<_> = left.into_iter().collect();
        left.sort_by_key(|(_, (order, ..))| *order);
        let mut entries = Vec::new();
        for (key, (_, number, entry)) in left {
            log.place(String::from_utf8_lossy(&key).into_owned(), number);
            entries.push(entry);
        }
        log.remove_empty();
        Ok((log, entries))
    }

    /// Takes an ending; durable after the next [`Self::commit`].
    pub(super) fn keep(&mut self, key: String, entry: &[u8]) -> io::Result<()> {
        let bytes: u64 = self.segments.values().map(|segment| segment.bytes).sum();
        if bytes + self.pending.len() as u64 + entry.len() as u64 > self.most_bytes {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "too many endings wait to be acknowledged"));
        }
        frame::push(&mut self.pending, Kind::Kept, [[key.as_bytes(), &[0]].concat().as_slice(), entry]);
        self.place(key, self.newest);
        Ok(())
    }

    /// Forgets an ending.
    pub(super) fn settle(&mut self, key: &str) {
        let Some(number) = self.places.remove(key) else { return };
        if let Some(segment) = self.segments.get_mut(&number) {
            segment.live -= 1;
        }
        frame::push(&mut self.pending, Kind::Settled, [key.as_bytes(), &[]]);
    }

    /// Writes what was taken, durably when `sync` says so. After an error none of it counts as kept.
    pub(super) fn commit(&mut self, sync: bool) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let bytes = self.segments.get(&self.newest).map_or(0, |segment| segment.bytes);
        // Where nothing is remembered there is nothing to forget. Not at once: a file that grows anew costs a disk as much
        // as the next ending does.
        if self.places.is_empty() && !sync && bytes >= IDLE_BYTES {
            return self.start_over();
        }
        let written = self.file.write_all(&pending).and_then(|()| if sync { self.file.sync_data() } else { Ok(()) });
        if let Some(segment) = self.segments.get_mut(&self.newest) {
            segment.bytes += pending.len() as u64;
        }
        let large = self.segments.get(&self.newest).is_some_and(|segment| segment.bytes >= SEGMENT_BYTES);
        // Behind a torn frame nothing would be found again.
        if large || written.is_err() {
            self.begin_segment()?;
        }
        self.remove_empty();
        written
    }

    /// Leaves nothing on disk, where no ending is needed any more.
    pub(super) fn empty(&mut self) {
        let is_empty = self.segments.get(&self.newest).is_none_or(|segment| segment.bytes == 0);
        if self.places.is_empty()
            && !is_empty
            && let Err(error) = self.start_over()
        {
            tracing::debug!(%error, "the journal of endings could not be emptied");
        }
    }

    /// Makes the next write fail, as a broken disk would.
    #[cfg(test)]
    pub(super) fn break_file(&mut self) {
        self.file = File::open(path(&self.dir, self.newest)).unwrap();
    }

    fn place(&mut self, key: String, number: u64) {
        if let Some(before) = self.places.insert(key, number)
            && let Some(segment) = self.segments.get_mut(&before)
        {
            segment.live -= 1;
        }
        self.segments.entry(number).or_default().live += 1;
    }

    /// An empty log: everything in it is settled.
    fn start_over(&mut self) -> io::Result<()> {
        self.remove_empty();
        self.segments.insert(self.newest, Segment::default());
        self.file.set_len(0)
    }

    fn begin_segment(&mut self) -> io::Result<()> {
        self.file = create(&self.dir, self.newest + 1)?;
        self.newest += 1;
        self.segments.insert(self.newest, Segment::default());
        Ok(())
    }

    fn remove_empty(&mut self) {
        let newest = self.newest;
        let dir = &self.dir;
        self.segments.retain(|number, segment| {
            // One that cannot be removed is read again at the next start, and its endings are acknowledged again.
            *number == newest || segment.live > 0 || fs::remove_file(path(dir, *number)).is_err()
        });
    }
}

fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016}.log"))
}

fn numbers(dir: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for file in fs::read_dir(dir)? {
        let name = file?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log")).and_then(|name| name.parse::<u64>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// A new segment, whose name is durable.
fn create(dir: &Path, number: u64) -> io::Result<File> {
    let file = OpenOptions::new().create_new(true).append(true).open(path(dir, number))?;
    File::open(dir)?.sync_all()?;
    Ok(file)
}
