//! Tool declarations (contracts/tool-declaration).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::contract::{InputContract, OutputContract};
use crate::ids::ToolId;
use crate::mapping::ExternalMapping;
use crate::payload::JsonPayload;
use crate::vocabulary::{ToolKind, ToolLifecycle};

/// The portable description of one callable capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolDeclaration {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Stable id, scoped by producer.
    pub tool_id: ToolId,
    /// Collision boundary.
    pub namespace: String,
    /// Machine-oriented name, unique in its namespace.
    pub name: String,
    /// Backwards-compatible names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// 3 to 10 words for discovery.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub search_hint: String,
    /// Questions people ask when this tool is the one they want; search finds it by their words (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search_examples: Vec<String>,
    /// What its owner files it under: searches and surfaces choose by it (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Human-readable title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Model-facing usage guidance.
    pub description: String,
    /// Lifecycle state.
    pub lifecycle: ToolLifecycle,
    /// Execution kind of the capability.
    pub tool_kind: ToolKind,
    /// Capability keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capability_refs: Vec<String>,
    /// What the tool accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_contract: Option<InputContract>,
    /// What the tool gives back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_contract: Option<Box<OutputContract>>,
    /// The interface that describes runtime behaviour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface_ref: Option<String>,
    /// The execution profile that applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_profile_ref: Option<String>,
    /// The permission profile that applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_profile_ref: Option<String>,
    /// Native operation ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_mappings: Vec<ExternalMapping>,
    /// Untrusted hints; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub annotations: Option<JsonPayload>,
}

impl ToolDeclaration {
    /// `namespace.name`: what people and models type. A name that repeats the namespace, or its last part, is not repeated:
    /// `local.shell` and `shell.exec` make `local.shell.exec`.
    pub fn full_name(&self) -> String {
        let (namespace, name) = (self.namespace.as_str(), self.name.as_str());
        if name.strip_prefix(namespace).is_some_and(|rest| rest.starts_with('.')) {
            return name.to_owned();
        }
        let last = namespace.rsplit('.').next().unwrap_or(namespace);
        match name.strip_prefix(last).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) if !rest.is_empty() => format!("{namespace}.{rest}"),
            _ => format!("{namespace}.{name}"),
        }
    }
}
