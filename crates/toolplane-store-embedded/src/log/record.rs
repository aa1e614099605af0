//! The bytes of one record of the log, and of the header of a segment.
//!
//! A record is a checksum, the payload's length, the record's number (its LSN) and the payload, filled up to a multiple
//! of eight bytes. The checksum covers everything behind it and starts from the store's salt: neither what an earlier
//! use of the file left behind nor what a caller wrote into a payload can pass for a record.

/// What a record takes beside its payload, in bytes.
pub(crate) const RECORD_HEADER: usize = 16;
/// What comes before the first record of a segment, in bytes.
pub(crate) const SEGMENT_HEADER: usize = 24;

const ALIGNMENT: usize = 8;
const MAGIC: [u8; 8] = *b"TPSTLOG\n";
const VERSION: u32 = 1;

/// Starts a record in `out`, reusing its memory; the payload is appended next.
pub(crate) fn start(out: &mut Vec<u8>) {
    out.clear();
    out.resize(RECORD_HEADER, 0);
}

/// Completes a started record.
pub(crate) fn seal(record: &mut Vec<u8>, lsn: u64, salt: u32) {
    let payload = record.len() - RECORD_HEADER;
    // Commits are far below 4 GiB, and so are groups of them; a length that saturated would fail its own checksum.
    let len = u32::try_from(payload).unwrap_or(u32::MAX);
    record[4..8].copy_from_slice(&len.to_le_bytes());
    record[8..16].copy_from_slice(&lsn.to_le_bytes());
    let sum = crc32c::crc32c_append(salt, &record[4..]);
    record[..4].copy_from_slice(&sum.to_le_bytes());
    record.resize(record.len().next_multiple_of(ALIGNMENT), 0);
}

/// The payload of the record `lsn` at the beginning of `bytes`, if there is an undamaged one.
pub(crate) fn read(bytes: &[u8], lsn: u64, salt: u32) -> Option<&[u8]> {
    let (header, rest) = bytes.split_at_checked(RECORD_HEADER)?;
    if number(header, 8) != lsn {
        return None;
    }
    let payload = rest.get(..small_number(header, 4) as usize)?;
    let sum = crc32c::crc32c_append(crc32c::crc32c_append(salt, &header[4..]), payload);
    (sum == small_number(header, 0) && bytes.len() >= size(payload)).then_some(payload)
}

/// What a record with this payload takes in the segment.
pub(crate) fn size(payload: &[u8]) -> usize {
    (RECORD_HEADER + payload.len()).next_multiple_of(ALIGNMENT)
}

/// An undamaged record with a number above `lsn` anywhere in `bytes`, which begin where a record may.
pub(crate) fn find_later(bytes: &[u8], lsn: u64, salt: u32) -> Option<u64> {
    // So many records do not fit, so a number further off is none.
    let most = (bytes.len() / RECORD_HEADER) as u64;
    let places = (0..bytes.len().saturating_sub(RECORD_HEADER - 1)).step_by(ALIGNMENT);
    places.map(|place| (place, number(bytes, place + 8))).find_map(|(place, found)| {
        let later = found > lsn && found - lsn <= most;
        (later && read(&bytes[place..], found, salt).is_some()).then_some(found)
    })
}

/// The header of the segment whose first record is `first_lsn`.
pub(crate) fn segment_header(first_lsn: u64) -> [u8; SEGMENT_HEADER] {
    let mut header = [0; SEGMENT_HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[16..].copy_from_slice(&first_lsn.to_le_bytes());
    let sum = crc32c::crc32c(&header);
    header[12..16].copy_from_slice(&sum.to_le_bytes());
    header
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |eight| u64::from_le_bytes(*eight))
}

fn small_number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |four| u32::from_le_bytes(*four))
}

#[cfg(test)]
mod tests {
    use super::{find_later, read, seal, size, start};

    fn record(payload: &[u8], lsn: u64) -> Vec<u8> {
        let mut out = vec![9; 99];
        start(&mut out);
        out.extend_from_slice(payload);
        seal(&mut out, lsn, 7);
        out
    }

    #[test]
    fn a_record_reads_back_and_only_as_itself() {
        for payload in [&b""[..], b"1", b"12345678", &[5; 1000]] {
            let bytes = record(payload, 3);
            assert_eq!(bytes.len(), size(payload));
            assert_eq!(read(&bytes, 3, 7), Some(payload));
            assert_eq!((read(&bytes, 4, 7), read(&bytes, 3, 8)), (None, None), "another number, another store");
        }
    }

    #[test]
    fn every_damaged_bit_and_every_cut_is_noticed() {
        let whole = record(b"a payload of some bytes!", 3);
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&damaged, 3, 7), None, "bit {bit}");
        }
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end], 3, 7), None, "cut at {end}");
        }
    }

    #[test]
    fn a_later_record_is_found_wherever_it_stands() {
        for gap in [0, 8, 64, 4096] {
            let mut bytes = vec![0; gap];
            bytes.extend(record(b"later", 5));
            bytes.extend([0; 32]);
            assert_eq!(find_later(&bytes, 4, 7), Some(5), "after {gap}");
            assert_eq!(find_later(&bytes, 5, 7), None, "after {gap}, itself");
        }
        // A record inside a payload, made by a client that does not know the salt.
        let mut forged = Vec::new();
        start(&mut forged);
        seal(&mut forged, 5, 1);
        assert_eq!(find_later(&record(&forged, 4), 4, 7), None);
    }
}
