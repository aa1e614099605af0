//! The errors adapters give: code, class, and what could help.

use toolplane_catalog::values;
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::{AbortReason, ErrorClass, Recoverability};

/// Stable error codes of executions.
pub mod codes {
    // What is known before anything runs, and refused then.
    pub use toolplane_catalog::values::codes::{
        BINDING_INVALID, EGRESS_DENIED, INPUT_INVALID, PATH_OUTSIDE, PATH_PROTECTED,
    };

    /// No built-in tool has this name.
    pub const NATIVE_UNKNOWN: &str = "exec.native_unknown";
    /// A process ended with an exit code that does not mean success.
    pub const EXIT_CODE: &str = "exec.exit_code";
    /// A process was ended by a signal.
    pub const SIGNAL: &str = "exec.signal";
    /// A bound on memory, processes, CPU time, files or scratch space was reached.
    pub const RESOURCE_LIMIT: &str = "exec.resource_limit";
    /// More output than may be read.
    pub const OUTPUT_LIMIT: &str = "exec.output_limit";
    /// The output is not what the tool declares.
    pub const OUTPUT_INVALID: &str = "exec.output_invalid";
    /// The wall time was over.
    pub const TIMEOUT: &str = "exec.timeout";
    /// The caller asked for the end.
    pub const CANCELED: &str = "exec.canceled";
    /// The tool was caught trying something its sandbox denies, and failed.
    pub const SANDBOX_VIOLATION: &str = "sandbox.violation";
    /// This machine has no sandbox.
    pub const SANDBOX_UNAVAILABLE: &str = "sandbox.unavailable";
    /// A layer of the sandbox could not be set up; nothing ran.
    pub const SANDBOX_SETUP_FAILED: &str = "sandbox.setup_failed";
    /// The sandbox was killed from outside while the tool ran.
    pub const SANDBOX_LOST: &str = "sandbox.lost";
    /// There is nothing at this path.
    pub const PATH_NOT_FOUND: &str = "path.not_found";
    /// The file cannot be read by this tool.
    pub const PATH_UNREADABLE: &str = "path.unreadable";
    /// A path that a link turns aside, to something beneath the workspace that was not decided about.
    pub const PATH_LINKED: &str = "path.linked";
    /// Rules deny paths of the workspace that the sandbox cannot keep from the tool; nothing ran.
    pub const PATHS_NOT_HIDDEN: &str = "path.denied_not_hidden";
    /// The file cannot be written by this tool.
    pub const PATH_UNWRITABLE: &str = "path.unwritable";
    /// There is a file already.
    pub const PATH_EXISTS: &str = "path.exists";
    /// Somebody else changed the file at the same time.
    pub const PATH_CHANGED: &str = "path.changed";
    /// The workspace holds as much as it may.
    pub const WORKSPACE_FULL: &str = "workspace.full";
    /// The text to be replaced is not in the file.
    pub const EDIT_NOT_FOUND: &str = "edit.text_not_found";
    /// The text to be replaced is in the file more than once.
    pub const EDIT_NOT_UNIQUE: &str = "edit.text_not_unique";
    /// The server answered with an error.
    pub const HTTP_STATUS: &str = "http.status";
    /// The server could not be reached, or broke off.
    pub const HTTP_UNREACHABLE: &str = "http.unreachable";
}

/// The input is wrong at `field`.
pub(crate) fn invalid_input(field: &str, rule: impl Into<String>) -> ToolError {
    *values::invalid_input(field, rule)
}

/// The tool is declared in a way that cannot be run.
pub(crate) fn invalid_binding(message: impl Into<String>) -> ToolError {
    *values::invalid_binding(message)
}

/// The wall time of `seconds` was over.
pub(crate) fn timed_out(seconds: f64) -> ToolError {
    let message = format!("the tool did not end within {seconds} s");
    let error = ToolError::new(codes::TIMEOUT, ErrorClass::Timeout, Recoverability::VerifyBeforeRetry, message);
    something_may_be_done(ToolError { abort_reason: Some(AbortReason::Timeout), ..error })
}

/// The caller asked for the end.
pub(crate) fn canceled() -> ToolError {
    let message = "the call was canceled while it was running";
    something_may_be_done(ToolError::new(
        codes::CANCELED,
        ErrorClass::Canceled,
        Recoverability::VerifyBeforeRetry,
        message,
    ))
}

/// The tool failed in its own way.
pub(crate) fn execution_failed(code: &str, message: impl Into<String>) -> ToolError {
    ToolError::new(code, ErrorClass::ExecutionFailed, Recoverability::ChangeArguments, message)
}

/// More than may be read.
pub(crate) fn too_large(message: impl Into<String>) -> ToolError {
    let class = ErrorClass::ResultTooLarge;
    ToolError::new(codes::OUTPUT_LIMIT, class, Recoverability::ChangeArguments, message)
}

/// `error`, with the assurance that nothing happened.
pub(crate) fn nothing_done(error: ToolError) -> ToolError {
    ToolError { side_effects: Some("none".to_owned()), ..error }
}

/// `error`, with the warning that something may have happened.
pub(crate) fn something_may_be_done(error: ToolError) -> ToolError {
    ToolError { side_effects: Some("unknown".to_owned()), ..error }
}

/// At most 200 characters of something a caller gave, in one line, for an error text.
pub(crate) fn excerpt(text: &str) -> String {
    toolplane_records::visible::excerpt(text, 200)
}

/// A path as it is, for programs that go on with it; as much of it as a path can have.
pub(crate) fn path_of(text: &str) -> String {
    text.chars().take(4096).collect()
}
