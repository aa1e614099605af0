//! Opening, closing, locking, and many callers at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use bytes::Bytes;
use tempfile::TempDir;
use toolplane_store::{Commit, CommitOutcome, Durability, Family, RecordKey, Retry, Store, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore, OpenError};

fn record(id: &str) -> Commit {
    let key = RecordKey::new(Family::Meta, id);
    Commit {
        operation_id: Some(format!("create {id}")),
        writes: vec![Write::Put { key, bytes: Bytes::from_static(b"x") }],
        ..Commit::default()
    }
}

async fn check_count(store: &EmbeddedStore, expected: usize) {
    assert_eq!(store.keys(Family::Meta, None, usize::MAX).await.unwrap().len(), expected);
}

#[tokio::test]
async fn a_directory_has_one_owner() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("deep/store");
    let store = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap();
    for directory in [root.path().join("deep"), path.clone()] {
        assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700, "{directory:?}");
    }
    for file in fs::read_dir(&path).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    let refused = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap_err();
    assert_eq!(refused.code(), "store.locked");
    assert_eq!(refused.to_string(), format!("store directory `{}` is locked by another process", path.display()));
    check_locked_for_others(&path, true);

    // Closed is free, also while a handle is still held.
    store.commit(record("a")).await.unwrap();
    store.close().await.unwrap();
    check_locked_for_others(&path, false);
    let again = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap();
    check_count(&again, 1).await;
    drop(again);
    let again = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap();
    check_count(&again, 1).await;
}

#[tokio::test]
async fn nothing_is_accepted_once_the_directory_was_removed() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("store");
    let store = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap();
    store.commit(record("a")).await.unwrap();
    fs::remove_dir_all(&path).unwrap();
    for id in ["b", "c"] {
        let refused = store.commit(record(id)).await.unwrap_err();
        assert_eq!(refused.code(), "store.poisoned");
        assert!(refused.to_string().contains("was removed while it was in use"), "{refused}");
    }
}

// Asks from another process, by the same kind of lock.
fn check_locked_for_others(path: &std::path::Path, expected: bool) {
    let answer = Command::new("flock")
        .args(["--nonblock", "--exclusive"])
        .arg(path.join("LOCK"))
        .arg("true")
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(!answer.success(), expected);
}

#[tokio::test]
async fn what_is_closed_answers_so() {
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    assert_eq!(store.durability(), Durability::Fsynced);
    store.commit(record("a")).await.unwrap();
    store.close().await.unwrap();
    store.close().await.unwrap();
    for error in [store.commit(record("b")).await.unwrap_err(), store.now().await.unwrap_err()] {
        assert_eq!((error.code(), error.retry()), ("store.unavailable", Retry::Definite));
    }
    assert_eq!(*store.poisoned().borrow(), None);
}

#[tokio::test]
async fn foreign_and_torn_directories_are_refused() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "not a directory").unwrap();
    assert!(matches!(EmbeddedStore::open(&file, EmbeddedOptions::default()), Err(OpenError::File { .. })));

    for lost in ["log-0000000000000001", "state.redb"] {
        let path = root.path().join(format!("without {lost}"));
        let store = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap();
        for n in 0..5 {
            store.commit(record(&n.to_string())).await.unwrap();
            store.checkpoint().await.unwrap();
        }
        store.commit(record("in the log")).await.unwrap();
        drop(store);
        // Still the first: a segment is large.
        fs::remove_file(path.join(lost)).unwrap();
        let refused = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap_err();
        assert_eq!(refused.code(), "store.corrupt", "without {lost}: {refused}");
    }

    let path = root.path().join("scribbled");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("log-0000000000000001"), [7; 8192]).unwrap();
    let refused = EmbeddedStore::open(&path, EmbeddedOptions::default()).unwrap_err();
    assert_eq!(refused.code(), "store.corrupt", "{refused}");
    assert_eq!(fs::read(path.join("log-0000000000000001")).unwrap(), [7; 8192], "left as it was");
}

#[tokio::test]
async fn a_checkpoint_keeps_everything_and_empties_the_log() {
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    for n in 0..40 {
        store.commit(record(&n.to_string())).await.unwrap();
    }
    store.checkpoint().await.unwrap();
    assert_eq!(store.stats().checkpoints, 1);
    check_count(&store, 40).await;
    store.commit(record("40")).await.unwrap();
    let clock = store.now().await.unwrap();
    drop(store);

    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    check_count(&store, 41).await;
    // Operations are remembered from the tables and from the log.
    for known in ["0", "39", "40"] {
        assert_eq!(store.commit(record(known)).await, Ok(CommitOutcome::Replayed), "{known}");
    }
    assert!(store.now().await.unwrap() >= clock);
}

#[tokio::test]
async fn checkpoints_come_by_themselves() {
    let root = TempDir::new().unwrap();
    let options = EmbeddedOptions { checkpoint_interval_ms: 30, ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open(root.path(), options).unwrap();
    store.commit(record("a")).await.unwrap();
    for _ in 0..200 {
        if store.stats().checkpoints > 0 {
            break;
        }
        toolplane_wait::look_again().await;
    }
    assert_eq!(store.stats().checkpoints, 1);
    check_count(&store, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_share_a_flush() {
    let root = TempDir::new().unwrap();
    let store = EmbeddedStore::open(root.path(), EmbeddedOptions::default()).unwrap();
    // All queued before the first is answered: a task that is polled once has handed its commit over.
    let callers: Vec<_> = (0..256)
        .map(|n: u32| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(record(&n.to_string())).await })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), Ok(CommitOutcome::Applied));
    }
    let stats = store.stats();
    assert_eq!(stats.commits, 256);
    assert!(stats.groups <= 64, "{stats:?}");
    check_count(&store, 256).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_beyond_what_may_wait_take_their_turn() {
    let root = TempDir::new().unwrap();
    let options = EmbeddedOptions { waiting_bytes: 4 * 1024, group_commits: 4, ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open(root.path(), options).unwrap();
    let callers: Vec<_> = (0..64)
        .map(|n: u32| {
            let store = store.clone();
            let mut commit = record(&n.to_string());
            // One in eight is larger than all that may wait.
            let size = if n.is_multiple_of(8) { 64 * 1024 } else { 64 };
            commit.writes[0] = Write::Put { key: commit.writes[0].key().clone(), bytes: vec![1; size].into() };
            tokio::spawn(async move { store.commit(commit).await })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), Ok(CommitOutcome::Applied));
    }
    assert!(store.stats().groups >= 16, "{:?}", store.stats());
    check_count(&store, 64).await;
}
