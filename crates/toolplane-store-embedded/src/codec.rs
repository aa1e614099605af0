//! The bytes of a group in the log, and of a row of events.
//!
//! A group is a version byte, the store's clock, and its commits one after the other; numbers are little-endian,
//! lengths 32 bits. Compares and bounds are not kept: what the log holds was decided.

use std::ops::Range;

use bytes::{Buf, BufMut, Bytes};
use toolplane_store::{Append, Commit, Family, IndexOp, RecordKey, Write};

use crate::fault::Fault;
use crate::operations::Digest;
use crate::tables::{family_byte, family_of};

const VERSION: u8 = 2;
/// What a length takes.
const LEN_BYTES: usize = 4;

const PUT: u8 = 1;
const DELETE: u8 = 2;

/// A commit read back from the log, in order of application.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) operation: Option<Digest>,
    /// Only what it changes: writes, index moves, events, forgotten streams.
    pub(crate) commit: Commit,
}

// === encoding ===

/// Starts a group that was decided at `clock` milliseconds, behind what `out` holds.
pub(crate) fn start_group(out: &mut Vec<u8>, clock: i64) {
    out.put_u8(VERSION);
    out.put_i64_le(clock);
}

/// Adds one commit to a started group.
pub(crate) fn add_commit(out: &mut Vec<u8>, commit: &Commit, operation: Option<&Digest>) {
    match operation {
        None => out.put_u8(0),
        Some(digest) => {
            out.put_u8(1);
            out.put_slice(digest);
        }
    }
    put_len(out, commit.writes.len());
    for write in &commit.writes {
        let key = write.key();
        match write {
            Write::Put { bytes, .. } => {
                out.put_u8(PUT);
                put_key(out, key);
                put_bytes(out, bytes);
            }
            Write::Delete { .. } => {
                out.put_u8(DELETE);
                put_key(out, key);
            }
        }
    }
    put_len(out, commit.index.len());
    for op in &commit.index {
        let (index, member) = op.target();
        match op {
            IndexOp::Put { score, .. } => {
                out.put_u8(PUT);
                out.put_u64_le(*score);
            }
            IndexOp::Remove { .. } => out.put_u8(DELETE),
        }
        put_bytes(out, index.as_bytes());
        put_bytes(out, member.as_bytes());
    }
    put_len(out, commit.events.len());
    for append in &commit.events {
        put_bytes(out, append.stream.as_bytes());
        out.put_u64_le(append.first_seq);
        put_events(out, &append.events);
    }
    put_len(out, commit.forget.len());
    for stream in &commit.forget {
        put_bytes(out, stream.as_bytes());
    }
}

/// One row of events.
pub(crate) fn encode_events(events: &[Bytes]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4 + events.iter().map(|event| event.len() + 4).sum::<usize>());
    put_events(&mut out, events);
    out
}

/// Where in their encoding each of the events is, counted from behind their number.
pub(crate) fn places_of_events(events: &[Bytes]) -> impl Iterator<Item = Range<usize>> {
    events.iter().scan(0, |end, event| {
        let start = *end + LEN_BYTES;
        *end = start + event.len();
        Some(start..*end)
    })
}

fn put_events(out: &mut Vec<u8>, events: &[Bytes]) {
    put_len(out, events.len());
    for event in events {
        put_bytes(out, event);
    }
}

fn put_key(out: &mut Vec<u8>, key: &RecordKey) {
    out.put_u8(family_byte(key.family));
    put_bytes(out, key.id.as_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_len(out, bytes.len());
    out.put_slice(bytes);
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    // A commit is far below 4 GiB, so this never saturates; if it did, reading back would fail loudly.
    out.put_u32_le(u32::try_from(len).unwrap_or(u32::MAX));
}

// === decoding ===

/// The clock and commits of a group.
pub(crate) fn decode_group(group: Bytes) -> Result<(i64, Vec<Logged>), Fault> {
    let mut input = RecordDecoder(group);
    match input.u8()? {
        VERSION => {}
        other => return Err(Fault::corrupt(format!("a log entry has version {other}, known is {VERSION}"))),
    }
    let clock = input.u64()?.cast_signed();
    let mut commits = Vec::new();
    while input.0.has_remaining() {
        commits.push(input.commit()?);
    }
    Ok((clock, commits))
}

/// The events of a row.
pub(crate) fn decode_events(row: Bytes) -> Result<Vec<Bytes>, Fault> {
    RecordDecoder(row).events()
}

struct RecordDecoder(Bytes);

impl RecordDecoder {
    fn commit(&mut self) -> Result<Logged, Fault> {
        let operation = match self.u8()? {
            0 => None,
            _ => Some(self.digest()?),
        };
        let writes = self.list(Self::write)?;
        let index = self.list(Self::index_op)?;
        let events = self.list(Self::append)?;
        let forget = self.list(Self::text)?;
        Ok(Logged { operation, commit: Commit { writes, index, events, forget, ..Commit::default() } })
    }

    fn write(&mut self) -> Result<Write, Fault> {
        match self.u8()? {
            PUT => Ok(Write::Put { key: self.key()?, bytes: self.bytes()? }),
            DELETE => Ok(Write::Delete { key: self.key()? }),
            other => Err(Fault::corrupt(format!("unknown kind of write {other} in the log"))),
        }
    }

    fn index_op(&mut self) -> Result<IndexOp, Fault> {
        match self.u8()? {
            PUT => {
                let score = self.u64()?;
                Ok(IndexOp::Put { index: self.text()?, score, member: self.text()? })
            }
            DELETE => Ok(IndexOp::Remove { index: self.text()?, member: self.text()? }),
            other => Err(Fault::corrupt(format!("unknown kind of index change {other} in the log"))),
        }
    }

    fn append(&mut self) -> Result<Append, Fault> {
        Ok(Append { stream: self.text()?, first_seq: self.u64()?, events: self.events()? })
    }

    fn events(&mut self) -> Result<Vec<Bytes>, Fault> {
        self.list(Self::bytes)
    }

    fn key(&mut self) -> Result<RecordKey, Fault> {
        Ok(RecordKey { family: self.family()?, id: self.text()? })
    }

    fn family(&mut self) -> Result<Family, Fault> {
        let byte = self.u8()?;
        family_of(byte).ok_or_else(|| Fault::corrupt(format!("unknown family {byte}")))
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let count = self.len()?;
        // Every item takes a byte at least: a count beyond the input is damage, not a reason to allocate.
        let mut items = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn text(&mut self) -> Result<String, Fault> {
        String::from_utf8(self.bytes()?.into()).map_err(|_| Fault::corrupt("a name is not utf-8"))
    }

    fn bytes(&mut self) -> Result<Bytes, Fault> {
        let len = self.len()?;
        if self.0.len() < len {
            return Err(truncated());
        }
        Ok(self.0.split_to(len))
    }

    fn digest(&mut self) -> Result<Digest, Fault> {
        let mut digest = Digest::default();
        self.0.try_copy_to_slice(&mut digest).map_err(|_| truncated())?;
        Ok(digest)
    }

    fn len(&mut self) -> Result<usize, Fault> {
        Ok(self.0.try_get_u32_le().map_err(|_| truncated())? as usize)
    }

    fn u8(&mut self) -> Result<u8, Fault> {
        self.0.try_get_u8().map_err(|_| truncated())
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        self.0.try_get_u64_le().map_err(|_| truncated())
    }
}

fn truncated() -> Fault {
    Fault::corrupt("stored bytes end too early")
}

#[cfg(test)]
mod tests;
