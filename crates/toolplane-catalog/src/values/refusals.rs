//! How values are refused.

use toolplane_records::codes;
use toolplane_records::error::{FieldViolation, ToolError};

/// The input is wrong at `field`; the empty field is the input itself.
pub fn invalid_input(field: &str, rule: impl Into<String>) -> Box<ToolError> {
    let rule = rule.into();
    let message = if field.is_empty() { format!("the input {rule}") } else { format!("`{field}` {rule}") };
    refusal(codes::INPUT_INVALID, field, rule, message)
}

/// The tool is declared in a way that cannot be run.
pub fn invalid_binding(message: impl Into<String>) -> Box<ToolError> {
    let mut error = ToolError::of(codes::BINDING_INVALID, message);
    error.side_effects = Some("none".to_owned());
    Box::new(error)
}

/// An error of this phase, with the assurance that nothing happened.
pub(super) fn refusal(code: codes::Code, field: &str, rule: String, message: String) -> Box<ToolError> {
    let mut error = ToolError::of(code, message);
    error.field_violations = vec![FieldViolation { field: field.to_owned(), description: rule }];
    error.side_effects = Some("none".to_owned());
    Box::new(error)
}
