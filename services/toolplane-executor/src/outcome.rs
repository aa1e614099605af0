//! From what a tool gave to what is reported, exactly once: what is shown, what is kept elsewhere, what was lost.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use toolplane_execution::{Exact, Outcome};
use toolplane_proto::convert::field;
use toolplane_proto::convert::word::{Word as _, optional_number};
use toolplane_proto::v1::{ExecutionOutcome, LeaseRef, OutputLimits, PersistedOutput};
use toolplane_records::error::ToolError;
use toolplane_records::ids::{DecisionId, InvocationId};
use toolplane_records::payload::PayloadRef;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ResultStatus;
use toolplane_results::decide::DecisionIds;
use toolplane_results::outputs::{Bounds, Decided, Handling, Keep, Keeper, Outputs, Whole};
use toolplane_results::render::{model_facing, summarize};
use toolplane_runtime::clock;

use crate::executor::Core;
use crate::upload::{Output, UploadError};

/// When an execution began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// By the wall clock, for people.
    pub(crate) started_at: Timestamp,
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
    pub(crate) started_at: Timestamp,
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
    let uploads = Uploads { core, lease, give_up_at: Instant::now() + patience };
    let mut keeper = keeper(uploads, frame);
    let mut exact = outcome.exact;
    for block in outcome.content {
        let whole = bytes_of(&block, &mut exact).map(whole);
        keeper.show(block, whole).await;
    }
    let structured_content = match outcome.structured_content {
        Some(value) => keeper.structured(value, false).await,
        None => None,
    };
    let Outputs { mut content, decided, loss } = keeper.finish();
    if content.is_empty() && structured_content.is_none() && outcome.error.is_none() {
        content.push(ContentBlock::Empty);
    }
    let (status, error) = match (outcome.status, outcome.error, &loss) {
        (ResultStatus::Succeeded, None, Some(loss)) => {
            let (status, error) = loss.ending();
            (status, Some(error))
        }
        (status, error, _) => (status, error),
    };
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
        persisted: decided.into_iter().map(persisted).collect(),
        output_bytes: given,
        started_at: field::instant(frame.started_at),
        duration_ms: millis(frame.duration),
        evidence: field::out(&evidence),
        resource_refs: Vec::new(),
        artifact_refs: Vec::new(),
        redaction_state: 0,
        context_modifiers: field::outs(&outcome.context_modifiers),
        hooks: Vec::new(),
    }
}

/// Keeps outputs of one lease, through the scheduler.
struct Uploads<'a> {
    core: &'a Core,
    lease: &'a LeaseRef,
    /// When what is not kept yet is given up.
    give_up_at: Instant,
}

impl Keep for Uploads<'_> {
    async fn keep(&self, name: &str, media_type: &str, bytes: Bytes) -> Option<PayloadRef> {
        let size = bytes.len();
        let output = Output { name: name.to_owned(), media_type: media_type.to_owned(), bytes };
        let kept = tokio::select! {
            kept = self.core.uploader.keep(self.lease, output, self.give_up_at) => kept,
            () = self.core.hurry.cancelled() => Err(UploadError::GaveUp("the worker ends".to_owned())),
        };
        let kept = kept.inspect_err(|error| {
            let invocation_id = &self.lease.invocation_id;
            tracing::warn!(invocation_id, output = name, bytes = size, %error, "output not kept");
        });
        kept.ok()
    }
}

fn keeper<'a>(uploads: Uploads<'a>, frame: &Frame) -> Keeper<Uploads<'a>> {
    let all_bytes = frame.inline_bytes;
    let bounds = Bounds {
        one_bytes: frame.limits.max_inline_bytes.unwrap_or(all_bytes),
        one_chars: frame.limits.max_inline_chars,
        all_bytes,
        max_persist_bytes: uploads.core.options.max_persist_bytes,
    };
    let ids = DecisionIds {
        // The scheduler names the decision; here it only has to be one.
        decision_id: DecisionId::from_trusted("pending"),
        invocation_id: InvocationId::from_trusted(uploads.lease.invocation_id.as_str()),
        result_id: None,
    };
    Keeper::new(uploads, ids, bounds, Handling::default(), clock::now())
}

fn whole(exact: Exact) -> Whole {
    // A text with a gap shows all that is left of it.
    let is_shown = exact.is_text || (exact.end.is_some() && exact.media_type.starts_with("text/"));
    let Exact { media_type, bytes, end, total_bytes, .. } = exact;
    Whole { media_type, bytes, end, total_bytes, is_shown }
}

fn persisted(Decided { name, decision }: Decided) -> PersistedOutput {
    PersistedOutput {
        name,
        strategy: decision.strategy.number(),
        threshold: field::out(&decision.threshold),
        original_size_bytes: decision.original_size_bytes,
        preview_size_bytes: decision.preview_size_bytes,
        payload: field::out(&decision.persisted_ref),
        redaction_state: optional_number(decision.redaction_state),
        reason: decision.reason,
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
        started_at: field::instant(timing.started_at),
        ..ExecutionOutcome::default()
    }
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
