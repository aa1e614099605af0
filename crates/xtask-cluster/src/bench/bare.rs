//! The least a call can cost on a store: its two commits and nothing around them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolplane_store::Store;
use toolplane_testkit::Problem;

use super::load::{self, Measured};
use super::{commits, stores};

/// Runs `concurrency` callers that make both commits of a call, one after the other; a call is measured as both.
pub(super) async fn run(store: &Arc<dyn Store>, concurrency: usize, time: Duration) -> Result<Measured, Problem> {
    let (store, next) = (Arc::clone(store), Arc::new(AtomicU64::new(0)));
    // Ids of one run must not meet those of another.
    let run = concurrency as u64 * 1_000_000_000;
    let call = move || {
        let (store, number) = (Arc::clone(&store), run + next.fetch_add(1, Ordering::Relaxed));
        async move {
            stores::apply(&*store, commits::accept_and_claim(number)).await?;
            stores::apply(&*store, commits::done(number)).await
        }
    };
    load::run(concurrency, time, call).await
}
