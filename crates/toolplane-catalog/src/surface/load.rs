//! Loading deferred tools into a surface.

use std::collections::HashMap;

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{HiddenTool, LoadedTool, ToolSurface};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::LoadingState;

use super::indexed::IndexedSurface;
use super::resolve::{Resolution, resolve};
use super::select::loaded;
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
/// Gives back the surface after it, its revision grown by one if anything was loaded, and the outcome for each name in
/// order. A tool that was declared anew since it was loaded is loaded again. Names that cannot be loaded do not keep
/// others from being loaded.
pub fn load(
    surface: &IndexedSurface,
    catalog: &Catalog,
    names: &[String],
    now: Timestamp,
) -> (ToolSurface, Vec<(String, LoadOutcome)>) {
    let mut fresh: HashMap<ToolId, LoadedTool> = HashMap::new();
    let mut order = Vec::new();
    let mut outcomes = Vec::with_capacity(names.len());
    for name in names {
        let mut take = |entry: &CatalogEntry| {
            let id = entry.tool_id().clone();
            if fresh.insert(id.clone(), loaded(entry, now)).is_some() {
                return LoadOutcome::AlreadyLoaded(id);
            }
            order.push(id.clone());
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
    let mut after = surface.surface().clone();
    if !fresh.is_empty() {
        after.revision = after.revision.saturating_add(1);
        after.deferred_tools.retain(|tool| !fresh.contains_key(&tool.tool_id));
        for tool in &mut after.loaded_tools {
            if let Some(anew) = fresh.remove(&tool.tool_id) {
                *tool = anew;
            }
        }
        after.loaded_tools.extend(order.iter().filter_map(|id| fresh.remove(id)));
    }
    (after, outcomes)
}

/// Whether the surface knows the tool by exactly the declaration it has.
fn is_as_loaded(surface: &IndexedSurface, entry: &CatalogEntry) -> bool {
    surface.loaded(entry.tool_id()).is_some_and(|tool| tool.digest == Some(entry.tool.digest()))
}
