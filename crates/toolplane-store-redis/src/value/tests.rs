use proptest::prelude::*;
use toolplane_store::{Family, RecordKey};

use super::{PACKED, SEALED_PLAIN, ValueName, WORDS, pack, record, unpack};

const SUM: u64 = 8_109_106_928_898_888_962;
const NAME: ValueName<'_> = ValueName::Event("stream", 7);

fn key() -> RecordKey {
    RecordKey::new(Family::Meta, "name")
}

proptest! {
    #[test]
    fn what_is_packed_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..2000), repeat in 1_usize..40) {
        let bytes = bytes.repeat(repeat);
        let stored = pack(NAME, &bytes);
        prop_assert!(stored.len() <= bytes.len() + 5);
        prop_assert_eq!(unpack(NAME, stored).unwrap(), bytes);
    }

    #[test]
    fn damage_is_noticed_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        // Any answer will do, as long as there is one.
        let _ = (unpack(NAME, bytes.clone()), record(&key(), bytes));
    }
}

#[test]
fn the_words_stay_as_they_are() {
    // Stored values depend on every byte of them.
    assert_eq!(sum(WORDS), SUM);
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

const EVENT: &[u8] =
    br#"{"seq":2,"class":"tool.invocation.queued","at":"2026-11-21T14:01:02.003Z","data":{"pool":"files"}}"#;

#[test]
fn json_shrinks_and_short_values_stay_plain() {
    let json = r#"{"invocation_id":"inv_1","status":"queued","queue_state":"queued"},"#.repeat(20);
    assert!(pack(NAME, json.as_bytes()).len() * 3 < json.len());
    // Records of earlier versions, which repeat little of their own, begin with what the words have.
    let events = EVENT.repeat(12);
    assert!(pack(NAME, &events).len() * 4 < events.len());
    let short = pack(NAME, b"short");
    assert_eq!((short[0], &short[5..]), (SEALED_PLAIN, &b"short"[..]));
    assert_eq!(pack(NAME, b"").len(), 5);
}

#[test]
fn every_changed_byte_is_noticed_and_so_is_another_name() {
    for bytes in [b"short".to_vec(), EVENT.repeat(11)] {
        let stored = pack(NAME, &bytes);
        for (at, other) in (0..stored.len()).flat_map(|at| (1..=255).map(move |other| (at, other))) {
            let mut damaged = stored.clone();
            damaged[at] ^= other;
            // A length that is only a hint may come to the same bytes: the sum is over those.
            assert!(unpack(NAME, damaged).map_or(true, |found| found == bytes), "byte {at} of {}", stored.len());
        }
        for other in [ValueName::Event("stream", 8), ValueName::Event("strean", 7), ValueName::Record(&key())] {
            assert!(unpack(other, stored.clone()).is_err(), "{other:?}");
        }
    }
}

#[test]
fn values_without_a_sum_are_read() {
    assert_eq!(unpack(NAME, b"\0short".to_vec()).unwrap(), &b"short"[..]);
    let events = EVENT.repeat(11);
    let unsealed = [&[PACKED][..], &pack(NAME, &events)[5..]].concat();
    assert_eq!(unpack(NAME, unsealed).unwrap(), events);
}

#[test]
fn a_record_has_its_version_in_front() {
    let key = key();
    let stored = [&[0, 0, 0, 1, 0, 2][..], &pack(ValueName::Record(&key), b"text")].concat();
    let found = record(&key, stored).unwrap().unwrap();
    assert_eq!((found.version, &found.bytes[..]), (65_538, &b"text"[..]));
    assert_eq!(record(&key, Vec::new()), Ok(None));
    for damaged in [vec![0; 5], vec![0, 0, 0, 0, 0, 1, 9, 9], vec![0, 0, 0, 0, 0, 1, 1, 255, 255, 255, 255, 0]] {
        assert!(record(&key, damaged).is_err());
    }
}
