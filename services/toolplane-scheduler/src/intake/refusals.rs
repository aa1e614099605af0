//! The terminal errors of calls that come no further than their preparation.

use toolplane_records::codes;
use toolplane_records::error::{FieldViolation, ToolError};

pub(super) fn schema_error(violations: Vec<FieldViolation>) -> ToolError {
    let first = violations.first().map(|fault| {
        let field = if fault.field.is_empty() { "the input" } else { &fault.field };
        format!("`{field}` {}", fault.description)
    });
    let mut error = ToolError::of(
        codes::INPUT_SCHEMA,
        format!("the arguments do not fit the tool's schema: {}", first.unwrap_or_default()),
    );
    error.side_effects = Some("none".to_owned());
    error.field_violations = violations;
    error
}

pub(super) fn no_executor(name: &str) -> ToolError {
    let mut error = ToolError::of(
        codes::NO_EXECUTION_BINDING,
        format!("the tool `{name}` has no execution profile with a binding, so nothing can run it"),
    );
    error.side_effects = Some("none".to_owned());
    error
}

/// The input as the executor would get it lacks something that callers cannot give.
pub(super) fn runtime_error(violations: Vec<FieldViolation>) -> ToolError {
    let mut error = ToolError::of(
        codes::INPUT_RUNTIME_SCHEMA,
        "the input does not fit what the tool needs beside the caller's arguments; a hook or an approval has to add it",
    );
    error.side_effects = Some("none".to_owned());
    error.field_violations = violations;
    error
}

/// The tool changed while the call waited, in a way the call cannot follow.
pub(crate) fn tool_changed(name: &str) -> ToolError {
    let mut error = ToolError::of(
        codes::PERMISSION_TOOL_CHANGED,
        format!("`{name}` was declared anew while the call waited, and the call no longer fits it; call it again"),
    );
    error.side_effects = Some("none".to_owned());
    error
}
