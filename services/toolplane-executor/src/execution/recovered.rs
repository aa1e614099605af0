//! Endings an earlier start of this worker left in its journal.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use toolplane_proto::v1::ExecutionDone;

use crate::executor::Core;
use crate::journal::Finished;
use crate::leases::Taken;
use crate::outcome;
use crate::seat::{Nature, Seat};

/// How long outputs of such calls are tried to be kept before the worker introduces itself: their leases go on only until
/// then, and everything else waits.
const PERSIST: Duration = Duration::from_secs(8);

/// Finishes what was left: outputs are kept, and the ends are held ready to be said first of all.
pub(crate) async fn report_recovered(core: &Arc<Core>, left: Vec<Finished>) {
    if left.is_empty() {
        return;
    }
    tracing::info!(endings = left.len(), "reporting calls that ended in an earlier life of this worker");
    // Several at a time: an object store that is away must not be waited for once per call.
    join_all(left.into_iter().map(|finished| one(core, finished))).await;
}

async fn one(core: &Arc<Core>, finished: Finished) {
    let lease = finished.lease();
    // Their time is over, so of their nature nothing matters any more.
    let seat = Arc::new(Seat::new(lease.clone(), Nature::default()));
    if !matches!(core.leases.seat(seat.clone()), Taken::Seated { .. }) || !core.leases.begin(&lease) {
        return core.journal.settle(&lease);
    }
    let (frame, given) = finished.into_parts();
    let outcome = outcome::report(core, &lease, &frame, given, PERSIST).await;
    core.leases.end(&lease, ExecutionDone { lease: Some(lease.clone()), outcome: Some(outcome) });
}
