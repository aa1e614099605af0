//! The errors adapters give: code, class, and what could help.

use toolplane_catalog::values;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::AbortReason;

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
    let error = ToolError::of(codes::EXEC_TIMEOUT, message);
    something_may_be_done(ToolError { abort_reason: Some(AbortReason::Timeout), ..error })
}

/// The caller asked for the end.
pub(crate) fn canceled() -> ToolError {
    let message = "the call was canceled while it was running";
    something_may_be_done(ToolError::of(codes::EXEC_CANCELED, message))
}

/// The tool failed in its own way.
pub(crate) fn execution_failed(code: codes::Code, message: impl Into<String>) -> ToolError {
    ToolError::of(code, message)
}

/// The thread that did the work is gone: the worker shuts down, or is broken.
pub(crate) fn worker_failed() -> ToolError {
    let message = "the worker failed or shut down while it ran the tool";
    something_may_be_done(ToolError::of(codes::WORKER_FAULT, message))
}

/// More than may be read.
pub(crate) fn too_large(message: impl Into<String>) -> ToolError {
    ToolError::of(codes::OUTPUT_LIMIT, message)
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
