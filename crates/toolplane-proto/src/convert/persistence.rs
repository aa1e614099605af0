//! Persistence decisions.

use toolplane_records::persistence as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::PersistenceThreshold> for v1::PersistenceThreshold {
    fn from(record: &records::PersistenceThreshold) -> Self {
        Self { max_inline_chars: record.max_inline_chars, max_inline_bytes: record.max_inline_bytes }
    }
}

impl TryFrom<v1::PersistenceThreshold> for records::PersistenceThreshold {
    type Error = ConvertError;

    fn try_from(message: v1::PersistenceThreshold) -> Result<Self, ConvertError> {
        Ok(Self { max_inline_chars: message.max_inline_chars, max_inline_bytes: message.max_inline_bytes })
    }
}

impl From<&records::ResultPersistence> for v1::ResultPersistence {
    fn from(record: &records::ResultPersistence) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            decision_id: record.decision_id.to_string(),
            invocation_id: record.invocation_id.to_string(),
            result_id: field::text(&record.result_id),
            strategy: record.strategy.number(),
            threshold: field::out(&record.threshold),
            original_size_bytes: record.original_size_bytes,
            preview_size_bytes: record.preview_size_bytes,
            persisted_ref: field::out(&record.persisted_ref),
            redaction_state: word::optional_number(record.redaction_state),
            reason: record.reason.to_string(),
            created_at: field::instant(record.created_at),
            output: record.output.to_string(),
            expires_at: record.expires_at.and_then(field::instant),
        }
    }
}

impl TryFrom<v1::ResultPersistence> for records::ResultPersistence {
    type Error = ConvertError;

    fn try_from(message: v1::ResultPersistence) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            decision_id: field::id("decision_id", &message.decision_id)?,
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            result_id: field::optional_id("result_id", &message.result_id)?,
            strategy: word::closed("strategy", message.strategy)?,
            threshold: field::optional("threshold", message.threshold)?,
            original_size_bytes: message.original_size_bytes,
            preview_size_bytes: message.preview_size_bytes,
            persisted_ref: field::optional("persisted_ref", message.persisted_ref)?,
            redaction_state: word::optional_closed("redaction_state", message.redaction_state)?,
            reason: message.reason.into(),
            created_at: field::time("created_at", message.created_at)?,
            output: message.output.into(),
            expires_at: field::optional_time("expires_at", message.expires_at)?,
        })
    }
}
