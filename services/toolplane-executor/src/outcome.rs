//! From what a tool gave to what is reported, exactly once: what is shown, what is kept elsewhere, what was lost.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use toolplane_execution::{Exact, Outcome};
use toolplane_proto::convert::field;
use toolplane_proto::convert::word::Word as _;
use toolplane_proto::v1::{ExecutionOutcome, LeaseRef, OutputLimits};
use toolplane_records::error::ToolError;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, Recoverability, ResultStatus};
use toolplane_results::render::{model_facing, summarize};

use crate::executor::Core;

mod keep;

use keep::{Keeper, Loss};

/// When an execution began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// By the wall clock, for people.
    pub(crate) started_at: SystemTime,
    /// By a clock that never jumps, for durations.
    pub(crate) started: Instant,
}

/// What is told of an execution beside what its tool gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Bounds on what is shown.
    pub(crate) limits: OutputLimits,
    /// Most bytes of all that is shown.
    pub(crate) inline_bytes: u64,
    /// When it began, by the wall clock.
    pub(crate) started_at: SystemTime,
    /// How long it took.
    pub(crate) duration: Duration,
}

/// What is reported of an execution. Large outputs are kept first; this returns when they are durable, or after they were
/// tried to be kept for as long as `patience`.
pub(crate) async fn report(
    core: &Core,
    lease: &LeaseRef,
    frame: &Frame,
    outcome: Outcome,
    patience: Duration,
) -> ExecutionOutcome {
    let given = if outcome.output_bytes > 0 { outcome.output_bytes } else { size_of(&outcome) };
    let give_up_at = Instant::now() + patience;
    let mut keeper = Keeper::new(core, lease, frame, give_up_at);
    let mut exact = outcome.exact;
    for block in outcome.content {
        let bytes = bytes_of(&block, &mut exact);
        keeper.show(block, bytes).await;
    }
    let structured_content = match outcome.structured_content {
        Some(value) => keeper.structured(value).await,
        None => None,
    };
    let (mut content, persisted, loss) = keeper.finish();
    if content.is_empty() && structured_content.is_none() && outcome.error.is_none() {
        content.push(ContentBlock::Empty);
    }
    let (status, error) = with_loss(outcome.status, outcome.error, loss);
    let evidence = outcome.evidence.filter(|evidence| evidence.size() <= frame.inline_bytes);
    ExecutionOutcome {
        status: status.as_str().to_owned(),
        status_code: status.number(),
        is_error: is_error(status),
        model_facing_content: field::outs(&for_model(&content, error.as_ref())),
        ui_facing_summary: summarize(&content, error.as_ref()),
        summary: format!("{status} after {} ms with {given} bytes", frame.duration.as_millis()),
        content: field::outs(&content),
        structured_content: field::out(&structured_content),
        error: field::out(&error),
        persisted,
        output_bytes: given,
        started_at: field::instant(timestamp(frame.started_at)),
        duration_ms: millis(frame.duration),
        evidence: field::out(&evidence),
        resource_refs: Vec::new(),
        artifact_refs: Vec::new(),
        redaction_state: 0,
        context_modifiers: field::outs(&outcome.context_modifiers),
        hooks: Vec::new(),
    }
}

/// The exact bytes behind a block, if there are any: each belongs to the first text of its name.
fn bytes_of(block: &ContentBlock, exact: &mut Vec<Exact>) -> Option<Exact> {
    let name = match block {
        ContentBlock::Text { .. } => Exact::ANSWER,
        ContentBlock::Log { stream, .. } => stream.as_str(),
        _ => return None,
    };
    let at = exact.iter().position(|exact| exact.of == name)?;
    Some(exact.swap_remove(at))
}

/// What is reported of a call that was never begun.
pub(crate) fn refused(error: ToolError, timing: &Timing) -> ExecutionOutcome {
    ExecutionOutcome {
        status: ResultStatus::Failed.as_str().to_owned(),
        status_code: ResultStatus::Failed.number(),
        is_error: true,
        model_facing_content: field::outs(&for_model(&[], Some(&error))),
        ui_facing_summary: summarize(&[], Some(&error)),
        summary: error.message.clone(),
        error: Some((&error).into()),
        started_at: field::instant(timestamp(timing.started_at)),
        ..ExecutionOutcome::default()
    }
}

/// An output that got lost makes a success a partial one: the effect is done and must not look undone.
fn with_loss(status: ResultStatus, error: Option<ToolError>, loss: Option<Loss>) -> (ResultStatus, Option<ToolError>) {
    let (Some(loss), ResultStatus::Succeeded, None) = (loss, status, &error) else { return (status, error) };
    let (status, code, class, what) = if loss.too_large {
        (ResultStatus::TooLarge, "result.too_large", ErrorClass::ResultTooLarge, "is larger than may be kept")
    } else {
        (ResultStatus::PartialSucceeded, "result.not_kept", ErrorClass::PartialFailure, "could not be kept in whole")
    };
    let message = format!("the tool succeeded, but its {} {what}: only a preview is left", loss.output);
    (status, Some(ToolError::new(code, class, Recoverability::NotRetryable, message)))
}

/// Whether a result of this status is a failure of any kind.
pub(crate) fn is_error(status: ResultStatus) -> bool {
    use ResultStatus::{PartialSucceeded, Redacted, Succeeded, TooLarge};
    !matches!(status, Succeeded | PartialSucceeded | Redacted | TooLarge)
}

/// What the model is given: the error first, then the content with its references spelled out.
fn for_model(content: &[ContentBlock], error: Option<&ToolError>) -> Vec<ContentBlock> {
    let says = error.map(|error| ContentBlock::Text { text: format!("{} [{}]", error.message, error.error_code) });
    says.into_iter().chain(model_facing(content)).collect()
}

/// Bytes of what an outcome holds.
pub(crate) fn size_of(outcome: &Outcome) -> u64 {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text { text } | ContentBlock::Log { text, .. } | ContentBlock::Diff { text } => text.len() as u64,
        ContentBlock::File { payload } | ContentBlock::PersistedOutputRef { payload } => payload.size_bytes,
        _ => 0,
    };
    let content: u64 = outcome.content.iter().map(block).sum();
    content.max(outcome.structured_content.as_ref().map_or(0, |value| value.size()))
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A wall clock before 1970 or after 9999 is no clock; its epoch will do for a field that is for people.
pub(crate) fn timestamp(at: SystemTime) -> Timestamp {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or_default())
}
