use bytes::Bytes;
use toolplane_store::{Append, Commit, Family, IndexOp, RecordKey, Write};

use super::{Logged, add_commit, decode_events, decode_group, encode_events, start_group};

fn sample() -> Commit {
    Commit {
        writes: vec![
            Write::Put { key: RecordKey::new(Family::Meta, "k\u{e9}"), bytes: Bytes::from_static(b"\0bytes\xff") },
            Write::Delete { key: RecordKey::new(Family::Invocation, "gone") },
        ],
        index: vec![
            IndexOp::Put { index: "q".to_owned(), score: u64::MAX, member: "m".to_owned() },
            IndexOp::Remove { index: "q".to_owned(), member: "n".to_owned() },
        ],
        events: vec![Append {
            stream: "s".to_owned(),
            first_seq: 7,
            events: vec![Bytes::new(), Bytes::from_static(b"e")],
        }],
        forget: vec!["old".to_owned(), "older".to_owned()],
        ..Commit::default()
    }
}

fn encoded() -> Vec<u8> {
    let mut out = Vec::new();
    start_group(&mut out, -5);
    add_commit(&mut out, &sample(), Some(&[9; 16]));
    add_commit(&mut out, &Commit::default(), None);
    out
}

#[test]
fn a_group_reads_back() {
    let (clock, commits) = decode_group(encoded().into()).unwrap();
    assert_eq!(clock, -5);
    let first = Logged { operation: Some([9; 16]), commit: sample() };
    let second = Logged { operation: None, commit: Commit::default() };
    assert_eq!(commits, vec![first, second]);
}

#[test]
fn every_truncation_of_a_commit_is_noticed() {
    let mut whole = Vec::new();
    start_group(&mut whole, 1);
    let header = whole.len();
    add_commit(&mut whole, &sample(), Some(&[9; 16]));
    for end in (0..whole.len()).filter(|end| *end != header) {
        let cut = Bytes::copy_from_slice(&whole[..end]);
        assert!(decode_group(cut).is_err(), "cut at {end} of {}", whole.len());
    }
}

#[test]
fn unknown_versions_are_refused() {
    let mut group = encoded();
    group[0] = 1;
    let refused = decode_group(group.into()).unwrap_err();
    assert_eq!(refused.reason(), "a log entry has version 1, known is 2");
}

#[test]
fn a_row_of_events_reads_back() {
    let events = vec![Bytes::from_static(b"one"), Bytes::new(), Bytes::from_static(b"three")];
    let row = encode_events(&events);
    assert_eq!(decode_events(row.into()), Ok(events));
    assert!(decode_events(Bytes::from_static(&[2, 0, 0, 0, 1, 0, 0, 0, 5])).is_err());
}
