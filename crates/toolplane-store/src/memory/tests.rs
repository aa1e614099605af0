use std::sync::Arc;

use super::MemoryStore;
use crate::conformance::{self, Differential};
use crate::{Commit, CommitOutcome, Durability, Store};

#[tokio::test]
async fn the_model_keeps_every_promise() {
    conformance::run_all(async || Arc::new(MemoryStore::new()) as Arc<dyn Store>).await;
}

#[tokio::test]
async fn random_runs_apply_most_of_their_commits_and_meet_every_refusal() {
    for seed in 1..=4 {
        let met = Differential::met(seed, 400).await;
        assert!((120..380).contains(&met[0]), "seed {seed} meets {met:?}");
        assert!(met.iter().all(|kind| *kind >= 4), "seed {seed} meets {met:?}");
    }
}

#[tokio::test]
async fn runs_in_one_store_do_not_see_each_other() {
    let store = MemoryStore::new();
    let mut runs: Vec<_> = (1..=12).map(|seed| Differential::within(seed, format!("{seed}/"))).collect();
    for _ in 0..30 {
        for run in &mut runs {
            run.steps(&store, 3).await;
        }
    }
    for run in &runs {
        run.compare(&store).await;
    }
    conformance::compare_many(&store, 50..60, 40).await;
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

#[tokio::test]
async fn the_model_answers_damage_as_every_store_does() {
    let store = std::sync::Arc::new(MemoryStore::new());
    let spoil = |same: std::sync::Arc<dyn Store>, target| {
        match target {
            conformance::DamageTarget::Record(key, _) => store.spoil(&key),
            conformance::DamageTarget::Event(stream, seq, _) => store.spoil_event(stream, seq),
        }
        Box::pin(std::future::ready(same)) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>
    };
    conformance::damage_is_named_and_hides_nothing_else(store.clone(), &spoil).await;
}
