//! The log's own promises: every cut, every damaged record, every lost file.

use std::collections::BTreeMap;

use toolplane_store::{Commit, CommitOutcome, Store};

use super::{SimStore, manual, nth};
use crate::EmbeddedOptions;
use crate::log::files::{LogDirectory, LogFile};
use crate::simdisk::SimFile;

/// Options under which every few commits fill a segment.
fn small_segments() -> EmbeddedOptions {
    EmbeddedOptions { segment_bytes: 1024, ..manual() }
}

async fn head(store: &crate::EmbeddedStore) -> u64 {
    store.events("log", 1, 0).await.unwrap().head_seq
}

// Commits from `from` on until one meets a failure or `to` is reached; the last that was answered.
async fn work(store: &crate::EmbeddedStore, from: u64, to: u64) -> u64 {
    for n in from..=to {
        match store.commit(nth(n)).await {
            Ok(outcome) => assert_eq!(outcome, CommitOutcome::Applied),
            Err(error) => {
                assert_eq!(error.code(), "store.poisoned");
                return n - 1;
            }
        }
    }
    to
}

#[tokio::test]
async fn a_cut_at_each_single_write_loses_nothing_answered() {
    // Of what was not flushed nothing survives, everything does, or every second change.
    let mut turn = 0;
    let mut second = move |_| {
        turn += 1;
        turn % 2
    };
    for call in 1..=110 {
        for survives in ["nothing", "everything", "half"] {
            let at = format!("call {call}, {survives} survives");
            let disk = SimStore::default();
            let store = disk.open(small_segments());
            assert_eq!(work(&store, 1, 8).await, 8);
            store.checkpoint().await.unwrap();
            disk.log.fail_after(call);
            let mut answered = work(&store, 9, 20).await;
            if answered == 20 && store.checkpoint().await.is_ok() {
                answered = work(&store, 21, 60).await;
            }
            let left = disk.after_power_cut(|bound| match survives {
                "nothing" => bound - 1,
                // A write that survives whole: asked for one of three, 0 stands for torn.
                "everything" => u64::from(bound == 3),
                _ => second(bound),
            });
            drop(store);
            let store = left.open(small_segments());
            let found = head(&store).await;
            assert!((answered..=answered + 1).contains(&found), "{at}: answered {answered}, found {found}");
            // And it goes on from there, over what the cut left behind.
            assert_eq!(work(&store, found + 1, found + 12).await, found + 12, "{at}");
            drop(store);
            assert_eq!(head(&left.open(small_segments())).await, found + 12, "{at}");
        }
    }
}

#[tokio::test]
async fn what_a_killed_process_left_unflushed_is_durable_once_it_was_read() {
    let disk = SimStore::default();
    let store = disk.open(small_segments());
    work(&store, 1, 5).await;
    // The sixth is written, but its flush fails.
    disk.log.fail_after(2);
    assert_eq!(work(&store, 6, 6).await, 5);
    drop(store);
    disk.log.fail_after(u64::MAX / 2);
    let store = disk.open(small_segments());
    assert_eq!(head(&store).await, 6);
    let left = disk.after_power_cut(|_| 1);
    drop(store);
    assert_eq!(head(&left.open(small_segments())).await, 6);
}

// A store of several segments, nothing checkpointed, closed; and where its segments lie.
async fn filled(commits: u64) -> (SimStore, BTreeMap<u64, SimFile>) {
    let disk = SimStore::default();
    let store = disk.open(small_segments());
    work(&store, 1, commits).await;
    drop(store);
    let segments = disk.log.segments();
    assert!(segments.len() >= 3, "{:?}", segments.keys());
    (disk, segments)
}

fn flip(file: &SimFile, at: usize) {
    let byte = LogFile::read(file).unwrap()[at];
    LogFile::write(file, at as u64, &[!byte]).unwrap();
}

#[tokio::test]
async fn damage_before_the_last_record_is_refused_wherever_it_is() {
    let segments = filled(20).await.1.len();
    for segment in 0..segments {
        for at in [0, 9, 20, 24, 28, 33, 60, 200, 300] {
            let (disk, files) = filled(20).await;
            let (first, file) = files.iter().nth(segment).unwrap();
            flip(file, at);
            match disk.try_open(small_segments()) {
                Err(error) => {
                    assert_eq!(error.code(), "store.corrupt", "segment {first} byte {at}: {error}");
                    assert!(error.to_string().contains("log"), "{error}");
                }
                // Only the last record can be taken for one that was never completed.
                Ok(store) => assert_eq!((segment, head(&store).await), (segments - 1, 19), "byte {at}"),
            }
        }
    }
}

#[tokio::test]
async fn a_lost_segment_is_noticed() {
    let (disk, files) = filled(20).await;
    for lost in files.keys() {
        let left = disk.after_power_cut(|bound| bound - 1);
        LogDirectory::remove(&left.log, *lost).unwrap();
        let newest = files.keys().last() == Some(lost);
        match left.try_open(small_segments()) {
            Err(error) => assert_eq!(error.code(), "store.corrupt", "without {lost}: {error}"),
            // What was never read of the tables and never followed cannot be missed.
            Ok(_) => assert!(newest, "without {lost}"),
        }
    }
    // After a checkpoint the tables know how far the log went.
    let store = disk.open(small_segments());
    store.checkpoint().await.unwrap();
    drop(store);
    let newest = *disk.log.segments().keys().last().unwrap();
    LogDirectory::remove(&disk.log, newest).unwrap();
    let error = disk.try_open(small_segments()).unwrap_err();
    assert_eq!(error.code(), "store.corrupt", "{error}");
}

#[tokio::test]
async fn segments_are_used_again_and_do_not_pile_up() {
    let disk = SimStore::default();
    let store = disk.open(small_segments());
    for round in 0..20 {
        work(&store, round * 20 + 1, round * 20 + 20).await;
        assert!(disk.log.segments().len() <= 12, "round {round}: {:?}", disk.log.segments().keys());
        store.checkpoint().await.unwrap();
        assert_eq!(disk.log.segments().len(), 1, "round {round}");
    }
    // Checkpoints that come by themselves leave spares, and those become the next segments.
    drop(store);
    let options = EmbeddedOptions { checkpoint_bytes: 2048, ..small_segments() };
    let store = disk.open(options);
    work(&store, 401, 800).await;
    assert!(disk.log.segments().len() <= 40, "{:?}", disk.log.segments().keys());
    drop(store);
    assert_eq!(head(&disk.open(small_segments())).await, 800);
}

#[tokio::test]
async fn a_commit_larger_than_a_segment_has_one_of_its_own() {
    let disk = SimStore::default();
    let store = disk.open(small_segments());
    for n in 1..=6 {
        let mut commit = nth(n);
        if n % 2 == 0 {
            commit.events[0].events = vec![vec![n as u8; 5_000].into()];
        }
        assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
    }
    drop(store);
    let store = disk.open(small_segments());
    let page = store.events("log", 1, 9).await.unwrap();
    let sizes: Vec<_> = page.events.iter().map(|(_, event)| event.len()).collect();
    assert_eq!(sizes, [1, 5_000, 1, 5_000, 1, 5_000]);
}

#[tokio::test]
async fn forgotten_streams_stay_forgotten_through_log_and_tables() {
    let forget = |stream: &str| Commit { forget: vec![stream.to_owned()], ..Commit::default() };
    for checkpoints in 0..8_u32 {
        let disk = SimStore::default();
        let store = disk.open(small_segments());
        let checkpoint = async |step: u32| {
            if checkpoints & (1 << step) != 0 {
                store.checkpoint().await.unwrap();
            }
        };
        work(&store, 1, 7).await;
        checkpoint(0).await;
        store.commit(forget("log")).await.unwrap();
        checkpoint(1).await;
        let mut again = nth(1);
        again.operation_id = None;
        store.commit(again).await.unwrap();
        checkpoint(2).await;
        let expected = store.events("log", 1, 9).await.unwrap();
        assert_eq!((expected.head_seq, expected.events.len()), (1, 1), "checkpoints {checkpoints:03b}");
        let left = disk.after_power_cut(|bound| bound - 1);
        drop(store);
        let store = left.open(small_segments());
        assert_eq!(store.events("log", 0, 9).await.unwrap(), expected, "checkpoints {checkpoints:03b}");
        store.commit(forget("log")).await.unwrap();
        store.checkpoint().await.unwrap();
        assert_eq!(store.events("log", 0, 9).await.unwrap(), toolplane_store::EventPage::default());
    }
}
