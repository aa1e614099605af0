//! How record and event bytes are stored: packed when that saves room.
//!
//! The first byte says how; then comes a checksum over the name and the bytes (4 bytes, lowest first), and then the bytes,
//! or their length (4 bytes, lowest first) and the packed bytes. A record has its version in front of that, which the
//! server's script counts and no sum covers. Values of earlier versions have no sum, and another first byte; they are
//! read as ever.
//!
//! Most large values are JSON with the same names in it, so packing starts from a text of such words. It is only a help:
//! any bytes can be packed, and words that never occur cost nothing but their place. A changed text needs a first byte of
//! its own, beside the old one.

use bytes::Bytes;
use lz4_flex::block::{DecompressError, compress_into_with_dict, decompress_with_dict, get_maximum_output_size};
use toolplane_store::likeness::{self, Kind, PatternId, Patterns};
use toolplane_store::{Damage, DamageLocation, RecordKey, Sealed, Versioned};

/// Below this, packing saves less than it costs: the records of calls come in a compact form, which has few words left.
const WORTH_PACKING: usize = 1024;
/// What packing starts from. Fixed for as long as values that were packed with it are stored.
const WORDS: &[u8] = include_bytes!("value/words.txt");
/// How a stored record begins: its version.
pub(crate) const VERSION_BYTES: usize = 6;
/// First bytes of values without a sum; nothing writes them any more.
const PLAIN: u8 = 0;
const PACKED: u8 = 1;
/// First bytes of values with a sum.
const SEALED_PLAIN: u8 = 2;
const SEALED_PACKED: u8 = 3;
/// First byte of a value that is told by a pattern: behind the sum its name (4 bytes, lowest first), the length as a varint of two
/// bytes at most, and what differs.
const ALIKE: u8 = 4;
const PATTERN_BYTES: usize = 4;
const SUM_BYTES: usize = 4;
const LENGTH_BYTES: usize = 4;

/// How a stored value is not what was written.
#[derive(Debug, thiserror::Error)]
enum Misfit {
    #[error("it does not fit its checksum")]
    Sum,
    #[error("it ends within its sum")]
    CutInSum,
    #[error("its first byte is not what it was")]
    FirstByte,
    #[error("its stored value begins with {0:?}")]
    Kind(Option<u8>),
    #[error("its packed value ends within its length")]
    CutInLength,
    #[error("its packed value claims {0} bytes")]
    Length(usize),
    #[error("the pattern that it is told by, {0:08x}, is not there or does not fit")]
    Pattern(PatternId),
    #[error("its packed value: {0}")]
    Packed(DecompressError),
}

/// What a value is stored as, which its sum covers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueName<'a> {
    /// A record.
    Record(&'a RecordKey),
    /// The event of a stream with this sequence.
    Event(&'a str, u64),
}

impl ValueName<'_> {
    fn sum(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Record(key) => Sealed::Record.sum(&[key.family.as_str().as_bytes(), key.id.as_bytes(), bytes]),
            Self::Event(stream, seq) => Sealed::Event.sum(&[stream.as_bytes(), &seq.to_le_bytes(), bytes]),
        }
    }

    /// What it is compared with.
    fn kind(self) -> Option<Kind> {
        match self {
            Self::Record(key) => likeness::kind_of(key.family),
            // Calls are told in the same steps: the same number is nearly always the same kind of event.
            Self::Event(_, seq) => Some(FIRST_EVENT + u8::try_from(seq).unwrap_or(MOST_EVENTS).min(MOST_EVENTS)),
        }
    }

    fn damaged(self, reason: impl Into<String>) -> Damage {
        match self {
            Self::Record(key) => Damage::of_record(key, reason),
            Self::Event(stream, seq) => {
                Damage::new(DamageLocation::Stream { stream: stream.to_owned(), from_seq: seq }, reason)
            }
        }
    }
}

/// Kinds of events: by their number in their stream, the later ones together.
const FIRST_EVENT: u8 = 100;
const MOST_EVENTS: u8 = 50;

/// The stored form of `bytes`. Never empty.
pub(crate) fn pack(name: ValueName<'_>, bytes: &[u8], patterns: &Patterns) -> Vec<u8> {
    let sum = name.sum(bytes).to_le_bytes();
    let mut differs = Vec::new();
    if let Some(pattern) = name.kind().and_then(|kind| patterns.slim(kind, bytes, &mut differs)) {
        let mut alike = Vec::with_capacity(1 + SUM_BYTES + PATTERN_BYTES + 2 + differs.len());
        alike.push(ALIKE);
        alike.extend_from_slice(&sum);
        alike.extend_from_slice(&pattern.to_le_bytes());
        put_length(&mut alike, bytes.len());
        alike.extend_from_slice(&differs);
        return alike;
    }
    if bytes.len() >= WORTH_PACKING
        && let Ok(length) = u32::try_from(bytes.len())
    {
        let start = 1 + SUM_BYTES + LENGTH_BYTES;
        let mut packed = vec![0; start + get_maximum_output_size(bytes.len())];
        packed[0] = SEALED_PACKED;
        packed[1..=SUM_BYTES].copy_from_slice(&sum);
        packed[1 + SUM_BYTES..start].copy_from_slice(&length.to_le_bytes());
        if let Ok(size) = compress_into_with_dict(bytes, &mut packed[start..], WORDS)
            && start + size < bytes.len()
        {
            packed.truncate(start + size);
            return packed;
        }
    }
    let mut plain = Vec::with_capacity(1 + SUM_BYTES + bytes.len());
    plain.push(SEALED_PLAIN);
    plain.extend_from_slice(&sum);
    plain.extend_from_slice(bytes);
    plain
}

/// The bytes that were packed under `name`.
pub(crate) fn unpack(name: ValueName<'_>, mut stored: Vec<u8>, patterns: &Patterns) -> Result<Bytes, Damage> {
    let kind = stored.first().copied();
    let bytes = match kind {
        Some(ALIKE) => unpack_alike(name, &stored, patterns),
        Some(SEALED_PLAIN | SEALED_PACKED) => unpack_sealed(name, kind == Some(SEALED_PACKED), &stored),
        // With its own first byte it would be a good one: then that byte is what has changed.
        Some(PLAIN | PACKED)
            if [false, true].iter().any(|packed| unpack_sealed(name, *packed, &stored).is_ok())
                || unpack_alike(name, &stored, patterns).is_ok() =>
        {
            Err(Misfit::FirstByte)
        }
        Some(PACKED) => unpack_block(&stored[1..]),
        Some(PLAIN) => {
            stored.drain(..1);
            Ok(Bytes::from(stored))
        }
        other => Err(Misfit::Kind(other)),
    };
    bytes.map_err(|misfit| name.damaged(misfit.to_string()))
}

fn unpack_sealed(name: ValueName<'_>, packed: bool, stored: &[u8]) -> Result<Bytes, Misfit> {
    let behind = stored.get(1..).and_then(<[u8]>::split_first_chunk::<SUM_BYTES>);
    let (sum, content) = behind.ok_or(Misfit::CutInSum)?;
    let bytes = if packed { unpack_block(content)? } else { Bytes::copy_from_slice(content) };
    if name.sum(&bytes) == u32::from_le_bytes(*sum) { Ok(bytes) } else { Err(Misfit::Sum) }
}

/// What a value is told by that begins with this; nothing when it is whole.
pub(crate) fn pattern_of(stored: &[u8]) -> Option<PatternId> {
    let pattern = stored.get(1 + SUM_BYTES..)?.first_chunk::<PATTERN_BYTES>()?;
    (stored[0] == ALIKE).then(|| PatternId::from_le_bytes(*pattern))
}

fn unpack_alike(name: ValueName<'_>, stored: &[u8], patterns: &Patterns) -> Result<Bytes, Misfit> {
    let behind = stored.get(1..).and_then(<[u8]>::split_first_chunk::<SUM_BYTES>);
    let (sum, rest) = behind.ok_or(Misfit::CutInSum)?;
    let (pattern, rest) = rest.split_first_chunk::<PATTERN_BYTES>().ok_or(Misfit::CutInSum)?;
    let pattern = PatternId::from_le_bytes(*pattern);
    let (length, differs) = take_length(rest).ok_or(Misfit::CutInLength)?;
    let bytes = patterns.whole(pattern, differs, length).ok_or(Misfit::Pattern(pattern))?;
    if name.sum(&bytes) == u32::from_le_bytes(*sum) { Ok(bytes.into()) } else { Err(Misfit::Sum) }
}

/// A length of what is told by a pattern, which is below 16 KiB.
fn put_length(out: &mut Vec<u8>, length: usize) {
    if length >= 0x80 {
        out.push(length as u8 | 0x80);
    }
    out.push(if length >= 0x80 { (length >> 7) as u8 } else { length as u8 });
}

fn take_length(from: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = from.split_first()?;
    if first & 0x80 == 0 {
        return Some((usize::from(*first), rest));
    }
    let (second, rest) = rest.split_first()?;
    Some((usize::from(*second) << 7 | usize::from(first & 0x7f), rest))
}

/// The record in a stored value with its version; nothing for an empty value, which stands for no record.
pub(crate) fn record(key: &RecordKey, mut stored: Vec<u8>, patterns: &Patterns) -> Result<Option<Versioned>, Damage> {
    let name = ValueName::Record(key);
    if stored.is_empty() {
        return Ok(None);
    }
    if stored.len() < VERSION_BYTES {
        return Err(name.damaged(format!("its stored value of {} bytes has no version", stored.len())));
    }
    let version = stored.drain(..VERSION_BYTES).fold(0, |version, byte| version << 8 | u64::from(byte));
    Ok(Some(Versioned { version, bytes: unpack(name, stored, patterns)? }))
}

fn unpack_block(stored: &[u8]) -> Result<Bytes, Misfit> {
    let Some((length, packed)) = stored.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(Misfit::CutInLength);
    };
    let length = u32::from_le_bytes(*length) as usize;
    // Nothing larger was ever accepted, so a larger length is damage and not worth the memory.
    if length > toolplane_store::commit::MAX_COMMIT_BYTES {
        return Err(Misfit::Length(length));
    }
    let bytes = decompress_with_dict(packed, length, WORDS).map_err(Misfit::Packed)?;
    Ok(Bytes::from(bytes))
}

#[cfg(test)]
mod tests;
