//! Why the book refuses.

use toolplane_records::codes;
use toolplane_records::ids::{ApprovalId, TenantId};
use toolplane_records::vocabulary::ApprovalState;
use toolplane_store::StoreError;

/// The book of approvals did not do what it was asked. No text holds anything of a call's input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// No such approval of this tenant.
    #[error("approval `{0}` does not exist")]
    NotFound(ApprovalId),
    /// The question was answered, expired or taken back before; that stays so.
    #[error("approval `{approval_id}` is {state} already by decision `{decision}`")]
    Settled {
        /// The question.
        approval_id: ApprovalId,
        /// How it ended.
        state: ApprovalState,
        /// The decision that counts; `none` when the question was taken back.
        decision: String,
    },
    /// This answer is not among those the question offers.
    #[error("{rule}")]
    NotOffered {
        /// The field of the answer.
        field: &'static str,
        /// The rule it breaks.
        rule: String,
    },
    /// Who asked may not answer.
    #[error(
        "the caller of a call cannot answer for it: answer with another credential, or let callers do so with \
         `permission.allow_self_approval`"
    )]
    SelfApproval,
    /// A tenant has as many of something as it may.
    #[error("the tenant has {limit} {what} already, which is as many as it may have")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// Whose they are.
        tenant: TenantId,
        /// The most there may be.
        limit: u64,
    },
    /// The request id was used with another body.
    #[error("request id `{0}` was used before with another body")]
    RequestIdReused(String),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored record cannot be read back. Only the place is told: the rest may be of an input.
    #[error("a stored record cannot be read ({:?} error in column {})", .0.classify(), .0.column())]
    Unreadable(#[from] serde_json::Error),
}

impl BookError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => codes::APPROVAL_NOT_FOUND.as_str(),
            Self::Settled { .. } => codes::APPROVAL_ANSWERED.as_str(),
            Self::NotOffered { .. } => codes::APPROVAL_NOT_OFFERED.as_str(),
            Self::SelfApproval => codes::APPROVAL_BY_SELF.as_str(),
            Self::TooMany { .. } => codes::APPROVAL_TOO_MANY.as_str(),
            Self::RequestIdReused(_) => codes::REQUEST_REUSED.as_str(),
            Self::Store(error) => error.code(),
            Self::Unreadable(_) => codes::APPROVAL_UNREADABLE.as_str(),
        }
    }
}
