//! The end of a worker: no new calls, a bounded time for those that run, and a goodbye.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::executor::Core;
use crate::seat::Stop;

/// How long calls that can run elsewhere may take to end before they are given back.
const RELEASE_AFTER: Duration = Duration::from_secs(1);
/// How long stopped executions may take to end once the drain's own time is up.
const STOP_BOUND: Duration = Duration::from_secs(3);
/// How long the scheduler may take to acknowledge the last reports.
const ACKNOWLEDGE_BOUND: Duration = Duration::from_millis(1500);
/// How long the goodbye may take to leave.
const GOODBYE_BOUND: Duration = Duration::from_millis(300);

/// Waits for the wish to stop, then ends the worker in order. The session goes on meanwhile.
pub(crate) async fn run(core: Arc<Core>) {
    core.shutdown.requested().await;
    core.start_draining();
    for seat in core.leases.take_waiting() {
        seat.stop(Stop::Shutdown);
        core.outbox.released(seat.lease.clone(), "draining");
    }
    let (busy, until) = (core.leases.busy(), Instant::now() + core.options.drain);
    tracing::info!(busy, bound_ms = core.options.drain.as_millis(), "executor drains");
    tokio::select! {
        () = finish(&core, until) => {}
        () = core.shutdown.forced() => {}
    }
    let late = core.leases.running();
    if !late.is_empty() {
        tracing::warn!(late = late.len(), "calls outlast the drain; stopping them");
        for seat in late {
            seat.stop(Stop::Shutdown);
        }
        core.hurry.cancel();
        settled(&core, Instant::now() + STOP_BOUND, |core| core.leases.busy() == 0).await;
    }
    let heard = settled(&core, Instant::now() + ACKNOWLEDGE_BOUND, |core| core.leases.len() == 0).await;
    if !heard {
        // The scheduler settles them by their leases.
        tracing::warn!(left = core.leases.len(), "the scheduler did not acknowledge every report");
    }
    core.end_drain();
    // The session ends by itself when the scheduler answers the goodbye; this is for one that does not.
    tokio::time::sleep(GOODBYE_BOUND).await;
    tracing::info!("executor ended");
}

/// Waits for running calls until `until`. Where others can take them, those that may be repeated are given back before.
async fn finish(core: &Core, until: Instant) {
    let release_at = (Instant::now() + RELEASE_AFTER).min(until);
    let others = core.options.own_thread;
    if others && !settled(core, release_at, |core| core.leases.busy() == 0).await {
        for seat in core.leases.running().into_iter().filter(|seat| seat.nature.idempotent) {
            seat.stop(Stop::Shutdown);
        }
    }
    settled(core, until, |core| core.leases.busy() == 0).await;
}

/// Waits until `state` holds; false when `until` came first.
async fn settled(core: &Core, until: Instant, state: impl Fn(&Core) -> bool) -> bool {
    loop {
        let changed = core.leases.changed.notified();
        if state(core) {
            return true;
        }
        if tokio::time::timeout_at(until, changed).await.is_err() {
            return state(core);
        }
    }
}
