//! What the model and people are given of an ending: the worker's words where they may stay, else ones made from the
//! content.

use toolplane_lifecycle::ReportedOutcome;
use toolplane_records::error::ToolError;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::RedactionState;
use toolplane_results::render::{model_facing, summarize};

use super::effects::Effects;
use super::report::Report;
use super::told::text_of;

/// The ending as it is stored.
///
/// Where hooks were asked, nothing stays that they have not seen: what the worker worded for the model and for people
/// is left out, as it is where there is too much of it.
pub(super) fn outcome(mut report: Report, effects: Effects, max_inline_bytes: u64) -> ReportedOutcome {
    let worded: u64 = report.facing.iter().filter_map(text_of).map(|text| text.len() as u64).sum();
    if effects.asked || worded > max_inline_bytes || report.facing.iter().all(|block| *block == ContentBlock::Empty) {
        report.facing = for_model(&report);
    }
    if effects.asked || report.summary.is_empty() {
        report.summary = summarize(&report.content, report.error.as_ref());
    }
    let context = effects.context.into_iter().map(|text| ContentBlock::Text { text });
    ReportedOutcome {
        status: report.status,
        content: report.content,
        model_facing_content: report.facing.into_iter().chain(context).collect(),
        structured_content: report.structured_content,
        ui_facing_summary: report.summary,
        error: report.error,
        persistence: report.kept.into_iter().map(|kept| kept.decision).max_by_key(|kept| kept.original_size_bytes),
        resource_refs: report.resource_refs,
        artifact_refs: report.artifact_refs,
        evidence_refs: Some(report.progress_left_out).filter(|count| *count > 0).map(left_out).into_iter().collect(),
        context_modifiers: report.context_modifiers,
        hooks: effects.records,
        undeclared_modifiers: report.undeclared_modifiers,
        redaction_state: if effects.redacted { Some(RedactionState::Redacted) } else { report.redaction },
    }
}

/// Says how many reports of progress are not in the log.
fn left_out(count: u64) -> String {
    format!("progress_left_out:{count}")
}

/// The error first, then the content with its references spelled out; structured content where there is nothing else.
fn for_model(report: &Report) -> Vec<ContentBlock> {
    let text = |text: String| ContentBlock::Text { text };
    let says = report.error.as_ref().map(|error: &ToolError| text(format!("{} [{}]", error.message, error.error_code)));
    let mut content = model_facing(&report.content);
    let silent = content.iter().all(|block| *block == ContentBlock::Empty);
    if let Some(value) = report.structured_content.as_ref().filter(|_| silent) {
        content = vec![text(value.text().to_owned())];
    }
    says.into_iter().chain(content).collect()
}
