//! Loading deferred tools into a surface, and unloading them again.

use std::collections::HashSet;

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{HiddenTool, LoadedTool};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::LoadingState;

use super::indexed::IndexedSurface;
use super::record::loaded_now;
use super::resolve::{Resolution, resolve};
use crate::catalog::{Catalog, CatalogEntry};

/// The outcome for one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadOutcome {
    /// The tool is loaded now, for the first time or as it is declared now.
    Loaded(ToolId),
    /// The tool was loaded before, and is what it was then.
    AlreadyLoaded(ToolId),
    /// The tool's provider is still connecting; try again later.
    Pending {
        /// The tool.
        tool_id: ToolId,
        /// The provider.
        provider: String,
    },
    /// The tool may not be used in this surface.
    Hidden(HiddenTool),
    /// No tool has that name.
    Unknown,
}

/// Loads the tools behind `names`, each given as in [`resolve`].
///
/// Gives back what is to be loaded, in order, and the outcome for each name; [`IndexedSurface::after_loading`] is the surface with
/// it. A tool that was declared anew since it was loaded is loaded again. Names that cannot be loaded do not keep others
/// from being loaded.
pub fn load(
    surface: &IndexedSurface,
    catalog: &Catalog,
    names: &[String],
    now: Timestamp,
) -> (Vec<LoadedTool>, Vec<(String, LoadOutcome)>) {
    let mut fresh: Vec<LoadedTool> = Vec::new();
    let mut taken: HashSet<ToolId> = HashSet::new();
    let mut outcomes = Vec::with_capacity(names.len());
    for name in names {
        let mut take = |entry: &CatalogEntry| {
            let id = entry.tool_id().clone();
            if !taken.insert(id.clone()) {
                return LoadOutcome::AlreadyLoaded(id);
            }
            fresh.push(loaded_now(entry, now));
            LoadOutcome::Loaded(id)
        };
        let outcome = match resolve(surface, catalog, name, None) {
            Resolution::Callable(entry) if is_as_loaded(surface, entry) => {
                LoadOutcome::AlreadyLoaded(entry.tool_id().clone())
            }
            Resolution::Callable(entry) | Resolution::Changed(entry, _) => take(entry),
            Resolution::Blocked(tool) | Resolution::Excluded(tool) => LoadOutcome::Hidden(tool),
            Resolution::Unknown => LoadOutcome::Unknown,
            Resolution::NotLoaded(deferred) if deferred.loading_state == LoadingState::PendingProvider => {
                LoadOutcome::Pending { tool_id: deferred.tool_id, provider: deferred.pending_provider_or_server }
            }
            Resolution::NotLoaded(deferred) => match catalog.get(&deferred.tool_id) {
                Some(entry) => take(entry),
                None => LoadOutcome::Unknown,
            },
        };
        outcomes.push((name.clone(), outcome));
    }
    (fresh, outcomes)
}

/// The tools behind `names`, each given as in [`resolve`], that are loaded; [`IndexedSurface::after_unloading`] is the surface
/// without them. Names of tools that are not loaded, or may not be used, change nothing.
pub fn unload(surface: &IndexedSurface, catalog: &Catalog, names: &[String]) -> Vec<ToolId> {
    let mut gone: Vec<ToolId> = Vec::new();
    for name in names {
        if let Resolution::Callable(entry) | Resolution::Changed(entry, _) = resolve(surface, catalog, name, None)
            && !gone.contains(entry.tool_id())
        {
            gone.push(entry.tool_id().clone());
        }
    }
    gone
}

/// Whether the surface knows the tool by exactly the declaration it has.
fn is_as_loaded(surface: &IndexedSurface, entry: &CatalogEntry) -> bool {
    surface.loaded(entry).is_some_and(|tool| tool.digest == Some(entry.tool.digest()))
}
