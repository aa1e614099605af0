//! Why the rule book refuses.

use toolplane_records::codes;
use toolplane_records::error::FieldViolation;
use toolplane_store::StoreError;

use super::fault::Faults;
use super::stored::StoredError;

/// The rule book did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// Configured rules are wrong; the set before stays in force.
    #[error("{0}")]
    Refused(#[from] Faults),
    /// Rules that are to be added are wrong.
    #[error("the rules are refused")]
    Invalid(Vec<FieldViolation>),
    /// The rules are about another tenant.
    #[error("a rule can only be about the tenant of its author")]
    ForeignTenant,
    /// Another rule has this name.
    #[error("there is another rule `{0}`, in force or not")]
    Exists(String),
    /// The request id was used with another body.
    #[error("request id `{0}` was used before with another body")]
    RequestIdReused(String),
    /// No such rule of this tenant.
    #[error("rule `{0}` does not exist")]
    NotFound(String),
    /// The rule is not kept in the store.
    #[error("rule `{rule_id}` is configured ({origin}); remove it there")]
    Configured {
        /// The rule.
        rule_id: String,
        /// Where it is kept.
        origin: String,
    },
    /// The tenant has as many stored rules as it may.
    #[error("the tenant has {limit} stored rules already, which is as many as it may have")]
    TooMany {
        /// Whose they are.
        tenant: String,
        /// The most there may be.
        limit: u64,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Stored rules cannot be used. What was in force before is not what should be, so nothing is decided by it.
    #[error("stored rules cannot be used: {0}")]
    Unusable(Faults),
    /// A stored rule cannot be read back.
    #[error("a stored rule cannot be read ({:?} error in column {})", .0.classify(), .0.column())]
    Unreadable(#[from] serde_json::Error),
    /// The process is ending.
    #[error("reading the rules was interrupted: {0}")]
    Interrupted(String),
}

impl RulesError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(_) => codes::RULES_REFUSED.as_str(),
            Self::Invalid(_) => codes::RULES_INVALID.as_str(),
            Self::ForeignTenant => codes::RULES_FOREIGN_TENANT.as_str(),
            Self::Exists(_) => codes::RULES_EXISTS.as_str(),
            Self::RequestIdReused(_) => codes::REQUEST_REUSED.as_str(),
            Self::NotFound(_) => codes::RULES_NOT_FOUND.as_str(),
            Self::Configured { .. } => codes::RULES_CONFIGURED.as_str(),
            Self::TooMany { .. } => codes::RULES_TOO_MANY.as_str(),
            Self::Store(error) => error.code(),
            Self::Unusable(_) => codes::RULES_NOT_USABLE.as_str(),
            Self::Unreadable(_) => codes::RULES_UNREADABLE.as_str(),
            Self::Interrupted(_) => codes::RULES_INTERRUPTED.as_str(),
        }
    }
}

impl From<StoredError> for RulesError {
    fn from(error: StoredError) -> Self {
        match error {
            StoredError::Store(error) => Self::Store(error),
            StoredError::Unreadable(error) => Self::Unreadable(error),
        }
    }
}
