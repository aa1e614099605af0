use bytes::Bytes;

use super::{
    Append, Bound, Commit, Expect, Hint, IndexOp, MAX_COMMIT_BYTES, MAX_HINT_BYTES, MAX_NAME_BYTES, MAX_SCORE, Write,
};
use crate::{Family, RecordKey, Versioned};

fn key(id: &str) -> RecordKey {
    RecordKey::new(Family::Meta, id)
}

fn put(id: &str) -> Write {
    Write::Put { key: key(id), bytes: Bytes::from_static(b"x") }
}

fn enter(index: &str, member: &str) -> IndexOp {
    IndexOp::Put { index: index.to_owned(), score: 1, member: member.to_owned() }
}

fn check(commit: Commit, expected: Result<(), &str>) {
    let got = commit.validate().map_err(|error| error.to_string());
    assert_eq!(got.as_ref().map_err(String::as_str).copied(), expected, "{commit:?}");
}

#[test]
fn an_empty_commit_and_one_of_each_are_valid() {
    check(Commit::default(), Ok(()));
    let commit = Commit {
        operation_id: Some("op".to_owned()),
        compare: vec![(key("a"), Expect::Absent)],
        writes: vec![put("a"), Write::Delete { key: key("b") }],
        index: vec![enter("q", "a"), enter("r", "a"), enter("q", "b")],
        events: vec![Append { stream: "s".to_owned(), first_seq: 1, events: vec![Bytes::new()] }],
        bounds: vec![Bound { index: "q".to_owned(), below: 1 }, Bound { index: "r".to_owned(), below: 0 }],
        forget: vec!["t".to_owned()],
        hints: vec![Hint { topic: "ready".to_owned(), body: Bytes::new() }; 2],
        essential: true,
    };
    check(commit, Ok(()));
}

#[test]
fn nothing_is_named_twice() {
    check(
        Commit { writes: vec![put("a"), Write::Delete { key: key("a") }], ..Commit::default() },
        Err("the commit is invalid: record `meta/a` is written twice"),
    );
    check(
        Commit { compare: vec![(key("a"), Expect::Absent), (key("a"), Expect::Version(1))], ..Commit::default() },
        Err("the commit is invalid: record `meta/a` is compared twice"),
    );
    let mut many: Vec<_> = (0..20).map(|n| enter("q", &n.to_string())).collect();
    many.push(enter("q", "7"));
    check(
        Commit { index: many, ..Commit::default() },
        Err("the commit is invalid: member `7` of index `q` is changed twice"),
    );
    let append = Append { stream: "s".to_owned(), first_seq: 1, events: vec![Bytes::new()] };
    check(
        Commit { events: vec![append.clone(), append.clone()], ..Commit::default() },
        Err("the commit is invalid: stream `s` is changed twice"),
    );
    check(
        Commit { events: vec![append], forget: vec!["s".to_owned()], ..Commit::default() },
        Err("the commit is invalid: stream `s` is changed twice"),
    );
    let bound = Bound { index: "q".to_owned(), below: 1 };
    check(
        Commit { bounds: vec![bound.clone(), bound], ..Commit::default() },
        Err("the commit is invalid: index `q` is bounded twice"),
    );
}

#[test]
fn names_and_sizes_have_limits() {
    let named = |id: &str| Commit { writes: vec![put(id)], ..Commit::default() };
    check(named(""), Err("the commit is invalid: a record id is empty"));
    check(named("a\0b"), Err("the commit is invalid: a record id holds a nul byte"));
    check(named(&"a".repeat(MAX_NAME_BYTES)), Ok(()));
    check(named(&"a".repeat(MAX_NAME_BYTES + 1)), Err("a record id of 1025 bytes exceeds the limit of 1024"));
    let append = Append { stream: "s".to_owned(), first_seq: 1, events: vec![] };
    check(
        Commit { events: vec![append], ..Commit::default() },
        Err("the commit is invalid: the append to stream `s` has no event"),
    );
    let large = Write::Put { key: key("a"), bytes: vec![0; MAX_COMMIT_BYTES].into() };
    check(
        Commit { writes: vec![large], ..Commit::default() },
        Err("a commit of 16777233 bytes exceeds the limit of 16777216"),
    );
    let scored = |score| Commit {
        index: vec![IndexOp::Put { index: "q".to_owned(), score, member: "m".to_owned() }],
        ..Commit::default()
    };
    check(scored(MAX_SCORE), Ok(()));
    check(scored(MAX_SCORE + 1), Err("the commit is invalid: an index score is above 9007199254740991"));
    let telling = |topic: &str, bytes| Commit {
        hints: vec![Hint { topic: topic.to_owned(), body: vec![0; bytes].into() }],
        ..Commit::default()
    };
    check(telling("t", MAX_HINT_BYTES), Ok(()));
    check(telling("t", MAX_HINT_BYTES + 1), Err("a hint of 65537 bytes exceeds the limit of 65536"));
    check(telling("", 0), Err("the commit is invalid: a hint's topic is empty"));
    check(
        Commit { bounds: vec![Bound { index: String::new(), below: 1 }], ..Commit::default() },
        Err("the commit is invalid: an index name is empty"),
    );
    check(
        Commit { forget: vec!["a\0b".to_owned()], ..Commit::default() },
        Err("the commit is invalid: a stream name holds a nul byte"),
    );
}

#[test]
fn expectations_hold_by_presence_and_version() {
    let at = |version| Versioned { version, bytes: Bytes::new() };
    for (expect, current, holds) in [
        (Expect::Absent, None, true),
        (Expect::Absent, Some(at(1)), false),
        (Expect::Version(1), None, false),
        (Expect::Version(1), Some(at(1)), true),
        (Expect::Version(1), Some(at(2)), false),
    ] {
        assert_eq!(expect.holds(current.as_ref()), holds, "{expect:?} {current:?}");
    }
}
