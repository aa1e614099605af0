//! Reading a status back: for clients that decide, and for people who read.

use std::fmt;
use std::time::Duration;
use toolplane_records::codes;

use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::{ERROR_DOMAIN, Violation};

/// The stable reason of a status sent by a Toolplane service.
pub fn reason(status: &Status) -> Option<String> {
    status.get_details_error_info().filter(|info| info.domain == ERROR_DOMAIN).map(|info| info.reason)
}

/// A status, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The gRPC code.
    pub code: Code,
    /// The text.
    pub message: String,
    /// The stable reason, when the sender gave one.
    pub reason: Option<String>,
    /// The wrong fields, for `INVALID_ARGUMENT`.
    pub violations: Vec<Violation>,
    /// The thing that is meant, as `kind name`, when the sender named one.
    pub resource: Option<String>,
    /// When the same request may be tried again.
    pub retry_after: Option<Duration>,
    /// What a person can do about it.
    pub advice: &'static str,
}

/// Takes a status apart. Details that cannot be read count as absent.
pub fn describe(status: &Status) -> Description {
    let details = status.get_error_details();
    let violations = details.bad_request().into_iter().flat_map(|bad| &bad.field_violations);
    let retry_after = details.retry_info().and_then(|info| info.retry_delay);
    Description {
        code: status.code(),
        message: status.message().to_owned(),
        reason: details.error_info().map(|info| info.reason.clone()),
        violations: violations
            .map(|one| Violation { field: one.field.clone(), rule: one.description.clone() })
            .collect(),
        resource: details.resource_info().map(|info| format!("{} {}", info.resource_type, info.resource_name)),
        retry_after,
        advice: advice(status.code(), reason(status).as_deref(), retry_after.is_some()),
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.message.is_empty() { self.code.description() } else { &self.message };
        f.write_str(text)?;
        if let Some(reason) = &self.reason {
            write!(f, " [{reason}]")?;
        }
        // A single violation is already the message.
        if self.violations.len() > 1 {
            for Violation { field, rule } in &self.violations {
                write!(f, "\n  `{field}` {rule}")?;
            }
        }
        if let Some(wait) = self.retry_after {
            write!(f, "\n  may be tried again in {} ms", wait.as_millis())?;
        }
        if !self.advice.is_empty() {
            write!(f, "\n  {}", self.advice)?;
        }
        Ok(())
    }
}

fn advice(code: Code, reason: Option<&str>, has_wait: bool) -> &'static str {
    match code {
        Code::PermissionDenied | Code::Unauthenticated => {
            cure(reason).unwrap_or("Ask the operator for a key that may do this.")
        }
        Code::FailedPrecondition => cure(reason).unwrap_or_default(),
        Code::NotFound => "check the id, and that you ask the cluster that made it",
        Code::Unavailable if !has_wait => "is the server running and is the address right?",
        Code::DeadlineExceeded => "only the wait ended; the call goes on and can be asked for again",
        Code::Aborted => "another request changed it first: read the current state and decide again",
        Code::Internal | Code::Unknown | Code::DataLoss => "a fault of the server: its log says more",
        Code::Unimplemented => {
            "this endpoint does not serve that: with one process per role, ask the role that does (surface, permission or scheduler); or the server is older"
        }
        _ => "",
    }
}

/// The cure of a code of ours: for most of those that a caller may not do something by, no other role of its own helps.
fn cure(reason: Option<&str>) -> Option<&'static str> {
    reason.and_then(codes::Code::find).map(|code| code.entry().cure)
}
