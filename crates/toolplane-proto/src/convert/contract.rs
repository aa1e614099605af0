//! Input and output contracts.

use toolplane_records::contract as records;

use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::InputContract> for v1::InputContract {
    fn from(record: &records::InputContract) -> Self {
        Self {
            model_input_schema: field::out(&record.model_input_schema),
            runtime_input_schema: field::out(&record.runtime_input_schema),
            strict: record.strict,
            defaults: field::out(&record.defaults),
            examples: field::outs(&record.examples),
            sensitive_fields: record.sensitive_fields.clone(),
            internal_only_fields: record.internal_only_fields.clone(),
            argument_mode: word::optional_text(record.argument_mode),
            argument_mode_code: word::optional_number(record.argument_mode),
            mutation_policy: record.mutation_policy.clone(),
        }
    }
}

impl TryFrom<v1::InputContract> for records::InputContract {
    type Error = ConvertError;

    fn try_from(message: v1::InputContract) -> Result<Self, ConvertError> {
        Ok(Self {
            model_input_schema: field::optional("model_input_schema", message.model_input_schema)?,
            runtime_input_schema: field::optional("runtime_input_schema", message.runtime_input_schema)?,
            strict: message.strict,
            defaults: field::optional("defaults", message.defaults)?,
            examples: field::list("examples", message.examples)?,
            sensitive_fields: message.sensitive_fields,
            internal_only_fields: message.internal_only_fields,
            argument_mode: word::optional_open("argument_mode", &message.argument_mode, message.argument_mode_code)?,
            mutation_policy: message.mutation_policy,
        })
    }
}

impl From<&records::OutputContract> for v1::OutputContract {
    fn from(record: &records::OutputContract) -> Self {
        Self {
            structured_schema: field::out(&record.structured_schema),
            content_types: record.content_types.clone(),
            artifact_expectations: record.artifact_expectations.clone(),
            max_inline_bytes: record.max_inline_bytes,
            max_inline_chars: record.max_inline_chars,
            persistence_policy_ref: record.persistence_policy_ref.clone(),
            rendering_boundary: field::out(&record.rendering_boundary),
            redaction_rules: record.redaction_rules.clone(),
            fallback_summary: record.fallback_summary.clone(),
        }
    }
}

impl TryFrom<v1::OutputContract> for records::OutputContract {
    type Error = ConvertError;

    fn try_from(message: v1::OutputContract) -> Result<Self, ConvertError> {
        Ok(Self {
            structured_schema: field::optional("structured_schema", message.structured_schema)?,
            content_types: message.content_types,
            artifact_expectations: message.artifact_expectations,
            max_inline_bytes: message.max_inline_bytes,
            max_inline_chars: message.max_inline_chars,
            persistence_policy_ref: message.persistence_policy_ref,
            rendering_boundary: field::optional("rendering_boundary", message.rendering_boundary)?,
            redaction_rules: message.redaction_rules,
            fallback_summary: message.fallback_summary,
        })
    }
}
