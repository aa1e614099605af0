//! What is told of a surface and of its tools, in the standard's records.

use std::collections::BTreeSet;

use serde::Serialize;
use toolplane_records::ids::SurfaceId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::{DeferredToolRef, LoadedTool, ToolSurface};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{HiddenReason, LoadingState, SchemaVisibility, ToolKind};

use super::extend::Added;
use super::live::Deferral;
use super::request::{BlockedName, DeferPolicy, SurfaceRequest};
use crate::catalog::CatalogEntry;
use crate::filter::Criteria;

/// A tool that is loaded now.
pub(super) fn loaded_now(entry: &CatalogEntry, now: Timestamp) -> LoadedTool {
    LoadedTool {
        tool_id: entry.tool_id().clone(),
        name: entry.tool.full_name().to_owned(),
        loaded_at: Some(now),
        digest: Some(entry.tool.digest()),
        changed: None,
        uncallable: None,
        message: None,
    }
}

/// Why a tool is deferred that does not fit into the budget.
pub(super) const FOR_BUDGET: &str = "budget";

/// The tool as a reference without its schema.
pub(crate) fn deferred_ref(entry: &CatalogEntry, why: Deferral<'_>) -> DeferredToolRef {
    let registration = entry.tool.registration();
    let declaration = &registration.declaration;
    let mapping = declaration.external_mappings.first();
    let (reason, pending) = match why {
        Deferral::Provider(provider) => (format!("waits for the provider `{provider}`"), Some(provider)),
        Deferral::Discover => (HiddenReason::DeferredUntilDiscovered.as_str().to_owned(), None),
        Deferral::Budget => (FOR_BUDGET.to_owned(), None),
    };
    DeferredToolRef {
        schema_version: toolplane_records::schema_version(),
        tool_id: declaration.tool_id.clone(),
        name: entry.tool.full_name().to_owned(),
        namespace: declaration.namespace.clone(),
        search_hint: registration.search_hint().to_owned(),
        source: mapping.map_or_else(|| source(declaration.tool_kind).to_owned(), |mapping| mapping.source.clone()),
        schema_visibility: Some(SchemaVisibility::Deferred),
        loading_state: if pending.is_some() { LoadingState::PendingProvider } else { LoadingState::Discoverable },
        reason,
        pending_provider_or_server: pending.unwrap_or_default().to_owned(),
        selection_ref: format!("select:{}", entry.tool.full_name()),
        native_ref: mapping.and_then(|mapping| mapping.fields.clone()),
    }
}

fn source(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::McpTool => "mcp",
        ToolKind::OpenapiOperation => "openapi",
        ToolKind::PeerAgentTool => "peer_agent",
        ToolKind::SkillTool => "skill",
        _ => "catalog",
    }
}

/// What the surface was selected by, as its `selection_policy`.
#[derive(Serialize)]
struct SelectionPolicy<'a> {
    defer: DeferPolicy,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tool_refs: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    namespaces: &'a [String],
    #[serde(flatten)]
    criteria: &'a Criteria,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    load: &'a [String],
    #[serde(skip_serializing_if = "<[BlockedName]>::is_empty")]
    blocked: &'a [BlockedName],
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    credentials: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    feature_gates: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(skip_serializing_if = "Added::is_empty")]
    added: &'a Added,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<&'a JsonPayload>,
}

/// A surface without its tools.
pub(super) fn head(
    request: &SurfaceRequest,
    added: &Added,
    surface_id: SurfaceId,
    created_at: Timestamp,
) -> ToolSurface {
    let policy = SelectionPolicy {
        defer: request.defer,
        tool_refs: &request.tool_refs,
        namespaces: &request.namespaces,
        criteria: &request.criteria,
        load: &request.load,
        blocked: &request.blocked,
        credentials: &request.credentials,
        feature_gates: &request.feature_gates,
        pinned: request.pinned,
        added,
        requested: request.selection_policy.as_ref(),
    };
    ToolSurface {
        schema_version: toolplane_records::schema_version(),
        surface_id,
        scope: request.scope,
        created_at,
        producer: request.producer.clone(),
        tool_refs: Vec::new(),
        loaded_tools: Vec::new(),
        deferred_tools: Vec::new(),
        blocked_tools: Vec::new(),
        excluded_tools: Vec::new(),
        selection_policy: Some(JsonPayload::of(&policy)),
        default_tool_choice: request.default_tool_choice.clone(),
        capability_requirements: request.capability_requirements.clone(),
        model_capabilities: Some(JsonPayload::of(&request.model)),
        role_constraints: Some(JsonPayload::of(&request.role)),
        surface_reason: request.surface_reason.clone(),
        policy_refs: request.policy_refs.clone(),
        runtime_refs: request.runtime_refs.clone(),
        tenant: request.tenant.clone(),
        revision: 1,
        moment: String::new(),
        pinned: request.pinned,
        parent_surface_id: None,
        outdated: None,
        budget: None,
    }
}
