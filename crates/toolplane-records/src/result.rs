//! Result envelopes (contracts/result-envelope).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::error::ToolError;
use crate::ids::{InvocationId, ResultId};
use crate::payload::{JsonPayload, PayloadRef};
use crate::refs::{ArtifactRef, ResourceRef, TelemetryRef};
use crate::time::Timestamp;
use crate::vocabulary::{RedactionState, ResultStatus};

/// One block of result content. Tagged by `type` in JSON with the standard's content classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    },
    /// A file, image, audio or video kept elsewhere.
    File {
        /// Where the bytes are.
        payload: PayloadRef,
    },
    /// A fetchable resource.
    ResourceLink {
        /// The resource.
        resource: ResourceRef,
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
    /// The tool completed and had nothing to say: never confused with a missing output.
    Empty,
}

/// What cleaning found in the outputs of one ending by one of its rules (ours). Says what was found and never what it said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleaned {
    /// What kind of thing it is, e.g. `credentials`.
    pub class: SmolStr,
    /// The rule that knows it, e.g. `github_token`.
    pub rule: SmolStr,
    /// What was done about it: `mark`, `mask` or `drop`.
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
    pub context_modifiers: Vec<JsonPayload>,
}
