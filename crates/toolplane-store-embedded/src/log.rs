//! The log: every group of commits that is not known to be in the tables, one record each, in order.
//!
//! It is a row of files, the segments. A record is written behind the last one and flushed before the next; a full
//! segment is followed by another, and one whose records are all in the tables is used again under a new name, so that
//! a flush seldom has to make a file longer. What a crash can leave is therefore one incomplete record at the end of
//! the last segment. Damage anywhere else means that something answered is lost, and the store does not open.

pub(crate) mod files;
pub(crate) mod read;
pub(crate) mod record;

use std::collections::VecDeque;
use std::io;

use crate::fault::Fault;
use crate::log::files::{LogDirectory, LogFile};
use crate::log::record::{SEGMENT_HEADER, segment_header};

// A segment grows in steps of this many bytes, written before they are needed: a flush of a longer file costs twice.
const GROW_BYTES: u64 = 256 * 1024;

// Segments kept for use; more are taken away. With the default sizes a checkpoint frees about so many at most.
const SPARES: usize = 6;

/// The log of an open store.
pub(crate) struct CommitLog {
    directory: Box<dyn LogDirectory>,
    salt: u32,
    segment_bytes: u64,
    /// The first records of the segments before the current one, ascending.
    older: VecDeque<u64>,
    current: Segment,
    /// Records up to this one are in the tables.
    applied_lsn: u64,
}

/// The segment that is being written.
struct Segment {
    first_lsn: u64,
    file: Box<dyn LogFile>,
    /// Where the next record goes.
    end: u64,
    /// How long the file is.
    len: u64,
}

impl CommitLog {
    /// Writes `record`, which was started by [`record::start`], as number `lsn`, one more than the last, and flushes.
    pub(crate) fn append(&mut self, record: &mut Vec<u8>, lsn: u64) -> Result<(), Fault> {
        record::seal(record, lsn, self.salt);
        let len = record.len() as u64;
        let is_full = self.current.end + len > self.segment_bytes;
        if is_full && self.current.end > SEGMENT_HEADER as u64 {
            self.rotate(lsn)?;
        }
        self.current.append(record, self.segment_bytes)?;
        Ok(())
    }

    /// Takes note that the records up to `applied_lsn` are in the tables.
    pub(crate) fn retire(&mut self, applied_lsn: u64) -> Result<(), Fault> {
        self.applied_lsn = applied_lsn;
        self.keep_spares(SPARES)
    }

    /// Takes all segments away that need not be kept.
    pub(crate) fn shrink(&mut self) -> Result<(), Fault> {
        self.keep_spares(0)
    }

    fn keep_spares(&mut self, most: usize) -> Result<(), Fault> {
        let surplus = self.spares().saturating_sub(most);
        for first_lsn in self.older.drain(..surplus) {
            self.directory.remove(first_lsn)?;
        }
        Ok(())
    }

    // A segment is needed until the records before the one that follows it are in the tables.
    fn spares(&self) -> usize {
        let following = self.older.iter().skip(1).chain([&self.current.first_lsn]);
        let pairs = self.older.iter().zip(following);
        pairs.take_while(|(_, following)| **following <= self.applied_lsn + 1).count()
    }

    /// Goes on in another segment, whose first record is `lsn`. Its name and header are durable before a record is.
    fn rotate(&mut self, lsn: u64) -> Result<(), Fault> {
        if self.spares() > 0
            && let Some(spare) = self.older.pop_front()
        {
            self.directory.rename(spare, lsn)?;
        }
        let next = Segment::begin(&*self.directory, lsn)?;
        let last = std::mem::replace(&mut self.current, next);
        self.older.push_back(last.first_lsn);
        Ok(())
    }
}

impl Segment {
    /// Makes the segment of this name, which may be there already, an empty one.
    fn begin(directory: &dyn LogDirectory, first_lsn: u64) -> io::Result<Self> {
        let file = directory.open(first_lsn)?;
        directory.flush()?;
        let len = file.len()?.max(SEGMENT_HEADER as u64);
        file.write(0, &segment_header(first_lsn))?;
        file.flush()?;
        Ok(Self { first_lsn, file, end: SEGMENT_HEADER as u64, len })
    }

    fn append(&mut self, record: &[u8], segment_bytes: u64) -> io::Result<()> {
        let end = self.end + record.len() as u64;
        self.file.write(self.end, record)?;
        if end > self.len {
            self.len = end.max((end + GROW_BYTES).min(segment_bytes));
            self.file.write(end, &vec![0; (self.len - end) as usize])?;
        }
        self.file.flush()?;
        self.end = end;
        Ok(())
    }
}
