//! Receipts: which offers are known to have arrived. Only calls that arrived can be what a worker died of.
//!
//! A receipt costs no write of its own. It is kept in memory by the scheduler its worker is connected to, and goes into the store
//! with whatever is stored next of the call, or when the worker's stream ends: another scheduler may be the one that hears of
//! the worker's death.

use futures_util::StreamExt;
use toolplane_lifecycle::{Command, LeaseKey};

use super::link::WorkerLink;
use crate::calls::Calls;
use crate::storage::RecordError;

/// Receipts stored at the same time.
const AT_ONCE: usize = 32;

/// The stream of a worker ended: what only this process knows of its receipts is stored.
pub(crate) async fn keep(calls: &Calls, link: &WorkerLink) {
    if !calls.storage().is_shared() {
        return;
    }
    let kept = link.leases().into_iter().map(|lease| keep_one(calls, lease));
    futures_util::stream::iter(kept).buffer_unordered(AT_ONCE).collect::<()>().await;
}

async fn keep_one(calls: &Calls, lease: LeaseKey) {
    if !calls.has_receipt(&lease).await {
        return;
    }
    match calls.command(&lease.call(), |_| Command::Receive { lease: lease.clone() }).await {
        Ok(_) | Err(RecordError::Refused { .. } | RecordError::NotFound) => {}
        Err(error) => {
            tracing::debug!(invocation_id = %lease.invocation_id, %error, "a receipt could not be stored");
        }
    }
}
