//! Receipts: which offers are known to have arrived. Only calls that arrived can be what a worker died of.
//!
//! A receipt costs no write of its own. It is kept in memory by the scheduler its worker is connected to, and goes into the store
//! with whatever is stored next of the call, or when the worker's stream ends: another scheduler may be the one that hears of
//! the worker's death.

use futures_util::StreamExt;
use toolplane_lifecycle::{Command, LeaseKey};
use toolplane_records::ids::InvocationKey;

use super::workers::WorkerLink;
use super::{Engine, EngineError};

/// Receipts stored at the same time.
const AT_ONCE: usize = 32;

impl Engine {
    /// The offer of a lease arrived at its worker.
    pub(crate) async fn received(&self, lease: &LeaseKey) {
        self.0.hot.received(lease).await;
    }

    /// Lets the record at hand say whether the offer of its lease arrived, before that lease is called lost.
    pub(crate) async fn tell_receipt(&self, id: &InvocationKey) {
        self.0.hot.tell_receipt(id).await;
    }

    /// The stream of a worker ended: what only this process knows of its receipts is stored.
    pub(crate) async fn keep_receipts(&self, link: &WorkerLink) {
        if !self.0.shared {
            return;
        }
        let kept = link.leases().into_iter().map(|lease| self.keep_receipt(lease));
        futures_util::stream::iter(kept).buffer_unordered(AT_ONCE).collect::<()>().await;
    }

    async fn keep_receipt(&self, lease: LeaseKey) {
        if !self.0.hot.was_received(&lease).await {
            return;
        }
        match self.command(&lease.call(), Vec::new(), |_| Command::Receive { lease: lease.clone() }).await {
            Ok(_) | Err(EngineError::Refused { .. } | EngineError::NotFound) => {}
            Err(error) => {
                tracing::debug!(invocation_id = %lease.invocation_id, %error, "a receipt could not be stored");
            }
        }
    }
}
