//! Input and output contracts (contracts/input-output-contracts).

use serde::{Deserialize, Serialize};

use crate::payload::JsonPayload;
use crate::vocabulary::ArgumentMode;

/// What a tool accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputContract {
    /// JSON Schema (of the version its `$schema` names, 2020-12 without one) of what a model may produce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub model_input_schema: Option<JsonPayload>,
    /// JSON Schema of the final input, including internal fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub runtime_input_schema: Option<JsonPayload>,
    /// Whether providers should enforce the schema; defaults to true for structured tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Values for fields a caller may leave out; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<JsonPayload>,
    /// Example inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<JsonPayload>,
    /// JSON pointers of fields to redact in observable copies and telemetry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitive_fields: Vec<String>,
    /// Top-level field names that callers must never give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub internal_only_fields: Vec<String>,
    /// How arguments are given; `json` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_mode: Option<ArgumentMode>,
    /// Whether hooks or prompts may replace input: `forbid`, `hooks_only`, `prompts_only`; any other word allows both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation_policy: Option<String>,
}

/// What a tool gives back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputContract {
    /// JSON Schema of structured content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub structured_schema: Option<JsonPayload>,
    /// Content classes the tool may return (`text`, `image`, ...).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_types: Vec<String>,
    /// Deliverables the tool should produce.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_expectations: Vec<String>,
    /// Most bytes kept inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inline_bytes: Option<u64>,
    /// Most characters kept inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inline_chars: Option<u64>,
    /// The persistence policy that applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence_policy_ref: Option<String>,
    /// How model content, UI rendering and transcript text are separated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendering_boundary: Option<JsonPayload>,
    /// Redaction rules, by reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redaction_rules: Vec<String>,
    /// What to say when the content cannot be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_summary: Option<String>,
}
