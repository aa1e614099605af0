//! From what a tool gave to what is reported: what is shown, what is kept elsewhere, what was lost.

use bytes::Bytes;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_execution::{Exact, Outcome};
use toolplane_records::ids::DecisionId;
use toolplane_records::payload::PayloadRef;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ResultStatus;
use toolplane_results::decide::DecisionIds;
use toolplane_results::outputs::{Handling, Keep, Keeper, OutputBounds, Outputs, Whole};
use toolplane_runtime::clock;

use super::journal::Frame;
use super::upload::{Output, Uploader};
use crate::messages::{ExecutionReport, Lease};
use crate::wire::UploadError;

/// Keeps outputs of one lease, through the scheduler.
pub(super) struct Uploads<'a> {
    pub(super) uploader: &'a Uploader,
    pub(super) lease: &'a Lease,
    /// When what is not kept yet is given up.
    pub(super) give_up_at: Instant,
    /// Cancelled when the worker cannot wait for anything any more.
    pub(super) hurry: &'a CancellationToken,
    /// Most bytes of one output that are uploaded; larger ones are cut to a preview.
    pub(super) max_persist_bytes: u64,
}

impl Keep for Uploads<'_> {
    async fn keep(&self, name: &str, media_type: &str, bytes: Bytes) -> Option<PayloadRef> {
        let size = bytes.len();
        let output = Output { name: name.to_owned(), media_type: media_type.to_owned(), bytes };
        let kept = tokio::select! {
            kept = self.uploader.keep(self.lease, output, self.give_up_at) => kept,
            () = self.hurry.cancelled() => Err(UploadError::GaveUp("the worker ends".to_owned())),
        };
        let kept = kept.inspect_err(|error| {
            let invocation_id = &self.lease.invocation_id;
            tracing::warn!(%invocation_id, output = name, bytes = size, %error, "output not kept");
        });
        kept.ok()
    }
}

/// What is reported of an execution. Large outputs are kept first; this returns when they are durable, or were given up.
pub(super) async fn report(uploads: Uploads<'_>, frame: &Frame, outcome: Outcome) -> ExecutionReport {
    let given = if outcome.output_bytes > 0 { outcome.output_bytes } else { size_of(&outcome) };
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
    ExecutionReport {
        status,
        summary: format!("{status} after {} ms with {given} bytes", frame.duration.as_millis()),
        content,
        structured_content,
        error,
        persisted: decided,
        output_bytes: given,
        started_at: frame.started_at,
        duration: frame.duration,
        evidence: outcome.evidence.filter(|evidence| evidence.size() <= frame.inline_bytes),
        context_modifiers: outcome.context_modifiers,
    }
}

fn keeper<'a>(uploads: Uploads<'a>, frame: &Frame) -> Keeper<Uploads<'a>> {
    let all_bytes = frame.inline_bytes;
    let bounds = OutputBounds {
        one_bytes: frame.bounds.max_inline_bytes.unwrap_or(all_bytes),
        one_chars: frame.bounds.max_inline_chars,
        all_bytes,
        max_persist_bytes: uploads.max_persist_bytes,
    };
    let ids = DecisionIds {
        // The scheduler names the decision; here it only has to be one.
        decision_id: DecisionId::from_trusted("pending"),
        invocation_id: uploads.lease.invocation_id.clone(),
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

/// The exact bytes behind a block, if there are any: each belongs to the first text of its name.
fn bytes_of(block: &ContentBlock, exact: &mut Vec<Exact>) -> Option<Exact> {
    let name = match block {
        ContentBlock::Text { .. } | ContentBlock::EmbeddedResource { text: None, .. } => Exact::ANSWER,
        ContentBlock::Log { stream, .. } => stream.as_str(),
        _ => return None,
    };
    let at = exact.iter().position(|exact| exact.of == name)?;
    Some(exact.remove(at))
}

/// Bytes of what an outcome holds.
fn size_of(outcome: &Outcome) -> u64 {
    let block = |block: &ContentBlock| {
        block.text().map_or(0, |text| text.len() as u64) + block.payload().map_or(0, |kept| kept.size_bytes)
    };
    let content: u64 = outcome.content.iter().map(block).sum();
    content.max(outcome.structured_content.as_ref().map_or(0, |value| value.size()))
}
