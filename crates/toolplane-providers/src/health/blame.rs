//! What the end of a call says about the provider of its tool.

use toolplane_records::codes::{self, Code};
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::{ErrorClass, ProviderFault};

/// What the end of a call says about the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is there, whatever it said.
    Well,
    /// It did not answer, or not as it should.
    Badly(ProviderFault),
    /// It may be that, or the call: a look at the provider tells.
    Doubtful,
    /// Nothing: the call ended for another reason.
    Nothing,
}

/// What the end of a call of one of its tools says. A caller chooses how long a call may take and what it asks for, so neither a
/// call that was too slow nor a credential it may not have is counted against the provider.
pub fn of_call(error: Option<&ToolError>) -> Verdict {
    let Some(error) = error else { return Verdict::Well };
    let is = |code: Code| is_of(error, code);
    match error.error_class {
        // As many servers as the worker may have are busy.
        ErrorClass::RateLimited => Verdict::Nothing,
        ErrorClass::Timeout => Verdict::Doubtful,
        // Which workers there are is for schedulers to know. Whether this is about the provider shows when it is asked: when no worker says
        // what it has either, its circuit opens, and calls do not wait in vain any more.
        _ if is(codes::PLACEMENT_NO_WORKER) => Verdict::Doubtful,
        ErrorClass::ResultTooLarge => Verdict::Well,
        _ if is(codes::MCP_TOOL_FAILED) || is(codes::MCP_REFUSED) || is(codes::MCP_NOT_GIVEN) => Verdict::Well,
        _ if is(codes::MCP_NO_ANSWER) => Verdict::Badly(ProviderFault::Exited),
        _ if is(codes::MCP_NOT_STARTED) || is(codes::HTTP_UNREACHABLE) => Verdict::Badly(ProviderFault::Unreachable),
        _ if is(codes::MCP_ANSWER) => Verdict::Badly(ProviderFault::ProtocolError),
        ErrorClass::DependencyUnavailable if is(codes::HTTP_STATUS) => Verdict::Badly(ProviderFault::Unreachable),
        ErrorClass::CredentialMissing if is(codes::HTTP_STATUS) => Verdict::Doubtful,
        _ if is(codes::HTTP_STATUS) => Verdict::Well,
        _ => Verdict::Nothing,
    }
}

/// What the failure of a call that asks a provider what it has says.
pub fn of_look(error: &ToolError) -> ProviderFault {
    match error.error_class {
        ErrorClass::Timeout | ErrorClass::Canceled => ProviderFault::TimedOut,
        ErrorClass::CredentialMissing => ProviderFault::CredentialMissing,
        ErrorClass::RateLimited => ProviderFault::Overloaded,
        ErrorClass::ResultTooLarge => ProviderFault::Flooded,
        ErrorClass::PermissionDenied if is_of(error, codes::HTTP_STATUS) => ProviderFault::Unauthorized,
        // One may come at any time, and nobody has to mend anything then.
        ErrorClass::CapabilityGap if is_of(error, codes::PLACEMENT_NO_WORKER) => ProviderFault::Unreachable,
        ErrorClass::PermissionDenied
        | ErrorClass::ApprovalRejected
        | ErrorClass::PolicyBlocked
        | ErrorClass::HookBlocked
        | ErrorClass::SandboxViolation
        | ErrorClass::CapabilityGap => ProviderFault::NotAllowed,
        ErrorClass::SetupRequired | ErrorClass::InvalidArguments | ErrorClass::UnknownTool => {
            ProviderFault::Misconfigured
        }
        ErrorClass::DependencyUnavailable if is_of(error, codes::MCP_NO_ANSWER) => ProviderFault::Exited,
        ErrorClass::DependencyUnavailable => ProviderFault::Unreachable,
        _ if error.error_code.starts_with("mcp.") || error.error_code.starts_with("http.") => {
            ProviderFault::ProtocolError
        }
        _ => ProviderFault::Internal,
    }
}

/// Whether it is an error of that code, or of one that says more.
fn is_of(error: &ToolError, code: Code) -> bool {
    error.error_code.starts_with(code.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_blamed_for_what_it_did_alone() {
        use ErrorClass::{CredentialMissing, DependencyUnavailable, RateLimited};
        let error = |code: Code| ToolError::of(code, "x");
        let classed = |code, error_class| ToolError { error_class, ..error(code) };
        for (error, verdict) in [
            (error(codes::MCP_TOOL_FAILED), Verdict::Well),
            (error(codes::MCP_REFUSED), Verdict::Well),
            (error(codes::HTTP_STATUS), Verdict::Well),
            (error(codes::MCP_NOT_STARTED), Verdict::Badly(ProviderFault::Unreachable)),
            (classed(codes::MCP_NOT_STARTED, RateLimited), Verdict::Nothing),
            (error(codes::MCP_NO_ANSWER), Verdict::Badly(ProviderFault::Exited)),
            (error(codes::MCP_ANSWER), Verdict::Badly(ProviderFault::ProtocolError)),
            (error(codes::HTTP_UNREACHABLE), Verdict::Badly(ProviderFault::Unreachable)),
            (classed(codes::HTTP_STATUS, DependencyUnavailable), Verdict::Badly(ProviderFault::Unreachable)),
            (classed(codes::HTTP_STATUS, RateLimited), Verdict::Nothing),
            (classed(codes::HTTP_STATUS, CredentialMissing), Verdict::Doubtful),
            (error(codes::EXEC_TIMEOUT), Verdict::Doubtful),
            (error(codes::PLACEMENT_NO_WORKER), Verdict::Doubtful),
            (error(codes::OUTCOME_UNKNOWN), Verdict::Nothing),
            (error(codes::EXEC_CANCELED), Verdict::Nothing),
            (error(codes::CREDENTIAL_MISSING), Verdict::Nothing),
            (error(codes::CREDENTIAL_OUT_OF_SCOPE), Verdict::Nothing),
            (error(codes::EGRESS_DENIED), Verdict::Nothing),
            (error(codes::INVALID_ARGUMENT), Verdict::Nothing),
        ] {
            assert_eq!(of_call(Some(&error)), verdict, "{}", error.error_code);
        }
        assert_eq!(of_call(None), Verdict::Well);
    }

    #[test]
    fn a_worker_that_is_not_there_yet_is_waited_for_and_one_that_cannot_is_for_people() {
        let said = |code: Code| of_look(&ToolError::of(code, "x"));
        assert_eq!(said(codes::PLACEMENT_NO_WORKER), ProviderFault::Unreachable);
        assert_eq!(said(codes::SANDBOX_UNAVAILABLE), ProviderFault::NotAllowed);
    }
}
