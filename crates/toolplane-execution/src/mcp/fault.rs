//! How calls end that have no answer, as errors of the standard.

use std::time::Duration;

use toolplane_mcp::{Failure, LendError, StartError};
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};

use crate::failure::{canceled, nothing_done, something_may_be_done, timed_out};

/// The error of a call that ended with `failure` within `timeout`.
pub(super) fn of_failure(failure: &Failure, timeout: Duration) -> ToolError {
    let error = match failure {
        Failure::Canceled { .. } => canceled(),
        Failure::TimedOut { .. } => timed_out(timeout.as_secs_f64()),
        Failure::Status { status, .. } => {
            let error = ToolError::of(failure.code(), failure.to_string());
            let (error_class, recoverability) = of_status(*status);
            ToolError { error_class, recoverability, ..error }
        }
        _ => ToolError::of(failure.code(), failure.to_string()),
    };
    if failure.may_have_run() { something_may_be_done(error) } else { nothing_done(error) }
}

/// What a status means that came instead of a message.
fn of_status(status: u16) -> (ErrorClass, Recoverability) {
    match status {
        401 => (ErrorClass::CredentialMissing, Recoverability::CompleteSetup),
        403 => (ErrorClass::PermissionDenied, Recoverability::CompleteSetup),
        429 => (ErrorClass::RateLimited, Recoverability::RetryLater),
        500.. => (ErrorClass::ExecutionFailed, Recoverability::RetryLater),
        _ => (ErrorClass::ExecutionFailed, Recoverability::ChangeArguments),
    }
}

/// The error of a call for which there is no session; nothing was sent.
pub(super) fn of_lending(error: &LendError) -> ToolError {
    let retry_after_ms = match error {
        LendError::LeftAlone { wait, .. } => Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
        // The worker is busy; nothing is wrong with the server.
        LendError::AllInUse(_) => {
            let error = ToolError::of(error.code(), error.to_string());
            return nothing_done(ToolError { error_class: ErrorClass::RateLimited, ..error });
        }
        // The server is there, and says what is wrong with being asked.
        LendError::NoSession(StartError::Failed(failure @ Failure::Status { status: ..500, .. })) => {
            return nothing_done(of_failure(failure, Duration::ZERO));
        }
        _ => None,
    };
    nothing_done(ToolError { retry_after_ms, ..ToolError::of(error.code(), error.to_string()) })
}

#[cfg(test)]
mod tests {
    use toolplane_mcp::CloseReason;

    use super::*;

    #[test]
    fn whether_it_may_have_run_is_said() {
        let status = |status| Failure::Status { status, challenge: None, text: String::new() };
        for (failure, code, class, effects) in [
            (Failure::NotSent("x".to_owned()), "mcp.not_started", "dependency_unavailable", "none"),
            (Failure::Lost(CloseReason::Ended), "mcp.no_answer", "dependency_unavailable", "unknown"),
            (Failure::Canceled { sent: false }, "exec.canceled", "canceled", "none"),
            (Failure::Canceled { sent: true }, "exec.canceled", "canceled", "unknown"),
            (Failure::TimedOut { sent: false }, "exec.timeout", "timeout", "none"),
            (Failure::TimedOut { sent: true }, "exec.timeout", "timeout", "unknown"),
            (Failure::Unreadable("x".to_owned()), "mcp.unreadable_answer", "execution_failed", "unknown"),
            (Failure::NotGiven("x".to_owned()), "mcp.input_not_given", "capability_gap", "unknown"),
            (status(401), "http.status", "credential_missing", "none"),
            (status(403), "http.status", "permission_denied", "none"),
            (status(404), "http.status", "execution_failed", "none"),
            (status(429), "http.status", "rate_limited", "none"),
            (status(502), "http.status", "execution_failed", "unknown"),
        ] {
            let error = of_failure(&failure, Duration::from_secs(1));
            let got = (error.error_code.as_str(), error.error_class.as_str(), error.side_effects.as_deref());
            assert_eq!(got, (code, class, Some(effects)), "{failure:?}");
        }
    }

    #[test]
    fn a_server_that_is_left_alone_says_until_when() {
        let wait = Duration::from_secs(7);
        let error = of_lending(&LendError::LeftAlone { failures: 3, wait, last: "gone".to_owned() });
        assert_eq!((error.retry_after_ms, error.side_effects.as_deref()), (Some(7000), Some("none")));
        assert_eq!(of_lending(&LendError::AllInUse(2)).retry_after_ms, None);
        for (status, code) in [(401, "http.status"), (404, "http.status"), (503, "mcp.not_started")] {
            let failure = Failure::Status { status, challenge: None, text: String::new() };
            let error = of_lending(&LendError::NoSession(StartError::Failed(failure)));
            assert_eq!((error.error_code.as_str(), error.side_effects.as_deref()), (code, Some("none")));
        }
    }
}
