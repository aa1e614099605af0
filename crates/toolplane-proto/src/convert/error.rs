//! Tool errors.

use toolplane_records::error as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::FieldViolation> for v1::FieldViolation {
    fn from(record: &records::FieldViolation) -> Self {
        Self { field: record.field.clone(), description: record.description.clone() }
    }
}

impl TryFrom<v1::FieldViolation> for records::FieldViolation {
    type Error = ConvertError;

    fn try_from(message: v1::FieldViolation) -> Result<Self, ConvertError> {
        Ok(Self { field: message.field, description: message.description })
    }
}

impl From<&records::ToolError> for v1::ToolError {
    fn from(record: &records::ToolError) -> Self {
        Self {
            error_code: record.error_code.clone(),
            error_class: record.error_class.as_str().to_owned(),
            error_class_code: record.error_class.number(),
            message: record.message.clone(),
            recoverability: record.recoverability.as_str().to_owned(),
            recoverability_code: record.recoverability.number(),
            retry_after_ms: record.retry_after_ms,
            native_error_ref: record.native_error_ref.clone(),
            policy_refs: record.policy_refs.clone(),
            evidence_refs: record.evidence_refs.clone(),
            abort_reason: word::optional_text(record.abort_reason),
            abort_reason_code: word::optional_number(record.abort_reason),
            side_effects: record.side_effects.clone(),
            blocked_path: record.blocked_path.clone(),
            field_violations: field::outs(&record.field_violations),
            recovery_suggestion: record.recovery_suggestion.clone(),
            next_steps: record.next_steps.clone(),
            can_retry: record.can_retry,
        }
    }
}

impl TryFrom<v1::ToolError> for records::ToolError {
    type Error = ConvertError;

    fn try_from(message: v1::ToolError) -> Result<Self, ConvertError> {
        Ok(Self {
            error_code: message.error_code,
            error_class: word::open("error_class", &message.error_class, message.error_class_code)?,
            message: message.message,
            recoverability: word::open("recoverability", &message.recoverability, message.recoverability_code)?,
            retry_after_ms: message.retry_after_ms,
            native_error_ref: message.native_error_ref,
            policy_refs: message.policy_refs,
            evidence_refs: message.evidence_refs,
            abort_reason: word::optional_open("abort_reason", &message.abort_reason, message.abort_reason_code)?,
            side_effects: message.side_effects,
            blocked_path: message.blocked_path,
            field_violations: field::list("field_violations", message.field_violations)?,
            recovery_suggestion: message.recovery_suggestion,
            next_steps: message.next_steps,
            can_retry: message.can_retry,
        })
    }
}
