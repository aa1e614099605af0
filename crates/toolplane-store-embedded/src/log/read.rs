//! Opening a log: which segments count, what they hold, and what is damage.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use bytes::Bytes;

use super::record::{self, SEGMENT_HEADER, segment_header};
use super::{CommitLog, Segment};
use crate::fault::Fault;
use crate::log::files::LogDirectory;

/// What is needed to read a log, apart from its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogOptions {
    /// What the checksums of this store start from.
    pub(crate) salt: u32,
    /// Records up to this one are in the tables.
    pub(crate) applied_lsn: u64,
    /// A segment takes no further record beyond this size.
    pub(crate) segment_bytes: u64,
}

impl CommitLog {
    /// Lays down the first segment of a store that is being created.
    ///
    /// Creating may have been cut short before, so an empty first segment may be there; anything else belongs to a
    /// store whose tables are missing, and stays as it is.
    pub(crate) fn create(directory: &dyn LogDirectory) -> Result<(), Fault> {
        Self::is_fresh(directory)?;
        Segment::begin(directory, 1)?;
        Ok(())
    }

    /// Returns an error when there is a log with anything in it.
    pub(crate) fn is_fresh(directory: &dyn LogDirectory) -> Result<(), Fault> {
        for first_lsn in directory.list()? {
            let bytes = directory.open(first_lsn)?.read()?;
            if first_lsn != 1 || bytes.iter().skip(SEGMENT_HEADER).any(|byte| *byte != 0) {
                return Err(Fault::corrupt("there is a log, but the tables are missing or empty"));
            }
        }
        Ok(())
    }

    /// Opens the log and shows each record beyond the tables to `each`, in order. They are durable when this returns.
    pub(crate) fn open(
        directory: Box<dyn LogDirectory>,
        options: LogOptions,
        each: impl FnMut(u64, Bytes) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let LogOptions { salt, applied_lsn, segment_bytes } = options;
        let LogExtent { older, current, last } = Self::read(&*directory, options, each)?;
        let current = Segment::resume(&*directory, current, last)?;
        Ok(Self { directory, salt, segment_bytes, older, current, applied_lsn })
    }

    /// Shows each record beyond the tables to `each`, in order, and changes nothing.
    pub(crate) fn read(
        directory: &dyn LogDirectory,
        options: LogOptions,
        mut each: impl FnMut(u64, Bytes) -> Result<(), Fault>,
    ) -> Result<LogExtent, Fault> {
        let LogOptions { salt, applied_lsn, .. } = options;
        let mut segments = directory.list()?;
        segments.sort_unstable();
        // The last one that begins no later than the first record not in the tables; those before it are spares.
        let spares = segments.partition_point(|first| *first <= applied_lsn + 1).checked_sub(1);
        let Some(spares) = spares else { return Err(missing(&segments, applied_lsn)) };
        let needed = segments.split_off(spares);
        let mut read = LogReader { salt, applied_lsn, next_lsn: needed[0], each: &mut each };
        let mut last = None;
        for (at, first) in needed.iter().enumerate() {
            let bytes = directory.open(*first)?.read()?;
            let tail = read.segment(*first, &bytes, needed.get(at + 1).copied())?;
            last = tail.map(|tail| (tail.start, bytes.get(tail).unwrap_or_default().to_vec()));
        }
        if read.next_lsn <= applied_lsn {
            let last = read.next_lsn - 1;
            return Err(Fault::corrupt(format!("the log ends at {last}, and the tables at {applied_lsn}")));
        }
        let mut older: VecDeque<_> = segments.into();
        older.extend(&needed[..needed.len() - 1]);
        Ok(LogExtent { older, current: needed[needed.len() - 1], last })
    }
}

/// What a log was found to be.
pub(crate) struct LogExtent {
    /// The first records of the segments before the last, ascending.
    older: VecDeque<u64>,
    /// That of the last segment.
    current: u64,
    /// Where its last record begins, and its bytes; nothing when the segment's own beginning was cut short.
    last: Option<(usize, Vec<u8>)>,
}

fn missing(segments: &[u64], applied_lsn: u64) -> Fault {
    match segments.first() {
        None => Fault::corrupt("the log is missing beside the tables"),
        Some(first) => Fault::corrupt(format!("the log begins at {first}, and the tables end at {applied_lsn}")),
    }
}

impl Segment {
    /// Goes on behind the last record, given where it begins and its bytes; without one, the segment's own beginning
    /// was cut short.
    fn resume(directory: &dyn LogDirectory, first_lsn: u64, last: Option<(usize, Vec<u8>)>) -> io::Result<Self> {
        let Some((at, record)) = last else { return Self::begin(directory, first_lsn) };
        let file = directory.open(first_lsn)?;
        // The record may come from a process that was killed before its flush, or whose flush failed. After a failure
        // the system may take for written what is not, so it is written again.
        directory.flush()?;
        file.write(at as u64, &record)?;
        file.flush()?;
        let len = file.len()?;
        Ok(Self { first_lsn, file, end: (at + record.len()) as u64, len })
    }
}

struct LogReader<'a> {
    salt: u32,
    applied_lsn: u64,
    /// The record to come.
    next_lsn: u64,
    each: &'a mut dyn FnMut(u64, Bytes) -> Result<(), Fault>,
}

impl LogReader<'_> {
    /// Reads the segment that begins at `first` and is followed by that at `following`. Answers where its last record
    /// lies, or its header when it has no record; nothing when not even the header was completed.
    fn segment(&mut self, first: u64, bytes: &[u8], following: Option<u64>) -> Result<Option<Range<usize>>, Fault> {
        if first != self.next_lsn {
            return Err(Fault::corrupt(format!("the log continues at {first} instead of {}", self.next_lsn)));
        }
        if bytes.get(..SEGMENT_HEADER) != Some(&segment_header(first)) {
            let rest = bytes.get(SEGMENT_HEADER..).unwrap_or_default();
            // A header is durable before the first record is written.
            let damaged = following.is_some() || record::find_later(rest, first.saturating_sub(1), self.salt).is_some();
            return if damaged {
                Err(Fault::corrupt(format!("the log's part at {first} has no header")))
            } else {
                Ok(None)
            };
        }
        let mut last = 0..SEGMENT_HEADER;
        let rest = |end: usize| bytes.get(end..).unwrap_or_default();
        while let Some(payload) = record::read(rest(last.end), self.next_lsn, self.salt) {
            if self.next_lsn > self.applied_lsn {
                (self.each)(self.next_lsn, Bytes::copy_from_slice(payload))?;
            }
            last = last.end..last.end + record::size(payload);
            self.next_lsn += 1;
        }
        self.check_end(rest(last.end), following)?;
        Ok(Some(last))
    }

    // A record is written when the one before it is durable, so where one is missing there is none behind it.
    fn check_end(&self, rest: &[u8], following: Option<u64>) -> Result<(), Fault> {
        let next = self.next_lsn;
        match following {
            Some(following) if following == next => Ok(()),
            Some(following) => Err(Fault::corrupt(format!("record {next} of the log is damaged, {following} follows"))),
            None => match record::find_later(rest, next, self.salt) {
                Some(later) => Err(Fault::corrupt(format!("record {next} of the log is damaged, {later} follows"))),
                None => Ok(()),
            },
        }
    }
}
