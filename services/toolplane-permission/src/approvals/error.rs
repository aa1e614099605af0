//! Why the book refuses.

use toolplane_records::ids::ApprovalId;
use toolplane_records::vocabulary::ApprovalState;
use toolplane_store::StoreError;

/// The book of approvals did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// No such approval of this tenant.
    #[error("approval `{0}` does not exist")]
    NotFound(ApprovalId),
    /// The question was answered, expired or taken back before; that stands.
    #[error("approval `{approval_id}` is {state} already by decision `{decision}`")]
    Settled {
        /// The question.
        approval_id: ApprovalId,
        /// How it ended.
        state: ApprovalState,
        /// The decision that stands; `none` when the question was taken back.
        decision: String,
    },
    /// The request id was used with another body.
    #[error("request id `{0}` was used before with another body")]
    RequestIdReused(String),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored record cannot be read back.
    #[error("stored approval cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl BookError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "approval.not_found",
            Self::Settled { .. } => "approval.settled",
            Self::RequestIdReused(_) => "request_id.reused",
            Self::Store(error) => error.code(),
            Self::Unreadable(_) => "approval.unreadable",
        }
    }
}
