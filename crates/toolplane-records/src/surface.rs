//! Tool surfaces and deferred refs (contracts/tool-surface, deferred-loading-and-tool-search).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{SurfaceId, TenantId, ToolId};
use crate::payload::{Digest, JsonPayload};
use crate::time::Timestamp;
use crate::vocabulary::{HiddenReason, LoadingState, SchemaVisibility, SurfaceScope};

/// A tool whose schema is visible in a surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// When its schema became visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_at: Option<Timestamp>,
    /// Digest of the whole registration whose schema became visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// What of the schema changed since, in words; only in what is answered, and only when something did. The tool has to be
    /// loaded again before it can be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// What keeps it from being called now: the code a call of it ends with, e.g. `provider.away`; only in what is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncallable: Option<String>,
    /// The same for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A tool that can be found but whose schema is not loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeferredToolRef {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Discovery phrase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub search_hint: String,
    /// Where the tool comes from, e.g. `mcp`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Whether the schema is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_visibility: Option<SchemaVisibility>,
    /// How far the tool is from being callable.
    pub loading_state: LoadingState,
    /// Why it is deferred.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The provider still connecting, when one is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pending_provider_or_server: String,
    /// What to give to `select:` to load it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub selection_ref: String,
    /// Native identity; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub native_ref: Option<JsonPayload>,
}

/// A tool kept out of a surface, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HiddenTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// Machine-readable reason.
    pub reason: HiddenReason,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The tools visible in one context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolSurface {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the surface.
    pub surface_id: SurfaceId,
    /// Where it applies.
    pub scope: SurfaceScope,
    /// When it was made.
    #[serde(default)]
    pub created_at: Timestamp,
    /// Who made it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub producer: String,
    /// Tools that were considered.
    #[serde(default)]
    pub tool_refs: Vec<String>,
    /// Tools whose schemas are visible.
    #[serde(default)]
    pub loaded_tools: Vec<LoadedTool>,
    /// Discoverable tools.
    #[serde(default)]
    pub deferred_tools: Vec<DeferredToolRef>,
    /// Tools that exist here but may not be used.
    #[serde(default)]
    pub blocked_tools: Vec<HiddenTool>,
    /// Tools removed by role, recursion, feature, model or policy filters.
    #[serde(default)]
    pub excluded_tools: Vec<HiddenTool>,
    /// How tools may be selected; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub selection_policy: Option<JsonPayload>,
    /// `auto`, `none`, `required` or a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_tool_choice: Option<JsonPayload>,
    /// Capabilities every tool must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capability_requirements: Vec<String>,
    /// What the model supports; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub model_capabilities: Option<JsonPayload>,
    /// Who uses the surface; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub role_constraints: Option<JsonPayload>,
    /// Why the surface looks as it does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub surface_reason: String,
    /// Adjacent policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<String>,
    /// Runtime, session, task or sandbox refs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_refs: Vec<String>,
    /// Owner (ours).
    pub tenant: TenantId,
    /// Grows with every change of this surface (ours).
    #[serde(default)]
    pub revision: u64,
    /// The moment this is about; only in what is answered (ours).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub moment: String,
    /// It stays with the tools there were when it was made (ours).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// The surface it was made within: it shows nothing that one does not (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_surface_id: Option<SurfaceId>,
    /// What a pinned surface would show otherwise if it followed its catalog; only in what is answered about it alone (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<SurfaceOutdated>,
    /// What is loaded of its budget, and what was deferred for it; only in what is answered about it alone (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<SurfaceBudget>,
}

/// What a surface may have loaded at once, and what it has (ours).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SurfaceBudget {
    /// Most tools; no bound of its own when 0.
    #[serde(default)]
    pub max_tools: u64,
    /// Most tokens of what a model is told of them; no bound when 0.
    #[serde(default)]
    pub max_schema_tokens: u64,
    /// Most bytes of that; no bound when 0.
    #[serde(default)]
    pub max_schema_bytes: u64,
    /// Loaded tools.
    #[serde(default)]
    pub tools: u64,
    /// Tokens of what a model is told of them, estimated, each as it was when it was loaded.
    #[serde(default)]
    pub schema_tokens: u64,
    /// Bytes of that.
    #[serde(default)]
    pub schema_bytes: u64,
    /// How many tools are deferred because they do not fit.
    #[serde(default)]
    pub deferred: u64,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deferred_tools: Vec<BudgetTool>,
}

/// A tool that is deferred because it does not fit into a budget (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
}

/// What a pinned surface misses (ours).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SurfaceOutdated {
    /// Tools that would be shown and are not.
    #[serde(default)]
    pub added: u32,
    /// Tools that would not be shown any more; those that cannot be used are not shown by the pinned surface either.
    #[serde(default)]
    pub removed: u32,
    /// Tools that are declared anew, or would be shown in another way.
    #[serde(default)]
    pub changed: u32,
    /// There may be more than were counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<OutdatedTool>,
}

/// A tool that is another thing since a surface was pinned (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutdatedTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// `added`, `removed` or `changed`.
    pub change: String,
}
