//! From this role's refusals to what callers and operators see.

use toolplane_proto::convert::ConvertError;
use toolplane_runtime::{ApiError, ConfigError};
use toolplane_store::{Retry, StoreError};
use toolplane_store_embedded::OpenError;

use crate::approvals::BookError;

/// The role could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration is wrong, e.g. one of its rules.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store's directory cannot be used.
    #[error("the permission store cannot be opened: {0}")]
    Open(#[from] OpenError),
    /// What the store holds cannot be used.
    #[error("the approvals cannot be read: {0}")]
    Book(#[from] BookError),
}

impl StartError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Open(error) => error.code(),
            Self::Book(error) => error.code(),
        }
    }
}

impl From<BookError> for ApiError {
    fn from(error: BookError) -> Self {
        let message = error.to_string();
        match error {
            BookError::NotFound(id) => Self::not_found("approval", id.as_str()),
            BookError::Settled { approval_id, .. } => {
                let subject = format!("approval/{approval_id}");
                Self::FailedPrecondition { reason: "APPROVAL_SETTLED", subject, message }
            }
            BookError::RequestIdReused(_) => Self::AlreadyExists { reason: "REQUEST_ID_REUSED", message },
            BookError::Store(error) => of_store(&error),
            BookError::Unreadable(error) => Self::internal("RECORD_UNREADABLE", error),
        }
    }
}

fn of_store(error: &StoreError) -> ApiError {
    match error.retry() {
        Retry::Definite | Retry::Ambiguous => {
            tracing::warn!(%error, code = error.code(), "the store does not take a call");
            ApiError::unavailable("STORE_UNAVAILABLE", "the approvals cannot be reached now")
        }
        Retry::Never | Retry::Fatal => ApiError::internal("STORE_FAILED", error),
    }
}

pub(crate) fn of_field(error: ConvertError) -> ApiError {
    ApiError::invalid_argument(error.field, error.rule)
}
