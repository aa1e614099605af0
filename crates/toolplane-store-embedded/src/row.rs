//! The rows of the tables: what was written, behind the checksum over its name and itself.
//!
//! A row that does not fit its sum says so here and is used nowhere.

use bytes::{BufMut, Bytes};
use toolplane_store::likeness::{self, Kind, PatternId, Patterns};
use toolplane_store::{Sealed, Versioned};

use crate::codec;
use crate::fault::Fault;

/// What a row that does not fit its sum is told as.
pub(crate) const MISFIT: &str = "it does not fit its checksum";

const SUM_BYTES: usize = 4;
/// In the highest byte of a version, which no version reaches, and in the highest bit of a count of events: what follows is told
/// by a pattern.
const ALIKE: u64 = 1 << 56;
const EVENTS_ALIKE: u32 = 1 << 31;
/// What tells of a pattern: its number, and how long the whole is.
const ALIKE_BYTES: usize = 8;

/// A number with its sum.
pub(crate) type SealedNumber = (u64, u32);

// === records ===

/// The row of a record: the sum, the version, the bytes.
pub(crate) fn seal_record(key: &[u8], record: &Versioned) -> Vec<u8> {
    let mut row = Vec::with_capacity(SUM_BYTES + 8 + record.bytes.len());
    row.put_u32_le(record_sum(key, record.version, &record.bytes));
    row.put_u64_le(record.version);
    row.put_slice(&record.bytes);
    row
}

/// The same, told by a pattern where there is one that it is like.
pub(crate) fn slim_record(key: &[u8], record: &Versioned, kind: Option<Kind>, patterns: &Patterns) -> Vec<u8> {
    let mut differs = Vec::new();
    let pattern =
        kind.filter(|_| record.version < ALIKE).and_then(|kind| patterns.slim(kind, &record.bytes, &mut differs));
    let Some(pattern) = pattern else { return seal_record(key, record) };
    let mut row = Vec::with_capacity(SUM_BYTES + 8 + ALIKE_BYTES + differs.len());
    row.put_u32_le(record_sum(key, record.version, &record.bytes));
    row.put_u64_le(record.version | ALIKE);
    put_alike(&mut row, pattern, record.bytes.len(), &differs);
    row
}

/// The record in a row.
pub(crate) fn open_record(key: &[u8], row: &[u8], patterns: &Patterns) -> Result<Versioned, &'static str> {
    let (sum, rest) = split_sum(row)?;
    let mut record = unsealed_record(rest)?;
    if record.version & ALIKE != 0 {
        record = Versioned { version: record.version ^ ALIKE, bytes: whole(&record.bytes, patterns)?.into() };
    }
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

// === rows that are like others ===

fn put_alike(row: &mut Vec<u8>, pattern: PatternId, length: usize, differs: &[u8]) {
    row.put_u32_le(pattern);
    // No pattern has so many bytes that this is cut, and nothing longer is told by one.
    row.put_u32_le(length as u32);
    row.put_slice(differs);
}

fn whole(alike: &[u8], patterns: &Patterns) -> Result<Vec<u8>, &'static str> {
    let (pattern, rest) = split_sum(alike)?;
    let (length, differs) = split_sum(rest)?;
    patterns.whole(pattern, differs, length as usize).ok_or(MISFIT)
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
pub(crate) fn seal_encoded_events(key: &[u8], encoded: &[u8]) -> Vec<u8> {
    let mut row = Vec::with_capacity(2 * SUM_BYTES + encoded.len());
    row.put_u32_le(place_sum(key, encoded));
    row.put_u32_le(Sealed::Events.sum(&[key, encoded]));
    row.put_slice(encoded);
    row
}

/// The row of these events, told by a pattern where there is one that it is like.
pub(crate) fn slim_events(key: &[u8], events: &[Bytes], patterns: &Patterns) -> Vec<u8> {
    let (encoded, mut differs) = (codec::encode_events(events), Vec::new());
    let counted = encoded.split_first_chunk::<4>().map(|(count, rest)| (u32::from_le_bytes(*count), rest));
    let alike = counted.filter(|(count, _)| count & EVENTS_ALIKE == 0).and_then(|(count, rest)| {
        let pattern = patterns.slim_row(likeness::EVENTS, rest, codec::places_of_events(events), &mut differs)?;
        Some((count, rest.len(), pattern))
    });
    let Some((count, length, pattern)) = alike else { return seal_encoded_events(key, &encoded) };
    let mut row = Vec::with_capacity(3 * SUM_BYTES + ALIKE_BYTES + differs.len());
    row.put_u32_le(place_sum(key, &encoded));
    row.put_u32_le(Sealed::Events.sum(&[key, &encoded]));
    row.put_u32_le(count | EVENTS_ALIKE);
    put_alike(&mut row, pattern, length, &differs);
    row
}

/// The events of a row in their encoding, and how many there are: without those that are told by a pattern.
fn split_count(encoded: &[u8]) -> Result<(u32, bool, &[u8]), &'static str> {
    let (count, rest) = split_sum(encoded)?;
    Ok((count & !EVENTS_ALIKE, count & EVENTS_ALIKE != 0, rest))
}

/// How many events a row holds, without reading them.
pub(crate) fn count_events(key: &[u8], row: &[u8]) -> Result<u64, &'static str> {
    let (sum, rest) = split_sum(row)?;
    let (_, encoded) = split_sum(rest)?;
    let (count, _, _) = split_count(encoded)?;
    if sum == place_sum(key, &count.to_le_bytes()) { Ok(count.into()) } else { Err(MISFIT) }
}

/// The events of a row.
pub(crate) fn open_events(key: &[u8], row: &[u8], patterns: &Patterns) -> Result<Vec<Bytes>, Fault> {
    let misfit = |reason: &'static str| Fault::corrupt(reason);
    count_events(key, row).map_err(misfit)?;
    let (sum, encoded) = split_sum(&row[SUM_BYTES..]).map_err(misfit)?;
    let (count, is_alike, rest) = split_count(encoded).map_err(misfit)?;
    let encoded = match is_alike {
        true => Bytes::from([&count.to_le_bytes()[..], &whole(rest, patterns).map_err(misfit)?].concat()),
        false => Bytes::copy_from_slice(encoded),
    };
    if sum != Sealed::Events.sum(&[key, &encoded]) {
        return Err(misfit(MISFIT));
    }
    codec::decode_events(encoded)
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
        let (key, patterns) = (&b"\x01name"[..], Patterns::default());
        let row = seal_record(key, &record);
        let open_record = |key: &[u8], row: &[u8]| super::open_record(key, row, &patterns);
        let open_events = |key: &[u8], row: &[u8]| super::open_events(key, row, &patterns);
        assert_eq!(open_record(key, &row), Ok(record));
        let events = [Bytes::from_static(b"one"), Bytes::from_static(b"two")];
        let event_row = seal_encoded_events(key, &codec::encode_events(&events));
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
    fn rows_that_are_alike_are_short_and_every_flipped_bit_is_noticed() {
        let (patterns, key) = (Patterns::default(), b"\x01name");
        let text = |number: u8| {
            Bytes::from(format!(
                r#"{{"invocation_id":"{number}","tool_id":"of-a-call-whose-surface-and-plan-are-those-of-many"}}"#
            ))
        };
        let long = |number: u8| Bytes::from([b"[", &text(number)[..], b",", &text(number), b"]"].concat());
        let record = |number: u8| Versioned { version: number.into(), bytes: long(number) };
        let rows = || (1..5).map(|number| slim_record(key, &record(number), Some(1), &patterns)).collect::<Vec<_>>();
        let events =
            || (1..5).map(|number| slim_events(key, &[text(number), text(number)], &patterns)).collect::<Vec<_>>();
        assert!(rows().iter().chain(&events()).all(|row| row.len() > 100), "no pattern is kept yet");
        patterns.found().into_iter().for_each(|named| patterns.add(named));
        let (rows, events) = (rows(), events());
        assert!(rows[3].len() < 60 && events[3].len() < 70, "{rows:?} {events:?}");
        for (number, (row, events)) in (1..5).zip(rows.iter().zip(&events)) {
            assert_eq!(open_record(key, row, &patterns), Ok(record(number)));
            assert_eq!(open_events(key, events, &patterns), Ok(vec![text(number); 2]));
            assert_eq!(count_events(key, events), Ok(2));
            assert!(flipped(row).all(|row| open_record(key, &row, &patterns).is_err()));
            assert!(flipped(events).all(|row| open_events(key, &row, &patterns).is_err()));
            assert!((0..row.len()).all(|end| open_record(key, &row[..end], &patterns).is_err()));
        }
        // Without their pattern they are nothing, and a stream still has its end.
        let none = Patterns::default();
        assert!(open_record(key, &rows[3], &none).is_err() && open_events(key, &events[3], &none).is_err());
        assert_eq!(count_events(key, &events[3]), Ok(2));
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
