//! What a call came to, before anything is kept or shortened.

use serde::Serialize;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{ErrorClass, ResultStatus};

/// The end of one execution.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ResultStatus,
    /// All output that was kept, in order; [`ContentBlock::Empty`] when the tool ended and had nothing to say.
    pub content: Vec<ContentBlock>,
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

    /// Whether the tool did all it was asked to do.
    pub fn is_success(&self) -> bool {
        self.error.is_none()
    }
}
