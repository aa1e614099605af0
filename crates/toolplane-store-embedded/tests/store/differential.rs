//! The conformance suite, and random runs beside the model with reopening in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;
use toolplane_store::Store;
use toolplane_store::conformance::{Differential, compare_many, run_all};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};

use super::restless;

async fn check_conforms(options: EmbeddedOptions) {
    let root = TempDir::new().unwrap();
    let made = AtomicU32::new(0);
    let (root, made, options) = (&root, &made, &options);
    run_all(async || {
        let path = root.path().join(made.fetch_add(1, Ordering::Relaxed).to_string());
        Arc::new(EmbeddedStore::open(path, options.clone()).unwrap()) as Arc<dyn Store>
    })
    .await;
}

#[tokio::test]
async fn the_store_conforms() {
    check_conforms(EmbeddedOptions::default()).await;
}

#[tokio::test]
async fn the_store_conforms_while_checkpoints_never_rest() {
    check_conforms(EmbeddedOptions { checkpoint_bytes: 1, ..EmbeddedOptions::default() }).await;
}

#[tokio::test]
async fn random_runs_match_the_model_across_checkpoints_and_reopening() {
    for seed in 100..106 {
        let directory = TempDir::new().unwrap();
        let mut run = Differential::new(seed);
        for round in 0..6_u64 {
            // One round in three never checkpoints, so its end is read from the log alone.
            let options = if (seed + round).is_multiple_of(3) { EmbeddedOptions::default() } else { restless() };
            let store = EmbeddedStore::open(directory.path(), options).unwrap();
            run.compare(&store).await;
            run.steps(&store, 60).await;
            if round % 2 == 0 {
                store.checkpoint().await.unwrap();
                run.steps(&store, 30).await;
            }
            run.compare(&store).await;
            if round % 3 == 0 {
                store.close().await.unwrap();
            }
        }
        run.compare(&EmbeddedStore::open(directory.path(), restless()).unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_sequences_match_the_model() {
    check_sequences(1_000_000, 2_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute or two"]
async fn twenty_thousand_sequences_match_the_model() {
    check_sequences(2_000_000, 20_000).await;
}

// Sequences of 40 commands in one store, many at once, so that groups and checkpoints mix them.
async fn check_sequences(first_seed: u64, sequences: u64) {
    const LANES: u64 = 100;
    let directory = TempDir::new().unwrap();
    let options =
        EmbeddedOptions { checkpoint_bytes: 512 * 1024, segment_bytes: 128 * 1024, ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open(directory.path(), options).unwrap();
    let each = sequences / LANES;
    let lanes: Vec<_> = (0..LANES)
        .map(|lane| {
            let store = store.clone();
            let first = first_seed + lane * each;
            tokio::spawn(async move { compare_many(&store, first..first + each, 40).await })
        })
        .collect();
    for lane in lanes {
        lane.await.unwrap();
    }
    assert!(store.stats().checkpoints > 10, "{:?}", store.stats());
}
