//! Whole clusters, broken: the small plan that every change has to pass. The large one is `toolplane-faults --full`.

use toolplane_faults::bed::{Plan, StoreKind};
use toolplane_faults::check::Verdict;
use toolplane_faults::load::Mix;
use toolplane_faults::scenario::points::kill_points;
use toolplane_faults::scenario::storm::{Storm, storm};
use toolplane_faults::scenario::{executor_points, killed, mutants, servers};

#[track_caller]
fn green(verdict: &Verdict, kills: u64) {
    println!("{} calls, {kills} kills: {:?}", verdict.invocations, verdict.ends);
    assert!(verdict.is_green(), "{}", verdict.shown(20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_ends_at_any_point_of_a_call_loses_and_repeats_nothing_on_the_embedded_store() {
    let (verdict, kills) = kill_points(StoreKind::Embedded, 1, &[]).await.unwrap();
    green(&verdict, kills);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_ends_at_any_point_of_a_call_loses_and_repeats_nothing_on_redis() {
    let (verdict, kills) = kill_points(StoreKind::Redis, 1, &[]).await.unwrap();
    green(&verdict, kills);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_of_a_real_executor_makes_a_success_of_a_done_effect() {
    let (verdict, kills) = executor_points(StoreKind::Embedded, 1).await.unwrap();
    green(&verdict, kills);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_servers_that_are_killed_with_their_workers_are_neither_lost_nor_done_twice() {
    let outcome = servers(StoreKind::Embedded, 400, 10, 1).await.unwrap();
    assert!(outcome.kills >= 10, "{} kills", outcome.kills);
    green(&outcome.verdict, outcome.kills);
}

#[expect(clippy::unwrap_used, reason = "a storm that cannot be made is a failed test")]
async fn a_storm(store: StoreKind) {
    // Longer leases than elsewhere: on a machine that is busy with other things, a worker that is merely slow must not look
    // lost. Who was killed is known to be dead at once, whatever the lease.
    let plan = Plan::on(store, 4)
        .set("TOOLPLANE__SCHEDULER__LEASE_MS", "4000")
        .set("TOOLPLANE__SCHEDULER__HEARTBEAT_MS", "600");
    // So few places that they go from shard to shard all the time.
    let plan = match store {
        StoreKind::Shards(_) => plan.set("TOOLPLANE__SCHEDULER__MAX_RUNNING_PER_TENANT", "24"),
        StoreKind::Embedded | StoreKind::Redis => plan,
    };
    let load = Storm { plan, invocations: 3_000, kills: 25, mix: Mix::STORM, callers: 48, seed: 1 };
    let outcome = storm(load).await.unwrap();
    assert!(outcome.kills >= 25 && outcome.asked >= 3_000, "{} calls, {} kills", outcome.asked, outcome.kills);
    green(&outcome.verdict, outcome.kills);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_on_the_embedded_store() {
    a_storm(StoreKind::Embedded).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_on_redis() {
    a_storm(StoreKind::Redis).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_ends_at_any_point_of_a_call_loses_and_repeats_nothing_on_shards() {
    let (verdict, kills) = kill_points(StoreKind::Shards(3), 1, &[]).await.unwrap();
    green(&verdict, kills);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_on_shards() {
    a_storm(StoreKind::Shards(3)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checker_notices_a_cluster_that_breaks_a_promise() {
    for fate in mutants(StoreKind::Embedded, None).await.unwrap() {
        let checks = fate.outcome.verdict.red_checks();
        assert!(killed(&fate), "{} lives: {checks:?}", fate.mutant.name());
    }
}
