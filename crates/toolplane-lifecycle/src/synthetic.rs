//! Results the scheduler makes itself, when no execution produced one.

use toolplane_records::error::ToolError;
use toolplane_records::invocation::Invocation;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::time::Timestamp;
use toolplane_records::visible;
use toolplane_records::vocabulary::ResultStatus;

use crate::draft::result_id;

/// Most characters of a summary for people.
const MAX_SUMMARY: usize = 1_000;

/// A summary as people are shown it, from any author: one line of which nothing can act on their screen.
pub(crate) fn for_people(summary: &str) -> String {
    visible::excerpt(summary, MAX_SUMMARY)
}

/// A failure in the words of its result.
pub(crate) fn says(error: &ToolError) -> ContentBlock {
    ContentBlock::Text { text: format!("{} [{}]", error.message, error.error_code) }
}

/// A result for `invocation` that consists of `error`.
pub(crate) fn failure(invocation: &Invocation, status: ResultStatus, error: ToolError, now: Timestamp) -> ToolResult {
    let said = vec![says(&error)];
    ToolResult {
        schema_version: toolplane_records::schema_version(),
        result_id: result_id(invocation),
        invocation_id: invocation.invocation_id.clone(),
        status,
        is_error: true,
        content: said.clone(),
        structured_content: None,
        model_facing_content: said,
        ui_facing_summary: for_people(&error.message),
        ui_facing_rendering: None,
        transcript_search_text: String::new(),
        resource_refs: Vec::new(),
        artifact_refs: Vec::new(),
        evidence_refs: error.evidence_refs.clone(),
        policy_refs: error.policy_refs.clone(),
        telemetry_refs: Vec::new(),
        persistence_refs: Vec::new(),
        summary: for_people(&error.message),
        redaction_state: None,
        error: Some(error),
        created_at: now,
        context_modifiers: Vec::new(),
    }
}
