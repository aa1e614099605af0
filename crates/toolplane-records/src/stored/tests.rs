use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use toolplane_fuzz::fuzz;

use super::*;
use crate::decision::PermissionDecision;
use crate::event::LogEvent;
use crate::invocation::Invocation;
use crate::payload::{Digest, JsonPayload};
use crate::persistence::ResultPersistence;
use crate::provider::{ProvidedTool, Provider, ProviderStatus};
use crate::result::ToolResult;
use crate::time::Timestamp;

macro_rules! golden {
    ($name:literal) => {
        [
            include_str!(concat!("../../tests/golden/", $name, ".full.json")),
            include_str!(concat!("../../tests/golden/", $name, ".minimal.json")),
        ]
    };
}

fn stored<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(value, &mut bytes).unwrap();
    bytes
}

/// A record reads back as it was, from both forms, and takes at most this much of its JSON in hundredths.
#[track_caller]
fn check<R: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(golden: [&str; 2], hundredths: usize) {
    for text in golden {
        let record: R = serde_json::from_str(text).unwrap();
        let (json, bytes) = (serde_json::to_vec(&record).unwrap(), stored(&record));
        assert_eq!(read::<R>(&bytes).unwrap(), record);
        assert_eq!(read::<R>(&json).unwrap(), record);
        assert_eq!(serde_json::to_vec(&read::<R>(&bytes).unwrap()).unwrap(), json, "to the last byte");
        let share = bytes.len() * 100 / json.len();
        assert!(share <= hundredths, "{} of {} bytes: {share} %", bytes.len(), json.len());
    }
}

#[test]
fn records_of_a_call_read_back_and_are_small() {
    check::<Invocation>(golden!("invocation-record"), 50);
    check::<ToolResult>(golden!("result"), 60);
    check::<ResultPersistence>(golden!("result-persistence"), 50);
    check::<PermissionDecision>(golden!("permission-decision"), 60);
    check::<LogEvent>(golden!("log-event"), 70);
    check::<ProviderStatus>(golden!("provider-status"), 50);
    check::<ProvidedTool>(golden!("provided-tool"), 60);
}

/// Not made small: there is one of each provider.
#[test]
fn providers_of_every_kind_read_back() {
    check::<Provider>(golden!("provider-mcp-stdio"), 100);
    check::<Provider>(golden!("provider-mcp-http"), 100);
    check::<Provider>(golden!("provider-openapi"), 100);
    check::<Provider>(golden!("provider-openapi-uploaded"), 100);
    check::<Provider>(golden!("provider-worker"), 100);
    check::<Provider>(golden!("provider-file"), 100);
}

/// Each is one number in every record that names it.
#[test]
fn the_fields_of_a_call_are_words() {
    fn names(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                found.extend(fields.keys().cloned());
                fields.values().for_each(|value| names(value, found));
            }
            serde_json::Value::Array(values) => values.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let of_calls = [golden!("invocation-record"), golden!("result-persistence"), golden!("permission-decision")];
    for [text, _] in of_calls.into_iter().chain([golden!("provider-status"), golden!("provided-tool")]) {
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        // Payloads are copied as they are.
        for payload in ["updated_input", "suggested_updates", "pending_classifier_check", "content_blocks"] {
            value.as_object_mut().unwrap().remove(payload);
        }
        if let Some(last) = value.get_mut("last_execution") {
            last.as_object_mut().unwrap().remove("detail");
        }
        names(&value, &mut found);
    }
    let missing: Vec<_> = found.iter().filter(|name| name.len() > 2 && words::number(name).is_none()).collect();
    assert!(missing.is_empty(), "add them to the end of `words.rs`: {missing:?}");
}

#[test]
fn a_number_is_for_ever() {
    for (number, word) in words::WORDS.iter().enumerate() {
        assert_eq!(words::number(word).map(usize::from), Some(number), "`{word}` is there twice");
    }
    let of_the_first_version = words::WORDS[..399].join(" ");
    assert_eq!(
        Digest::of(of_the_first_version.as_bytes()).hex(),
        "2529ee533c88cd5bd594a7620b259bbc59aedd6659e9f1c3a1e62ac29dcad386"
    );
}

#[test]
fn what_comes_again_is_told_by_its_place() {
    let (text, digest) = ("inv_0123456789abcdef".repeat(4), Digest::of(b"x"));
    let once = stored(&(&text, digest)).len();
    let thrice = (&text, digest, &text, digest, &text, digest);
    assert!(stored(&thrice).len() <= once + 12);
    let read: (String, Digest, String, Digest, String, Digest) = read(&stored(&thrice)).unwrap();
    assert_eq!(read, (text.clone(), digest, text.clone(), digest, text, digest));
}

/// A tool that answers `{"a":..}` gives the same as structured content and as text; either may come first.
#[test]
fn a_text_and_a_payload_may_be_the_same() {
    let text = r#"{"text":"roadrunner"}"#.to_owned();
    let payload = JsonPayload::from_checked(text.clone());
    let text_first = (text.clone(), payload.clone(), text.clone());
    assert_eq!(read::<(String, JsonPayload, String)>(&stored(&text_first)).unwrap(), text_first);
    let payload_first = (payload.clone(), text, payload);
    assert_eq!(read::<(JsonPayload, String, JsonPayload)>(&stored(&payload_first)).unwrap(), payload_first);
    assert!(stored(&payload_first).len() < payload_first.1.len() + 12);
}

#[test]
fn values_of_every_kind_read_back() {
    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    enum Kind {
        Unit,
        New(u8),
        Tuple(i64, String),
        Struct { a: Option<bool>, b: Vec<Kind> },
    }
    let at = Timestamp::from_millis(-1);
    let all = vec![
        Kind::Unit,
        Kind::New(255),
        Kind::Tuple(i64::MIN, "\u{1F980}".repeat(100)),
        Kind::Struct { a: None, b: vec![Kind::Unit, Kind::Struct { a: Some(true), b: Vec::new() }] },
    ];
    let value = (all, at, f64::MIN_POSITIVE, BTreeMap::from([("a key", u64::MAX)]), 'x', ());
    let bytes = stored(&value);
    let again: (Vec<Kind>, Timestamp, f64, BTreeMap<&str, u64>, char, ()) = read(&bytes).unwrap();
    assert_eq!(again, value);
}

#[test]
fn what_is_no_record_is_refused() {
    for wrong in
        [&b""[..], b"\x01", b"\x01\x0c\x00", b"\x01\x45ab", b"\x01\x0b\xff\x7f", b"\x01\x10\x10", b"\x02", b"{"]
    {
        assert!(read::<serde_json::Value>(wrong).is_err(), "{wrong:x?}");
    }
    let deep = [&[form::FORM][..], &[form::SEQ; 100_000]].concat();
    assert!(matches!(read::<serde_json::Value>(&deep), Err(StoredError::Form(_))));
    assert!(write(&u128::MAX, &mut Vec::new()).is_err() && write(&BTreeMap::from([(1, 2)]), &mut Vec::new()).is_err());
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,80}".prop_map(Into::into),
        prop::sample::select(words::WORDS).prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::hash_map("[a-z_]{0,12}", inner, 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_reads_back(value in json()) {
        prop_assert_eq!(read::<serde_json::Value>(&stored(&value)).unwrap(), value);
    }

    #[test]
    fn payloads_are_copied_as_they_are(value in json()) {
        let payload = JsonPayload::of(&value);
        prop_assert_eq!(read::<Option<JsonPayload>>(&stored(&Some(&payload))).unwrap(), Some(payload));
    }
}

/// Bytes of others are refused or read, and what is read is written so that it is read as the same.
#[test]
fn stored_bytes() {
    let [full, minimal] =
        golden!("invocation-record").map(|text| stored(&serde_json::from_str::<Invocation>(text).unwrap()));
    fuzz!("stored invocation", [&full[..], &minimal[..]], |bytes: &[u8]| {
        assert!(without_texts(bytes).is_none_or(|kept| kept.len() == bytes.len()));
        let Ok(record) = read::<Invocation>(bytes) else { return };
        assert_eq!(read::<Invocation>(&stored(&record)).unwrap(), record);
    });
}
