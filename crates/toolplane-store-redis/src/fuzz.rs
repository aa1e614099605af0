//! Bytes of the server: answers as they come over the wire, stored values, hints of other processes.

use redis::Value;
use toolplane_fuzz::fuzz;
use toolplane_store::likeness::Patterns;
use toolplane_store::{Append, Bound, Commit, Family, RecordKey};

use crate::value::{self, ValueName};
use crate::{hints, reply};

const ANSWERS: [&[u8]; 9] = [
    b":0\r\n",
    b"*2\r\n:1\r\n$16\r\n0123456789abcdef\r\n",
    b"*3\r\n:4\r\n:0\r\n:7\r\n",
    b"*2\r\n:3\r\n:0\r\n",
    b"*4\r\n$3\r\none\r\n$1\r\n1\r\n$3\r\ntwo\r\n$20\r\n18446744073709551615\r\n",
    b"*2\r\n$1\r\n2\r\n*1\r\n$4\r\n\x00abc\r\n",
    b"$-1\r\n",
    b"+OK\r\n",
    b"-NOREPLICAS not enough\r\n",
];

fn key() -> RecordKey {
    RecordKey::new(Family::Invocation, "inv_1".to_owned())
}

/// Whatever a server says, it is an answer or an error.
#[test]
fn answers() {
    let commit = Commit {
        bounds: vec![Bound { index: "ready".to_owned(), below: 3 }],
        events: vec![Append { stream: "inv_1".to_owned(), first_seq: 3, events: Vec::new() }],
        ..Commit::default()
    };
    fuzz!("answers", ANSWERS, |bytes: &[u8]| {
        let Ok(answer) = redis::parse_redis_value(bytes) else { return };
        read(&answer, &commit);
        // And what is in it, as if it had come alone.
        if let Value::Array(fields) = &answer {
            fields.iter().for_each(|field| read(field, &commit));
        }
    });
}

fn read(answer: &Value, commit: &Commit) {
    let patterns = &Patterns::default();
    let _ = reply::judged(answer.clone(), commit, b"0123456789abcdef", patterns);
    let _ = reply::record(&key(), answer.clone(), patterns);
    let _ = reply::entries(answer.clone());
    let _ = reply::events(answer.clone(), "inv_1", 5, patterns);
    let _ = reply::records(answer.clone(), Family::Invocation, patterns);
    let _ = reply::number(Some(answer.clone()));
    let _ = reply::text(answer.clone());
}

/// What is read from a value is what was put there.
#[test]
fn stored_values() {
    let name = ValueName::Event("inv_1", 3);
    let long = format!("[{}]", [r#"{"invocation_id":"inv_1","status":"queued"}"#; 20].join(","));
    let patterns = Patterns::default();
    (0..2).for_each(|_| drop(value::pack(name, long.as_bytes(), &patterns)));
    patterns.found().into_iter().for_each(|named| patterns.add(named));
    let corpus = [
        value::pack(name, b"short", &patterns),
        value::pack(name, long.as_bytes(), &Patterns::default()),
        value::pack(name, long.as_bytes(), &patterns),
        b"\0old".to_vec(),
        b"\x01\x04\0\0\0\x40abcd".to_vec(),
    ];
    assert!(value::pattern_of(&corpus[2]).is_some());
    fuzz!("stored values", corpus, |bytes: &[u8]| {
        if let Ok(found) = value::unpack(name, bytes.to_vec(), &patterns) {
            assert_eq!(value::unpack(name, value::pack(name, &found, &patterns), &patterns).as_deref(), Ok(&found[..]));
        }
        let _ = value::record(&key(), bytes.to_vec(), &patterns);
    });
}

#[test]
fn messages_of_other_processes() {
    fuzz!(
        "hints",
        [&b"0123456789abcdef\x05\0\0\0topic\x04\0\0\0body"[..], b"", b"0123456789abcdef"],
        |bytes: &[u8]| {
            let Some((sender, found)) = hints::unpack(bytes.to_vec()) else { return };
            assert_eq!(hints::unpack(hints::pack(&sender, &found)), Some((sender, found)));
        }
    );
}
