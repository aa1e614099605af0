//! Why what is stored of calls could not be read or changed.

use std::sync::Arc;
use std::time::Duration;

use toolplane_lifecycle::Refusal;
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::stored::StoredError;
use toolplane_store::StoreError;

/// Why a stored record could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
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
        /// When places will probably be free.
        retry_after: Duration,
    },
    /// Calls come faster than they are accepted; nothing was stored.
    #[error("calls of {subject} come faster than they are accepted")]
    TooFast {
        /// Whose calls: `tenant/<id>` or `tool/<id>`.
        subject: String,
        /// When the next one is accepted.
        retry_after: Duration,
    },
    /// The call was accepted, ended and removed before, or its key is too old to tell; nothing was stored.
    #[error("the idempotency key of `{id}` has expired")]
    KeyExpired {
        /// The invocation it named.
        id: InvocationId,
    },
    /// The same id was used for another call that is no longer kept; nothing was stored.
    #[error("the invocation `{id}` was accepted for a different request")]
    KeyReused {
        /// The invocation.
        id: InvocationId,
    },
    /// A counted index has no place left; nothing was written.
    #[error("`{index}` is full")]
    Full {
        /// The index.
        index: String,
    },
    /// The store did not answer, or refused; nothing was written.
    #[error("the store failed: {0}")]
    Store(#[from] StoreError),
    /// The store did not answer for so long that it is not known whether the change was made.
    #[error("the outcome is not known: {0}")]
    OutcomeUnknown(StoreError),
    /// A stored record cannot be read or written.
    #[error("a stored record is damaged: {0}")]
    Damaged(#[from] StoredError),
    /// A bound's pattern is not one.
    #[error("a tool pattern is malformed: {0}")]
    Pattern(toolplane_matching::glob::InvalidGlob),
    /// Objects that guard starts or keep archives cannot be reached.
    #[error("the object store failed: {0}")]
    Objects(#[from] toolplane_results::PayloadError),
}

impl From<serde_json::Error> for RecordError {
    fn from(error: serde_json::Error) -> Self {
        Self::Damaged(error.into())
    }
}
