//! A write that fails ends the store, and nothing that was answered is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolplane_store::{CommitOutcome, Family, Retry, ScoreRange, Store};

use super::{SimStore, key, manual, nth};
use crate::EmbeddedOptions;

async fn check_poisoned(store: &crate::EmbeddedStore) {
    let codes = [
        store.commit(nth(1)).await.map(drop),
        store.get(&key("last")).await.map(drop),
        store.get_many(&[key("last")]).await.map(drop),
        store.scan("all", ScoreRange::all(), 1).await.map(drop),
        store.indexes("").await.map(drop),
        store.index_len("all").await.map(drop),
        store.events("log", 1, 1).await.map(drop),
        store.keys(Family::Meta, None, 1).await.map(drop),
        store.now().await.map(drop),
        store.checkpoint().await,
        store.close().await,
    ];
    for answer in codes {
        let error = answer.unwrap_err();
        assert_eq!((error.code(), error.retry()), ("store.poisoned", Retry::Fatal));
    }
}

// Commits one after the other until one is refused; how many were applied.
async fn fill(store: &crate::EmbeddedStore, from: u64) -> u64 {
    for applied in from..from + 1_000 {
        match store.commit(nth(applied + 1)).await {
            Ok(outcome) => assert_eq!(outcome, CommitOutcome::Applied),
            Err(error) => {
                assert_eq!(error.code(), "store.poisoned", "{error}");
                return applied;
            }
        }
    }
    panic!("a thousand commits met no failure");
}

#[tokio::test]
async fn a_failed_write_of_the_log_poisons_the_store() {
    for failing_call in 1..=12 {
        let disk = SimStore::default();
        let store = disk.open(manual());
        let mut poisoned = store.poisoned();
        assert_eq!(*poisoned.borrow_and_update(), None);
        for n in 1..=3 {
            store.commit(nth(n)).await.unwrap();
        }
        disk.log.fail_after(failing_call);
        let applied = fill(&store, 3).await;
        poisoned.changed().await.unwrap();
        assert!(poisoned.borrow().as_deref().is_some_and(|reason| reason.contains("simulated failure")));
        check_poisoned(&store).await;
        drop(store);

        // The commit that met the failure may be stored or not; all answered ones are.
        let left = disk.after_power_cut(|_| 1);
        let reopened = left.open(manual());
        let head = reopened.events("log", 1, 0).await.unwrap().head_seq;
        assert!((applied..=applied + 1).contains(&head), "applied {applied}, found {head}");
    }
}

#[tokio::test]
async fn a_failed_checkpoint_poisons_the_store_and_the_log_still_has_everything() {
    for failing_call in [1, 2, 3, 5, 8, 13] {
        let disk = SimStore::default();
        let store = disk.open(manual());
        for n in 1..=20 {
            store.commit(nth(n)).await.unwrap();
        }
        disk.state.fail_after(failing_call);
        assert_eq!(store.checkpoint().await.unwrap_err().code(), "store.poisoned", "call {failing_call}");
        check_poisoned(&store).await;
        drop(store);

        let left = disk.after_power_cut(|_| 1);
        let reopened = left.open(manual());
        assert_eq!(reopened.events("log", 1, 99).await.unwrap().events.len(), 20);
        assert_eq!(reopened.index_len("all").await.unwrap(), 20);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_caller_of_a_failed_group_learns_of_it() {
    let disk = SimStore::default();
    let store = disk.open(EmbeddedOptions { checkpoint_bytes: 64 * 1024, ..manual() });
    let applied = Arc::new(AtomicU64::new(0));
    disk.log.fail_after(200);
    let callers: Vec<_> = (0..32)
        .map(|caller| {
            let (store, applied) = (store.clone(), Arc::clone(&applied));
            tokio::spawn(async move {
                for n in 0..10_000 {
                    let mut commit = nth(1);
                    commit.operation_id = None;
                    commit.events[0].stream = format!("s{caller}");
                    commit.events[0].first_seq = n + 1;
                    match store.commit(commit).await {
                        Ok(_) => applied.fetch_add(1, Ordering::Relaxed),
                        Err(error) => return assert_eq!(error.code(), "store.poisoned"),
                    };
                }
                panic!("ten thousand commits met no failure");
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    drop(store);
    let left = disk.after_power_cut(|_| 1);
    let reopened = left.open(manual());
    let mut found = 0;
    for caller in 0..32 {
        found += reopened.events(&format!("s{caller}"), 1, 0).await.unwrap().head_seq;
    }
    assert!(found >= applied.load(Ordering::Relaxed), "{found} of {applied:?} found");
}
