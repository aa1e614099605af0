//! The one mapping from a failed request to a gRPC status.

use std::time::Duration;

use tonic::{Code, Status};
use toolplane_lifecycle::Refusal;
use toolplane_runtime::ApiError;
use toolplane_runtime::status::Violation;
use toolplane_store::{Retry, StoreError};

use crate::engine::EngineError;
use crate::error::CallError;

/// The status of a failed request.
pub(crate) fn of(error: CallError) -> Status {
    match error {
        // What the surface service says about the caller's ids is the caller's answer.
        CallError::Peer { status, .. } if matches!(status.code(), Code::NotFound | Code::InvalidArgument) => status,
        error => api(error).into(),
    }
}

fn api(error: CallError) -> ApiError {
    match error {
        CallError::Invalid(faults) => ApiError::InvalidArgument(
            faults.into_iter().map(|fault| Violation { field: fault.field, rule: fault.description }).collect(),
        ),
        CallError::NotFound { kind, id } => ApiError::not_found(kind, id),
        CallError::Reused { id } => ApiError::AlreadyExists {
            reason: "IDEMPOTENCY_MISMATCH",
            message: format!("`{id}` was accepted for a different request; use another key or id"),
        },
        CallError::Precondition(message) => {
            ApiError::FailedPrecondition { reason: "INVOCATION_STATE", subject: "invocation".to_owned(), message }
        }
        CallError::Peer { peer, status } => {
            tracing::warn!(peer, code = ?status.code(), message = status.message(), "a peer failed");
            ApiError::unavailable(
                "PEER_UNAVAILABLE",
                format!("the {peer} service does not answer; nothing was accepted"),
            )
        }
        CallError::Engine(error) => engine(error),
        CallError::Internal(cause) => ApiError::internal("SCHEDULER_INTERNAL", cause),
    }
}

fn engine(error: EngineError) -> ApiError {
    match error {
        EngineError::NotFound => ApiError::not_found("invocation", ""),
        EngineError::Refused { refusal, record } => match refusal {
            Refusal::Fenced => {
                ApiError::Conflict { reason: "LEASE_FENCED", message: "the lease is not the current one".to_owned() }
            }
            refusal => ApiError::FailedPrecondition {
                reason: "INVOCATION_STATE",
                subject: format!("invocation/{}", record.invocation_id),
                message: refusal.to_string(),
            },
        },
        EngineError::QueueFull { tenant, waiting } => ApiError::Exhausted {
            reason: "TENANT_QUEUE_FULL",
            subject: format!("tenant/{tenant}"),
            message: format!("{waiting} calls of tenant `{tenant}` wait already; nothing was accepted"),
            retry_after: Some(Duration::from_secs(1)),
        },
        EngineError::Store(error) => store(error),
        EngineError::Damaged(error) => ApiError::internal("RECORD_UNREADABLE", error),
    }
}

fn store(error: StoreError) -> ApiError {
    tracing::warn!(%error, "the store failed");
    match error.retry() {
        Retry::Never => ApiError::internal("STORE_REFUSED", error),
        _ => ApiError::unavailable("STORE_UNAVAILABLE", "the store does not answer"),
    }
}
