//! From this role's refusals to what callers and operators see.

use std::time::Duration;
use toolplane_records::codes;

use toolplane_backend::BackendError;
use toolplane_hooks::HooksError;
use toolplane_proto::convert::ConvertError;
use toolplane_runtime::process::RoleError;
use toolplane_runtime::{ApiError, ConfigError};
use toolplane_store::StoreError;

use crate::approvals::BookError;
use crate::rules::RulesError;

/// When it is worth looking again whether a tenant has room.
const TOO_MANY_PAUSE: Duration = Duration::from_secs(30);

/// The role could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PermissionError {
    /// The configuration is wrong, e.g. one of its rules.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store cannot be used.
    #[error("the permission store cannot be opened: {0}")]
    Open(#[from] BackendError),
    /// A hook cannot be opened.
    #[error(transparent)]
    Hooks(#[from] HooksError),
    /// The store does not answer.
    #[error("the permission store cannot be read: {0}")]
    Store(#[from] StoreError),
    /// The rules cannot be used.
    #[error("the rules cannot be used: {0}")]
    Rules(#[from] RulesError),
}

impl PermissionError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Open(error) => error.code(),
            Self::Hooks(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Rules(error) => error.code(),
        }
    }
}

impl From<PermissionError> for RoleError {
    fn from(error: PermissionError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<BookError> for ApiError {
    fn from(error: BookError) -> Self {
        let message = error.to_string();
        match error {
            BookError::NotFound(id) => Self::not_found("approval", id.as_str()),
            BookError::Settled { approval_id, .. } => {
                let subject = format!("approval/{approval_id}");
                Self::FailedPrecondition { reason: codes::APPROVAL_SETTLED, subject, message }
            }
            BookError::NotOffered { field, rule } => Self::invalid_argument(field, rule),
            BookError::SelfApproval => Self::PermissionDenied { reason: codes::SELF_APPROVAL, message },
            BookError::TooMany { tenant, .. } => {
                // Room is made by people, and it is not known when.
                let subject = format!("tenant/{tenant}");
                Self::Exhausted { reason: codes::TOO_MANY, subject, message, retry_after: Some(TOO_MANY_PAUSE) }
            }
            BookError::RequestIdReused(_) => Self::AlreadyExists { reason: codes::REQUEST_ID_REUSED, message },
            BookError::Store(error) => toolplane_backend::api_error("permission", &error),
            BookError::Unreadable(_) => Self::internal(codes::RECORD_UNREADABLE, message),
        }
    }
}

impl From<RulesError> for ApiError {
    fn from(error: RulesError) -> Self {
        let message = error.to_string();
        match error {
            RulesError::Refused(faults) => {
                Self::invalid_arguments(faults.0.into_iter().map(|fault| (fault.place, fault.rule)))
            }
            RulesError::Invalid(faults) => {
                Self::invalid_arguments(faults.into_iter().map(|fault| (fault.field, fault.description)))
            }
            RulesError::ForeignTenant => Self::PermissionDenied { reason: codes::FOREIGN_TENANT, message },
            RulesError::Exists(_) => Self::AlreadyExists { reason: codes::RULE_EXISTS, message },
            RulesError::RequestIdReused(_) => Self::AlreadyExists { reason: codes::REQUEST_ID_REUSED, message },
            RulesError::NotFound(rule_id) => Self::not_found("rule", rule_id),
            RulesError::Configured { rule_id, .. } => {
                Self::FailedPrecondition { reason: codes::RULE_CONFIGURED, subject: format!("rule/{rule_id}"), message }
            }
            RulesError::TooMany { tenant, .. } => Self::Exhausted {
                reason: codes::TOO_MANY,
                subject: format!("tenant/{tenant}"),
                message,
                retry_after: Some(TOO_MANY_PAUSE),
            },
            RulesError::Store(error) => toolplane_backend::api_error("permission", &error),
            RulesError::Unusable(faults) => Self::internal(codes::RULES_UNUSABLE, faults),
            RulesError::Unreadable(_) => Self::internal(codes::RECORD_UNREADABLE, message),
            RulesError::Interrupted(_) => Self::unavailable(codes::STOPPING, "this process is ending"),
        }
    }
}

pub(crate) fn of_field(error: ConvertError) -> ApiError {
    ApiError::invalid_argument(error.field, error.rule)
}
