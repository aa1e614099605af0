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
use toolplane_store::{Damage, DamageLocation, RecordKey, Sealed, Versioned};

/// Below this, packing saves less than it costs: the records of calls come in a compact form, which has few words left.
const WORTH_PACKING: usize = 1024;
/// What packing starts from. Fixed for as long as values that were packed with it are stored.
const WORDS: &[u8] = include_bytes!("value/words.txt");
/// How a stored record begins: its version.
const VERSION_BYTES: usize = 6;
/// First bytes of values without a sum; nothing writes them any more.
const PLAIN: u8 = 0;
const PACKED: u8 = 1;
/// First bytes of values with a sum.
const SEALED_PLAIN: u8 = 2;
const SEALED_PACKED: u8 = 3;
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

    fn damaged(self, reason: impl Into<String>) -> Damage {
        match self {
            Self::Record(key) => Damage::of_record(key, reason),
            Self::Event(stream, seq) => {
                Damage::new(DamageLocation::Stream { stream: stream.to_owned(), from_seq: seq }, reason)
            }
        }
    }
}

/// The stored form of `bytes`. Never empty.
pub(crate) fn pack(name: ValueName<'_>, bytes: &[u8]) -> Vec<u8> {
    let sum = name.sum(bytes).to_le_bytes();
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
pub(crate) fn unpack(name: ValueName<'_>, mut stored: Vec<u8>) -> Result<Bytes, Damage> {
    let kind = stored.first().copied();
    let bytes = match kind {
        Some(SEALED_PLAIN | SEALED_PACKED) => unpack_sealed(name, kind == Some(SEALED_PACKED), &stored),
        // With its own first byte it would be a good one: then that byte is what has changed.
        Some(PLAIN | PACKED) if [false, true].iter().any(|packed| unpack_sealed(name, *packed, &stored).is_ok()) => {
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

/// The record in a stored value with its version; nothing for an empty value, which stands for no record.
pub(crate) fn record(key: &RecordKey, mut stored: Vec<u8>) -> Result<Option<Versioned>, Damage> {
    let name = ValueName::Record(key);
    if stored.is_empty() {
        return Ok(None);
    }
    if stored.len() < VERSION_BYTES {
        return Err(name.damaged(format!("its stored value of {} bytes has no version", stored.len())));
    }
    let version = stored.drain(..VERSION_BYTES).fold(0, |version, byte| version << 8 | u64::from(byte));
    Ok(Some(Versioned { version, bytes: unpack(name, stored)? }))
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
