//! Questions to people.

use toolplane_records::approval as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::Approval> for v1::Approval {
    fn from(record: &records::Approval) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            approval_id: record.approval_id.to_string(),
            tenant: record.tenant.to_string(),
            invocation_id: record.invocation_id.to_string(),
            tool_id: record.tool_id.to_string(),
            tool_name: record.tool_name.clone(),
            declaration_digest: record.declaration_digest.to_string(),
            input_digest: record.input_digest.to_string(),
            permission_input: Some((&record.permission_input).into()),
            actor_ref: record.actor_ref.clone(),
            request: Some((&record.request).into()),
            state: record.state.number(),
            resolution: field::out(&record.resolution),
            resolved_by: record.resolved_by.clone(),
            feedback: record.feedback.clone(),
            created_at: field::instant(record.created_at),
            expires_at: field::instant(record.expires_at),
            resolved_at: record.resolved_at.and_then(field::instant),
            call_input_digest: field::text(&record.call_input_digest),
            options: field::outs(&record.options),
            queue: record.queue.clone(),
            session_ref: record.session_ref.clone().unwrap_or_default(),
            surface_id: field::text(&record.surface_id),
            caller_ref: record.caller_ref.clone(),
            risk_level: word::optional_number(record.risk_level),
            chosen_option: word::optional_number(record.chosen_option),
            updated_input: field::out(&record.updated_input),
            tool_registration: field::out(&record.tool_registration),
            outdated_rule: record.outdated_rule.clone(),
            definition_changes: record.definition_changes.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::Approval> for records::Approval {
    type Error = ConvertError;

    fn try_from(message: v1::Approval) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            approval_id: field::id("approval_id", &message.approval_id)?,
            tenant: field::id("tenant", &message.tenant)?,
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            tool_id: field::id("tool_id", &message.tool_id)?,
            tool_name: message.tool_name,
            declaration_digest: field::id("declaration_digest", &message.declaration_digest)?,
            input_digest: field::id("input_digest", &message.input_digest)?,
            permission_input: field::required("permission_input", message.permission_input)?,
            actor_ref: message.actor_ref,
            request: field::required("request", message.request)?,
            state: word::closed("state", message.state)?,
            resolution: field::optional("resolution", message.resolution)?,
            resolved_by: message.resolved_by,
            feedback: message.feedback,
            created_at: field::time("created_at", message.created_at)?,
            expires_at: field::time("expires_at", message.expires_at)?,
            resolved_at: field::optional_time("resolved_at", message.resolved_at)?,
            call_input_digest: field::optional_id("call_input_digest", &message.call_input_digest)?,
            options: field::list("options", message.options)?,
            queue: if message.queue.is_empty() { records::APPROVALS.to_owned() } else { message.queue },
            session_ref: Some(message.session_ref).filter(|session| !session.is_empty()),
            surface_id: field::optional_id("surface_id", &message.surface_id)?,
            caller_ref: message.caller_ref,
            risk_level: word::optional_closed("risk_level", message.risk_level)?,
            chosen_option: word::optional_closed("chosen_option", message.chosen_option)?,
            updated_input: field::optional("updated_input", message.updated_input)?,
            tool_registration: field::optional("tool_registration", message.tool_registration)?,
            outdated_rule: message.outdated_rule,
            definition_changes: message.definition_changes.into_iter().map(Into::into).collect(),
        })
    }
}

impl From<&records::DefinitionChange> for v1::DefinitionChange {
    fn from(record: &records::DefinitionChange) -> Self {
        let records::DefinitionChange { field, before, after } = record.clone();
        Self { field, before, after }
    }
}

impl From<v1::DefinitionChange> for records::DefinitionChange {
    fn from(message: v1::DefinitionChange) -> Self {
        let v1::DefinitionChange { field, before, after } = message;
        Self { field, before, after }
    }
}

impl From<&records::ApprovalOption> for v1::ApprovalOption {
    fn from(record: &records::ApprovalOption) -> Self {
        Self {
            option_id: record.option_id.clone(),
            name: record.name.clone(),
            kind: record.kind.number(),
            suggestion_id: record.suggestion_id.clone(),
        }
    }
}

impl TryFrom<v1::ApprovalOption> for records::ApprovalOption {
    type Error = ConvertError;

    fn try_from(message: v1::ApprovalOption) -> Result<Self, ConvertError> {
        Ok(Self {
            option_id: message.option_id,
            name: message.name,
            kind: word::closed("kind", message.kind)?,
            suggestion_id: message.suggestion_id,
        })
    }
}
