//! Facts of a call that is out at a worker: its lease, the question it asks, and its cancellation.

use toolplane_records::invocation as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::PendingInput> for v1::PendingInput {
    fn from(record: &records::PendingInput) -> Self {
        Self {
            input_id: record.input_id.clone(),
            prompt: record.prompt.clone(),
            schema: field::out(&record.schema),
            requested_at: field::instant(record.requested_at),
            expires_at: field::instant(record.expires_at),
            answer: field::out(&record.answer),
        }
    }
}

impl TryFrom<v1::PendingInput> for records::PendingInput {
    type Error = ConvertError;

    fn try_from(message: v1::PendingInput) -> Result<Self, ConvertError> {
        Ok(Self {
            input_id: message.input_id,
            prompt: message.prompt,
            schema: field::optional("schema", message.schema)?,
            requested_at: field::time("requested_at", message.requested_at)?,
            expires_at: field::time("expires_at", message.expires_at)?,
            answer: field::optional("answer", message.answer)?,
        })
    }
}

impl From<&records::PostHooks> for v1::PostHooks {
    fn from(record: &records::PostHooks) -> Self {
        Self { due_at: field::instant(record.due_at), tries: record.tries }
    }
}

impl TryFrom<v1::PostHooks> for records::PostHooks {
    type Error = ConvertError;

    fn try_from(message: v1::PostHooks) -> Result<Self, ConvertError> {
        Ok(Self { due_at: field::time("due_at", message.due_at)?, tries: message.tries })
    }
}

impl From<&records::InputAnswer> for v1::InputAnswer {
    fn from(record: &records::InputAnswer) -> Self {
        Self {
            input: field::out(&record.input),
            provided_by: record.provided_by.clone(),
            expired: record.expired,
            answered_at: field::instant(record.answered_at),
        }
    }
}

impl TryFrom<v1::InputAnswer> for records::InputAnswer {
    type Error = ConvertError;

    fn try_from(message: v1::InputAnswer) -> Result<Self, ConvertError> {
        Ok(Self {
            input: field::optional("input", message.input)?,
            provided_by: message.provided_by,
            expired: message.expired,
            answered_at: field::time("answered_at", message.answered_at)?,
        })
    }
}

impl From<&records::CancelFacts> for v1::CancelFacts {
    fn from(record: &records::CancelFacts) -> Self {
        Self {
            requested_at: field::instant(record.requested_at),
            requested_by: record.requested_by.clone(),
            message: record.message.clone(),
            abort_reason: record.abort_reason.as_str().to_owned(),
            abort_reason_code: record.abort_reason.number(),
            acknowledged_at: record.acknowledged_at.and_then(field::instant),
            failed: record.failed.clone(),
        }
    }
}

impl TryFrom<v1::CancelFacts> for records::CancelFacts {
    type Error = ConvertError;

    fn try_from(message: v1::CancelFacts) -> Result<Self, ConvertError> {
        Ok(Self {
            requested_at: field::time("requested_at", message.requested_at)?,
            requested_by: message.requested_by,
            message: message.message,
            abort_reason: word::open("abort_reason", &message.abort_reason, message.abort_reason_code)?,
            acknowledged_at: field::optional_time("acknowledged_at", message.acknowledged_at)?,
            failed: message.failed,
        })
    }
}

impl From<&records::Lease> for v1::LeaseFacts {
    fn from(record: &records::Lease) -> Self {
        Self {
            lease_no: record.lease_no,
            fence: record.fence,
            worker_id: record.worker_id.to_string(),
            incarnation: record.incarnation.to_string(),
            expires_at: field::instant(record.expires_at),
            confirmed: record.confirmed,
        }
    }
}
