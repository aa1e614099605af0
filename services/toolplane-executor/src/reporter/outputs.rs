//! From what a tool gave to what is reported: what is shown, what is kept elsewhere, what was lost.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_execution::{Artifact, Exact, Outcome};
use toolplane_records::ids::DecisionId;
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ResultStatus;
use toolplane_results::decide::DecisionIds;
use toolplane_results::outputs::{Body, Handling, Keep, Keeper, OutputBounds, OutputOnDisk, Outputs, Whole};
use toolplane_results::preview::{PreviewLimits, Sampler};
use toolplane_runtime::clock;
use toolplane_sandbox::OutputFile;

use super::journal::Frame;
use super::upload::{Output, Uploader};
use crate::messages::{ExecutionReport, Lease};
use crate::wire::UploadError;

/// Bytes of a file read at once.
const PIECE: usize = 256 * 1024;
/// Media type of bytes of which nothing is known.
const BYTES: &str = "application/octet-stream";

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
    async fn keep(&self, name: &str, media_type: &str, body: Body) -> Option<PayloadRef> {
        let output = Output { name: name.to_owned(), media_type: media_type.to_owned(), body };
        let kept = tokio::select! {
            kept = self.uploader.keep(self.lease, output, self.give_up_at) => kept,
            () = self.hurry.cancelled() => Err(UploadError::GaveUp("the worker ends".to_owned())),
        };
        let kept = kept.inspect_err(|error| {
            let invocation_id = &self.lease.invocation_id;
            tracing::warn!(%invocation_id, output = name, %error, "output not kept");
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
        let exact = bytes_of(&block, &mut exact);
        let whole = match &exact {
            Some(exact) => Some(whole(exact).await),
            None => None,
        };
        keeper.show(block, whole).await;
    }
    for artifact in &outcome.artifacts {
        left(&mut keeper, artifact).await;
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
    let artifacts = content.iter().filter_map(|block| match block {
        ContentBlock::ArtifactRef { artifact } => Some(artifact.clone()),
        _ => None,
    });
    let artifacts = artifacts.collect();
    ExecutionReport {
        status,
        artifacts,
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

/// Keeps a file that was left, and refers to it by its path in the workspace.
async fn left(keeper: &mut Keeper<Uploads<'_>>, artifact: &Artifact) {
    let Artifact { path, media_type, file } = artifact;
    let seen = on_disk(None, file).await;
    let on_disk = match seen {
        Ok(on_disk) => on_disk,
        Err(error) => {
            tracing::warn!(path = %file.path().display(), %error, "a file that was left cannot be read");
            return keeper.lost(path);
        }
    };
    let media_type = checked(media_type.clone(), &on_disk);
    let total_bytes = on_disk.size_bytes;
    let whole = Whole { media_type, body: Body::File(Arc::new(on_disk)), end: None, total_bytes, is_shown: false };
    keeper.artifact(path, &whole).await;
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

async fn whole(exact: &Exact) -> Whole {
    // A text with a gap shows all that is left of it.
    let is_shown = exact.is_text || (exact.end.is_some() && exact.media_type.starts_with("text/"));
    let Exact { media_type, bytes, end, total_bytes, .. } = exact.clone();
    let whole = Whole { media_type, body: Body::Held(bytes), end, total_bytes, is_shown };
    let Some(file) = &exact.file else { return whole };
    let rest = exact.end.as_ref().map(|end| (end, exact.total_bytes));
    match on_disk(rest, file).await {
        Ok(on_disk) => {
            let media_type = checked(whole.media_type, &on_disk);
            Whole { media_type, body: Body::File(Arc::new(on_disk)), ..whole }
        }
        Err(error) => {
            tracing::warn!(path = %file.path().display(), %error, "an output on disk cannot be read: its beginning is left");
            whole
        }
    }
}

/// What begins as a text may go on as something else.
fn checked(media_type: String, on_disk: &OutputOnDisk) -> String {
    let wrong = media_type.starts_with("text/") && on_disk.sample.facts().chars.is_none();
    if wrong { BYTES.to_owned() } else { media_type }
}

/// Reads the file of an output once, for all that is to be known of it. Of the `rest` of the output, which is not in the file, the end is
/// known, and how many bytes there were in all.
async fn on_disk(rest: Option<(&Bytes, u64)>, file: &OutputFile) -> io::Result<OutputOnDisk> {
    let mut source = tokio::fs::File::open(file.path()).await?;
    let (mut hash, mut sample, mut piece) = (Sha256::new(), Sampler::new(PreviewLimits::default()), vec![0; PIECE]);
    loop {
        let length = source.read(&mut piece).await?;
        if length == 0 {
            break;
        }
        hash.update(&piece[..length]);
        sample.push(&piece[..length]);
    }
    if let Some((end, total_bytes)) = rest {
        sample.skip(total_bytes.saturating_sub(file.size_bytes() + end.len() as u64));
        sample.push(end);
    }
    let digest = Digest::from_bytes(hash.finalize().into());
    Ok(OutputOnDisk { path: file.path().to_owned(), size_bytes: file.size_bytes(), digest, sample })
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
