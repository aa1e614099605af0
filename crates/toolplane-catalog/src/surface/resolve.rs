//! From the name in a call to a tool that may be called, or to the reason why not.

use std::collections::HashSet;

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{DeferredToolRef, HiddenTool, ToolSurface};
use toolplane_records::vocabulary::HiddenReason;

use super::similar::similar_names;
use super::visibility::{Hiding, hidden_now, hidden_tool};
use crate::catalog::{Catalog, Entry, Lookup};

/// What a name means in a surface.
#[derive(Clone, Debug)]
pub enum Resolution<'a> {
    /// The tool is loaded: it may be called.
    Callable(&'a Entry),
    /// The tool is there but its schema has not been loaded: it must be discovered first.
    NotLoaded(Box<DeferredToolRef>),
    /// The tool may not be used here.
    Blocked(HiddenTool),
    /// The tool is not part of what this surface shows.
    Excluded(HiddenTool),
    /// No tool has that name.
    Unknown {
        /// Full names of up to three tools of the surface that may have been meant.
        similar: Vec<String>,
    },
}

/// Where a tool stands in a surface.
#[derive(Clone, Copy)]
enum Place<'s> {
    Loaded,
    Deferred(&'s DeferredToolRef),
    Hidden(Hiding, &'s HiddenTool),
    Outside,
}

/// Resolves `name` (id, full name, provider name, alias, or a bare name that is unique among the surface's tools).
///
/// The catalog has the last word: a tool that was retired or disabled since it was loaded is not callable.
pub fn resolve<'a>(surface: &ToolSurface, catalog: &'a Catalog, name: &str) -> Resolution<'a> {
    let Some(entry) = lookup(surface, catalog, name) else {
        return Resolution::Unknown { similar: suggestions(surface, catalog, name) };
    };
    let place = place(surface, entry);
    if let (Place::Loaded | Place::Deferred(_), Some((hiding, tool))) = (place, hidden_now(entry)) {
        return refused(hiding, tool);
    }
    match place {
        Place::Loaded => Resolution::Callable(entry),
        Place::Deferred(deferred) => Resolution::NotLoaded(Box::new(deferred.clone())),
        Place::Hidden(hiding, tool) => refused(hiding, tool.clone()),
        Place::Outside => match hidden_now(entry) {
            Some((hiding, tool)) => refused(hiding, tool),
            None => Resolution::Excluded(outside(entry)),
        },
    }
}

/// Why the tool is hidden in the surface, when it is; tools the surface never considered count as hidden.
pub(crate) fn hidden_in(surface: &ToolSurface, entry: &Entry) -> Option<HiddenTool> {
    match place(surface, entry) {
        Place::Loaded | Place::Deferred(_) => hidden_now(entry).map(|(_, tool)| tool),
        Place::Hidden(_, tool) => Some(tool.clone()),
        Place::Outside => Some(outside(entry)),
    }
}

/// The tool a name means in the surface: a bare name shared by several tools means the one the surface shows.
pub(crate) fn lookup<'a>(surface: &ToolSurface, catalog: &'a Catalog, name: &str) -> Option<&'a Entry> {
    match catalog.find(name) {
        Lookup::One(entry) => Some(entry),
        Lookup::Unknown => None,
        Lookup::Ambiguous(entries) => {
            let shown = |entry: &&Entry| matches!(place(surface, entry), Place::Loaded | Place::Deferred(_));
            let mut shown = entries.into_iter().filter(shown);
            shown.next().filter(|_| shown.next().is_none())
        }
    }
}

pub(super) fn suggestions(surface: &ToolSurface, catalog: &Catalog, name: &str) -> Vec<String> {
    // A set, because looking each tool up in the lists would make an unknown name cost the square of the surface.
    let loaded = surface.loaded_tools.iter().map(|tool| &tool.tool_id);
    let shown: HashSet<&ToolId> = loaded.chain(surface.deferred_tools.iter().map(|tool| &tool.tool_id)).collect();
    let usable = |entry: &&Entry| shown.contains(entry.tool_id()) && hidden_now(entry).is_none();
    similar_names(name, catalog.entries().filter(usable))
}

fn refused<'a>(hiding: Hiding, tool: HiddenTool) -> Resolution<'a> {
    match hiding {
        Hiding::Blocked => Resolution::Blocked(tool),
        Hiding::Excluded => Resolution::Excluded(tool),
    }
}

fn outside(entry: &Entry) -> HiddenTool {
    hidden_tool(entry, HiddenReason::NotSelected, "is not part of this surface".to_owned())
}

fn place<'s>(surface: &'s ToolSurface, entry: &Entry) -> Place<'s> {
    let id = entry.tool_id();
    let hidden = |list: &'s [HiddenTool]| list.iter().find(|tool| tool.tool_id == *id);
    if surface.loaded_tools.iter().any(|tool| tool.tool_id == *id) {
        Place::Loaded
    } else if let Some(deferred) = surface.deferred_tools.iter().find(|tool| tool.tool_id == *id) {
        Place::Deferred(deferred)
    } else if let Some(tool) = hidden(&surface.blocked_tools) {
        Place::Hidden(Hiding::Blocked, tool)
    } else if let Some(tool) = hidden(&surface.excluded_tools) {
        Place::Hidden(Hiding::Excluded, tool)
    } else {
        Place::Outside
    }
}
