//! Progress records.

use toolplane_records::progress as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::ToolProgress> for v1::ToolProgress {
    fn from(record: &records::ToolProgress) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            progress_id: record.progress_id.clone(),
            invocation_id: record.invocation_id.to_string(),
            sequence: record.sequence,
            status: record.status.as_str().to_owned(),
            status_code: record.status.number(),
            message: record.message.clone(),
            percent: record.percent,
            current_step: record.current_step.clone(),
            total_steps: record.total_steps,
            elapsed_ms: record.elapsed_ms,
            bytes_read: record.bytes_read,
            bytes_written: record.bytes_written,
            line_count: record.line_count,
            task_id: record.task_id.clone(),
            partial_result_refs: record.partial_result_refs.clone(),
            artifact_refs: field::outs(&record.artifact_refs),
            timestamp: field::instant(record.timestamp),
        }
    }
}

impl TryFrom<v1::ToolProgress> for records::ToolProgress {
    type Error = ConvertError;

    fn try_from(message: v1::ToolProgress) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            progress_id: message.progress_id,
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            sequence: message.sequence,
            status: word::open("status", &message.status, message.status_code)?,
            message: message.message,
            percent: finite("percent", message.percent)?,
            current_step: message.current_step,
            total_steps: message.total_steps,
            elapsed_ms: message.elapsed_ms,
            bytes_read: message.bytes_read,
            bytes_written: message.bytes_written,
            line_count: message.line_count,
            task_id: message.task_id,
            partial_result_refs: message.partial_result_refs,
            artifact_refs: field::list("artifact_refs", message.artifact_refs)?,
            timestamp: field::time("timestamp", message.timestamp)?,
        })
    }
}

/// JSON, which is how records are kept, has no other numbers.
fn finite(field: &str, number: Option<f64>) -> Result<Option<f64>, ConvertError> {
    match number {
        Some(number) if !number.is_finite() => Err(ConvertError::new(field, "must be a finite number")),
        number => Ok(number),
    }
}
