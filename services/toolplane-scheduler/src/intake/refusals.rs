//! The terminal errors of calls that come no further than their preparation.

use toolplane_catalog::OutOfScope;
use toolplane_records::codes;
use toolplane_records::error::{FieldViolation, ToolError, named};

pub(super) fn schema_error(violations: Vec<FieldViolation>) -> ToolError {
    let violations = named("model_input", violations);
    let first = violations.first().map(|fault| format!("`{}` {}", fault.field, fault.description));
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

/// The call is one of a batch that may run several at once, and its surface lets none do that.
pub(super) fn not_beside_others(name: &str) -> ToolError {
    // What to do comes first: lists of results show the beginning of a message.
    let message = format!(
        "send the batch with `max_parallel` 1, or the ordering policy `serial`: this surface takes calls, like that of `{name}`, one after \
         the other (`selection_policy.parallel_calls`)"
    );
    let mut error = ToolError::of(codes::SURFACE_PARALLEL, message);
    error.side_effects = Some("none".to_owned());
    error
}

/// The surface is for a session, a task or whatever else that the call does not belong to.
pub(super) fn out_of_scope(outside: &OutOfScope) -> ToolError {
    let mut error = ToolError::of(codes::SURFACE_OUTSIDE, outside.message("call"));
    error.side_effects = Some("none".to_owned());
    error.recovery_suggestion = Some(outside.cure_of_call());
    let field = format!("spec.{}", outside.field());
    error.field_violations = vec![FieldViolation { field, description: outside.rule() }];
    error
}

/// The call is to go on in the background, and its tool does not declare that it may.
pub(super) fn no_background(name: &str) -> ToolError {
    let mut error = ToolError::of(
        codes::BACKGROUND_UNSUPPORTED,
        format!(
            "`spec.background` is set, and the execution profile of `{name}` does not declare `supports_background`"
        ),
    );
    error.side_effects = Some("none".to_owned());
    let rule = "must not be set: the tool does not run in the background".to_owned();
    error.field_violations = vec![FieldViolation { field: "spec.background".to_owned(), description: rule }];
    error
}

/// The input as the executor would get it lacks something that callers cannot give.
pub(super) fn runtime_error(violations: Vec<FieldViolation>) -> ToolError {
    let mut error = ToolError::of(
        codes::INPUT_RUNTIME_SCHEMA,
        "the input does not fit what the tool needs beside the caller's arguments; a hook or an approval has to add it",
    );
    error.side_effects = Some("none".to_owned());
    error.field_violations = named("call_input", violations);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_whole_has_a_name_too() {
        let wrong = |field: &str| FieldViolation { field: field.to_owned(), description: "must be so".to_owned() };
        let error = schema_error(vec![wrong(""), wrong("/a")]);
        let fields: Vec<_> = error.field_violations.iter().map(|violation| violation.field.as_str()).collect();
        assert_eq!(fields, ["model_input", "/a"]);
        assert!(error.message.ends_with(": `model_input` must be so"), "{}", error.message);
        assert_eq!(runtime_error(vec![wrong("")]).field_violations[0].field, "call_input");
    }
}
