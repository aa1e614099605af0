//! Why a command did not work, and what to do about it.

use std::io;
use std::process::ExitCode;

use tonic::{Code, Status};

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
            Self::Api(status) => {
                Some(toolplane_runtime::status::describe(status).advice).filter(|text| !text.is_empty())
            }
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

/// The status as text, without what is advised.
fn describe(status: &Status) -> String {
    toolplane_runtime::status::Description { advice: "", ..toolplane_runtime::status::describe(status) }.to_string()
}

#[cfg(test)]
mod tests {
    use toolplane_runtime::ApiError;

    use super::*;

    #[test]
    fn a_refusal_says_what_is_wrong_and_what_to_do() {
        let status = Status::from(ApiError::invalid_argument("spec.model_input", "has the key `a` twice"));
        let text = Failure::from(status).to_string();
        assert!(text.contains("spec.model_input") && text.contains("`a` twice"), "{text}");
        let missing = Failure::from(Status::from(ApiError::not_found("surface", "surf_1")));
        assert!(missing.is_not_found() && missing.advice().is_some());
    }
}
