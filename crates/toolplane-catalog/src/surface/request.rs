//! What a surface is made for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{ArgumentMode, SurfaceScope};

use super::budget::Budget;
use super::selection::Selection;
use crate::filter::Criteria;

/// Whether tools are loaded at once or left to be discovered. Tools in [`SurfaceRequest::load`] and tools that say
/// `always_load` are loaded under every policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeferPolicy {
    /// Defer what asks for it, and everything once more than `threshold` tools are selectable.
    Auto {
        /// Most tools that are loaded without asking.
        threshold: u32,
    },
    /// Defer everything.
    All,
    /// Defer only what asks for it.
    None,
}

impl Default for DeferPolicy {
    /// [`DeferPolicy::Auto`] at 20 tools.
    fn default() -> Self {
        Self::Auto { threshold: 20 }
    }
}

/// Who uses the surface. By default a top-level agent without a person to ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleConstraints {
    /// Role of the agent, in the platform's words; `subagent` means what [`RoleConstraints::subagent`] means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// The agent was started by another agent: it may not start further ones.
    #[serde(default)]
    pub subagent: bool,
    /// A person is there to interact with.
    #[serde(default)]
    pub interactive: bool,
    /// Whatever else the caller says; kept in the surface's record as it is.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// What the model supports. What is left out is taken as supported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCapabilities {
    /// Content types the model can read, e.g. `text`, `image`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_types: Option<BTreeSet<String>>,
    /// Argument modes the model can produce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_modes: Option<Vec<ArgumentMode>>,
    /// Whether the model can discover and load tools; if not, nothing is deferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_tools: Option<bool>,
    /// Whatever else the caller says; kept in the surface's record as it is.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// A tool to keep out of a surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedName {
    /// Any name of the tool.
    pub name: String,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Everything a surface is decided from, beside the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurfaceRequest {
    /// Owner.
    pub tenant: TenantId,
    /// Where the surface applies.
    pub scope: SurfaceScope,
    /// Who asks for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub producer: String,
    /// Tools to consider, by any of their names. Empty, with `namespaces` and `criteria` empty too: the whole catalog.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_refs: Vec<String>,
    /// Namespaces to consider, each with the namespaces below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// What the tools to consider are; of those namespaces, where any are given.
    #[serde(default, skip_serializing_if = "Criteria::is_empty")]
    pub criteria: Criteria,
    /// Tools to load at once, by name; they are considered even if nothing else selects them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<String>,
    /// Tools that must not be used. Stronger than `load`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<BlockedName>,
    /// Loading or deferring.
    #[serde(default)]
    pub defer: DeferPolicy,
    /// What may be loaded at once. It is stronger than everything that loads tools.
    #[serde(default, skip_serializing_if = "Budget::is_none")]
    pub budget: Budget,
    /// Credentials that are available.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub credentials: BTreeSet<String>,
    /// Feature gates that are on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub feature_gates: BTreeSet<String>,
    /// The surface stays with the tools there are when it is made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Who uses the surface.
    #[serde(default)]
    pub role: RoleConstraints,
    /// What the model supports.
    #[serde(default)]
    pub model: ModelCapabilities,
    /// Capabilities every tool must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capability_requirements: Vec<String>,
    /// Providers still connecting: namespace (with those below it) to provider.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pending_providers: BTreeMap<String, String>,
    /// How tools may be selected ([`Choosing`](super::Choosing)); told beside what the surface was selected by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection_policy: Option<JsonPayload>,
    /// `auto`, `none`, `required` or a tool ([`Choosing`](super::Choosing)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_tool_choice: Option<JsonPayload>,
    /// Adjacent policies; carried as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<String>,
    /// Runtime, session, task or sandbox refs: what calls are held to ([`ScopeRules`](super::ScopeRules)); others are carried as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_refs: Vec<String>,
    /// Why the surface is made; carried as it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub surface_reason: String,
}

impl SurfaceRequest {
    /// What it chooses tools by, beside their names.
    pub fn selection(&self) -> Selection {
        Selection { namespaces: self.namespaces.iter().cloned().collect(), criteria: self.criteria.clone() }
    }

    /// A request for the whole catalog with every choice left to its default.
    pub fn new(tenant: TenantId, scope: SurfaceScope) -> Self {
        Self {
            tenant,
            scope,
            producer: String::new(),
            tool_refs: Vec::new(),
            namespaces: Vec::new(),
            criteria: Criteria::default(),
            load: Vec::new(),
            blocked: Vec::new(),
            defer: DeferPolicy::default(),
            budget: Budget::default(),
            credentials: BTreeSet::new(),
            feature_gates: BTreeSet::new(),
            pinned: false,
            role: RoleConstraints::default(),
            model: ModelCapabilities::default(),
            capability_requirements: Vec::new(),
            pending_providers: BTreeMap::new(),
            selection_policy: None,
            default_tool_choice: None,
            policy_refs: Vec::new(),
            runtime_refs: Vec::new(),
            surface_reason: String::new(),
        }
    }
}

/// Whether `namespace`, or one it is below, is one of these.
pub(super) fn within(namespace: &str, any: &BTreeSet<String>) -> bool {
    let mut ends = namespace.match_indices('.').map(|(at, _)| at).chain([namespace.len()]);
    !any.is_empty() && ends.any(|end| namespace.get(..end).is_some_and(|above| any.contains(above)))
}

/// Whether `namespace` is `within` or below it.
pub(super) fn is_within(namespace: &str, within: &str) -> bool {
    namespace.strip_prefix(within).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
