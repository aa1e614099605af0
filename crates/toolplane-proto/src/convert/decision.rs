//! Permission decisions.

use toolplane_records::decision as records;
use toolplane_records::vocabulary::RuleSource;

use crate::convert::convert_error::ConvertError;
use crate::convert::word::Word as _;
use crate::convert::{field, word};
use crate::v1;

impl From<&records::DecisionReason> for v1::DecisionReason {
    fn from(record: &records::DecisionReason) -> Self {
        Self {
            r#type: record.reason_type.as_str().to_owned(),
            type_code: record.reason_type.number(),
            rule_ref: field::maybe(&record.rule_ref),
            message: record.message.to_string(),
        }
    }
}

impl TryFrom<v1::DecisionReason> for records::DecisionReason {
    type Error = ConvertError;

    fn try_from(message: v1::DecisionReason) -> Result<Self, ConvertError> {
        Ok(Self {
            reason_type: word::open("type", &message.r#type, message.type_code)?,
            rule_ref: message.rule_ref.map(Into::into),
            message: message.message.into(),
        })
    }
}

impl From<&records::PermissionDecision> for v1::PermissionDecision {
    fn from(record: &records::PermissionDecision) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            decision_id: record.decision_id.to_string(),
            invocation_id: record.invocation_id.to_string(),
            behavior: record.behavior.number(),
            mode: field::maybe(&record.mode),
            source: field::maybe(&record.source),
            source_code: word::optional_number(record.rule_source()),
            reason: field::out(&record.reason),
            rule_refs: field::texts(&record.rule_refs),
            policy_refs: field::texts(&record.policy_refs),
            updated_input: field::out(&record.updated_input),
            updated_input_ref: record.updated_input_ref.clone(),
            user_modified: record.user_modified,
            suggested_updates: field::outs(&record.suggested_updates),
            pending_classifier_check: field::out(&record.pending_classifier_check),
            blocked_path: record.blocked_path.clone(),
            content_blocks: field::outs(&record.content_blocks),
            accept_feedback: record.accept_feedback.clone(),
            decided_at: field::instant(record.decided_at),
            expires_at: record.expires_at.and_then(field::instant),
            approval_request_ref: field::text(&record.approval_request_ref),
            policy_digest: record.policy_digest.to_string(),
            denied_paths: denied_paths(&record.denied_paths),
            reused_from: field::text(&record.reused_from),
        }
    }
}

impl TryFrom<v1::PermissionDecision> for records::PermissionDecision {
    type Error = ConvertError;

    fn try_from(message: v1::PermissionDecision) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            decision_id: field::id("decision_id", &message.decision_id)?,
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            behavior: word::closed("behavior", message.behavior)?,
            mode: message.mode.map(Into::into),
            source: source(message.source, message.source_code)?,
            reason: field::optional("reason", message.reason)?,
            rule_refs: field::kept(message.rule_refs),
            policy_refs: field::kept(message.policy_refs),
            updated_input: field::optional("updated_input", message.updated_input)?,
            updated_input_ref: message.updated_input_ref,
            user_modified: message.user_modified,
            suggested_updates: field::list("suggested_updates", message.suggested_updates)?,
            pending_classifier_check: field::optional("pending_classifier_check", message.pending_classifier_check)?,
            blocked_path: message.blocked_path,
            content_blocks: field::list("content_blocks", message.content_blocks)?,
            accept_feedback: message.accept_feedback,
            decided_at: field::time("decided_at", message.decided_at)?,
            expires_at: field::optional_time("expires_at", message.expires_at)?,
            approval_request_ref: field::optional_id("approval_request_ref", &message.approval_request_ref)?,
            policy_digest: message.policy_digest.into(),
            denied_paths: message.denied_paths.unwrap_or_default().into(),
            reused_from: field::optional_id("reused_from", &message.reused_from)?,
        })
    }
}

impl From<v1::DeniedPaths> for records::DeniedPaths {
    fn from(message: v1::DeniedPaths) -> Self {
        Self { read: message.read, write: message.write }
    }
}

/// The message of these paths; none when there are none.
pub fn denied_paths(record: &records::DeniedPaths) -> Option<v1::DeniedPaths> {
    (!record.is_empty()).then(|| v1::DeniedPaths { read: record.read.clone(), write: record.write.clone() })
}

/// A source is free text; when it is a rule source, the enum beside it must agree.
fn source(text: Option<String>, number: i32) -> Result<Option<records::DecisionSource>, ConvertError> {
    let named: Option<RuleSource> = word::optional_closed("source_code", number)?;
    match (text, named) {
        (Some(text), Some(named)) if text != named.as_str() => {
            Err(ConvertError::new("source", format!("differs from the enum beside it, which says `{named}`")))
        }
        (_, Some(named)) => Ok(Some(records::DecisionSource::new_static(named.as_str()))),
        (text, None) => Ok(text.map(Into::into)),
    }
}
