//! Refusals before durable acceptance, and their one mapping to gRPC statuses with google.rpc details.
//!
//! After acceptance there are no refusals: every ending of a call is a `tool_result` and the RPC is `OK`.

use std::borrow::Cow;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use toolplane_records::codes::{self, Kind, Retry};

use crate::code_name::code_name;

mod describe;
#[cfg(test)]
mod tests;

pub use describe::{Description, describe, reason};

/// Domain of every `ErrorInfo` this project sends; with the reason it identifies an error for good.
pub const ERROR_DOMAIN: &str = "toolplane.dev";

// A status travels in the trailers of a response, of which clients take 8 KiB in all, and the text is in there twice. So
// neither texts nor lists grow with what was sent: the first of many wrong fields are told, and how many there are.
/// Most bytes of wrong fields and their rules that one refusal names.
const MAX_DETAIL_BYTES: usize = 4 * 1024;
/// Longest text of a refusal, in bytes.
const MAX_TEXT_BYTES: usize = 400;

/// A text as it fits into a status.
fn cut(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_TEXT_BYTES - 4).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{} ...", &text[..end])
}

/// One wrong field of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field in the request, e.g. `spec.model_input`.
    pub field: String,
    /// The rule it broke.
    pub rule: String,
}

/// Why a request was refused before anything was accepted.
///
/// Texts are lowercase, without final dot, with user input in backticks, and never hold internals. Reasons are stable
/// `UPPER_SNAKE_CASE` words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// No or unknown credentials.
    #[error("{message}")]
    Unauthenticated {
        /// Stable reason.
        reason: codes::Code,
        /// For people.
        message: String,
    },
    /// The caller may not use this RPC, tenant or surface. Answered before existence is looked at.
    #[error("{message}")]
    PermissionDenied {
        /// Stable reason.
        reason: codes::Code,
        /// For people.
        message: String,
    },
    /// Fields of the request are wrong.
    #[error("{}", invalid_text(.0))]
    InvalidArgument(Vec<Violation>),
    /// No such thing; also for things of other tenants.
    #[error("{kind} `{name}` does not exist")]
    NotFound {
        /// The noun, e.g. `invocation`.
        kind: &'static str,
        /// The id asked for.
        name: String,
    },
    /// The same request id or key was used for something else.
    #[error("{message}")]
    AlreadyExists {
        /// Stable reason, e.g. `REQUEST_ID_REUSED`.
        reason: codes::Code,
        /// For people.
        message: String,
    },
    /// The thing exists and its state does not allow this.
    #[error("{message}")]
    FailedPrecondition {
        /// Stable reason, e.g. `INVOCATION_TERMINAL`.
        reason: codes::Code,
        /// The thing, e.g. `invocation/inv_1`.
        subject: String,
        /// For people.
        message: String,
    },
    /// Another caller or process changed it first.
    #[error("{message}")]
    Conflict {
        /// Stable reason, e.g. `VERSION_LOST`.
        reason: codes::Code,
        /// For people.
        message: String,
    },
    /// A limit of this cluster is reached.
    #[error("{message}")]
    Exhausted {
        /// Stable reason, e.g. `TENANT_QUEUE_FULL`.
        reason: codes::Code,
        /// What the limit counts, e.g. `tenant/acme`.
        subject: String,
        /// For people.
        message: String,
        /// When to try again; `None` when waiting does not help (the message itself is too large).
        retry_after: Option<Duration>,
    },
    /// Something this needs is away, or this process is draining.
    #[error("{message}")]
    Unavailable {
        /// Stable reason, e.g. `STORE_UNAVAILABLE`.
        reason: codes::Code,
        /// For people.
        message: String,
        /// When to try again.
        retry_after: Duration,
    },
    /// Something stored is not as it was written. It stays refused until an operator has dealt with it.
    #[error("{message}")]
    Damaged {
        /// Stable reason, e.g. `STORE_DAMAGED`.
        reason: codes::Code,
        /// For people: what is damaged, by name.
        message: String,
    },
    /// A fault of ours. The cause belongs into the log, never here.
    #[error("internal error")]
    Internal {
        /// Stable reason, e.g. `RECORD_UNREADABLE`.
        reason: codes::Code,
    },
}

impl ApiError {
    /// One wrong field.
    pub fn invalid_argument(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::InvalidArgument(vec![Violation { field: field.into(), rule: rule.into() }])
    }

    /// Several wrong fields.
    pub fn invalid_arguments(violations: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::InvalidArgument(violations.into_iter().map(|(field, rule)| Violation { field, rule }).collect())
    }

    /// No such thing.
    pub fn not_found(kind: &'static str, name: impl Into<String>) -> Self {
        Self::NotFound { kind, name: name.into() }
    }

    /// Something this needs is away; worth a retry in about a second.
    pub fn unavailable(reason: codes::Code, message: impl Into<String>) -> Self {
        Self::Unavailable { reason, message: message.into(), retry_after: Duration::from_secs(1) }
    }

    /// A fault of ours; `cause` goes to the log and stays there.
    pub fn internal(reason: codes::Code, cause: impl std::fmt::Display) -> Self {
        tracing::error!(%reason, %cause, "internal error");
        Self::Internal { reason }
    }

    /// Stable machine-readable reason, sent as `ErrorInfo.reason`.
    pub fn reason(&self) -> &'static str {
        self.registered().as_str()
    }

    fn registered(&self) -> codes::Code {
        match self {
            Self::Unauthenticated { reason, .. }
            | Self::PermissionDenied { reason, .. }
            | Self::AlreadyExists { reason, .. }
            | Self::FailedPrecondition { reason, .. }
            | Self::Conflict { reason, .. }
            | Self::Exhausted { reason, .. }
            | Self::Unavailable { reason, .. }
            | Self::Damaged { reason, .. }
            | Self::Internal { reason } => *reason,
            Self::InvalidArgument(_) => codes::INVALID_ARGUMENT,
            Self::NotFound { .. } => codes::NOT_FOUND,
        }
    }

    /// The gRPC code.
    pub fn code(&self) -> Code {
        match self {
            Self::Unauthenticated { .. } => Code::Unauthenticated,
            Self::PermissionDenied { .. } => Code::PermissionDenied,
            Self::InvalidArgument(_) => Code::InvalidArgument,
            Self::NotFound { .. } => Code::NotFound,
            Self::AlreadyExists { .. } => Code::AlreadyExists,
            Self::FailedPrecondition { .. } => Code::FailedPrecondition,
            Self::Conflict { .. } => Code::Aborted,
            Self::Exhausted { .. } => Code::ResourceExhausted,
            Self::Unavailable { .. } => Code::Unavailable,
            Self::Damaged { .. } => Code::DataLoss,
            Self::Internal { .. } => Code::Internal,
        }
    }

    /// What the caller can do about it.
    pub fn retry_class(&self) -> Retry {
        match self {
            Self::Unauthenticated { .. } | Self::InvalidArgument(_) | Self::FailedPrecondition { .. } => {
                Retry::AfterChange
            }
            Self::PermissionDenied { .. } | Self::NotFound { .. } | Self::AlreadyExists { .. } => Retry::Never,
            Self::Conflict { .. } => Retry::AfterReread,
            Self::Exhausted { retry_after: None, .. } => Retry::AfterChange,
            Self::Exhausted { .. } | Self::Unavailable { .. } => Retry::Later,
            Self::Damaged { .. } | Self::Internal { .. } => Retry::Never,
        }
    }

    fn details(&self) -> ErrorDetails {
        debug_assert!(
            matches!(self.registered().entry().kind, Kind::Refusal(status, _) if status.as_str() == code_name(self.code())),
            "the registry has another status for {}",
            self.reason()
        );
        let metadata = [("retry".to_owned(), self.retry_class().as_str().to_owned())];
        let mut details = ErrorDetails::with_error_info(self.reason(), ERROR_DOMAIN, metadata);
        match self {
            Self::InvalidArgument(violations) => {
                let mut left = MAX_DETAIL_BYTES;
                for Violation { field, rule } in violations {
                    let (field, rule) = (cut(field), cut(rule));
                    let Some(rest) = left.checked_sub(field.len() + rule.len()) else { break };
                    left = rest;
                    details.add_bad_request_violation(field, rule);
                }
            }
            Self::NotFound { kind, name } => {
                details.set_resource_info(*kind, cut(name), "", "does not exist");
            }
            Self::FailedPrecondition { reason, subject, message } => {
                details.add_precondition_failure_violation(reason.as_str(), cut(subject), cut(message));
            }
            Self::Exhausted { subject, message, retry_after, .. } => {
                details.add_quota_failure_violation(cut(subject), cut(message));
                if retry_after.is_some() {
                    details.set_retry_info(*retry_after);
                }
            }
            Self::Unavailable { retry_after, .. } => {
                details.set_retry_info(Some(*retry_after));
            }
            _ => {}
        }
        details
    }
}

impl From<&ApiError> for Status {
    fn from(error: &ApiError) -> Self {
        Self::with_error_details(error.code(), cut(&error.to_string()), error.details())
    }
}

impl From<ApiError> for Status {
    fn from(error: ApiError) -> Self {
        Self::from(&error)
    }
}

fn invalid_text(violations: &[Violation]) -> Cow<'static, str> {
    match violations {
        [] => Cow::Borrowed("request is invalid"),
        [Violation { field, rule }] => Cow::Owned(format!("`{field}` {rule}")),
        [Violation { field, rule }, rest @ ..] => {
            Cow::Owned(format!("`{field}` {rule} (and {} more fields are wrong)", rest.len()))
        }
    }
}
