//! Tool interfaces and their safety facts.

use toolplane_records::interface as records;

use crate::convert::{ConvertError, field, word};
use crate::v1;
use crate::v1::safety_fact::Fact;

impl From<&records::ToolInterface> for v1::ToolInterface {
    fn from(record: &records::ToolInterface) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            interface_id: record.interface_id.to_string(),
            tool_id: record.tool_id.to_string(),
            name: record.name.clone(),
            aliases: record.aliases.clone(),
            search_hint: record.search_hint.clone(),
            model_input_schema: field::out(&record.model_input_schema),
            runtime_input_schema: field::out(&record.runtime_input_schema),
            output_schema: field::out(&record.output_schema),
            strict: record.strict,
            schema_visibility: word::optional_number(record.schema_visibility),
            should_defer: record.should_defer,
            always_load: record.always_load,
            is_enabled: field::out(&record.is_enabled),
            is_read_only: field::out(&record.is_read_only),
            is_concurrency_safe: field::out(&record.is_concurrency_safe),
            is_destructive: field::out(&record.is_destructive),
            is_open_world: field::out(&record.is_open_world),
            is_idempotent: field::out(&record.is_idempotent),
            requires_user_interaction: record.requires_user_interaction,
            classifier_input: field::out(&record.classifier_input),
            permission_matcher: record.permission_matcher.clone(),
            execution_profile_ref: record.execution_profile_ref.clone(),
            permission_profile_ref: record.permission_profile_ref.clone(),
            persistence_policy_ref: record.persistence_policy_ref.clone(),
            max_inline_chars: record.max_inline_chars,
            interrupt_behavior: word::optional_number(record.interrupt_behavior),
            required_credentials: record.required_credentials.clone(),
            feature_gate_refs: record.feature_gate_refs.clone(),
            rendering: field::out(&record.rendering),
            external_mappings: field::outs(&record.external_mappings),
        }
    }
}

impl TryFrom<v1::ToolInterface> for records::ToolInterface {
    type Error = ConvertError;

    fn try_from(message: v1::ToolInterface) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            interface_id: field::id("interface_id", &message.interface_id)?,
            tool_id: field::id("tool_id", &message.tool_id)?,
            name: message.name,
            aliases: message.aliases,
            search_hint: message.search_hint,
            model_input_schema: field::optional("model_input_schema", message.model_input_schema)?,
            runtime_input_schema: field::optional("runtime_input_schema", message.runtime_input_schema)?,
            output_schema: field::optional("output_schema", message.output_schema)?,
            strict: message.strict,
            schema_visibility: word::optional_closed("schema_visibility", message.schema_visibility)?,
            should_defer: message.should_defer,
            always_load: message.always_load,
            is_enabled: field::optional("is_enabled", message.is_enabled)?,
            is_read_only: field::optional("is_read_only", message.is_read_only)?,
            is_concurrency_safe: field::optional("is_concurrency_safe", message.is_concurrency_safe)?,
            is_destructive: field::optional("is_destructive", message.is_destructive)?,
            is_open_world: field::optional("is_open_world", message.is_open_world)?,
            is_idempotent: field::optional("is_idempotent", message.is_idempotent)?,
            requires_user_interaction: message.requires_user_interaction,
            classifier_input: field::optional("classifier_input", message.classifier_input)?,
            permission_matcher: message.permission_matcher,
            execution_profile_ref: message.execution_profile_ref,
            permission_profile_ref: message.permission_profile_ref,
            persistence_policy_ref: message.persistence_policy_ref,
            max_inline_chars: message.max_inline_chars,
            interrupt_behavior: word::optional_closed("interrupt_behavior", message.interrupt_behavior)?,
            required_credentials: message.required_credentials,
            feature_gate_refs: message.feature_gate_refs,
            rendering: field::optional("rendering", message.rendering)?,
            external_mappings: field::list("external_mappings", message.external_mappings)?,
        })
    }
}

impl From<&records::SafetyFact> for v1::SafetyFact {
    fn from(record: &records::SafetyFact) -> Self {
        let fact = match record {
            records::SafetyFact::Known(known) => Fact::Known(*known),
            records::SafetyFact::Rule(rule) => Fact::Rule(rule.clone()),
        };
        Self { fact: Some(fact) }
    }
}

impl TryFrom<v1::SafetyFact> for records::SafetyFact {
    type Error = ConvertError;

    fn try_from(message: v1::SafetyFact) -> Result<Self, ConvertError> {
        match message.fact {
            Some(Fact::Known(known)) => Ok(Self::Known(known)),
            Some(Fact::Rule(rule)) => Ok(Self::Rule(rule)),
            None => Err(ConvertError::new("", "must be true, false or a rule")),
        }
    }
}
