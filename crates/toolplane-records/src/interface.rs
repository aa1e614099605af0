//! Tool interfaces: how a declared tool behaves at run time (contracts/tool-interface).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{InterfaceId, ToolId};
use crate::mapping::ExternalMapping;
use crate::payload::JsonPayload;
use crate::vocabulary::{InterruptBehavior, SchemaVisibility};

/// A safety fact: known, or found by a named rule for each input (`classifier:...`, `same_as:...`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SafetyFact {
    /// Declared true or false.
    Known(bool),
    /// Decided per input by this rule.
    Rule(String),
}

/// The runtime contract of one tool. Absent safety facts take the standard's fail-closed defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolInterface {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the interface.
    pub interface_id: InterfaceId,
    /// The declared tool.
    pub tool_id: ToolId,
    /// Name, when it differs from the declaration's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Further names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Discovery phrase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub search_hint: String,
    /// Overrides the declaration's model schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub model_input_schema: Option<JsonPayload>,
    /// Overrides the declaration's runtime schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub runtime_input_schema: Option<JsonPayload>,
    /// JSON Schema of structured content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub output_schema: Option<JsonPayload>,
    /// Whether the schema is enforced by the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Whether the schema is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_visibility: Option<SchemaVisibility>,
    /// Load lazily when the surface leaves the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub should_defer: Option<bool>,
    /// Never defer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_load: Option<bool>,
    /// Whether the tool may be offered at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_enabled: Option<SafetyFact>,
    /// Leaves no trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_read_only: Option<SafetyFact>,
    /// May run beside other calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_concurrency_safe: Option<SafetyFact>,
    /// May destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_destructive: Option<SafetyFact>,
    /// Touches the uncontrolled outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_open_world: Option<SafetyFact>,
    /// Running it twice with the same input has the effect of running it once (ours; a read-only tool is idempotent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_idempotent: Option<SafetyFact>,
    /// Needs a person at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_user_interaction: Option<bool>,
    /// What classifiers look at, e.g. `input.command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classifier_input: Option<JsonPayload>,
    /// How permission rules match the input, e.g. `shell_pattern`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_matcher: Option<String>,
    /// The execution profile that applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_profile_ref: Option<String>,
    /// The permission profile that applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_profile_ref: Option<String>,
    /// The persistence policy that applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence_policy_ref: Option<String>,
    /// Most characters kept inline in a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inline_chars: Option<u64>,
    /// What the agent's runtime does about a running call when its user interrupts; `block` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_behavior: Option<InterruptBehavior>,
    /// Credentials the tool cannot run without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_credentials: Vec<String>,
    /// Feature gates the tool needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feature_gate_refs: Vec<String>,
    /// Rendering hints; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub rendering: Option<JsonPayload>,
    /// Native operation ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_mappings: Vec<ExternalMapping>,
}
