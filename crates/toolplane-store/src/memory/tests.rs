use std::sync::Arc;

use super::MemoryStore;
use crate::conformance::{self, Differential};
use crate::{Commit, CommitOutcome, Durability, Store};

#[tokio::test]
async fn the_model_keeps_every_promise() {
    conformance::run_all(async || Arc::new(MemoryStore::new()) as Arc<dyn Store>).await;
}

#[tokio::test]
async fn random_runs_apply_most_of_their_commits_but_not_all() {
    for seed in 1..=4 {
        let share = Differential::applied_share(seed, 400).await;
        assert!((0.3..0.95).contains(&share), "seed {seed} applies {share:.2} of its commits");
    }
}

#[tokio::test]
#[should_panic(expected = "seed 1")]
async fn the_differential_run_notices_a_store_that_missed_a_commit() {
    let (store, mut run) = (MemoryStore::new(), Differential::new(1));
    run.steps(&store, 100).await;
    run.compare(&MemoryStore::new()).await;
}

#[tokio::test]
async fn operations_are_forgotten_only_after_their_time() {
    let store = MemoryStore::new();
    let commit = Commit { operation_id: Some("op".to_owned()), ..Commit::default() };
    let start = store.now().await.unwrap();
    for (later, expected) in [
        (0, CommitOutcome::Applied),
        (crate::commit::OPERATION_MEMORY_MILLIS, CommitOutcome::Replayed),
        (crate::commit::OPERATION_MEMORY_MILLIS + 1, CommitOutcome::Applied),
    ] {
        let outcome = store.state.lock().commit(commit.clone(), start.plus_millis(later));
        assert_eq!(outcome, Ok(expected), "{later} ms later");
    }
    assert_eq!(store.durability(), Durability::Buffered);
}
