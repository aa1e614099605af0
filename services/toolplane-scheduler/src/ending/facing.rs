//! What the model and people are given of an ending: the worker's words where they may stay, else ones made from the
//! content.

use toolplane_lifecycle::ReportedOutcome;
use toolplane_records::error::ToolError;
use toolplane_records::ids::DecisionId;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::RedactionState;
use toolplane_results::outputs::Decided;
use toolplane_results::render::{model_facing, summarize};

use super::effects::Effects;
use super::report::{Report, ReportedOutput, ReportedWords};
use super::told::text_of;

/// The ending as it is stored.
///
/// Where hooks were asked, nothing stays that they have not seen: what the worker worded for the model and for people
/// is left out, as it is where there is too much of it.
pub(super) fn outcome(report: Report, effects: Effects, max_inline_bytes: u64) -> ReportedOutcome {
    let Report {
        status,
        error,
        output,
        words,
        beside,
        progress_left_out,
        cleaned,
        taints,
        hints,
        fallback_summary,
        execution,
        notes,
        ..
    } = report;
    let fallback = fallback_summary.filter(|_| error.is_none() && !shows_something(&output));
    let ReportedWords { mut facing, mut summary } = words;
    let worded: u64 = facing.iter().filter_map(text_of).map(|text| text.len() as u64).sum();
    if effects.asked || worded > max_inline_bytes || facing.iter().all(|block| *block == ContentBlock::Empty) {
        facing = for_model(&output, error.as_ref());
    }
    if let Some(text) = &fallback {
        facing.insert(0, ContentBlock::Text { text: text.clone() });
    }
    if effects.asked || summary.is_empty() {
        summary = fallback.unwrap_or_else(|| summarize(&output.content, error.as_ref()));
    }
    let context = effects.context.into_iter().map(|text| ContentBlock::Text { text });
    ReportedOutcome {
        status,
        content: output.content,
        model_facing_content: facing.into_iter().chain(context).collect(),
        structured_content: output.structured_content,
        ui_facing_summary: summary,
        error,
        persistence: decisions(output.kept),
        resource_refs: beside.resource_refs,
        artifact_refs: beside.artifact_refs,
        evidence_refs: execution
            .refs
            .into_iter()
            .chain(notes)
            .chain(Some(progress_left_out).filter(|count| *count > 0).map(left_out))
            .collect(),
        context_modifiers: beside.context_modifiers,
        hooks: effects.records,
        undeclared_modifiers: beside.undeclared_modifiers,
        redaction_state: if effects.redacted { Some(RedactionState::Redacted) } else { output.redaction },
        cleaned,
        rendering_hints: hints,
        taints,
        execution: None,
    }
}

/// Whether there is anything of an output that can be read as it is.
fn shows_something(output: &ReportedOutput) -> bool {
    output.structured_content.is_some() || output.content.iter().any(|block| block.text().is_some())
}

/// The decision about each output: that about the largest first, which stands for all where one is asked for.
fn decisions(kept: Vec<Decided>) -> Vec<ResultPersistence> {
    let largest = (0..kept.len()).max_by_key(|at| kept[*at].decision.original_size_bytes).unwrap_or(0);
    let mut decisions: Vec<ResultPersistence> = kept.into_iter().map(|kept| kept.decision).collect();
    if let Some(first) = decisions.get_mut(..=largest) {
        first.rotate_right(1);
    }
    for (number, decision) in decisions.iter_mut().enumerate().skip(1) {
        decision.decision_id = DecisionId::from_trusted(format!("{}.{}", decision.decision_id, number + 1));
    }
    decisions
}

/// Says how many reports of progress are not in the log.
fn left_out(count: u64) -> String {
    format!("progress_left_out:{count}")
}

/// The error first, then the content with its references spelled out; structured content where there is nothing else.
fn for_model(output: &ReportedOutput, error: Option<&ToolError>) -> Vec<ContentBlock> {
    let text = |text: String| ContentBlock::Text { text };
    let says = error.map(|error| text(format!("{} [{}]", error.message, error.error_code)));
    let mut content = model_facing(&output.content, &output.kept);
    let silent = content.iter().all(|block| *block == ContentBlock::Empty);
    if let Some(value) = output.structured_content.as_ref().filter(|_| silent) {
        content = vec![text(value.text().to_owned())];
    }
    says.into_iter().chain(content).collect()
}
