//! A surface with an index that makes one tool's place in it a matter of one look.

use std::collections::HashMap;

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{DeferredToolRef, HiddenTool, LoadedTool, ToolSurface};

use super::visibility::Hiding;

/// A surface, and where each of its tools is.
#[derive(Clone, Debug)]
pub struct IndexedSurface {
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

impl IndexedSurface {
    /// Indexes `surface`. A tool in two lists counts as in the first of: loaded, deferred, blocked, excluded.
    pub fn new(surface: ToolSurface) -> Self {
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
    pub fn surface(&self) -> &ToolSurface {
        &self.surface
    }

    /// How many tools the surface knows of: what keeping it in memory costs.
    pub fn weight(&self) -> usize {
        self.places.len() + self.surface.tool_refs.len() + 1
    }

    /// The tool as it is among the loaded ones.
    pub fn loaded(&self, id: &ToolId) -> Option<&LoadedTool> {
        match self.place(id) {
            Membership::Loaded(tool) => Some(tool),
            _ => None,
        }
    }

    /// The tool as it is among the deferred ones.
    pub fn deferred(&self, id: &ToolId) -> Option<&DeferredToolRef> {
        match self.place(id) {
            Membership::Deferred(tool) => Some(tool),
            _ => None,
        }
    }

    /// Whether the tool is loaded or deferred here.
    pub fn shows(&self, id: &ToolId) -> bool {
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
}
