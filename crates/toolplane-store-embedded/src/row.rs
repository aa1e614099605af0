//! The rows of the tables: what was written, behind the checksum over its name and itself.
//!
//! A row that does not fit its sum says so here and is used nowhere.

use bytes::{BufMut, Bytes};
use toolplane_store::{Sealed, Versioned};

use crate::codec;
use crate::fault::Fault;

/// What a row that does not fit its sum is told as.
pub(crate) const MISFIT: &str = "it does not fit its checksum";

const SUM_BYTES: usize = 4;

/// A number with its sum.
pub(crate) type SealedNumber = (u64, u32);

// === records ===

/// Makes `row` that of a record: the sum, the version, the bytes.
pub(crate) fn seal_record(key: &[u8], record: &Versioned, row: &mut Vec<u8>) {
    row.clear();
    row.put_u32_le(record_sum(key, record.version, &record.bytes));
    row.put_u64_le(record.version);
    row.put_slice(&record.bytes);
}

/// The record in a row.
pub(crate) fn open_record(key: &[u8], row: &[u8]) -> Result<Versioned, &'static str> {
    let (sum, rest) = split_sum(row)?;
    let record = unsealed_record(rest)?;
    if sum == record_sum(key, record.version, &record.bytes) { Ok(record) } else { Err(MISFIT) }
}

/// The record in a row as format 2 had it: the version and the bytes alone.
pub(crate) fn unsealed_record(row: &[u8]) -> Result<Versioned, &'static str> {
    let (version, bytes) = row.split_first_chunk::<8>().ok_or("a record has no version")?;
    Ok(Versioned { version: u64::from_le_bytes(*version), bytes: Bytes::copy_from_slice(bytes) })
}

fn record_sum(key: &[u8], version: u64, bytes: &[u8]) -> u32 {
    Sealed::Record.sum(&[key, &version.to_le_bytes(), bytes])
}

// === indexes ===

/// The value of an index entry, whose key says all there is.
pub(crate) fn seal_entry(key: &[u8]) -> u32 {
    Sealed::Entry.sum(&[key])
}

/// `number` under `key`, for a table of this kind.
pub(crate) fn seal_number(kind: Sealed, key: &[u8], number: u64) -> SealedNumber {
    (number, kind.sum(&[key, &number.to_le_bytes()]))
}

/// The number under `key`.
pub(crate) fn open_number(kind: Sealed, key: &[u8], (number, sum): SealedNumber) -> Result<u64, &'static str> {
    if seal_number(kind, key, number).1 == sum { Ok(number) } else { Err(MISFIT) }
}

// === events ===

/// A row of events: the sum of its place and length, the sum of its content, the content. The first is apart, so that a
/// stream whose events are damaged still has its end.
pub(crate) fn seal_events(key: &[u8], events: &[Bytes]) -> Vec<u8> {
    seal_encoded_events(key, &codec::encode_events(events))
}

/// The same, of events that are encoded already.
pub(crate) fn seal_encoded_events(key: &[u8], encoded: &[u8]) -> Vec<u8> {
    let mut row = Vec::with_capacity(2 * SUM_BYTES + encoded.len());
    row.put_u32_le(place_sum(key, encoded));
    row.put_u32_le(Sealed::Events.sum(&[key, encoded]));
    row.put_slice(encoded);
    row
}

/// How many events a row holds, without reading them.
pub(crate) fn count_events(key: &[u8], row: &[u8]) -> Result<u64, &'static str> {
    let (sum, rest) = split_sum(row)?;
    let (_, encoded) = split_sum(rest)?;
    if sum != place_sum(key, encoded) {
        return Err(MISFIT);
    }
    codec::count_events(encoded).map_err(|_| MISFIT)
}

/// The events of a row.
pub(crate) fn open_events(key: &[u8], row: &[u8]) -> Result<Vec<Bytes>, Fault> {
    let misfit = |reason: &'static str| Fault::corrupt(reason);
    count_events(key, row).map_err(misfit)?;
    let (sum, encoded) = split_sum(&row[SUM_BYTES..]).map_err(misfit)?;
    if sum != Sealed::Events.sum(&[key, encoded]) {
        return Err(misfit(MISFIT));
    }
    codec::decode_events(Bytes::copy_from_slice(encoded))
}

fn place_sum(key: &[u8], encoded: &[u8]) -> u32 {
    // The count of the events comes first in their encoding.
    Sealed::EventsPlace.sum(&[key, encoded.get(..4).unwrap_or_default()])
}

// === operations ===

/// A row of applied operations.
pub(crate) fn seal_operations(lsn: u64, encoded: &[u8]) -> Vec<u8> {
    let mut row = Vec::with_capacity(SUM_BYTES + encoded.len());
    row.put_u32_le(Sealed::Operations.sum(&[&lsn.to_le_bytes(), encoded]));
    row.put_slice(encoded);
    row
}

/// The operations of a row, encoded.
pub(crate) fn open_operations(lsn: u64, row: &[u8]) -> Result<&[u8], &'static str> {
    let (sum, encoded) = split_sum(row)?;
    if sum == Sealed::Operations.sum(&[&lsn.to_le_bytes(), encoded]) { Ok(encoded) } else { Err(MISFIT) }
}

fn split_sum(row: &[u8]) -> Result<(u32, &[u8]), &'static str> {
    let (sum, rest) = row.split_first_chunk::<SUM_BYTES>().ok_or(MISFIT)?;
    Ok((u32::from_le_bytes(*sum), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flipped(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
        (0..bytes.len() * 8).map(|bit| {
            let mut damaged = bytes.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            damaged
        })
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_row_or_its_key_is_noticed() {
        let record = Versioned { version: 7, bytes: Bytes::from_static(b"bytes") };
        let (key, mut row) = (&b"\x01name"[..], Vec::new());
        seal_record(key, &record, &mut row);
        assert_eq!(open_record(key, &row), Ok(record));
        let events = [Bytes::from_static(b"one"), Bytes::from_static(b"two")];
        let event_row = seal_events(key, &events);
        assert_eq!(
            (open_events(key, &event_row).unwrap().as_slice(), count_events(key, &event_row)),
            (&events[..], Ok(2))
        );
        let operations = seal_operations(9, b"digests");
        assert_eq!(open_operations(9, &operations), Ok(&b"digests"[..]));
        for damaged in flipped(&row) {
            assert!(open_record(key, &damaged).is_err());
        }
        for damaged in flipped(key) {
            assert!(open_record(&damaged, &row).is_err() && open_events(&damaged, &event_row).is_err());
            assert_ne!(seal_entry(&damaged), seal_entry(key));
        }
        for damaged in flipped(&event_row) {
            assert!(open_events(key, &damaged).is_err());
        }
        for damaged in flipped(&operations) {
            assert!(open_operations(9, &damaged).is_err());
        }
        for end in 0..row.len() {
            assert!(open_record(key, &row[..end]).is_err());
        }
        for end in 0..event_row.len() {
            assert!(open_events(key, &event_row[..end]).is_err());
        }
        // Damage within the events leaves the end of the stream known.
        let last = event_row.len() - 1;
        assert_eq!(flipped(&event_row).nth(last * 8).map(|damaged| count_events(key, &damaged)), Some(Ok(2)));
    }

    #[test]
    fn numbers_are_of_their_kind_and_their_key() {
        let sealed = seal_number(Sealed::Score, b"key", 5);
        assert_eq!(open_number(Sealed::Score, b"key", sealed), Ok(5));
        assert!(open_number(Sealed::Length, b"key", sealed).is_err());
        assert!(open_number(Sealed::Score, b"kex", sealed).is_err());
        assert!(open_number(Sealed::Score, b"key", (4, sealed.1)).is_err());
    }
}
