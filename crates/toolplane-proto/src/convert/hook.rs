//! Hook runs.

use toolplane_records::hook as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::HookPermission> for v1::HookPermission {
    fn from(record: &records::HookPermission) -> Self {
        Self { behavior: record.behavior.number(), message: record.message.clone() }
    }
}

impl TryFrom<v1::HookPermission> for records::HookPermission {
    type Error = ConvertError;

    fn try_from(message: v1::HookPermission) -> Result<Self, ConvertError> {
        Ok(Self { behavior: word::closed("behavior", message.behavior)?, message: message.message })
    }
}

impl From<&records::HookStop> for v1::HookStop {
    fn from(record: &records::HookStop) -> Self {
        Self { reason: record.reason.clone() }
    }
}

impl TryFrom<v1::HookStop> for records::HookStop {
    type Error = ConvertError;

    fn try_from(message: v1::HookStop) -> Result<Self, ConvertError> {
        Ok(Self { reason: message.reason })
    }
}

impl From<&records::ToolHook> for v1::ToolHook {
    fn from(record: &records::ToolHook) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            hook_id: record.hook_id.clone(),
            hook_event: record.hook_event.number(),
            invocation_id: field::text(&record.invocation_id),
            tool_id: field::text(&record.tool_id),
            matcher: field::out(&record.matcher),
            outputs: field::outs(&record.outputs),
            permission_result: field::out(&record.permission_result),
            updated_input: field::out(&record.updated_input),
            additional_context: field::outs(&record.additional_context),
            stop: field::out(&record.stop),
            updated_output: field::out(&record.updated_output),
            started_at: record.started_at.and_then(field::instant),
            ended_at: record.ended_at.and_then(field::instant),
        }
    }
}

impl TryFrom<v1::ToolHook> for records::ToolHook {
    type Error = ConvertError;

    fn try_from(message: v1::ToolHook) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            hook_id: message.hook_id,
            hook_event: word::closed("hook_event", message.hook_event)?,
            invocation_id: field::optional_id("invocation_id", &message.invocation_id)?,
            tool_id: field::optional_id("tool_id", &message.tool_id)?,
            matcher: field::optional("matcher", message.matcher)?,
            outputs: field::list("outputs", message.outputs)?,
            permission_result: field::optional("permission_result", message.permission_result)?,
            updated_input: field::optional("updated_input", message.updated_input)?,
            additional_context: field::list("additional_context", message.additional_context)?,
            stop: field::optional("stop", message.stop)?,
            updated_output: field::optional("updated_output", message.updated_output)?,
            started_at: field::optional_time("started_at", message.started_at)?,
            ended_at: field::optional_time("ended_at", message.ended_at)?,
        })
    }
}
