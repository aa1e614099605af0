//! Result envelopes (contracts/result-envelope).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::error::ToolError;
use crate::ids::{InvocationId, ResultId};
use crate::payload::{JsonPayload, PayloadRef};
use crate::refs::{ArtifactRef, HandoffRef, ResourceRef, TelemetryRef};
use crate::time::Timestamp;
use crate::vocabulary::{RedactionState, ResultStatus};

/// One block of result content. Tagged by `type` in JSON with the standard's content classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A log, apart from the answer (e.g. standard error).
    Log {
        /// The text.
        text: String,
        /// Which stream it came from.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        stream: String,
    },
    /// A diff.
    Diff {
        /// The text, in unified format.
        text: String,
        /// The file it is about, as its tool names it; empty where it is about several.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        path: String,
        /// First line of each changed place, as the file is now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lines: Vec<u32>,
        /// The whole file before, where it is small and was there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        /// The whole file after it, where it is small and there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_text: Option<String>,
    },
    /// A picture, kept elsewhere.
    Image {
        /// Where the bytes are.
        payload: PayloadRef,
        /// What it shows, for those who cannot see it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        description: String,
    },
    /// Sound, kept elsewhere.
    Audio {
        /// Where the bytes are.
        payload: PayloadRef,
        /// What it says, for those who cannot hear it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        description: String,
    },
    /// A film, kept elsewhere.
    Video {
        /// Where the bytes are.
        payload: PayloadRef,
        /// What it shows, for those who cannot see it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        description: String,
    },
    /// A file kept elsewhere, of a kind that has no block of its own.
    File {
        /// Where the bytes are.
        payload: PayloadRef,
    },
    /// A fetchable resource.
    ResourceLink {
        /// The resource.
        resource: ResourceRef,
    },
    /// A resource whose content came with the result: text, or bytes that are kept.
    EmbeddedResource {
        /// Its address at the tool's own system.
        uri: String,
        /// Media type, when known.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        media_type: String,
        /// The content, when it is text and small.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Where the bytes are, when they are kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<PayloadRef>,
    },
    /// A durable deliverable.
    ArtifactRef {
        /// The artifact.
        artifact: ArtifactRef,
    },
    /// The whole output, kept in the object store.
    PersistedOutputRef {
        /// Where the bytes are.
        payload: PayloadRef,
    },
    /// Work that somebody else goes on with.
    HandoffRef {
        /// The handoff.
        handoff: HandoffRef,
    },
    /// The tool completed and had nothing to say: never confused with a missing output.
    Empty,
}

/// Content classes of the standard (contracts/result-envelope).
pub const CONTENT_CLASSES: &[&str] = &[
    "text",
    "structured_content",
    "image",
    "audio",
    "video",
    "file",
    "resource_link",
    "embedded_resource",
    "log",
    "diff",
    "artifact_ref",
    "persisted_output_ref",
    "handoff_ref",
];

impl ContentBlock {
    /// A diff of which nothing is known but its text.
    pub fn diff(text: String) -> Self {
        Self::Diff { text, path: String::new(), lines: Vec::new(), old_text: None, new_text: None }
    }

    /// Bytes that are kept, in the block their media type has.
    pub fn kept(payload: PayloadRef, description: String) -> Self {
        match payload.media_type.split('/').next() {
            Some("image") => Self::Image { payload, description },
            Some("audio") => Self::Audio { payload, description },
            Some("video") => Self::Video { payload, description },
            _ => Self::File { payload },
        }
    }

    /// The bytes it refers to, where they are kept.
    pub fn payload(&self) -> Option<&PayloadRef> {
        match self {
            Self::Image { payload, .. }
            | Self::Audio { payload, .. }
            | Self::Video { payload, .. }
            | Self::File { payload }
            | Self::PersistedOutputRef { payload } => Some(payload),
            Self::EmbeddedResource { payload, .. } => payload.as_ref(),
            Self::ArtifactRef { artifact } => artifact.payload.as_ref(),
            _ => None,
        }
    }

    /// Its content class, in the word of the standard (`empty` is ours).
    pub fn class(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Log { .. } => "log",
            Self::Diff { .. } => "diff",
            Self::Image { .. } => "image",
            Self::Audio { .. } => "audio",
            Self::Video { .. } => "video",
            Self::File { .. } => "file",
            Self::ResourceLink { .. } => "resource_link",
            Self::EmbeddedResource { .. } => "embedded_resource",
            Self::ArtifactRef { .. } => "artifact_ref",
            Self::PersistedOutputRef { .. } => "persisted_output_ref",
            Self::HandoffRef { .. } => "handoff_ref",
            Self::Empty => "empty",
        }
    }

    /// The text it is, or holds.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text } | Self::Log { text, .. } | Self::Diff { text, .. } => Some(text),
            Self::EmbeddedResource { text, .. } => text.as_deref(),
            _ => None,
        }
    }
}

/// What cleaning found in the outputs of one ending by one of its rules (ours). Says what was found and never what it said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cleaned {
    /// What kind of thing it is, e.g. `credentials`.
    pub class: SmolStr,
    /// The rule that knows it, e.g. `github_token`.
    pub rule: SmolStr,
    /// What was done about it: `mark`, `mask`, `reference` or `drop`.
    pub treatment: SmolStr,
    /// In how many places it was found.
    pub places: u64,
    /// The output is not to be trusted for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taints: bool,
}

impl Cleaned {
    /// As it stands among the evidence of a result: `cleaning:mask:github_token:2`.
    pub fn evidence(&self) -> String {
        format!("cleaning:{}:{}:{}", self.treatment, self.rule, self.places)
    }
}

/// The terminal result of one invocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the result; one per invocation, never changed.
    pub result_id: ResultId,
    /// The call this is the result of.
    pub invocation_id: InvocationId,
    /// How it ended.
    pub status: ResultStatus,
    /// Whether it is a failure of any kind.
    #[serde(default)]
    pub is_error: bool,
    /// Content blocks in order.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// Machine-readable content.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<JsonPayload>,
    /// What the model should see.
    #[serde(default)]
    pub model_facing_content: Vec<ContentBlock>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ui_facing_summary: String,
    /// How a user interface may show it; an object of `toolplane_results::render::for_interface` (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui_facing_rendering: Option<JsonPayload>,
    /// The text a search of the transcript finds it by (ours).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub transcript_search_text: String,
    /// Fetchable resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_refs: Vec<ResourceRef>,
    /// Durable deliverables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_refs: Vec<ArtifactRef>,
    /// Evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_refs: Vec<String>,
    /// Policies that applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<String>,
    /// Where to find the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub telemetry_refs: Vec<TelemetryRef>,
    /// Persistence decisions, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persistence_refs: Vec<String>,
    /// One line for logs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Whether content was redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction_state: Option<RedactionState>,
    /// The failure, when `is_error` (kept beside content when the call partly succeeded).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// When the result was made.
    pub created_at: Timestamp,
    /// Changes the tool asks to make to the context of the conversation, in order; objects (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::Object>"))]
    pub context_modifiers: Vec<JsonPayload>,
}
