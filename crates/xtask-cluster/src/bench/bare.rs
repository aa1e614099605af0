//! The least a call can cost on a store: its two commits and nothing around them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolplane_store::Store;
use toolplane_testkit::Problem;

use super::load::{self, Metered};
use super::meters::Meters;
use super::{commits, stores};

/// Runs `concurrency` callers that make both commits of a call, one after the other; a call is measured as both. Each `run` on
/// a store has a number of its own.
pub(super) async fn run(
    store: &Arc<dyn Store>,
    (concurrency, run): (usize, u64),
    time: Duration,
    meters: &Meters,
) -> Result<Metered, Problem> {
    let (store, next) = (Arc::clone(store), Arc::new(AtomicU64::new(0)));
    // Ids of one run must not meet those of another.
    let first = (concurrency as u64 * 1_000 + run) * 1_000_000_000;
    let call = move || {
        let (store, number) = (Arc::clone(&store), first + next.fetch_add(1, Ordering::Relaxed));
        async move {
            stores::apply(&*store, commits::accept_and_claim(number)).await?;
            stores::apply(&*store, commits::done(number)).await
        }
    };
    load::metered(concurrency, time, meters, call).await
}
