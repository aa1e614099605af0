//! Tool declarations and external mappings.

use toolplane_records::declaration as records;
use toolplane_records::mapping;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::ToolDeclaration> for v1::ToolDeclaration {
    fn from(record: &records::ToolDeclaration) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            tool_id: record.tool_id.to_string(),
            namespace: record.namespace.clone(),
            name: record.name.clone(),
            aliases: record.aliases.clone(),
            search_hint: record.search_hint.clone(),
            title: record.title.clone(),
            description: record.description.clone(),
            lifecycle: record.lifecycle.number(),
            tool_kind: record.tool_kind.as_str().to_owned(),
            tool_kind_code: record.tool_kind.number(),
            capability_refs: record.capability_refs.clone(),
            input_contract: field::out(&record.input_contract),
            output_contract: record.output_contract.as_deref().map(Into::into),
            interface_ref: record.interface_ref.clone(),
            execution_profile_ref: record.execution_profile_ref.clone(),
            permission_profile_ref: record.permission_profile_ref.clone(),
            external_mappings: field::outs(&record.external_mappings),
            annotations: field::out(&record.annotations),
            search_examples: record.search_examples.clone(),
            tags: record.tags.clone(),
        }
    }
}

impl TryFrom<v1::ToolDeclaration> for records::ToolDeclaration {
    type Error = ConvertError;

    fn try_from(message: v1::ToolDeclaration) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            tool_id: field::id("tool_id", &message.tool_id)?,
            namespace: message.namespace,
            name: message.name,
            aliases: message.aliases,
            search_hint: message.search_hint,
            search_examples: message.search_examples,
            tags: message.tags,
            title: message.title,
            description: message.description,
            lifecycle: word::closed("lifecycle", message.lifecycle)?,
            tool_kind: word::open("tool_kind", &message.tool_kind, message.tool_kind_code)?,
            capability_refs: message.capability_refs,
            input_contract: field::optional("input_contract", message.input_contract)?,
            output_contract: field::optional("output_contract", message.output_contract)?.map(Box::new),
            interface_ref: message.interface_ref,
            execution_profile_ref: message.execution_profile_ref,
            permission_profile_ref: message.permission_profile_ref,
            external_mappings: field::list("external_mappings", message.external_mappings)?,
            annotations: field::optional("annotations", message.annotations)?,
        })
    }
}

impl From<&mapping::ExternalMapping> for v1::ExternalMapping {
    fn from(record: &mapping::ExternalMapping) -> Self {
        Self { source: record.source.clone(), native_id: record.native_id.clone(), fields: field::out(&record.fields) }
    }
}

impl TryFrom<v1::ExternalMapping> for mapping::ExternalMapping {
    type Error = ConvertError;

    fn try_from(message: v1::ExternalMapping) -> Result<Self, ConvertError> {
        Ok(Self {
            source: message.source,
            native_id: message.native_id,
            fields: field::optional("fields", message.fields)?,
        })
    }
}
