//! The conformance suite, and random runs beside the model with reopening in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;
use toolplane_store::Store;
use toolplane_store::conformance::{Differential, run_all};
use toolplane_store_embedded::{EmbeddedStore, Options};

use super::restless;

async fn check_conforms(options: Options) {
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
    check_conforms(Options::default()).await;
}

#[tokio::test]
async fn the_store_conforms_while_checkpoints_never_rest() {
    check_conforms(Options { checkpoint_bytes: 1, ..Options::default() }).await;
}

#[tokio::test]
async fn random_runs_match_the_model_across_checkpoints_and_reopening() {
    for seed in 100..106 {
        let directory = TempDir::new().unwrap();
        let mut run = Differential::new(seed);
        for round in 0..6_u64 {
            // One round in three never checkpoints, so its end is read from the log alone.
            let options = if (seed + round).is_multiple_of(3) { Options::default() } else { restless() };
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
