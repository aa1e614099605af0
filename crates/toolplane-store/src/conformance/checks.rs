//! What the checks of the contract are written with.

use crate::{
    Append, Bound, Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, Store, StoreError, Versioned, Write,
};
use bytes::Bytes;
use std::fmt::Debug;
use toolplane_records::stored::StoredError;

#[expect(clippy::panic, reason = "the suite reports a broken promise the way tests do")]
pub(super) fn must<T>(what: &str, answer: Result<T, StoreError>) -> T {
    match answer {
        Ok(value) => value,
        Err(error) => panic!("{what}: {} ({error})", error.code()),
    }
}

/// The same of a record.
#[expect(clippy::panic, reason = "the suite reports a broken promise the way tests do")]
pub(super) fn must_be<T>(what: &str, record: Result<T, StoredError>) -> T {
    record.unwrap_or_else(|error| panic!("{what}: {error}"))
}

pub(super) async fn check_commit(store: &dyn Store, commit: Commit, expected: CommitOutcome) {
    let shown = format!("{commit:?}");
    assert_eq!(must(&shown, store.commit(commit).await), expected, "{shown}");
}

pub(super) async fn check_refused<T: Debug>(answer: Result<T, StoreError>, code: &str) {
    assert_eq!(answer.map_err(|error| error.code()).err(), Some(code));
}

pub(super) async fn check_record(store: &dyn Store, id: &str, expected: Option<(u64, &str)>) {
    let found = must(id, store.get(&key(id)).await);
    assert_eq!(found, expected.map(|(version, text)| versioned(version, text)), "record `{id}`");
}

pub(super) fn key(id: &str) -> RecordKey {
    RecordKey::new(Family::Invocation, id)
}

pub(super) fn text(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub(super) fn versioned(version: u64, bytes: &str) -> Versioned {
    Versioned { version, bytes: text(bytes) }
}

pub(super) fn put(id: &str, bytes: &str) -> Write {
    Write::Put { key: key(id), bytes: text(bytes) }
}

pub(super) fn writes(writes: impl Into<Vec<Write>>) -> Commit {
    Commit { writes: writes.into(), ..Commit::default() }
}

pub(super) fn guarded(id: &str, expect: Expect, bytes: &str) -> Commit {
    Commit { compare: vec![(key(id), expect)], ..writes([put(id, bytes)]) }
}

pub(super) fn enter(index: &str, score: u64, member: &str) -> IndexOp {
    IndexOp::Put { index: index.to_owned(), score, member: member.to_owned() }
}

pub(super) fn leave(index: &str, member: &str) -> IndexOp {
    IndexOp::Remove { index: index.to_owned(), member: member.to_owned() }
}

pub(super) fn below(limit: u64, index: &str) -> Bound {
    Bound { index: index.to_owned(), below: limit }
}

pub(super) fn moves(index: impl Into<Vec<IndexOp>>) -> Commit {
    Commit { index: index.into(), ..Commit::default() }
}

pub(super) fn append(stream: &str, first_seq: u64, events: &[&str]) -> Append {
    Append { stream: stream.to_owned(), first_seq, events: events.iter().map(|event| text(event)).collect() }
}

pub(super) fn forgets(streams: &[&str]) -> Commit {
    Commit { forget: streams.iter().map(|stream| (*stream).to_owned()).collect(), ..Commit::default() }
}

pub(super) fn appends(events: impl Into<Vec<Append>>) -> Commit {
    Commit { events: events.into(), ..Commit::default() }
}
