//! Whole clusters, broken.

use toolplane_faults::bed::{Plan, StoreKind};
use toolplane_faults::load::Mix;
use toolplane_faults::scenario::executor_points;
use toolplane_faults::scenario::points::kill_points;
use toolplane_faults::scenario::storm::{Storm, storm};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_points_embedded() {
    let only: Vec<String> = std::env::var("FAULTS_ONLY").map(|only| only.split(',').map(str::to_owned).collect()).unwrap_or_default();
    let (verdict, kills) = kill_points(StoreKind::Embedded, 1, &only).await.unwrap();
    println!("{kills} kills: {:?}", verdict.ends);
    assert!(verdict.is_green(), "{}", verdict.shown(20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn executor_points_embedded() {
    let (verdict, kills) = executor_points(StoreKind::Embedded, 1).await.unwrap();
    println!("{kills} kills: {:?}", verdict.ends);
    assert!(verdict.is_green(), "{}", verdict.shown(20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storm_embedded() {
    let plan = Plan::on(StoreKind::Embedded, 4);
    let weather = storm(Storm { plan, invocations: 2_500, kills: 20, mix: Mix::STORM, callers: 32, seed: 1 }).await.unwrap();
    println!("{} kills, {} calls in {:?}: {:?}", weather.kills, weather.asked, weather.took, weather.verdict.ends);
    assert!(weather.verdict.is_green(), "{}", weather.verdict.shown(20));
}
