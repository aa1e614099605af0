//! The outputs that are kept: where, what waits for a bucket that is away, and what nobody names.

mod orphans;

use std::time::Duration;

use toolplane_results::payload::Location;
use toolplane_results::{PayloadError, PayloadStore};

use crate::options::SchedulerOptions;

pub(crate) use orphans::{Orphans, is_over};

/// How often what waits for the object store is tried to be moved, while that fails.
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

/// Opens the place that is configured, and asks a bucket whether it can be used.
///
/// Fails when it cannot. One that does not answer now is no failure where there is a spool: outputs wait there.
pub(crate) async fn open(options: &SchedulerOptions) -> Result<PayloadStore, PayloadError> {
    let limits = options.payloads.clone();
    let Some(url) = &options.bucket else { return PayloadStore::local(&options.objects, limits) };
    let mut payloads = PayloadStore::open(&url.parse::<Location>()?, limits)?;
    if let Some(spool) = &options.spool {
        payloads = payloads.with_spool(spool)?;
    }
    match payloads.probe(&uuid::Uuid::new_v4().simple().to_string()).await {
        Err(error @ PayloadError::Store { .. }) if options.spool.is_some() => {
            payloads.note_away(&error);
            Ok(payloads)
        }
        probed => probed.map(|()| payloads),
    }
}

/// Moves what waits for the object store there, in an endless loop.
pub(crate) async fn move_spooled(payloads: PayloadStore) {
    let mut pause = SHORTEST;
    loop {
        tokio::time::sleep(pause).await;
        match payloads.move_spooled().await {
            Ok(0) => pause = SHORTEST,
            Ok(moved) => {
                tracing::info!(kind = "spool_moved", moved, "outputs that waited are in the object store");
                pause = SHORTEST;
            }
            Err(error) => {
                let waiting = payloads.waiting_bytes();
                tracing::warn!(kind = "spool_waits", waiting, %error, "outputs still wait for the object store");
                pause = (pause * 2).min(LONGEST);
            }
        }
    }
}
