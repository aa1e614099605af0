//! Why a command did not work, and what to do about it.

use std::io;
use std::process::ExitCode;

use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// Why a command did not work. Each is reported as one error line and, where something helps, one line of advice.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The arguments make no sense.
    #[error("{0}")]
    Usage(String),
    /// Nothing answers at the endpoint.
    #[error("cannot reach a cluster at `{endpoint}`: {reason}")]
    Unreachable {
        /// Where was asked.
        endpoint: String,
        /// What the network said.
        reason: String,
    },
    /// The cluster refused the request.
    #[error("{}", describe(.0))]
    Api(Box<Status>),
    /// The cluster answered something this version does not understand.
    #[error("the answer of the cluster is not understood: {0}")]
    Answer(String),
    /// A file or another local thing cannot be used.
    #[error("{0}")]
    Local(String),
    /// Standard output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Api(Box::new(status))
    }
}

impl Failure {
    /// A file that cannot be used, and what the system said.
    pub(crate) fn file(path: &std::path::Path, error: &io::Error) -> Self {
        Self::Local(format!("cannot use `{}`: {error}", path.display()))
    }

    /// Whether the thing asked for does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Api(status) if status.code() == Code::NotFound)
    }

    /// What a person can do, when there is something.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable { .. } => {
                Some("start one with `toolplane serve`, or name another with --endpoint or TOOLPLANE_ENDPOINT")
            }
            Self::Api(status) => advice(status),
            Self::Answer(_) => Some("use a command line of the cluster's version, or `-o text`"),
            Self::Usage(_) | Self::Local(_) | Self::Output(_) => None,
        }
    }

    /// Prints the failure on standard error and gives the exit code. A reader that went away is no failure.
    pub(crate) fn report(&self) -> ExitCode {
        if matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        eprintln!("error: {self}");
        if let Some(advice) = self.advice() {
            eprintln!("  try: {advice}");
        }
        ExitCode::from(2)
    }
}

fn advice(status: &Status) -> Option<&'static str> {
    match status.code() {
        Code::Unauthenticated => Some("give the cluster's token with --token-file or TOOLPLANE_TOKEN"),
        Code::PermissionDenied => Some("use a token that may do this"),
        Code::NotFound => Some("list what there is: `toolplane ls`, `toolplane surface ls`, `toolplane tools ls`"),
        Code::AlreadyExists => Some("use another idempotency key, or repeat the first request unchanged"),
        Code::ResourceExhausted | Code::Unavailable => Some("wait a moment and repeat the command"),
        Code::Unimplemented => Some("the cluster is older than this command line, or this role is not running there"),
        _ => None,
    }
}

/// The status in one paragraph: its message, then every detail that says more, a line each.
fn describe(status: &Status) -> String {
    let details = status.get_error_details();
    let mut lines = vec![match status.message() {
        "" => format!("the cluster answered {:?}", status.code()),
        message => message.to_owned(),
    }];
    let violations = details.bad_request().map(|bad| bad.field_violations.as_slice()).unwrap_or_default();
    lines.extend(violations.iter().map(|wrong| format!("  {}: {}", wrong.field, wrong.description)));
    let unmet = details.precondition_failure().map(|unmet| unmet.violations.as_slice()).unwrap_or_default();
    lines.extend(unmet.iter().map(|unmet| format!("  {}: {}", unmet.subject, unmet.description)));
    let quota = details.quota_failure().map(|quota| quota.violations.as_slice()).unwrap_or_default();
    lines.extend(quota.iter().map(|quota| format!("  {}: {}", quota.subject, quota.description)));
    if let Some(info) = details.error_info() {
        lines.push(format!("  reason: {}", info.reason));
    }
    if let Some(delay) = details.retry_info().and_then(|retry| retry.retry_delay) {
        lines.push(format!("  retry after: {} ms", delay.as_millis()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use tonic_types::ErrorDetails;

    use super::*;

    fn check(status: Status, text: &str, advised: bool) {
        let failure = Failure::from(status);
        assert_eq!(failure.to_string(), text);
        assert_eq!(failure.advice().is_some(), advised);
    }

    #[test]
    fn details_become_lines() {
        let mut details = ErrorDetails::with_bad_request_violation("spec.model_input", "has the key `a` twice");
        details.set_error_info("JSON_DUPLICATE_KEY", "toolplane", std::collections::HashMap::new());
        let status = Status::with_error_details(Code::InvalidArgument, "the request is wrong", details);
        check(
            status,
            "the request is wrong\n  spec.model_input: has the key `a` twice\n  reason: JSON_DUPLICATE_KEY",
            false,
        );
    }

    #[test]
    fn an_empty_message_still_says_something() {
        check(Status::new(Code::Unavailable, ""), "the cluster answered Unavailable", true);
    }
}
