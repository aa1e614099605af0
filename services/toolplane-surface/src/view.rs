//! A surface as it stands, with an index that makes one tool's place in it a matter of one look.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use toolplane_catalog::{Catalog, Lookup, Resolution, catalog::Entry, resolve};
use toolplane_records::ids::ToolId;
use toolplane_records::surface::{DeferredToolRef, LoadedTool, ToolSurface};

/// Which list a tool stands in, and where.
#[derive(Clone, Copy, Debug)]
enum Place {
    Loaded(usize),
    Deferred(usize),
    Blocked(usize),
    Excluded(usize),
}

/// A surface at one revision.
#[derive(Debug)]
pub(crate) struct View {
    surface: ToolSurface,
    /// The record's version in the store.
    version: u64,
    places: HashMap<ToolId, Place>,
    /// The surface without its tools.
    frame: ToolSurface,
}

impl View {
    pub(crate) fn new(surface: ToolSurface, version: u64) -> Self {
        let mut places = HashMap::new();
        // Filled from the weakest list to the strongest, so that a tool in two lists stands where the catalog looks first.
        for (at, tool) in surface.excluded_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), Place::Excluded(at));
        }
        for (at, tool) in surface.blocked_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), Place::Blocked(at));
        }
        for (at, tool) in surface.deferred_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), Place::Deferred(at));
        }
        for (at, tool) in surface.loaded_tools.iter().enumerate() {
            places.insert(tool.tool_id.clone(), Place::Loaded(at));
        }
        let frame = ToolSurface {
            schema_version: surface.schema_version.clone(),
            surface_id: surface.surface_id.clone(),
            scope: surface.scope,
            created_at: surface.created_at,
            producer: String::new(),
            tool_refs: Vec::new(),
            loaded_tools: Vec::new(),
            deferred_tools: Vec::new(),
            blocked_tools: Vec::new(),
            excluded_tools: Vec::new(),
            selection_policy: None,
            default_tool_choice: None,
            capability_requirements: Vec::new(),
            model_capabilities: None,
            role_constraints: None,
            surface_reason: String::new(),
            policy_refs: Vec::new(),
            runtime_refs: Vec::new(),
            tenant: surface.tenant.clone(),
            revision: surface.revision,
        };
        Self { surface, version, places, frame }
    }

    pub(crate) fn surface(&self) -> &ToolSurface {
        &self.surface
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// How many tools the surface knows of: what keeping it in memory costs.
    pub(crate) fn weight(&self) -> usize {
        self.places.len() + self.surface.tool_refs.len() + 1
    }

    /// The tool as it stands among the loaded ones.
    pub(crate) fn loaded(&self, id: &ToolId) -> Option<&LoadedTool> {
        match self.places.get(id) {
            Some(Place::Loaded(at)) => self.surface.loaded_tools.get(*at),
            _ => None,
        }
    }

    /// The tool as it stands among the deferred ones.
    pub(crate) fn deferred(&self, id: &ToolId) -> Option<&DeferredToolRef> {
        match self.places.get(id) {
            Some(Place::Deferred(at)) => self.surface.deferred_tools.get(*at),
            _ => None,
        }
    }

    /// What `name` means here: the catalog's own answer, without a walk over the surface unless the name is unknown.
    pub(crate) fn resolve<'a>(&self, catalog: &'a Catalog, name: &str) -> Resolution<'a> {
        match catalog.find(name) {
            Lookup::One(entry) => resolve(&self.of(&[entry]), catalog, name),
            Lookup::Ambiguous(entries) => resolve(&self.of(&entries), catalog, name),
            Lookup::Unknown => resolve(&self.surface, catalog, name),
        }
    }

    /// The surface as far as it is about these tools.
    fn of(&self, entries: &[&Entry]) -> ToolSurface {
        let mut part = self.frame.clone();
        for entry in entries {
            match self.places.get(entry.tool_id()) {
                Some(Place::Loaded(at)) => part.loaded_tools.extend(self.surface.loaded_tools.get(*at).cloned()),
                Some(Place::Deferred(at)) => part.deferred_tools.extend(self.surface.deferred_tools.get(*at).cloned()),
                Some(Place::Blocked(at)) => part.blocked_tools.extend(self.surface.blocked_tools.get(*at).cloned()),
                Some(Place::Excluded(at)) => part.excluded_tools.extend(self.surface.excluded_tools.get(*at).cloned()),
                None => {}
            }
        }
        part
    }
}
