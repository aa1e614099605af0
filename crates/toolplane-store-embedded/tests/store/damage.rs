//! Bytes that change in the store's files while no process reads them.

use std::fs;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tempfile::TempDir;
use toolplane_store::conformance::{DamageTarget, damage_is_named_and_hides_nothing_else};
use toolplane_store::{
    Append, Commit, CommitOutcome, DamageLocation, Expect, Family, IndexOp, RecordKey, ScoreRange, Store, StoreError,
    Write,
};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore, OpenError};

const STATE: &str = "state.redb";

/// Where `needle` is in the tables' file; what is told is changed wherever it is.
fn places(file: &[u8], needle: &[u8]) -> Vec<usize> {
    (0..file.len().saturating_sub(needle.len())).filter(|at| file[*at..].starts_with(needle)).collect()
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x20;
    fs::write(path, bytes).unwrap();
}

fn flip_text(directory: &Path, text: &str) {
    let path = directory.join(STATE);
    let found = places(&fs::read(&path).unwrap(), text.as_bytes());
    assert!(!found.is_empty(), "`{text}` is not in the tables");
    found.into_iter().for_each(|at| flip(&path, at + 3));
}

async fn spoil(store: Arc<dyn Store>, directory: &Path, target: DamageTarget) -> Arc<dyn Store> {
    // The only handle: dropping it frees the directory, and opening it again moves the log into the tables.
    drop(store);
    let store = EmbeddedStore::open(directory, EmbeddedOptions::default()).unwrap();
    store.close().await.unwrap();
    drop(store);
    match target {
        DamageTarget::Record(_, text) | DamageTarget::Event(_, _, text) => flip_text(directory, text),
    }
    Arc::new(EmbeddedStore::open(directory, EmbeddedOptions::default()).unwrap())
}

#[tokio::test]
async fn damage_is_refused_by_name() {
    let root = TempDir::new().unwrap();
    let path = root.path().to_owned();
    let store = Arc::new(EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap());
    let hook = move |store, target| {
        let path = path.clone();
        let spoiled = async move { spoil(store, &path, target).await };
        Box::pin(spoiled) as Pin<Box<dyn Future<Output = Arc<dyn Store>> + Send>>
    };
    damage_is_named_and_hides_nothing_else(store, &hook).await;
    // What was there is kept for a person who wants to see it.
    assert!(root.path().join("state.redb.damaged-1").exists());
}

const RECORDS: u64 = 60;

fn key(n: u64) -> RecordKey {
    RecordKey::new(Family::Meta, format!("record-{n:04}"))
}

fn value(n: u64) -> Bytes {
    Bytes::from(format!("value of record {n:04}, and nothing else"))
}

fn nth(n: u64) -> Commit {
    Commit {
        writes: vec![Write::Put { key: key(n), bytes: value(n) }],
        index: vec![IndexOp::Put { index: "all".to_owned(), score: n, member: format!("member-{n:04}") }],
        events: vec![Append { stream: format!("stream-{:02}", n % 7), first_seq: n / 7 + 1, events: vec![value(n)] }],
        ..Commit::default()
    }
}

async fn filled(path: &Path) {
    let store = EmbeddedStore::open(path, EmbeddedOptions::default()).unwrap();
    for n in 0..RECORDS {
        assert_eq!(store.commit(nth(n)).await, Ok(CommitOutcome::Applied));
    }
    store.close().await.unwrap();
}

/// Everything that is answered is what was written; the rest is refused as damaged. How many things were refused.
async fn check_honest(store: &EmbeddedStore, at: &str) -> usize {
    let mut refused = 0;
    let mut damaged = |error: StoreError| {
        assert_eq!(error.code(), "store.damaged", "{at}: {error}");
        refused += 1;
    };
    for n in 0..RECORDS {
        match store.get(&key(n)).await {
            Ok(found) => {
                let found = found.unwrap_or_else(|| panic!("{at}: record {n} is said not to be there"));
                assert_eq!((found.version, found.bytes), (1, value(n)), "{at}");
            }
            Err(error) => damaged(error),
        }
    }
    let members: Vec<_> = store.scan("all", ScoreRange::all(), 100).await.unwrap();
    let expected: Vec<_> = (0..RECORDS).map(|n| (n, format!("member-{n:04}"))).collect();
    assert_eq!(members.into_iter().map(|entry| (entry.score, entry.member)).collect::<Vec<_>>(), expected, "{at}");
    assert_eq!(store.index_len("all").await, Ok(RECORDS), "{at}");
    for stream in 0..7 {
        match store.events(&format!("stream-{stream:02}"), 1, 100).await {
            Ok(page) => {
                let expected: Vec<_> = (stream..RECORDS).step_by(7).map(value).collect();
                assert_eq!(page.events.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), expected, "{at}");
            }
            Err(error) => damaged(error),
        }
    }
    let named = store.damage().len();
    assert!(refused == 0 || named > 0, "{at}: {refused} refused and nothing named");
    refused
}

// A flipped byte anywhere: in a value, a key, a page's own fields, the file's header, in space that is not used.
#[tokio::test]
async fn no_flipped_byte_is_believed_wherever_it_is() {
    // In memory where there is such a place: each try writes a file anew, and nothing here is about the disk.
    let memory = Path::new("/dev/shm");
    let root = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap();
    let whole = root.path().join("whole");
    filled(&whole).await;
    let size = fs::metadata(whole.join(STATE)).unwrap().len() as usize;
    let used = fs::read(whole.join(STATE)).unwrap();
    let places = (0..1024).step_by(37).chain((1024..size).filter(|at| used[*at] != 0).step_by(151));
    let (mut opened, mut set_aside, mut refused) = (0, 0, 0);
    for at in places {
        let path = root.path().join(format!("flipped-{at}"));
        fs::create_dir(&path).unwrap();
        for file in fs::read_dir(&whole).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), path.join(file.file_name())).unwrap();
        }
        flip(&path.join(STATE), at);
        match EmbeddedStore::open(&path, EmbeddedOptions::default()) {
            Ok(store) => {
                opened += 1;
                set_aside += usize::from(check_honest(&store, &format!("byte {at}")).await > 0);
            }
            Err(OpenError::Corrupt { reason }) => {
                refused += 1;
                assert!(reason.contains(&path.display().to_string()), "byte {at}: {reason}");
            }
            Err(other) => panic!("byte {at}: {other}"),
        }
        fs::remove_dir_all(&path).unwrap();
    }
    println!("{opened} opened, {set_aside} of them with something set aside, {refused} refused");
    assert!(opened > 20 && set_aside > 5 && refused > 5, "{opened} opened, {set_aside} set aside, {refused} refused");
}

#[tokio::test]
async fn damaged_events_are_told_before_anybody_reads_them() {
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    for n in 1..4 {
        let events = vec![Bytes::from(format!("event number {n} of the stream"))];
        let append = Append { stream: "said".to_owned(), first_seq: n, events };
        store.commit(Commit { events: vec![append], ..Commit::default() }).await.unwrap();
        store.checkpoint().await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    flip_text(root.path(), "event number 2");
    // When the tables are written anew, and when that was before.
    for _ in 0..2 {
        let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
        let place = DamageLocation::Stream { stream: "said".to_owned(), from_seq: 2 };
        let told = || store.damage().into_iter().map(|damage| damage.place).collect::<Vec<_>>();
        assert_eq!(told(), std::slice::from_ref(&place));
        assert_eq!(store.events("said", 1, 9).await.unwrap_err().code(), "store.damaged");
        assert_eq!(told(), [place], "it is told once");
        store.close().await.unwrap();
    }
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    store.commit(Commit { forget: vec!["said".to_owned()], ..Commit::default() }).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    assert!(EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap().damage().is_empty());
}

#[tokio::test]
async fn a_changed_name_is_not_a_record_that_was_never_there() {
    let root = TempDir::new().unwrap();
    filled(root.path()).await;
    flip_text(root.path(), "record-0017");
    let report = EmbeddedStore::check(root.path(), &EmbeddedOptions::default()).unwrap();
    assert_eq!((report.damage.len(), report.records, report.fatal.clone()), (1, RECORDS - 1, None), "{report:?}");
    for _ in 0..2 {
        // The second opening reads what the first has set aside.
        let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
        assert_eq!(store.get(&key(17)).await.unwrap_err().code(), "store.damaged");
        let create = Commit { compare: vec![(key(17), Expect::Absent)], ..Commit::default() };
        assert_eq!(store.commit(create).await.unwrap_err().code(), "store.damaged");
        assert_eq!(store.get(&RecordKey::new(Family::Meta, "record-9999")).await, Ok(None));
        assert_eq!(check_honest(&store, "a changed name").await, 1);
        store.close().await.unwrap();
    }
    // Deleting it is how a caller says that the damage is known.
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    store.commit(Commit { writes: vec![Write::Delete { key: key(17) }], ..Commit::default() }).await.unwrap();
    assert_eq!(store.get(&key(17)).await, Ok(None));
    store.close().await.unwrap();
    drop(store);
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    assert_eq!((store.get(&key(17)).await, store.damage()), (Ok(None), Vec::new()));
}

#[tokio::test]
async fn a_damaged_index_is_told_from_its_other_table() {
    let root = TempDir::new().unwrap();
    filled(root.path()).await;
    // The member's name is in the order and in the scores; a change of one of them only.
    let path = root.path().join(STATE);
    let found = places(&fs::read(&path).unwrap(), b"member-0031");
    for at in found {
        let copy = root.path().join("copy");
        fs::create_dir(&copy).unwrap();
        for file in fs::read_dir(root.path()).unwrap().map(Result::unwrap).filter(|file| file.path().is_file()) {
            fs::copy(file.path(), copy.join(file.file_name())).unwrap();
        }
        flip(&copy.join(STATE), at + 2);
        let store = EmbeddedStore::open(&copy, EmbeddedOptions::default()).unwrap();
        assert_eq!(check_honest(&store, "an index").await, 0);
        drop(store);
        fs::remove_dir_all(&copy).unwrap();
    }
}

#[tokio::test]
async fn a_store_that_is_cut_or_empty_says_which_file_and_what_to_do() {
    for cut in [0, 1, 4096, 8192, 40_000] {
        let root = TempDir::new().unwrap();
        filled(root.path()).await;
        let path = root.path().join(STATE);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..cut]).unwrap();
        let report = EmbeddedStore::check(root.path(), &EmbeddedOptions::default()).unwrap();
        assert!(report.fatal.is_some() && !report.is_sound(), "cut at {cut}: {report:?}");
        let error = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap_err();
        assert_eq!(error.code(), "store.corrupt", "cut at {cut}: {error}");
        let text = error.to_string();
        assert!(text.contains(&root.path().display().to_string()) && text.contains("store restore"), "{text}");
    }
}

#[tokio::test]
async fn a_sound_store_is_found_sound_and_in_use_is_left_alone() {
    let root = TempDir::new().unwrap();
    filled(root.path()).await;
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    store.commit(nth(RECORDS)).await.unwrap();
    assert_eq!(EmbeddedStore::check(root.path(), &EmbeddedOptions::default()).unwrap_err().code(), "store.locked");
    drop(store);
    let report = EmbeddedStore::check(root.path(), &EmbeddedOptions::default()).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.records, report.entries, report.log_groups), (RECORDS, RECORDS, 1));
    assert_eq!(
        EmbeddedStore::check(root.path().join("none"), &EmbeddedOptions::default()).unwrap_err().code(),
        "store.file"
    );
}

#[tokio::test]
async fn damage_of_a_record_that_is_only_in_the_log_is_found_by_the_log() {
    let root = TempDir::new().unwrap();
    filled(root.path()).await;
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    for n in RECORDS..RECORDS + 4 {
        store.commit(nth(n)).await.unwrap();
    }
    drop(store);
    let segment = fs::read_dir(root.path()).unwrap().map(|file| file.unwrap().path());
    let segment = segment.filter(|path| path.display().to_string().contains("log-")).max().unwrap();
    let at = places(&fs::read(&segment).unwrap(), &value(RECORDS + 1))[0];
    flip(&segment, at);
    let report = EmbeddedStore::check(root.path(), &EmbeddedOptions::default()).unwrap();
    assert!(report.fatal.as_ref().is_some_and(|reason| reason.contains("log")), "{report:?}");
    let named = report.damage.iter().filter(|damage| matches!(damage.place, DamageLocation::Record(_))).count();
    assert_eq!(named, 0);
    assert_eq!(EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap_err().code(), "store.corrupt");
}

#[tokio::test]
async fn a_damaged_record_is_not_forgotten_with_its_neighbours() {
    let root = TempDir::new().unwrap();
    filled(root.path()).await;
    flip_text(root.path(), "value of record 0017");
    flip_text(root.path(), "value of record 0018");
    let open = || EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    let store = open();
    // One name differs from the damaged ones by a byte and was always sound, another is one of them.
    for n in [19, 18] {
        store.commit(Commit { writes: vec![Write::Delete { key: key(n) }], ..Commit::default() }).await.unwrap();
        store.checkpoint().await.unwrap();
        assert_eq!(store.get(&key(17)).await.unwrap_err().code(), "store.damaged", "after {n}");
    }
    store.close().await.unwrap();
    drop(store);
    let store = open();
    assert_eq!(store.get(&key(17)).await.unwrap_err().code(), "store.damaged");
    let named: Vec<_> = store.damage().into_iter().map(|damage| damage.place).collect();
    let records: Vec<_> = named.iter().filter(|place| matches!(place, DamageLocation::Record(_))).collect();
    assert_eq!(records, [&DamageLocation::Record(key(17))], "{named:?}");
}

/// What the records of this test are like.
const LIKE: &str = "of-a-call-whose-tool/surface/policy/plan-and-agent-are-those-of-many-calls-before-it-and-after-it";

/// Rows that are told by a pattern depend on it, so it is kept twice.
#[tokio::test]
async fn a_pattern_that_is_damaged_once_costs_nothing_and_what_is_lost_with_it_is_named() {
    let call = |n: u64| RecordKey::new(Family::Invocation, format!("call-{n:04}"));
    let text = |n: u64| Bytes::from(format!(r#"{{"invocation_id":"{n:04}","tool_id":"{LIKE}"}}"#));
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    // The second is like the first, which is a pattern from then on.
    for numbers in [0..2, 2..RECORDS] {
        let writes = numbers.map(|n| Write::Put { key: call(n), bytes: text(n) }).collect();
        store.commit(Commit { writes, ..Commit::default() }).await.unwrap();
        store.checkpoint().await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    let file = fs::read(root.path().join(STATE)).unwrap();
    let found = places(&file, LIKE.as_bytes());
    // In both tables of patterns, and in the two first records.
    assert_eq!(found.len(), 4);
    let damaged = async |flipped: &[usize]| {
        let copy = TempDir::new().unwrap();
        for entry in fs::read_dir(root.path()).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        flipped.iter().for_each(|at| flip(&copy.path().join(STATE), at + 3));
        let store = EmbeddedStore::open(copy.path(), EmbeddedOptions::default()).unwrap();
        let mut refused = 0;
        for n in 0..RECORDS {
            match store.get(&call(n)).await {
                Ok(found) => assert_eq!(found.unwrap().bytes, text(n)),
                Err(error) => {
                    assert_eq!(error.code(), "store.damaged", "{error}");
                    refused += 1;
                }
            }
        }
        (refused, store.damage().len())
    };
    let mut once = Vec::new();
    for at in &found {
        once.push(damaged(&[*at]).await.0);
    }
    once.sort_unstable();
    assert_eq!(once, [0, 0, 1, 1], "a pattern, its copy, and records that need neither");
    let (refused, named) = damaged(&found).await;
    assert_eq!((refused, named as u64), (RECORDS, RECORDS));
}
