//! How an execution ended, as it is reported.

use std::time::Duration;

use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::refs::ArtifactRef;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ResultStatus;
use toolplane_results::outputs::Decided;
use toolplane_results::render::{model_facing, summarize};

use super::lease::Lease;

/// Bytes of a report beside its texts and values.
const FRAME_BYTES: usize = 1024;

/// The ending of the execution of a lease.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) lease: Lease,
    pub(crate) report: ExecutionReport,
}

/// What is reported of an execution: bounded, and what did not fit is kept elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExecutionReport {
    pub(crate) status: ResultStatus,
    /// One line for logs.
    pub(crate) summary: String,
    pub(crate) content: Vec<ContentBlock>,
    /// Files it has left, all of them kept.
    pub(crate) artifacts: Vec<ArtifactRef>,
    pub(crate) structured_content: Option<JsonPayload>,
    pub(crate) error: Option<ToolError>,
    /// Outputs in the object store.
    pub(crate) persisted: Vec<Decided>,
    /// Size of everything the tool gave, in bytes.
    pub(crate) output_bytes: u64,
    /// By the wall clock of this worker.
    pub(crate) started_at: Timestamp,
    pub(crate) duration: Duration,
    pub(crate) evidence: Option<JsonPayload>,
    pub(crate) context_modifiers: Vec<JsonPayload>,
}

impl ExecutionReport {
    /// The report of a call that was never begun.
    pub(crate) fn not_begun(error: ToolError, started_at: Timestamp) -> Self {
        Self {
            status: ResultStatus::Failed,
            summary: error.message.clone(),
            content: Vec::new(),
            artifacts: Vec::new(),
            structured_content: None,
            error: Some(error),
            persisted: Vec::new(),
            output_bytes: 0,
            started_at,
            duration: Duration::ZERO,
            evidence: None,
            context_modifiers: Vec::new(),
        }
    }

    /// What the model is given: the error first, then the content with its references spelled out.
    pub(crate) fn model_facing(&self) -> Vec<ContentBlock> {
        let says = self.error.as_ref();
        let says = says.map(|error| ContentBlock::Text { text: format!("{} [{}]", error.message, error.error_code) });
        says.into_iter().chain(model_facing(&self.content, &self.persisted)).collect()
    }

    /// One line for people.
    pub(crate) fn ui_facing(&self) -> String {
        summarize(&self.content, self.error.as_ref())
    }

    /// Whether it is a failure of any kind.
    pub(crate) fn is_error(&self) -> bool {
        use ResultStatus::{PartialSucceeded, Redacted, Succeeded, TooLarge};
        !matches!(self.status, Succeeded | PartialSucceeded | Redacted | TooLarge)
    }

    /// About how many bytes a message has that carries it; rather too many.
    pub(crate) fn message_bytes(&self) -> usize {
        // The model is given the content once more.
        let content = 2 * self.content.iter().map(shown_bytes).sum::<usize>();
        let values = self.structured_content.iter().chain(&self.evidence).chain(&self.context_modifiers);
        let values: usize = values.map(|value| value.text().len()).sum();
        let error = self.error.as_ref().map_or(0, |error| 3 * error.message.len());
        let artifacts: usize = self.artifacts.iter().map(artifact_bytes).sum();
        FRAME_BYTES * (1 + self.persisted.len()) + self.summary.len() + content + values + error + artifacts
    }
}

fn artifact_bytes(artifact: &ArtifactRef) -> usize {
    let ArtifactRef { artifact_id, uri, media_type, payload, .. } = artifact;
    let payload = payload.as_ref().map_or(0, |payload| 160 + payload.uri.len() + payload.media_type.len());
    256 + artifact_id.len() + uri.len() + media_type.len() + payload
}

fn shown_bytes(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } | ContentBlock::Log { text, .. } => text.len(),
        ContentBlock::Diff { text, path, lines, old_text, new_text } => {
            let texts = [Some(text), Some(path), old_text.as_ref(), new_text.as_ref()];
            lines.len() * size_of::<u64>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
        }
        ContentBlock::EmbeddedResource { uri, media_type, text: Some(text), payload: None } => {
            uri.len() + media_type.len() + text.len()
        }
        ContentBlock::ArtifactRef { artifact } => artifact_bytes(artifact),
        _ => FRAME_BYTES + block.text().map_or(0, str::len),
    }
}
