//! A surface as versions before stored it: a copy of every tool as it was when the surface was made. It stays what it was,
//! with an index that makes one tool's place in it a matter of one look.

mod now;

use std::collections::HashMap;

use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::surface::{DeferredToolRef, HiddenTool, LoadedTool, ToolSurface};
use toolplane_records::vocabulary::HiddenReason;

use super::difference::Sight;
use super::live::Deferral;
use super::resolve::Availability;
use super::shut::Shut;
use super::tools::SurfaceTool;
use super::visibility::{Hidden, Hiding, hidden_now, hidden_tool};
use crate::catalog::{Catalog, CatalogEntry};
use crate::history::Drift;
use crate::traits::Traits;

/// What is said of a tool that the surface has not.
const OUTSIDE: &str = "is not part of this surface, which stays as it was made; it was registered later, or the surface was made for \
                       other tools: make a surface with it (CreateSurface)";

/// Such a surface, and where each of its tools is.
#[derive(Clone, Debug)]
pub(super) struct CopiedSurface {
    surface: ToolSurface,
    places: HashMap<ToolId, ListPosition>,
}

/// Which list a tool is in, and where.
#[derive(Clone, Copy, Debug)]
enum ListPosition {
    Loaded(usize),
    Deferred(usize),
    Blocked(usize),
    Excluded(usize),
}

/// Where a tool is in a surface.
#[derive(Clone, Copy, Debug)]
pub(super) enum Membership<'s> {
    Loaded(&'s LoadedTool),
    Deferred(&'s DeferredToolRef),
    Hidden(Hiding, &'s HiddenTool),
    Outside,
}

impl CopiedSurface {
    /// Indexes `surface`. A tool in two lists counts as in the first of: loaded, deferred, blocked, excluded.
    pub(super) fn new(surface: ToolSurface) -> Self {
        let mut places = HashMap::with_capacity(surface.loaded_tools.len() + surface.deferred_tools.len());
        for (at, tool) in surface.excluded_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), ListPosition::Excluded(at));
        }
        for (at, tool) in surface.blocked_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), ListPosition::Blocked(at));
        }
        for (at, tool) in surface.deferred_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), ListPosition::Deferred(at));
        }
        for (at, tool) in surface.loaded_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), ListPosition::Loaded(at));
        }
        Self { surface, places }
    }

    /// The surface.
    pub(super) fn surface(&self) -> &ToolSurface {
        &self.surface
    }

    /// How many tools the surface knows of: what keeping it in memory costs.
    pub(super) fn weight(&self) -> usize {
        self.places.len() + self.surface.tool_refs.len() + 1
    }

    /// The tool as it is among the loaded ones.
    pub(super) fn loaded(&self, id: &ToolId) -> Option<&LoadedTool> {
        match self.place(id) {
            Membership::Loaded(tool) => Some(tool),
            _ => None,
        }
    }

    /// Whether the tool is loaded or deferred here.
    pub(super) fn shows(&self, id: &ToolId) -> bool {
        matches!(self.places.get(id), Some(ListPosition::Loaded(_) | ListPosition::Deferred(_)))
    }

    pub(super) fn place(&self, id: &ToolId) -> Membership<'_> {
        let surface = &self.surface;
        let place = self.places.get(id).and_then(|index| match *index {
            ListPosition::Loaded(at) => surface.loaded_tools.get(at).map(Membership::Loaded),
            ListPosition::Deferred(at) => surface.deferred_tools.get(at).map(Membership::Deferred),
            ListPosition::Blocked(at) => {
                surface.blocked_tools.get(at).map(|tool| Membership::Hidden(Hiding::Blocked, tool))
            }
            ListPosition::Excluded(at) => {
                surface.excluded_tools.get(at).map(|tool| Membership::Hidden(Hiding::Excluded, tool))
            }
        });
        place.unwrap_or(Membership::Outside)
    }

    /// The surface without its tools.
    pub(super) fn head(&self) -> ToolSurface {
        let surface = &self.surface;
        ToolSurface {
            schema_version: surface.schema_version.clone(),
            surface_id: surface.surface_id.clone(),
            scope: surface.scope,
            created_at: surface.created_at,
            producer: surface.producer.clone(),
            tool_refs: Vec::new(),
            loaded_tools: Vec::new(),
            deferred_tools: Vec::new(),
            blocked_tools: Vec::new(),
            excluded_tools: Vec::new(),
            selection_policy: surface.selection_policy.clone(),
            default_tool_choice: surface.default_tool_choice.clone(),
            capability_requirements: surface.capability_requirements.clone(),
            model_capabilities: surface.model_capabilities.clone(),
            role_constraints: surface.role_constraints.clone(),
            surface_reason: surface.surface_reason.clone(),
            policy_refs: surface.policy_refs.clone(),
            runtime_refs: surface.runtime_refs.clone(),
            tenant: surface.tenant.clone(),
            revision: surface.revision,
            moment: String::new(),
            pinned: false,
            parent_surface_id: None,
            outdated: None,
            budget: None,
        }
    }

    /// The providers that deferred tools still wait for.
    pub(super) fn pending_providers(&self) -> impl Iterator<Item = &str> {
        let waited_for = self.surface.deferred_tools.iter().map(|tool| tool.pending_provider_or_server.as_str());
        waited_for.filter(|provider| !provider.is_empty())
    }

    /// The state of the tool, by what the catalog says now.
    pub(super) fn standing(&self, entry: &CatalogEntry) -> Availability<'_> {
        let place = self.place(entry.tool_id());
        if let Membership::Hidden(hiding, tool) = place {
            return Availability::Hidden(hiding, tool.clone());
        }
        if let Some((hiding, reason, message)) = hidden_now(&entry.traits) {
            return Availability::Hidden(hiding, hidden_tool(&entry.tool, reason, message));
        }
        match place {
            Membership::Loaded(tool) => match tool.digest.as_ref().map_or(Drift::None, |digest| entry.since(digest)) {
                Drift::None => Availability::Loaded,
                drift => Availability::Stale(drift),
            },
            Membership::Deferred(deferred) => {
                Availability::Deferred(match deferred.pending_provider_or_server.as_str() {
                    "" => Deferral::Discover,
                    provider => Deferral::Provider(provider),
                })
            }
            Membership::Hidden(..) | Membership::Outside => {
                let tool = hidden_tool(&entry.tool, HiddenReason::NotSelected, OUTSIDE.to_owned());
                Availability::Hidden(Hiding::Excluded, tool)
            }
        }
    }

    /// What the surface makes of the tool at a revision of the catalog.
    pub(super) fn seen(&self, entry: &CatalogEntry, at: u64) -> Sight {
        let outside = || Err((Hiding::Excluded, HiddenReason::NotSelected, OUTSIDE.to_owned()));
        Sight::of(entry.at(at), |traits| self.sees(entry.tool_id(), traits).unwrap_or_else(outside))
    }

    /// What the surface makes of a tool that has these traits: the declaration it is loaded by, that it is deferred, or why it is hidden; nothing of
    /// one that it has not.
    pub(super) fn sees(&self, id: &ToolId, traits: &Traits) -> Option<Result<Option<Option<Digest>>, Hidden>> {
        Some(match (self.place(id), hidden_now(traits)) {
            (Membership::Outside, _) => return None,
            (Membership::Hidden(hiding, tool), _) => Err((hiding, tool.reason, tool.message.clone())),
            (_, Some(why)) => Err(why),
            (Membership::Loaded(tool), None) => Ok(Some(tool.digest)),
            (Membership::Deferred(_), None) => Ok(None),
        })
    }

    /// Whether it has the tool in any of its lists.
    pub(super) fn has(&self, id: &ToolId) -> bool {
        self.places.contains_key(id)
    }

    /// All tools it has in any of its lists.
    pub(super) fn has_all(&self) -> impl Iterator<Item = &ToolId> {
        self.places.keys()
    }

    /// The surface after these tools were loaded; one that was loaded before is known by its new declaration, at its place.
    pub(super) fn after_loading(&self, fresh: Vec<LoadedTool>) -> Self {
        let mut after = self.surface.clone();
        if fresh.is_empty() {
            return Self::new(after);
        }
        let mut fresh: Vec<(ToolId, LoadedTool)> = fresh.into_iter().map(|tool| (tool.tool_id.clone(), tool)).collect();
        after.revision = after.revision.saturating_add(1);
        after.deferred_tools.retain(|tool| !fresh.iter().any(|(id, _)| *id == tool.tool_id));
        for tool in &mut after.loaded_tools {
            if let Some(at) = fresh.iter().position(|(id, _)| *id == tool.tool_id) {
                *tool = fresh.remove(at).1;
            }
        }
        after.loaded_tools.extend(fresh.into_iter().map(|(_, tool)| tool));
        Self::new(after)
    }

    /// The surface after these tools were unloaded.
    pub(super) fn after_unloading(&self, gone: Vec<DeferredToolRef>) -> Self {
        let mut after = self.surface.clone();
        if !gone.is_empty() {
            after.revision = after.revision.saturating_add(1);
            after.loaded_tools.retain(|tool| !gone.iter().any(|deferred| deferred.tool_id == tool.tool_id));
            after.deferred_tools.extend(gone);
        }
        Self::new(after)
    }

    /// The tools as they are now, with those blocked that are shut.
    pub(super) fn tools(&self, catalog: &Catalog, shut: Shut<'_>) -> Vec<SurfaceTool> {
        let ToolSurface { loaded_tools, deferred_tools, mut blocked_tools, excluded_tools, .. } = self.now(catalog);
        let mut is_open = |tool_id: &ToolId, name: &str| {
            let Some((reason, message)) = catalog.get(tool_id).and_then(|entry| shut.why(entry)) else { return true };
            let (tool_id, name) = (tool_id.clone(), name.to_owned());
            blocked_tools.push(HiddenTool { tool_id, name, reason, message });
            false
        };
        let (mut loaded, mut deferred) = (loaded_tools, deferred_tools);
        loaded.retain(|tool| is_open(&tool.tool_id, &tool.name));
        deferred.retain(|tool| is_open(&tool.tool_id, &tool.name));
        let loaded = loaded.into_iter().map(|tool| match catalog.get(&tool.tool_id) {
            Some(entry) => shut.loaded(tool, entry),
            None => tool,
        });
        let deferred = deferred.into_iter().map(|tool| match catalog.get(&tool.tool_id) {
            Some(entry) => shut.deferred(tool, entry),
            None => tool,
        });
        let shown = loaded.map(SurfaceTool::Loaded).chain(deferred.map(SurfaceTool::Deferred));
        let hidden = blocked_tools.into_iter().map(SurfaceTool::Blocked);
        shown.chain(hidden).chain(excluded_tools.into_iter().map(SurfaceTool::Excluded)).collect()
    }
}
