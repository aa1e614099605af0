//! Making a surface.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::{DeferredToolRef, LoadedTool, ToolSurface};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{HiddenReason, LoadingState, SchemaVisibility, ToolKind, ToolLifecycle};

use super::misnamed::Misnamed;
use super::request::{BlockedName, DeferPolicy, SurfaceRequest, is_within, within_any};
use super::visibility::{Hiding, hidden, hidden_tool};
use crate::catalog::{Catalog, CatalogEntry, Lookup};

/// Decides which tools `request` gets to see: each considered tool is loaded, deferred, blocked or excluded, and each hidden
/// one says why.
///
/// The error names the entries of `tool_refs`, `load` and `blocked` that lead to no tool or to several: a misspelt name must
/// neither block nothing nor show something else. The surface starts at revision 1, its lists in order of tool ids.
pub fn select(
    catalog: &Catalog,
    request: &SurfaceRequest,
    surface_id: SurfaceId,
    now: Timestamp,
) -> Result<ToolSurface, Misnamed> {
    let mut faults = Misnamed::default();
    let named = named_tools(catalog, "tool_refs", &request.tool_refs, &mut faults);
    let load = named_tools(catalog, "load", &request.load, &mut faults);
    let blocked = blocked_tools(catalog, &request.blocked, &mut faults);
    faults.into_result()?;
    // Sets, because what a request lists is compared with every tool of the catalog.
    let namespaces: HashSet<&str> = request.namespaces.iter().map(String::as_str).collect();
    let mut request = request.clone();
    request.capability_requirements.sort_unstable();
    request.capability_requirements.dedup();
    let request = &request;
    let considered = catalog.entries().filter(|entry| {
        let id = entry.tool_id();
        let namespace = &entry.tool.registration().declaration.namespace;
        (request.tool_refs.is_empty() && request.namespaces.is_empty())
            || named.contains(id)
            || load.contains(id)
            || within_any(namespace, &namespaces)
    });
    let mut surface = empty(request, surface_id, now);
    let mut selectable = Vec::new();
    for entry in considered {
        let id = entry.tool_id();
        surface.tool_refs.push(id.as_str().to_owned());
        match hidden(entry, request, named.contains(id) || load.contains(id), blocked.get(id).copied()) {
            Some((Hiding::Blocked, reason, message)) => {
                surface.blocked_tools.push(hidden_tool(&entry.tool, reason, message))
            }
            Some((Hiding::Excluded, reason, message)) => {
                surface.excluded_tools.push(hidden_tool(&entry.tool, reason, message))
            }
            None => selectable.push(entry),
        }
    }
    let crowded = match request.defer {
        DeferPolicy::Auto { threshold } => selectable.len() > threshold as usize,
        DeferPolicy::All => true,
        DeferPolicy::None => false,
    };
    for entry in selectable {
        let asked_for = load.contains(entry.tool_id());
        if let Some(provider) = pending_provider(entry, request) {
            surface.deferred_tools.push(deferred_ref(entry, Some(provider)));
        } else if defers(entry, request, asked_for, crowded) {
            surface.deferred_tools.push(deferred_ref(entry, None));
        } else {
            surface.loaded_tools.push(loaded(entry, now));
        }
    }
    Ok(surface)
}

/// An explicit load list is stronger than `always_load`, that is stronger than deferring on request, and that than the
/// crowd rule.
fn defers(entry: &CatalogEntry, request: &SurfaceRequest, asked_for: bool, crowded: bool) -> bool {
    let registration = entry.tool.registration();
    let interface = registration.interface.as_ref();
    let always_load = interface.and_then(|interface| interface.always_load) == Some(true);
    let should_defer = interface.and_then(|interface| interface.should_defer) == Some(true);
    let wants_deferral = should_defer || registration.lifecycle() == ToolLifecycle::Deferred;
    if asked_for || always_load || request.model.deferred_tools == Some(false) {
        return false;
    }
    wants_deferral || crowded
}

fn pending_provider<'a>(entry: &CatalogEntry, request: &'a SurfaceRequest) -> Option<&'a str> {
    let namespace = &entry.tool.registration().declaration.namespace;
    let mut pending = request.pending_providers.iter().filter(|(within, _)| is_within(namespace, within));
    pending.next().map(|(_, provider)| provider.as_str())
}

fn named_tools(catalog: &Catalog, field: &str, names: &[String], faults: &mut Misnamed) -> BTreeSet<ToolId> {
    let places = names.iter().enumerate().map(|(index, name)| (format!("{field}[{index}]"), name));
    places.filter_map(|(place, name)| named_tool(catalog, place, name, faults)).collect()
}

/// The blocked tools, each with the message it is blocked with.
fn blocked_tools<'a>(
    catalog: &Catalog,
    blocked: &'a [BlockedName],
    faults: &mut Misnamed,
) -> BTreeMap<ToolId, &'a str> {
    let places = blocked.iter().enumerate().map(|(index, blocked)| (format!("blocked[{index}].name"), blocked));
    places
        .filter_map(|(place, blocked)| {
            named_tool(catalog, place, &blocked.name, faults).map(|tool_id| (tool_id, blocked.message.as_str()))
        })
        .collect()
}

fn named_tool(catalog: &Catalog, place: String, name: &str, faults: &mut Misnamed) -> Option<ToolId> {
    match catalog.find(name) {
        Lookup::One(entry) => return Some(entry.tool_id().clone()),
        Lookup::Ambiguous(sharing) => faults.add(place, name, Some(sharing.some_names())),
        Lookup::Unknown => faults.add(place, name, None),
    }
    None
}

pub(super) fn loaded(entry: &CatalogEntry, now: Timestamp) -> LoadedTool {
    LoadedTool {
        tool_id: entry.tool_id().clone(),
        name: entry.tool.full_name().to_owned(),
        loaded_at: Some(now),
        digest: Some(entry.tool.digest()),
        changed: None,
    }
}

/// The tool as a reference without its schema. With `pending`, its provider is still connecting.
pub(crate) fn deferred_ref(entry: &CatalogEntry, pending: Option<&str>) -> DeferredToolRef {
    let registration = entry.tool.registration();
    let declaration = &registration.declaration;
    let mapping = declaration.external_mappings.first();
    let reason = match pending {
        Some(provider) => format!("waits for the provider `{provider}`"),
        None => HiddenReason::DeferredUntilDiscovered.as_str().to_owned(),
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
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    load: &'a [String],
    #[serde(skip_serializing_if = "<[BlockedName]>::is_empty")]
    blocked: &'a [BlockedName],
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    credentials: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    feature_gates: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<&'a JsonPayload>,
}

fn empty(request: &SurfaceRequest, surface_id: SurfaceId, now: Timestamp) -> ToolSurface {
    let policy = SelectionPolicy {
        defer: request.defer,
        tool_refs: &request.tool_refs,
        namespaces: &request.namespaces,
        load: &request.load,
        blocked: &request.blocked,
        credentials: &request.credentials,
        feature_gates: &request.feature_gates,
        requested: request.selection_policy.as_ref(),
    };
    ToolSurface {
        schema_version: toolplane_records::schema_version(),
        surface_id,
        scope: request.scope,
        created_at: now,
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
    }
}
