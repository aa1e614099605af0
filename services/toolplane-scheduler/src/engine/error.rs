//! Why the engine could not do what was asked.

use std::sync::Arc;

use toolplane_lifecycle::Refusal;
use toolplane_records::ids::TenantId;
use toolplane_records::invocation::Invocation;
use toolplane_store::StoreError;

/// Errors of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No such invocation.
    #[error("no such invocation")]
    NotFound,
    /// The lifecycle refuses; nothing was written.
    #[error("{refusal}")]
    Refused {
        /// Why.
        refusal: Refusal,
        /// The record as it is.
        record: Arc<Invocation>,
    },
    /// Too many calls of the tenant wait already; nothing was stored.
    #[error("{waiting} calls of tenant `{tenant}` wait already")]
    QueueFull {
        /// The tenant.
        tenant: TenantId,
        /// How many wait.
        waiting: u64,
    },
    /// The store did not answer, or refused.
    #[error("the store failed: {0}")]
    Store(#[from] StoreError),
    /// A stored record cannot be read or written as JSON.
    #[error("a stored record is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}
