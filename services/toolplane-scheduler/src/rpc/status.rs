//! The one mapping from a failed request to a gRPC status.

use std::time::Duration;
use toolplane_records::codes;

use tonic::{Code, Status};
use toolplane_lifecycle::Refusal;
use toolplane_results::PayloadError;
use toolplane_runtime::ApiError;
use toolplane_runtime::status::{Violation, describe, reason};

use crate::error::CallError;
use crate::storage::RecordError;

/// When to come back for a stream that follows a call.
const WATCHERS_RETRY: Duration = Duration::from_secs(2);

/// Trailer that tells gRPC clients with a retry policy when to come back, in milliseconds.
const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// The status of a failed request.
pub(crate) fn of(error: CallError) -> Status {
    match error {
        // What the surface service says about the caller's ids is the caller's answer.
        CallError::Peer { status, .. } if matches!(status.code(), Code::NotFound | Code::InvalidArgument) => status,
        error => {
            let error = api(error);
            let mut status = Status::from(&error);
            if let ApiError::Exhausted { retry_after: Some(delay), .. } = &error
                && let Ok(millis) = delay.as_millis().to_string().parse()
            {
                status.metadata_mut().insert(PUSHBACK, millis);
            }
            status
        }
    }
}

fn api(error: CallError) -> ApiError {
    match error {
        CallError::Invalid(faults) => ApiError::InvalidArgument(
            faults.into_iter().map(|fault| Violation { field: fault.field, rule: fault.description }).collect(),
        ),
        CallError::NotFound { kind, id } => ApiError::not_found(kind, id),
        CallError::Reused { id } => ApiError::AlreadyExists {
            reason: codes::IDEMPOTENCY_MISMATCH,
            message: format!("`{id}` was accepted for a different request; use another key or id"),
        },
        CallError::Held { id } => ApiError::FailedPrecondition {
            reason: codes::HELD,
            subject: "invocation".to_owned(),
            message: format!("a hold is on `{id}`; `toolplane hold list` says which"),
        },
        CallError::HeldOtherwise(which) => ApiError::FailedPrecondition {
            reason: codes::HELD,
            subject: "hold".to_owned(),
            message: format!("another hold is on it, {which}; clear it and set one that names both reasons"),
        },
        CallError::NotAReader { id } => ApiError::PermissionDenied {
            reason: codes::NOT_A_READER,
            message: format!("the original of `{id}` is for others to read"),
        },
        CallError::Sealed { id, why } => ApiError::FailedPrecondition {
            reason: codes::ORIGINAL_SEALED,
            subject: "original".to_owned(),
            message: format!("the original of `{id}` cannot be opened: {why}"),
        },
        CallError::Precondition(message) => {
            ApiError::FailedPrecondition { reason: codes::INVOCATION_STATE, subject: "invocation".to_owned(), message }
        }
        CallError::ForeignWorker { worker_id } => ApiError::PermissionDenied {
            reason: codes::FOREIGN_WORKER,
            message: format!(
                "the worker `{worker_id}` is connected under another credential; give each worker an id of its own"
            ),
        },
        CallError::TaintsStay => ApiError::PermissionDenied {
            reason: codes::TAINTS_STAY,
            message: "what taints a session is not cleared here; it goes with time".to_owned(),
        },
        CallError::Peer { peer, status } => {
            tracing::warn!(peer, code = ?status.code(), message = status.message(), "a peer failed");
            of_peer(peer, &status)
        }
        CallError::TooManyWatchers { subject, most } => ApiError::Exhausted {
            reason: codes::TOO_MANY_WATCHERS,
            message: format!(
                "{most} streams follow calls already; submit the call and read its result, or try again later"
            ),
            subject,
            retry_after: Some(WATCHERS_RETRY),
        },
        CallError::NoLink(reason) => ApiError::FailedPrecondition {
            reason: codes::LINK_UNSUPPORTED,
            subject: "payload".to_owned(),
            message: format!("there is no link to it: {reason}; read it through the cluster"),
        },
        CallError::Upload(error) => upload(error),
        CallError::Record(error) => record(error),
        CallError::Internal(cause) => ApiError::internal(codes::SCHEDULER_INTERNAL, cause),
    }
}

/// What a service that was needed could not do. One that answers is not blamed for what it lacks itself.
fn of_peer(peer: &str, status: &Status) -> ApiError {
    let said = reason(status);
    match said.as_deref().map(|said| (codes::Code::find(said), said)) {
        // Nothing is wrong with the service: the room is short, or what it needs was damaged at rest.
        Some((Some(codes::DISK), _)) => ApiError::Exhausted {
            reason: codes::DISK,
            subject: peer.to_owned(),
            message: status.message().to_owned(),
            retry_after: describe(status).retry_after,
        },
        Some((Some(codes::STORE_DAMAGED), _)) => ApiError::Damaged {
            reason: codes::STORE_DAMAGED,
            message: format!("{}; nothing was accepted", status.message()),
        },
        Some((Some(codes::STORE_UNAVAILABLE), _)) => {
            ApiError::unavailable(codes::STORE_UNAVAILABLE, format!("{}; nothing was accepted", status.message()))
        }
        Some((Some(codes::STORE_UNSAFE), _)) => ApiError::unavailable(codes::STORE_UNSAFE, status.message()),
        Some((Some(codes::NO_CONNECTION | codes::TLS_FAILED), _)) | None => ApiError::unavailable(
            codes::PEER_UNAVAILABLE,
            format!("the {peer} service cannot be reached; nothing was accepted"),
        ),
        Some((_, said)) => ApiError::unavailable(
            codes::PEER_UNAVAILABLE,
            format!("the {peer} service could not do its part ({said}); nothing was accepted"),
        ),
    }
}

/// What was not kept. What may be tried again is unavailable, what may not a fact about the output.
fn upload(error: PayloadError) -> ApiError {
    tracing::warn!(%error, "an upload failed");
    let message = error.to_string();
    match error {
        PayloadError::TooLarge { .. } => {
            ApiError::FailedPrecondition { reason: codes::UPLOAD_TOO_LARGE, subject: "payload".to_owned(), message }
        }
        PayloadError::SpoolFull { .. } => ApiError::unavailable(codes::SPOOL_FULL, message),
        PayloadError::Interrupted { .. } => ApiError::unavailable(codes::UPLOAD_INTERRUPTED, message),
        PayloadError::Damaged { .. } => ApiError::Damaged { reason: codes::STORE_DAMAGED, message },
        _ => ApiError::unavailable(codes::OBJECTS_UNAVAILABLE, "the object store does not answer"),
    }
}

fn record(error: RecordError) -> ApiError {
    match error {
        RecordError::NotFound => ApiError::not_found("invocation", ""),
        RecordError::Refused { refusal, record } => match refusal {
            Refusal::Fenced => ApiError::Conflict {
                reason: codes::LEASE_FENCED,
                message: "the lease is not the current one".to_owned(),
            },
            refusal => ApiError::FailedPrecondition {
                reason: codes::INVOCATION_STATE,
                subject: format!("invocation/{}", record.invocation_id),
                message: refusal.to_string(),
            },
        },
        RecordError::QueueFull { tenant, waiting, retry_after } => ApiError::Exhausted {
            reason: codes::TENANT_QUEUE_FULL,
            subject: format!("tenant/{tenant}"),
            message: format!("{waiting} calls of tenant `{tenant}` wait already; nothing was accepted"),
            retry_after: Some(retry_after),
        },
        RecordError::TooFast { subject, retry_after } => ApiError::Exhausted {
            reason: codes::RATE,
            message: format!("calls of {subject} come faster than they are accepted; nothing was accepted"),
            subject,
            retry_after: Some(retry_after),
        },
        RecordError::KeyExpired { id } => ApiError::FailedPrecondition {
            reason: codes::IDEMPOTENCY_KEY_EXPIRED,
            subject: format!("invocation/{id}"),
            message: "the idempotency key is too old: the outcome of its call is no longer known; use a new key"
                .to_owned(),
        },
        RecordError::KeyReused { id } => api(CallError::Reused { id: id.to_string() }),
        RecordError::Store(error) | RecordError::OutcomeUnknown(error) => {
            toolplane_backend::api_error("scheduler", &error)
        }
        RecordError::Damaged(error) => ApiError::internal(codes::RECORD_UNREADABLE, error),
        RecordError::Pattern(error) => ApiError::internal(codes::PATTERN_MALFORMED, error),
        RecordError::Full { index } => ApiError::internal(codes::INDEX_FULL, index),
        RecordError::Objects(PayloadError::Damaged { uri, .. }) => ApiError::Damaged {
            reason: codes::STORE_DAMAGED,
            message: format!(
                "payload `{uri}` is damaged and no part of it is given; an operator sees it with `toolplane store check`"
            ),
        },
        // Only payloads that a result names are asked for.
        RecordError::Objects(PayloadError::NotFound { uri }) => ApiError::Damaged {
            reason: codes::STORE_DAMAGED,
            message: format!(
                "payload `{uri}` is lost: the result names it, and its bytes are not there; an operator sees it with \
                 `toolplane store check`"
            ),
        },
        RecordError::Objects(error) => {
            tracing::warn!(%error, "the object store failed");
            ApiError::unavailable(codes::OBJECTS_UNAVAILABLE, "the object store does not answer")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolplane_store::StoreError;

    use super::*;

    #[test]
    fn a_service_is_not_blamed_for_what_it_lacks() {
        let gone = ApiError::Unavailable {
            reason: toolplane_records::codes::NO_CONNECTION,
            message: "no connection: refused".to_owned(),
            retry_after: Duration::ZERO,
        };
        let store = ApiError::unavailable(
            toolplane_records::codes::STORE_UNAVAILABLE,
            "the permission store cannot be reached now",
        );
        for (said, expected, blamed) in [
            (store, "STORE_UNAVAILABLE", "the permission store cannot be reached now; nothing was accepted"),
            (gone, "PEER_UNAVAILABLE", "the permission service cannot be reached; nothing was accepted"),
            (
                ApiError::unavailable(toolplane_records::codes::STOPPING, "this process is ending"),
                "PEER_UNAVAILABLE",
                "the permission service could not do its part (STOPPING); nothing was accepted",
            ),
        ] {
            let status = of(CallError::Peer { peer: "permission", status: said.into() });
            assert_eq!((reason(&status).as_deref(), status.message()), (Some(expected), blamed));
        }
        let short = StoreError::DiskShort { path: "/data/permission".into(), free: 1, reserve: 3 };
        let said = toolplane_backend::api_error("permission", &short).into();
        let status = of(CallError::Peer { peer: "permission", status: said });
        assert_eq!((status.code(), reason(&status).as_deref()), (Code::ResourceExhausted, Some("DISK")));
        assert!(status.message().contains("/data/permission") && status.message().contains("2 more"), "{status}");
        let unsafe_store = StoreError::Unsafe { reason: "Redis may lose what it has answered".to_owned() };
        let status = of(CallError::Record(RecordError::Store(unsafe_store)));
        assert_eq!((status.code(), reason(&status).as_deref()), (Code::Unavailable, Some("STORE_UNSAFE")));
    }

    #[test]
    fn an_upload_that_fails_says_whether_it_may_be_tried_again() {
        for (error, code, said) in [
            (PayloadError::TooLarge { limit: 7 }, Code::FailedPrecondition, "UPLOAD_TOO_LARGE"),
            (PayloadError::SpoolFull { limit: 7 }, Code::Unavailable, "SPOOL_FULL"),
            (PayloadError::Interrupted { reason: "gone".to_owned() }, Code::Unavailable, "UPLOAD_INTERRUPTED"),
        ] {
            let status = of(CallError::Upload(error));
            assert_eq!((status.code(), reason(&status).as_deref()), (code, Some(said)), "{status}");
        }
    }

    #[test]
    fn a_damaged_or_lost_payload_is_named_and_no_reason_to_try_again() {
        let actual = toolplane_records::payload::Digest::of(b"other bytes");
        let uri = "toolplane://payloads/results/a".to_owned();
        for lost in [PayloadError::Damaged { uri: uri.clone(), actual }, PayloadError::NotFound { uri: uri.clone() }] {
            let status = of(crate::rpc::payload::refused(lost));
            assert_eq!((status.code(), reason(&status).as_deref()), (Code::DataLoss, Some("STORE_DAMAGED")));
            assert!(status.message().contains(&uri), "{status}");
        }
    }
}
