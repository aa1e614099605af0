//! What hooks after a call are told of it.

use toolplane_hooks::{HookInput, HookOutcome};
use toolplane_matching::ToolFacts;
use toolplane_records::SmolStr;
use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_results::PayloadStore;
use toolplane_results::payload::key::URI_PREFIX;

use super::report::{self, Report};
use crate::intake::{Asker, caller_context};
use crate::plan::DispatchPlan;
use crate::storage::RecordError;

/// Most bytes of outputs kept elsewhere that hooks of one ending are shown. What is not shown to them is not shown to
/// others either.
const MAX_SHOWN_BYTES: u64 = 16 * 1024 * 1024;

/// The tool of a plan, as matchers know it.
pub(super) fn tool(plan: &DispatchPlan) -> ToolFacts {
    plan.facts()
}

/// The call, as far as hooks may know it: who calls is who proved to, and its input is the copy people may see.
pub(super) fn input(
    record: &Invocation,
    plan: &DispatchPlan,
    facts: Option<JsonPayload>,
    bodies: InputBodies,
) -> Result<HookInput, RecordError> {
    let asker = match facts {
        Some(facts) => facts.parse()?,
        None => Asker::anybody(),
    };
    // A copy that cannot be found must not be replaced by what may not be shown.
    let shown = bodies.permission.or(bodies.observable).unwrap_or_else(|| JsonPayload::of(&serde_json::json!({})));
    let caller = caller_context(record.into(), &asker.caller(record), asker.can_ask);
    Ok(HookInput {
        native_call_id: record.native_call_id.as_deref().unwrap_or_default().to_owned(),
        ..HookInput::new(record.invocation_id.clone(), caller, tool(plan), shown)
    })
}

/// What the tool gave, whole texts in the place of their previews; and the addresses of texts that are too large to be shown.
pub(super) async fn outcome(report: &Report, payloads: &PayloadStore, now: Timestamp) -> (HookOutcome, Vec<SmolStr>) {
    let (mut content, mut unseen, mut room) = (Vec::new(), Vec::new(), MAX_SHOWN_BYTES);
    for block in &report.output.content {
        let Some(payload) = report::reference(block).filter(|payload| payload.uri.starts_with(URI_PREFIX)) else {
            content.push(block.clone());
            continue;
        };
        if !is_text(payload) {
            content.push(block.clone());
            continue;
        }
        match payloads
            .read_verified(payload, room, now)
            .await
            .ok()
            .and_then(|bytes| String::from_utf8(bytes.into()).ok())
        {
            Some(text) => {
                room = room.saturating_sub(payload.size_bytes);
                let preview = report.preview_of(payload);
                let channel = content.pop_if(|before| {
                    preview.is_some_and(|bytes| text_of(before).map(|text| text.len() as u64) == Some(bytes))
                });
                content.push(in_place_of(channel, text));
            }
            None => {
                content.push(block.clone());
                unseen.push(payload.uri.clone());
            }
        }
    }
    let error = report.error.clone();
    let interrupted = error.as_ref().is_some_and(|error| error.abort_reason.is_some());
    let structured_content = report.output.structured_content.clone();
    (HookOutcome { content, structured_content, error, duration_ms: report.duration_ms, interrupted }, unseen)
}

/// The whole text in the channel its preview was in.
fn in_place_of(preview: Option<ContentBlock>, text: String) -> ContentBlock {
    match preview {
        Some(ContentBlock::Log { stream, .. }) => ContentBlock::Log { text, stream },
        Some(ContentBlock::Diff { .. }) => ContentBlock::diff(text),
        _ => ContentBlock::Text { text },
    }
}

/// The text of a block that is one.
pub(super) fn text_of(block: &ContentBlock) -> Option<&str> {
    block.text()
}

fn is_text(payload: &PayloadRef) -> bool {
    let media_type = payload.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type.starts_with("text/") || media_type == "application/json" || media_type.ends_with("+json")
}
