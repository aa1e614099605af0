//! How record and event bytes are stored: packed when that saves room.
//!
//! The first byte says how; then come the bytes, or their length (4 bytes, lowest first) and the packed bytes. A record
//! has its version in front of that.
//!
//! Most values are short JSON with the same names in it, so packing starts from a text of such words. It is only a help:
//! any bytes can be packed, and words that never occur cost nothing but their place. A changed text needs a first byte of
//! its own, beside the old one.

use bytes::Bytes;
use lz4_flex::block::{compress_into_with_dict, decompress_with_dict, get_maximum_output_size};
use toolplane_store::{StoreError, Versioned};

/// Below this, packing saves less than it costs.
const WORTH_PACKING: usize = 48;
/// What packing starts from. Fixed for as long as values that were packed with it are stored.
const WORDS: &[u8] = include_bytes!("value/words.txt");
/// How a stored record begins: its version.
const VERSION_BYTES: usize = 6;
const PLAIN: u8 = 0;
const PACKED: u8 = 1;
const LENGTH_BYTES: usize = 4;

/// The stored form of `bytes`. Never empty.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() >= WORTH_PACKING
        && let Ok(length) = u32::try_from(bytes.len())
    {
        let start = 1 + LENGTH_BYTES;
        let mut packed = vec![0; start + get_maximum_output_size(bytes.len())];
        packed[0] = PACKED;
        packed[1..start].copy_from_slice(&length.to_le_bytes());
        if let Ok(size) = compress_into_with_dict(bytes, &mut packed[start..], WORDS)
            && start + size < bytes.len()
        {
            packed.truncate(start + size);
            return packed;
        }
    }
    let mut plain = Vec::with_capacity(1 + bytes.len());
    plain.push(PLAIN);
    plain.extend_from_slice(bytes);
    plain
}

/// The bytes that were packed.
pub(crate) fn unpack(mut stored: Vec<u8>) -> Result<Bytes, StoreError> {
    match stored.first() {
        Some(&PLAIN) => {
            stored.drain(..1);
            Ok(Bytes::from(stored))
        }
        Some(&PACKED) => unpack_block(&stored[1..]),
        other => Err(corrupt(format!("a stored value begins with {other:?}"))),
    }
}

/// The record in a stored value with its version; nothing for an empty value, which stands for no record.
pub(crate) fn record(mut stored: Vec<u8>) -> Result<Option<Versioned>, StoreError> {
    if stored.is_empty() {
        return Ok(None);
    }
    if stored.len() < VERSION_BYTES {
        return Err(corrupt(format!("a stored record of {} bytes has no version", stored.len())));
    }
    let version = stored.drain(..VERSION_BYTES).fold(0, |version, byte| version << 8 | u64::from(byte));
    Ok(Some(Versioned { version, bytes: unpack(stored)? }))
}

fn unpack_block(stored: &[u8]) -> Result<Bytes, StoreError> {
    let Some((length, packed)) = stored.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(corrupt("a packed value ends within its length".to_owned()));
    };
    let length = u32::from_le_bytes(*length) as usize;
    // Nothing larger was ever accepted, so a larger length is damage and not worth the memory.
    if length > toolplane_store::commit::MAX_COMMIT_BYTES {
        return Err(corrupt(format!("a packed value claims {length} bytes")));
    }
    let bytes =
        decompress_with_dict(packed, length, WORDS).map_err(|error| corrupt(format!("a packed value: {error}")))?;
    Ok(Bytes::from(bytes))
}

fn corrupt(reason: String) -> StoreError {
    StoreError::Corrupt { reason }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{pack, record, unpack};

    const SUM: u64 = 8_109_106_928_898_888_962;

    proptest! {
        #[test]
        fn what_is_packed_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..2000), repeat in 1_usize..40) {
            let bytes = bytes.repeat(repeat);
            let stored = pack(&bytes);
            prop_assert!(stored.len() <= bytes.len() + 1);
            prop_assert_eq!(unpack(stored).unwrap(), bytes);
        }

        #[test]
        fn damage_is_noticed_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            // Any answer will do, as long as there is one.
            let _ = (unpack(bytes.clone()), record(bytes));
        }
    }

    #[test]
    fn the_words_stay_as_they_are() {
        // Stored values depend on every byte of them.
        assert_eq!(sum(super::WORDS), SUM);
    }

    fn sum(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    }

    #[test]
    fn json_shrinks_and_short_values_stay_plain() {
        let json = r#"{"invocation_id":"inv_1","status":"queued","queue_state":"queued"},"#.repeat(10);
        assert!(pack(json.as_bytes()).len() * 3 < json.len());
        // A single event, which repeats nothing of its own.
        let event =
            br#"{"seq":2,"class":"tool.invocation.queued","at":"2026-11-21T14:01:02.003Z","data":{"pool":"files"}}"#;
        assert!(pack(event).len() * 3 < event.len() * 2, "{} of {}", pack(event).len(), event.len());
        assert_eq!(pack(b"short"), b"\0short");
        assert_eq!(pack(b""), b"\0");
    }

    #[test]
    fn a_record_has_its_version_in_front() {
        let stored = [&[0, 0, 0, 1, 0, 2][..], &pack(b"text")].concat();
        let found = record(stored).unwrap().unwrap();
        assert_eq!((found.version, &found.bytes[..]), (65_538, &b"text"[..]));
        assert_eq!(record(Vec::new()).unwrap(), None);
        assert_eq!(record(vec![0; 5]).unwrap_err().code(), "store.corrupt");
        assert_eq!(unpack(vec![9, 9]).unwrap_err().code(), "store.corrupt");
        assert_eq!(unpack(vec![1, 255, 255, 255, 255, 0]).unwrap_err().code(), "store.corrupt");
    }
}
