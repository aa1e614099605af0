//! Why a command did not work, and what to do about it.

use std::io;
use std::process::ExitCode;

use tonic::{Code, Status};
use toolplane_records::codes::Code as ErrorCode;
use toolplane_runtime::status::{Description, reason};
use toolplane_runtime::tls::TlsFault;

use super::advised;
use super::output::{note, note_block};

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
    /// Something answers at the endpoint, and encryption, or the lack of it, keeps us from talking to it.
    #[error("cannot connect{}: {fault}", at(endpoint.as_deref()))]
    Encryption {
        /// Where was asked, when it is known.
        endpoint: Option<String>,
        /// What is wrong.
        fault: TlsFault,
    },
    /// The cluster refused the request.
    #[error("{}", describe(.0))]
    Api(Box<Status>),
    /// The cluster answered something this version does not understand.
    #[error("the answer of the cluster is not understood: {0}")]
    Answer(String),
    /// The bytes that came are not those that were kept.
    #[error("the bytes are damaged: {0}")]
    Damaged(String),
    /// Files cannot be used.
    #[error("{}", faults.join("; "))]
    Files {
        /// What is wrong, each with its file; of one or more lines.
        faults: Vec<String>,
        /// What the cluster said, where it is the cluster that refuses what is in them.
        refused: Option<Box<Status>>,
    },
    /// A file or another local thing cannot be used.
    #[error("{0}")]
    Local(String),
    /// Standard output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        // A connection that breaks at its first request, as after a certificate was refused, is a status as well.
        match std::error::Error::source(&status).and_then(TlsFault::find) {
            Some(fault) => Self::Encryption { endpoint: None, fault },
            None => Self::Api(Box::new(status)),
        }
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

    /// Whether the key may not ask for it.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Api(status) if status.code() == Code::PermissionDenied)
    }

    /// The code of what a cluster refused, when it is one of ours.
    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Api(status) | Self::Files { refused: Some(status), .. } => {
                reason(status).as_deref().and_then(ErrorCode::find)
            }
            _ => None,
        }
    }

    /// What a person can do, when there is something.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable { .. } => {
                Some("start one with `toolplane serve`, or name another with --endpoint or TOOLPLANE_ENDPOINT")
            }
            Self::Encryption { fault, .. } => Some(fault.advice()),
            Self::Api(status) => {
                Some(toolplane_runtime::status::describe(status).advice).filter(|text| !text.is_empty())
            }
            Self::Answer(_) => Some("use a command line of the cluster's version, or `-o text`"),
            Self::Damaged(_) => {
                Some("fetch them again; an operator sees with `toolplane store check` what is damaged at rest")
            }
            Self::Usage(_) | Self::Files { .. } | Self::Local(_) | Self::Output(_) => None,
        }
    }

    /// Prints the failure on standard error and gives the exit code. A reader that went away is no failure.
    pub(crate) fn report(&self) -> ExitCode {
        if matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        // Where standard error cannot be written either, the failure cannot be told.
        let _ = self.lines().iter().try_for_each(|line| match line {
            Line::Own(text) => note(text),
            Line::Barred(text) => note_block(text),
        });
        ExitCode::from(2)
    }

    /// What is reported: what went wrong, every wrong field, and what to do. What the cluster says stays in its line.
    fn lines(&self) -> Vec<Line> {
        let mut lines = match self {
            Self::Files { faults, refused: None } => faults.iter().flat_map(|fault| of_file(fault)).collect(),
            Self::Files { faults, .. } => faults.iter().map(|fault| Line::Own(format!("error: {fault}"))).collect(),
            Self::Api(status) => {
                let description = toolplane_runtime::status::describe(status);
                let violations = description.violations.iter().filter(|_| description.violations.len() > 1);
                let fields = violations.map(|wrong| format!("  `{}` {}", wrong.field, wrong.rule));
                let wait =
                    description.retry_after.map(|wait| format!("  may be tried again in {} ms", wait.as_millis()));
                let head = Description { advice: "", violations: Vec::new(), retry_after: None, ..description.clone() };
                std::iter::once(format!("error: {head}")).chain(fields).chain(wait).map(Line::Own).collect()
            }
            other => vec![Line::Own(format!("error: {other}"))],
        };
        lines.extend(self.advice().map(|advice| Line::Own(format!("  try: {}", advised::in_text(advice)))));
        lines.extend(self.code().map(|code| Line::Own(format!("  {}", code.place()))));
        lines
    }
}

/// What is reported.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// One line, whatever stands in it.
    Own(String),
    /// Text of several lines, each with a bar before it.
    Barred(String),
}

/// What is wrong with a file. Some say it in several lines, with the place in the file under what stands there.
fn of_file(fault: &str) -> Vec<Line> {
    let (first, rest) = fault.split_once('\n').map_or((fault, None), |(first, rest)| (first, Some(rest)));
    let own = Line::Own(format!("error: {first}"));
    std::iter::once(own).chain(rest.map(|rest| Line::Barred(rest.to_owned()))).collect()
}

fn at(endpoint: Option<&str>) -> String {
    endpoint.map_or_else(String::new, |endpoint| format!(" to `{endpoint}`"))
}

/// The status as text, without what is advised.
fn describe(status: &Status) -> String {
    Description { advice: "", ..toolplane_runtime::status::describe(status) }.to_string()
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
        let forged = Failure::from(Status::from(ApiError::invalid_argument("spec", "is wrong\nerror: none\u{202e}")));
        let lines = forged.lines();
        assert_eq!(lines.len(), 2, "one line, whatever stands in it, and where its code is told of: {lines:?}");
        assert_eq!(lines[1], Line::Own("  see docs/errors.md#INVALID_ARGUMENT".to_owned()));
        let missing = Failure::from(Status::from(ApiError::not_found("surface", "surf_1")));
        assert!(missing.is_not_found() && missing.advice().is_some());
    }

    #[test]
    fn what_is_wrong_with_files_keeps_its_lines_and_what_the_cluster_says_does_not() {
        let own = |text: &str| Line::Own(text.to_owned());
        let faults = vec!["`a`: at line 2\n  |\n2 | x".to_owned(), "`b`: is empty".to_owned()];
        let lines = Failure::Files { faults: faults.clone(), refused: None }.lines();
        let barred = Line::Barred("  |\n2 | x".to_owned());
        assert_eq!(lines, [own("error: `a`: at line 2"), barred, own("error: `b`: is empty")]);
        let status = Box::new(Status::from(ApiError::invalid_argument("tools[0]", "is wrong")));
        let lines = Failure::Files { faults, refused: Some(status) }.lines();
        let place = own("  see docs/errors.md#INVALID_ARGUMENT");
        assert_eq!(lines, [own("error: `a`: at line 2\n  |\n2 | x"), own("error: `b`: is empty"), place]);
    }
}
