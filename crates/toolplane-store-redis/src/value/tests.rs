use proptest::prelude::*;
use toolplane_store::likeness::Patterns;
use toolplane_store::{Family, RecordKey};

use super::{PACKED, SEALED_PLAIN, ValueName, WORDS, pack, pattern_of, put_length, record, take_length, unpack};

const SUM: u64 = 8_109_106_928_898_888_962;
const NAME: ValueName<'_> = ValueName::Event("stream", 7);

/// No pattern is known, and none is ever kept.
fn none() -> Patterns {
    Patterns::default()
}

fn key() -> RecordKey {
    RecordKey::new(Family::Meta, "name")
}

proptest! {
    #[test]
    fn what_is_packed_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..2000), repeat in 1_usize..40) {
        let bytes = bytes.repeat(repeat);
        let stored = pack(NAME, &bytes, &none());
        prop_assert!(stored.len() <= bytes.len() + 5);
        prop_assert_eq!(unpack(NAME, stored, &none()).unwrap(), bytes);
    }

    #[test]
    fn damage_is_noticed_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        // Any answer will do, as long as there is one.
        let _ = (unpack(NAME, bytes.clone(), &none()), record(&key(), bytes, &none()));
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
    assert!(pack(NAME, json.as_bytes(), &none()).len() * 3 < json.len());
    // Records of earlier versions, which repeat little of their own, begin with what the words have.
    let events = EVENT.repeat(12);
    assert!(pack(NAME, &events, &none()).len() * 4 < events.len());
    let short = pack(NAME, b"short", &none());
    assert_eq!((short[0], &short[5..]), (SEALED_PLAIN, &b"short"[..]));
    assert_eq!(pack(NAME, b"", &none()).len(), 5);
}

#[test]
fn every_changed_byte_is_noticed_and_so_is_another_name() {
    for bytes in [b"short".to_vec(), EVENT.repeat(11)] {
        let stored = pack(NAME, &bytes, &none());
        for (at, other) in (0..stored.len()).flat_map(|at| (1..=255).map(move |other| (at, other))) {
            let mut damaged = stored.clone();
            damaged[at] ^= other;
            // A length that is only a hint may come to the same bytes: the sum is over those.
            assert!(
                unpack(NAME, damaged, &none()).map_or(true, |found| found == bytes),
                "byte {at} of {}",
                stored.len()
            );
        }
        for other in [ValueName::Event("stream", 8), ValueName::Event("strean", 7), ValueName::Record(&key())] {
            assert!(unpack(other, stored.clone(), &none()).is_err(), "{other:?}");
        }
    }
}

#[test]
fn values_without_a_sum_are_read() {
    assert_eq!(unpack(NAME, b"\0short".to_vec(), &none()).unwrap(), &b"short"[..]);
    let events = EVENT.repeat(11);
    let unsealed = [&[PACKED][..], &pack(NAME, &events, &none())[5..]].concat();
    assert_eq!(unpack(NAME, unsealed, &none()).unwrap(), events);
}

#[test]
fn a_record_has_its_version_in_front() {
    let key = key();
    let stored = [&[0, 0, 0, 1, 0, 2][..], &pack(ValueName::Record(&key), b"text", &none())].concat();
    let found = record(&key, stored, &none()).unwrap().unwrap();
    assert_eq!((found.version, &found.bytes[..]), (65_538, &b"text"[..]));
    assert_eq!(record(&key, Vec::new(), &none()), Ok(None));
    for damaged in [vec![0; 5], vec![0, 0, 0, 0, 0, 1, 9, 9], vec![0, 0, 0, 0, 0, 1, 1, 255, 255, 255, 255, 0]] {
        assert!(record(&key, damaged, &none()).is_err());
    }
}

/// Values of one kind, of which the first has become a pattern.
fn known(name: ValueName<'_>) -> Patterns {
    let patterns = none();
    (0..2).for_each(|number| drop(pack(name, &alike(number), &patterns)));
    patterns.found().into_iter().for_each(|named| patterns.add(named));
    patterns
}

fn alike(number: u8) -> Vec<u8> {
    let call =
        format!(r#"{{"invocation_id":"{number:03}","tool_id":"whose-surface-policy-and-plan-are-those-of-many"}}"#);
    format!("[{call},{call}]").into_bytes()
}

#[test]
fn values_that_are_alike_are_short_and_every_changed_byte_is_noticed() {
    let patterns = known(NAME);
    let stored = pack(NAME, &alike(9), &patterns);
    assert!(stored.len() < 40 && pattern_of(&stored).is_some_and(|id| patterns.knows(id)), "{stored:?}");
    assert_eq!(unpack(NAME, stored.clone(), &patterns).as_deref(), Ok(&alike(9)[..]));
    assert!(unpack(NAME, stored.clone(), &none()).is_err(), "its pattern is not known");
    assert_eq!((pattern_of(&pack(NAME, b"short", &patterns)), pattern_of(b"")), (None, None));
    for (at, other) in (0..stored.len()).flat_map(|at| (1..=255).map(move |other| (at, other))) {
        let mut damaged = stored.clone();
        damaged[at] ^= other;
        // What differs can be said in several ways: what counts is that it comes to the same bytes.
        assert!(unpack(NAME, damaged, &patterns).map_or(true, |found| found == alike(9)), "byte {at}");
    }
    for end in 0..stored.len() {
        assert!(unpack(NAME, stored[..end].to_vec(), &patterns).is_err(), "{end}");
    }
}

#[test]
fn lengths_come_back() {
    for length in [0, 1, 127, 128, 4_096, 16_383] {
        let mut out = Vec::new();
        put_length(&mut out, length);
        assert_eq!(take_length(&out), Some((length, &[][..])));
    }
    assert_eq!((take_length(b""), take_length(b"\x80")), (None, None));
}
