//! Loading deferred tools into a surface.

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{HiddenTool, ToolSurface};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::LoadingState;

use super::resolve::{Resolution, resolve};
use super::select::loaded;
use crate::catalog::Catalog;

/// What became of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadOutcome {
    /// The tool is loaded now.
    Loaded(ToolId),
    /// The tool was loaded before.
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
    Unknown {
        /// Full names of up to three tools that may have been meant.
        similar: Vec<String>,
    },
}

/// Loads the tools behind `names`, each given as in [`resolve`].
///
/// Gives back the surface after it, its revision grown by one if anything was loaded, and what became of each name in order.
/// Names that cannot be loaded do not keep others from being loaded.
pub fn load(
    surface: &ToolSurface,
    catalog: &Catalog,
    names: &[String],
    now: Timestamp,
) -> (ToolSurface, Vec<(String, LoadOutcome)>) {
    let mut after = surface.clone();
    let mut outcomes = Vec::with_capacity(names.len());
    for name in names {
        let outcome = match resolve(&after, catalog, name) {
            Resolution::Callable(entry) => LoadOutcome::AlreadyLoaded(entry.tool_id().clone()),
            Resolution::Blocked(tool) | Resolution::Excluded(tool) => LoadOutcome::Hidden(tool),
            Resolution::Unknown { similar } => LoadOutcome::Unknown { similar },
            Resolution::NotLoaded(deferred) if deferred.loading_state == LoadingState::PendingProvider => {
                LoadOutcome::Pending { tool_id: deferred.tool_id, provider: deferred.pending_provider_or_server }
            }
            Resolution::NotLoaded(deferred) => {
                if let Some(entry) = catalog.get(&deferred.tool_id) {
                    after.loaded_tools.push(loaded(entry, now));
                    after.deferred_tools.retain(|tool| tool.tool_id != deferred.tool_id);
                }
                LoadOutcome::Loaded(deferred.tool_id)
            }
        };
        outcomes.push((name.clone(), outcome));
    }
    if after.loaded_tools.len() != surface.loaded_tools.len() {
        after.revision = surface.revision.saturating_add(1);
    }
    (after, outcomes)
}
