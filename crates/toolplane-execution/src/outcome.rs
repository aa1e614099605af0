//! The outcome of a call, before anything is kept or shortened.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{ErrorClass, ResultStatus};
use toolplane_sandbox::OutputFile;

use crate::artifacts::Artifact;

/// The bytes behind a text of the content, where the text does not say all about them: they are no UTF-8, are left out in
/// part, or are of a known kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    /// Which text: [`Exact::ANSWER`], or the stream of a log.
    pub of: String,
    /// What the bytes are.
    pub media_type: String,
    /// All bytes, or the first of them when some were left out.
    pub bytes: Bytes,
    /// The same and more, where there are too many for memory.
    pub file: Option<Arc<OutputFile>>,
    /// The last bytes, when some were left out in between.
    pub end: Option<Bytes>,
    /// Bytes there were in all.
    pub total_bytes: u64,
    /// The text is these bytes, letter for letter.
    pub is_text: bool,
}

impl Exact {
    /// The answer itself, not a log.
    pub const ANSWER: &str = "result";

    /// All the bytes of the answer, shown as `text`.
    pub fn answer(bytes: impl Into<Bytes>, media_type: impl Into<String>, text: &str) -> Self {
        let bytes = bytes.into();
        let is_text = bytes == text.as_bytes();
        let total_bytes = bytes.len() as u64;
        Self {
            of: Self::ANSWER.to_owned(),
            media_type: media_type.into(),
            bytes,
            file: None,
            end: None,
            total_bytes,
            is_text,
        }
    }
}

/// Media type of bytes of which nothing is known.
pub(crate) const BYTES: &str = "application/octet-stream";
/// Media type of UTF-8 text.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

/// The end of one execution.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ResultStatus,
    /// All output that was kept, in order; [`ContentBlock::Empty`] when the tool ended and had nothing to say.
    pub content: Vec<ContentBlock>,
    /// The exact bytes of texts of the content that are only a view of them.
    pub exact: Vec<Exact>,
    /// Files it has left, in the order of their paths.
    pub artifacts: Vec<Artifact>,
    /// Machine-readable output.
    pub structured_content: Option<JsonPayload>,
    /// The failure, unless it succeeded.
    pub error: Option<ToolError>,
    /// Size of everything the tool gave in bytes, kept or not.
    pub output_bytes: u64,
    /// What happened, for an auditor: exit status, resource use, violations. A JSON object.
    pub evidence: Option<JsonPayload>,
    /// Changes the tool asks to make to the context of the conversation, in order; JSON objects.
    pub context_modifiers: Vec<JsonPayload>,
}

impl Outcome {
    /// A success with one text; empty text becomes [`ContentBlock::Empty`].
    pub fn text(text: String) -> Self {
        let output_bytes = text.len() as u64;
        Self { output_bytes, ..Self::blocks(vec![ContentBlock::Text { text }]) }
    }

    /// A success with these blocks, without the ones that hold no text.
    pub fn blocks(mut content: Vec<ContentBlock>) -> Self {
        content.retain(|block| match block {
            ContentBlock::Text { text } | ContentBlock::Log { text, .. } => !text.is_empty(),
            _ => true,
        });
        if content.is_empty() {
            content.push(ContentBlock::Empty);
        }
        Self {
            status: ResultStatus::Succeeded,
            content,
            exact: Vec::new(),
            artifacts: Vec::new(),
            structured_content: None,
            error: None,
            output_bytes: 0,
            evidence: None,
            context_modifiers: Vec::new(),
        }
    }

    /// A failure without output.
    pub fn failure(error: ToolError) -> Self {
        Self { content: Vec::new(), ..Self::blocks(Vec::new()) }.failed(error)
    }

    /// This output, with the call failed. The status follows from the class of the error.
    #[must_use]
    pub fn failed(mut self, error: ToolError) -> Self {
        self.status = match error.error_class {
            ErrorClass::Timeout => ResultStatus::TimedOut,
            ErrorClass::Canceled => ResultStatus::Canceled,
            ErrorClass::ResultTooLarge => ResultStatus::TooLarge,
            ErrorClass::PartialFailure => ResultStatus::PartialSucceeded,
            _ => ResultStatus::Failed,
        };
        self.error = Some(error);
        self
    }

    /// This outcome with machine-readable output.
    #[must_use]
    pub fn structured<T: Serialize>(mut self, value: &T) -> Self {
        self.structured_content = Some(JsonPayload::of(value));
        self
    }

    /// This outcome with the exact bytes of one of its texts.
    #[must_use]
    pub fn exactly(mut self, exact: Option<Exact>) -> Self {
        self.exact.extend(exact);
        self
    }

    /// Whether the tool did all it was asked to do.
    pub fn is_success(&self) -> bool {
        self.error.is_none()
    }
}
