//! From a status to an error of the standard: the one place that says it.

use toolplane_records::codes;
use toolplane_records::error::{ToolError, advice};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ErrorClass::{
    CredentialMissing, DependencyUnavailable, ExecutionFailed, InvalidArguments, PermissionDenied, RateLimited,
};
use toolplane_records::vocabulary::Recoverability::{
    ChangeArguments, ChangeArgumentsOrPolicy, CompleteSetup, NotRetryable, RetryLater, RetrySafe,
};
use toolplane_records::vocabulary::{ErrorClass, Recoverability};

use super::header;
use super::retry::{rate_limit_reset_ms, retry_after_ms};

/// The error of a response that is no success, and whether the same request may be sent again without harm.
///
/// `detail` is what the server says of it, in one bounded text; may be empty. `idempotent`: sending the request twice has the effect
/// of sending it once.
pub fn status_error(
    status: u16,
    headers: &[(String, String)],
    detail: &str,
    idempotent: bool,
    now: Timestamp,
) -> (ToolError, bool) {
    let wait = retry_after_ms(headers, now);
    // Some servers refuse by 403 who has asked too often.
    let reset = rate_limit_reset_ms(headers, now);
    let limited = status == 429 || (status == 403 && (wait.is_some() || reset.is_some()));
    let (class, wanted) = if limited { (RateLimited, RetryLater) } else { meaning(status) };
    let side_effects = match status {
        // The server says that it did not do what was asked; after 408 it may have.
        408 => "unknown",
        400..=499 => "none",
        _ => "unknown",
    };
    let told = if detail.is_empty() { String::new() } else { format!(": {detail}") };
    let recoverability = advice(wanted, idempotent, Some(side_effects));
    let message = format!("the server answered with status {status}{told}");
    let mut error = ToolError::new(codes::HTTP_STATUS, class, recoverability, message);
    error.retry_after_ms = wait.or(if limited { reset } else { None });
    error.side_effects = Some(side_effects.to_owned());
    error.native_error_ref = header(headers, "x-request-id").filter(|id| is_reference(id)).map(str::to_owned);
    let retry_safe = matches!(recoverability, RetryLater | RetrySafe);
    (error, retry_safe)
}

fn meaning(status: u16) -> (ErrorClass, Recoverability) {
    match status {
        400 | 422 => (InvalidArguments, ChangeArguments),
        401 | 407 => (CredentialMissing, CompleteSetup),
        403 => (PermissionDenied, ChangeArgumentsOrPolicy),
        408 | 425 | 502 | 503 | 504 => (DependencyUnavailable, RetryLater),
        429 => (RateLimited, RetryLater),
        // The server does not know the method or the protocol.
        405 | 501 | 505 => (ExecutionFailed, NotRetryable),
        // 404 and 410: not there. 409 and 412: something changed, so that the request has to. Others likewise.
        400..=499 => (ExecutionFailed, ChangeArguments),
        500..=599 => (ExecutionFailed, RetryLater),
        _ => (ExecutionFailed, NotRetryable),
    }
}

/// An id of the server that may be told: short and plain.
fn is_reference(id: &str) -> bool {
    !id.is_empty() && id.len() <= 128 && id.bytes().all(|byte| byte.is_ascii_graphic())
}
