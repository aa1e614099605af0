//! The record of one run.

use serde_json::json;
use toolplane_records::hook::ToolHook;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::HookEvent;

use crate::bounds::MAX_RECORDED_BYTES;
use crate::input::HookInput;
use crate::run::HookRun;

/// What is kept of a run. Texts and small values are kept as they are; of larger values, size and digest.
pub(crate) fn of(event: HookEvent, input: &HookInput, run: &HookRun) -> ToolHook {
    let mut record = ToolHook {
        schema_version: toolplane_records::schema_version(),
        hook_id: run.hook.hook_id.clone(),
        hook_event: event,
        invocation_id: Some(input.invocation_id.clone()),
        tool_id: Some(input.tool.tool_id.clone()),
        matcher: Some(JsonPayload::of(&json!({ "tools": run.hook.matcher }))),
        outputs: Vec::new(),
        permission_result: None,
        updated_input: None,
        additional_context: Vec::new(),
        stop: None,
        updated_output: None,
        started_at: Some(run.started_at),
        ended_at: Some(run.ended_at),
    };
    let output = match &run.outcome {
        Ok(output) => output,
        Err(failure) => {
            let said = json!({ "type": "failure", "code": failure.code(), "text": failure.to_string() });
            record.outputs.push(JsonPayload::of(&said));
            return record;
        }
    };
    let spoken = |kind: &str, text: &String| JsonPayload::of(&json!({ "type": kind, "text": text }));
    record.outputs.extend(output.messages.iter().map(|text| spoken("message", text)));
    record.outputs.extend(output.progress.iter().map(|text| spoken("progress", text)));
    record.outputs.extend(output.block.iter().map(|text| spoken("block", text)));
    record.outputs.extend(output.notes.iter().map(|text| spoken("note", text)));
    if let Some(strategy) = output.persistence {
        record.outputs.push(JsonPayload::of(&json!({ "type": "persistence", "strategy": strategy })));
    }
    if let Some(said) = &output.classifier {
        record.outputs.push(JsonPayload::of(&json!({
            "type": "classifier",
            "classifier_ref": said.classifier_ref,
            "pending": said.pending,
            "confidence": said.confidence,
            "reason": said.reason,
            "behavior": said.behavior,
        })));
    }
    record.permission_result = output.permission.clone();
    record.updated_input = output.updated_input.as_ref().map(small);
    record.additional_context =
        output.additional_context.iter().map(|text| JsonPayload::of(&json!({ "text": text }))).collect();
    record.stop = output.stop.clone();
    record.updated_output = output.updated_output.as_ref().map(|replacement| small(&replacement.given));
    record
}

fn small(value: &JsonPayload) -> JsonPayload {
    if value.size() <= MAX_RECORDED_BYTES {
        return value.clone();
    }
    JsonPayload::of(&json!({ "omitted": true, "size_bytes": value.size(), "digest": value.digest() }))
}
