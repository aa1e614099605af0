//! Bytes of the disk: groups of the log, rows of the tables.

use bytes::Bytes;
use toolplane_fuzz::fuzz;
use toolplane_store::likeness::Patterns;
use toolplane_store::{Append, Commit, Family, IndexOp, RecordKey, Sealed, Versioned, Write};

use crate::codec;
use crate::log::record;
use crate::{checkpoint, row};

fn commit() -> Commit {
    let key = |id: &str| RecordKey::new(Family::Invocation, id.to_owned());
    Commit {
        writes: vec![
            Write::Put { key: key("inv_1"), bytes: Bytes::from_static(b"{\"a\":1}") },
            Write::Delete { key: key("inv_2") },
        ],
        index: vec![
            IndexOp::Put { index: "ready".to_owned(), member: "inv_1".to_owned(), score: 7 },
            IndexOp::Remove { index: "timers".to_owned(), member: "inv_2".to_owned() },
        ],
        events: vec![Append {
            stream: "inv_1".to_owned(),
            first_seq: 3,
            events: vec![Bytes::from_static(b"one"), Bytes::new()],
        }],
        forget: vec!["inv_2".to_owned()],
        ..Commit::default()
    }
}

fn group(commits: &[(Commit, Option<crate::operations::Digest>)], clock: i64) -> Vec<u8> {
    let mut out = Vec::new();
    codec::start_group(&mut out, clock);
    commits.iter().for_each(|(commit, operation)| codec::add_commit(&mut out, commit, operation.as_ref()));
    out
}

/// A group that can be read is written as one that is read as the same.
#[test]
fn groups_of_the_log() {
    let corpus =
        [group(&[], 0), group(&[(commit(), None)], 12), group(&[(commit(), Some([7; 16])), (commit(), None)], -1)];
    fuzz!("groups", corpus, |bytes: &[u8]| {
        let Ok((clock, commits)) = codec::decode_group(Bytes::copy_from_slice(bytes)) else { return };
        let pairs: Vec<_> = commits.iter().map(|logged| (logged.commit.clone(), logged.operation)).collect();
        let (clock_again, again) = codec::decode_group(group(&pairs, clock).into()).unwrap();
        assert_eq!((clock_again, again), (clock, commits));
    });
}

#[test]
fn records_of_the_log() {
    let sealed = |payload: &[u8], lsn: u64| {
        let mut out = Vec::new();
        record::start(&mut out);
        out.extend_from_slice(payload);
        record::seal(&mut out, lsn, 5);
        out
    };
    let corpus = [sealed(b"", 1), sealed(b"payload", 2), [sealed(b"a", 1), sealed(b"b", 2), sealed(b"c", 3)].concat()];
    fuzz!("log records", corpus, |bytes: &[u8]| {
        if let Some(payload) = record::read(bytes, 2, 5) {
            // What fills a record up means nothing, and no sum covers it.
            let end = record::RECORD_HEADER + payload.len();
            assert_eq!(sealed(payload, 2)[..end], bytes[..end], "a record is one of its own writing");
        }
        let later = record::find_later(bytes, 1, 5);
        assert!(later.is_none_or(|lsn| lsn > 1));
    });
}

/// A row passes only as what was sealed, under its own name.
#[test]
fn rows() {
    let (patterns, none) = (Patterns::default(), Patterns::default());
    let versioned = |bytes: Bytes| Versioned { version: 3, bytes };
    let record = row::seal_record(b"k", &versioned(Bytes::from_static(b"value")));
    let events = row::seal_encoded_events(b"k", &codec::encode_events(&[Bytes::from_static(b"one"), Bytes::new()]));
    let operations = row::seal_operations(9, &[1; 48]);
    let call = |number: u8| {
        Bytes::from(format!(r#"{{"invocation_id":"{number}","tool_id":"{}"}}"#, "of-many-calls/".repeat(10)))
    };
    let alike = |number: u8| versioned(call(number));
    let slim = |number| row::slim_record(b"k", &alike(number), Some(1), &patterns);
    let many = |number: u8| [call(number), call(number + 1)];
    let slim_events = |number| row::slim_events(b"k", &many(number), &patterns);
    (1..3).for_each(|number| drop((slim(number), slim_events(number))));
    patterns.found().into_iter().for_each(|named| patterns.add(named));
    assert_eq!(patterns.all().len(), 2);
    fuzz!("rows", [record, events, operations, slim(3), slim_events(3)], |bytes: &[u8]| {
        if let Ok(found) = row::open_record(b"k", bytes, &patterns) {
            let is_slim = row::open_record(b"k", bytes, &none).is_err();
            assert!(is_slim || row::seal_record(b"k", &found) == bytes);
            assert!(row::open_record(b"other", bytes, &patterns).is_err());
        }
        let _ = (row::unsealed_record(bytes), row::count_events(b"k", bytes));
        if let Ok(found) = row::open_events(b"k", bytes, &patterns) {
            let (again, is_slim) = (codec::encode_events(&found), row::open_events(b"k", bytes, &none).is_err());
            assert!(is_slim || bytes[8..].starts_with(&again), "what was sealed");
            assert_eq!(row::count_events(b"k", bytes), Ok(found.len() as u64));
        }
        if let Ok(encoded) = row::open_operations(9, bytes) {
            assert_eq!(checkpoint::decode_operations(encoded).count(), encoded.len() / 24);
        }
        let _ = row::open_number(Sealed::Length, b"k", (bytes.len() as u64, 1));
    });
}

#[test]
fn events_of_a_row() {
    let corpus = [codec::encode_events(&[]), codec::encode_events(&[Bytes::from_static(b"one"), Bytes::new()])];
    fuzz!("events", corpus, |bytes: &[u8]| {
        let Ok(events) = codec::decode_events(Bytes::copy_from_slice(bytes)) else { return };
        let again = codec::encode_events(&events);
        assert_eq!(bytes[..again.len()], again);
    });
}
