//! A worker's report of an ended execution, checked before the lifecycle sees it.

use toolplane_lifecycle::Outcome;
use toolplane_proto::convert::{ConvertError, field, word};
use toolplane_proto::v1;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{DecisionId, InvocationId};
use toolplane_records::persistence::{PersistenceThreshold, ResultPersistence};
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, PersistenceStrategy, Recoverability, ResultStatus};

/// Room for structure around inline content.
const SLACK_BYTES: u64 = 64 * 1024;

/// Reads a report. A report that cannot be read, or is larger than allowed, is a failed execution: the tool ran.
pub(crate) fn read(
    id: &InvocationId,
    outcome: Option<v1::ExecutionOutcome>,
    max_inline_bytes: u64,
    now: Timestamp,
) -> Outcome {
    let Some(outcome) = outcome else { return unreadable("the report has no outcome".to_owned()) };
    match decode(id, outcome, now) {
        Ok(outcome) => bounded(outcome, max_inline_bytes),
        Err(error) => unreadable(error.to_string()),
    }
}

fn decode(id: &InvocationId, outcome: v1::ExecutionOutcome, now: Timestamp) -> Result<Outcome, ConvertError> {
    let status = word::open::<ResultStatus>("outcome.status", &outcome.status, outcome.status_code)?;
    let persistence = persistence(id, &outcome, now)?;
    let summary = if outcome.ui_facing_summary.is_empty() { outcome.summary } else { outcome.ui_facing_summary };
    Ok(Outcome {
        status,
        content: field::list("outcome.content", outcome.content)?,
        model_facing_content: field::list("outcome.model_facing_content", outcome.model_facing_content)?,
        structured_content: field::optional("outcome.structured_content", outcome.structured_content)?,
        ui_facing_summary: summary,
        error: field::optional("outcome.error", outcome.error)?,
        persistence: Some(persistence),
        resource_refs: field::list("outcome.resource_refs", outcome.resource_refs)?,
        artifact_refs: field::list("outcome.artifact_refs", outcome.artifact_refs)?,
        evidence_refs: Vec::new(),
        context_modifiers: field::list("outcome.context_modifiers", outcome.context_modifiers)?,
        hooks: field::list("outcome.hooks", outcome.hooks)?,
    })
}

/// The persistence decision behind the report: the worker's for its largest output, `inline` when it kept nothing apart.
fn persistence(
    id: &InvocationId,
    outcome: &v1::ExecutionOutcome,
    now: Timestamp,
) -> Result<ResultPersistence, ConvertError> {
    let mut decision = ResultPersistence {
        schema_version: toolplane_records::schema_version(),
        decision_id: DecisionId::from_trusted(format!("persist_{id}")),
        invocation_id: id.clone(),
        result_id: None,
        strategy: PersistenceStrategy::Inline,
        threshold: None,
        original_size_bytes: outcome.output_bytes,
        preview_size_bytes: None,
        persisted_ref: None,
        redaction_state: None,
        reason: "result_within_inline_limit".to_owned(),
        created_at: now,
    };
    if let Some(kept) = outcome.persisted.iter().max_by_key(|kept| kept.original_size_bytes) {
        decision.strategy = word::closed("outcome.persisted.strategy", kept.strategy)?;
        decision.threshold = kept.threshold.map(|threshold| PersistenceThreshold {
            max_inline_chars: threshold.max_inline_chars,
            max_inline_bytes: threshold.max_inline_bytes,
        });
        decision.original_size_bytes = kept.original_size_bytes;
        decision.preview_size_bytes = kept.preview_size_bytes;
        decision.persisted_ref = field::optional("outcome.persisted.payload", kept.payload.clone())?;
        decision.redaction_state = word::optional_closed("outcome.persisted.redaction_state", kept.redaction_state)?;
        decision.reason.clone_from(&kept.reason);
    }
    Ok(decision)
}

/// Refuses inline content beyond the limit the worker was told: it belongs into the object store.
fn bounded(outcome: Outcome, max_inline_bytes: u64) -> Outcome {
    let blocks = outcome.content.iter().chain(&outcome.model_facing_content);
    let text: u64 = blocks.map(text_bytes).sum();
    let inline = text + outcome.structured_content.as_ref().map_or(0, |value| value.size());
    // Content may stand in both the full and the model-facing list, and once more as structured content.
    if inline <= max_inline_bytes.saturating_mul(3).saturating_add(SLACK_BYTES) {
        return outcome;
    }
    let error = ToolError::new(
        "result.inline_limit_exceeded",
        ErrorClass::ResultTooLarge,
        Recoverability::ChangeArguments,
        format!("the worker reported {inline} inline bytes; at most {max_inline_bytes} are kept inline"),
    );
    failed(error)
}

fn text_bytes(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text { text } | ContentBlock::Log { text, .. } | ContentBlock::Diff { text } => text.len() as u64,
        _ => 0,
    }
}

fn unreadable(cause: String) -> Outcome {
    let mut error = ToolError::new(
        "result.mapping_failed",
        ErrorClass::ExecutionFailed,
        Recoverability::VerifyBeforeRetry,
        format!("the tool ran, but its worker's report cannot be read: {cause}"),
    );
    error.side_effects = Some("unknown".to_owned());
    failed(error)
}

fn failed(error: ToolError) -> Outcome {
    Outcome {
        status: ResultStatus::Failed,
        content: Vec::new(),
        model_facing_content: vec![ContentBlock::Text { text: error.message.clone() }],
        structured_content: None,
        ui_facing_summary: error.message.clone(),
        error: Some(error),
        persistence: None,
        resource_refs: Vec::new(),
        artifact_refs: Vec::new(),
        evidence_refs: Vec::new(),
        context_modifiers: Vec::new(),
        hooks: Vec::new(),
    }
}
