//! Batches and their members.

use toolplane_records::batch as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::BatchPlace> for v1::BatchPlace {
    fn from(record: &records::BatchPlace) -> Self {
        Self { batch_id: record.batch_id.to_string(), index: record.index }
    }
}

impl TryFrom<v1::BatchPlace> for records::BatchPlace {
    type Error = ConvertError;

    fn try_from(message: v1::BatchPlace) -> Result<Self, ConvertError> {
        Ok(Self { batch_id: field::id("batch_id", &message.batch_id)?, index: message.index })
    }
}

impl From<&records::Batch> for v1::Batch {
    fn from(record: &records::Batch) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            batch_id: record.batch_id.to_string(),
            tenant: record.tenant.to_string(),
            policy: Some((&record.policy).into()),
            session_ref: record.session_ref.clone(),
            lock_domain: record.lock_domain.clone(),
            request_digest: record.request_digest.to_string(),
            idempotency_key: record.idempotency_key.clone(),
            created_at: field::instant(record.created_at),
            members: field::outs(&record.members),
            next_yield: record.next_yield,
            yields: record.yields,
            ended_at: record.ended_at.and_then(field::instant),
        }
    }
}

impl TryFrom<v1::Batch> for records::Batch {
    type Error = ConvertError;

    fn try_from(message: v1::Batch) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            batch_id: field::id("batch_id", &message.batch_id)?,
            tenant: field::id("tenant", &message.tenant)?,
            policy: field::required("policy", message.policy)?,
            session_ref: message.session_ref,
            lock_domain: message.lock_domain,
            request_digest: field::id("request_digest", &message.request_digest)?,
            idempotency_key: message.idempotency_key,
            created_at: field::time("created_at", message.created_at)?,
            members: field::list("members", message.members)?,
            next_yield: message.next_yield,
            yields: message.yields,
            ended_at: field::optional_time("ended_at", message.ended_at)?,
        })
    }
}

impl From<&records::BatchMember> for v1::BatchMember {
    fn from(record: &records::BatchMember) -> Self {
        Self {
            invocation_id: record.invocation_id.to_string(),
            tool_name: record.tool_name.clone(),
            depends_on: record.depends_on.clone(),
            sibling_failure_policy: word::optional_number(record.sibling_failure_policy),
            interrupt_behavior: record.interrupt_behavior.number(),
            background: record.background,
            released: record.released,
            ended: word::optional_text(record.ended),
            ended_code: word::optional_number(record.ended),
            yield_seq: record.yield_seq,
            canceled_by: record.canceled_by,
            discarded: record.discarded,
        }
    }
}

impl TryFrom<v1::BatchMember> for records::BatchMember {
    type Error = ConvertError;

    fn try_from(message: v1::BatchMember) -> Result<Self, ConvertError> {
        Ok(Self {
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            tool_name: message.tool_name,
            depends_on: message.depends_on,
            sibling_failure_policy: word::optional_closed("sibling_failure_policy", message.sibling_failure_policy)?,
            interrupt_behavior: word::closed("interrupt_behavior", message.interrupt_behavior)?,
            background: message.background,
            released: message.released,
            ended: word::optional_open("ended", &message.ended, message.ended_code)?,
            yield_seq: message.yield_seq,
            canceled_by: message.canceled_by,
            discarded: message.discarded,
        })
    }
}
