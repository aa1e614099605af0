//! Stores of earlier formats: before rows had checksums, and before they were told by patterns.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use tempfile::TempDir;
use toolplane_store::conformance::{call_with_texts, check_no_text};
use toolplane_store::{Append, Commit, CommitOutcome, Family, IndexOp, RecordKey, ScoreRange, Store, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore, OpenError};

const BYTES: [TableDefinition<'_, &[u8], &[u8]>; 2] = [TableDefinition::new("records"), TableDefinition::new("events")];
const OPERATIONS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("operations");
const ORDER: TableDefinition<'_, &[u8], u32> = TableDefinition::new("index_order");
const OLD_ORDER: TableDefinition<'_, &[u8], ()> = TableDefinition::new("index_order");
const NUMBERED: [&str; 2] = ["index_score", "index_len"];
const NUMBERS: TableDefinition<'_, &str, (u64, u32)> = TableDefinition::new("numbers");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// How many bytes of sums come first in a row of the table.
fn sums(name: &str) -> usize {
    if name == "events" { 8 } else { 4 }
}

/// The tables as format 2 had them: the same rows without sums.
fn without_sums(path: &Path) {
    let (new, old) = (Database::open(path.join("state.redb")).unwrap(), Database::create(path.join("old")).unwrap());
    let (from, to) = (new.begin_read().unwrap(), old.begin_write().unwrap());
    {
        for table in BYTES {
            let mut target = to.open_table(table).unwrap();
            for row in from.open_table(table).unwrap().iter().unwrap().map(Result::unwrap) {
                target.insert(row.0.value(), &row.1.value()[sums(redb::TableHandle::name(&table))..]).unwrap();
            }
        }
        let mut target = to.open_table(OPERATIONS).unwrap();
        for row in from.open_table(OPERATIONS).unwrap().iter().unwrap().map(Result::unwrap) {
            target.insert(row.0.value(), &row.1.value()[4..]).unwrap();
        }
        let mut target = to.open_table(OLD_ORDER).unwrap();
        for row in from.open_table(ORDER).unwrap().iter().unwrap().map(Result::unwrap) {
            target.insert(row.0.value(), ()).unwrap();
        }
        for name in NUMBERED {
            let mut target = to.open_table(TableDefinition::<&[u8], u64>::new(name)).unwrap();
            let source = from.open_table(TableDefinition::<&[u8], (u64, u32)>::new(name)).unwrap();
            for row in source.iter().unwrap().map(Result::unwrap) {
                target.insert(row.0.value(), row.1.value().0).unwrap();
            }
        }
        let mut target = to.open_table(META).unwrap();
        for row in from.open_table(NUMBERS).unwrap().iter().unwrap().map(Result::unwrap) {
            target.insert(row.0.value(), row.1.value().0).unwrap();
        }
        target.insert("format", 2).unwrap();
    }
    to.commit().unwrap();
    drop((from, new, old));
    fs::rename(path.join("old"), path.join("state.redb")).unwrap();
}

fn nth(n: u64) -> Commit {
    Commit {
        operation_id: Some(format!("op-{n}")),
        writes: vec![Write::Put {
            key: RecordKey::new(Family::Meta, (n % 20).to_string()),
            bytes: Bytes::from(n.to_string()),
        }],
        index: vec![IndexOp::Put { index: format!("list-{}", n % 3), score: n, member: (n % 20).to_string() }],
        events: vec![Append { stream: "log".to_owned(), first_seq: n + 1, events: vec![Bytes::from(n.to_string())] }],
        ..Commit::default()
    }
}

type Content = (Vec<(String, u64, Bytes)>, Vec<(u64, String)>, u64, Vec<(u64, Bytes)>);

async fn content(store: &EmbeddedStore) -> Content {
    let records = store.keys(Family::Meta, None, 99).await.unwrap();
    let entries = store.scan("list-1", ScoreRange::all(), 99).await.unwrap();
    (
        records.into_iter().map(|(id, found)| (id, found.version, found.bytes)).collect(),
        entries.into_iter().map(|entry| (entry.score, entry.member)).collect(),
        store.index_len("list-2").await.unwrap(),
        store.events("log", 1, 999).await.unwrap().events,
    )
}

#[tokio::test]
async fn a_store_without_checksums_is_read_and_gets_them() {
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    for n in 0..50 {
        assert_eq!(store.commit(nth(n)).await, Ok(CommitOutcome::Applied));
    }
    store.close().await.unwrap();
    drop(store);
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    // Some of it only in the log, which is of the same form.
    for n in 50..60 {
        assert_eq!(store.commit(nth(n)).await, Ok(CommitOutcome::Applied));
    }
    let before = content(&store).await;
    drop(store);
    without_sums(root.path());
    for _ in 0..2 {
        let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
        assert_eq!(content(&store).await, before);
        assert_eq!((store.damage(), store.commit(nth(59)).await), (Vec::new(), Ok(CommitOutcome::Replayed)));
        store.close().await.unwrap();
        drop(store);
        let report = EmbeddedStore::check(root.path(), &EmbeddedOptions::default()).unwrap();
        assert!(report.is_sound() && report.records == 20, "{report:?}");
    }
}

/// A record as large and as much like others as those of calls.
fn like_others(n: u64) -> Commit {
    let text = format!(
        r#"{{"invocation_id":"{n}","tool_id":"of-a-call-whose-plan-and-agent-are-those-of-many-calls-before"}}"#
    );
    let key = RecordKey::new(Family::Invocation, format!("call-{n:09}"));
    let events = vec![Bytes::from(text.clone()), Bytes::from(text.clone())];
    Commit {
        writes: vec![Write::Put { key, bytes: Bytes::from(format!("[{text},{text},{text}]")) }],
        events: vec![Append { stream: format!("call-{n:09}"), first_seq: 1, events }],
        ..Commit::default()
    }
}

const PATTERNS: [TableDefinition<'_, u32, &[u8]>; 2] =
    [TableDefinition::new("patterns"), TableDefinition::new("patterns_again")];

#[tokio::test]
async fn what_others_wrote_is_in_no_pattern() {
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    for number in 0..60 {
        assert_eq!(store.commit(call_with_texts(number)).await, Ok(CommitOutcome::Applied));
        if number % 20 == 19 {
            store.checkpoint().await.unwrap();
        }
    }
    let last = store.get(&RecordKey::new(Family::Invocation, "000000059")).await.unwrap().unwrap();
    assert!(
        call_with_texts(59)
            .writes
            .contains(&Write::Put { key: RecordKey::new(Family::Invocation, "000000059"), bytes: last.bytes })
    );
    store.close().await.unwrap();
    drop(store);
    let state = Database::open(root.path().join("state.redb")).unwrap();
    for table in PATTERNS {
        let (tables, mut kept) = (state.begin_read().unwrap(), 0);
        for row in tables.open_table(table).unwrap().iter().unwrap() {
            check_no_text(row.unwrap().1.value());
            kept += 1;
        }
        assert!(kept >= 4, "a log, an invocation, a decision and a declaration; there are {kept}");
    }
}

#[tokio::test]
async fn a_store_without_patterns_is_read_and_gets_them() {
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    for n in 0..50 {
        assert_eq!(store.commit(nth(n)).await, Ok(CommitOutcome::Applied));
    }
    let before = content(&store).await;
    store.close().await.unwrap();
    drop(store);
    // Its rows are too short to be like any, so they are those of the format before.
    let state = Database::open(root.path().join("state.redb")).unwrap();
    let change = state.begin_write().unwrap();
    PATTERNS.iter().for_each(|table| assert!(change.delete_table(*table).unwrap()));
    change.open_table(META).unwrap().insert("format", 3).unwrap();
    change.commit().unwrap();
    drop(state);
    let report = EmbeddedStore::check(root.path(), &EmbeddedOptions::default()).unwrap();
    assert!(report.is_sound() && report.records == 20, "{report:?}");
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    assert_eq!(content(&store).await, before);
    for n in 0..50 {
        assert_eq!(store.commit(like_others(n)).await, Ok(CommitOutcome::Applied));
    }
    let calls = store.keys(Family::Invocation, None, 99).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let state = Database::open(root.path().join("state.redb")).unwrap();
    let tables = state.begin_read().unwrap();
    assert_eq!(tables.open_table(META).unwrap().get("format").unwrap().unwrap().value(), 4);
    for table in PATTERNS {
        assert!(tables.open_table(table).unwrap().first().unwrap().is_some(), "{table}");
    }
    drop((tables, state));
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    assert_eq!((content(&store).await, store.keys(Family::Invocation, None, 99).await), (before, Ok(calls)));
    assert_eq!(store.events("call-000000049", 1, 9).await.unwrap().events.len(), 2);
    let report = EmbeddedStore::check(root.path(), &EmbeddedOptions::default());
    assert!(report.is_err(), "it is open");
}

#[tokio::test]
async fn a_store_of_a_later_version_is_refused_and_left_alone() {
    let root = TempDir::new().unwrap();
    EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap().close().await.unwrap();
    let state = Database::open(root.path().join("state.redb")).unwrap();
    let change = state.begin_write().unwrap();
    change.open_table(META).unwrap().insert("format", 99).unwrap();
    change.commit().unwrap();
    drop(state);
    let refused = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap_err();
    assert!(matches!(refused, OpenError::Format { found: 99, .. }), "{refused}");
}
