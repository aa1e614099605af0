//! What a surface becomes by a change, and what its log is told of that.

use std::sync::Arc;

use serde_json::json;
use toolplane_catalog::{
    Catalog, CatalogDifference, IndexedSurface, Loading, MAX_LOADED, NameIndex, NoOtherBudget, NotExtended, Shortage,
};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::LoadedTool;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::ApiError;

use crate::error::of_violations;
use crate::events::facts;

/// A surface as it is to be, and what its log is told of that.
pub(super) struct Change {
    pub(super) after: IndexedSurface,
    pub(super) told: Vec<(EventClass, JsonPayload)>,
}

impl Change {
    /// Adds a change of what it leads to.
    pub(super) fn then(&mut self, next: impl FnOnce(&IndexedSurface) -> Self) {
        let Self { after, told } = next(&self.after);
        self.after = after;
        self.told.extend(told);
    }
}

/// Why a surface is not extended, for the caller.
pub(super) fn not_extended(why: NotExtended, names: &NameIndex) -> ApiError {
    match why {
        NotExtended::Misnamed(misnamed) => of_violations(misnamed.violations(names)),
        NotExtended::Copied => {
            let rule = "is a copy that an earlier version made, and stays what it is: make a surface (CreateSurface)";
            ApiError::invalid_argument("surface_id", rule)
        }
        NotExtended::Pinned => {
            let rule = "is pinned to the tools there were when it was made: make a surface (CreateSurface)";
            ApiError::invalid_argument("surface_id", rule)
        }
        NotExtended::Budget(NoOtherBudget::Copied) => {
            let rule = "cannot be given to a copy that an earlier version made: make a surface (CreateSurface)";
            ApiError::invalid_argument("budget", rule)
        }
        NotExtended::Budget(NoOtherBudget::Crowd) => {
            let rule = format!(
                "cannot be given to a surface that has more than {MAX_LOADED} tools loaded: unload some of them first, or make a surface \
                 (CreateSurface)"
            );
            ApiError::invalid_argument("budget", rule)
        }
        NotExtended::Budget(NoOtherBudget::Short(Shortage { field, need, budget, .. })) => {
            let rule = format!("is {budget}, and tools that stay loaded need {need}: unload some of them first");
            ApiError::invalid_argument(format!("budget.{field}"), rule)
        }
        NotExtended::Full { most } => {
            let rule = format!("would be extended by more than {most} tools and words: make a surface (CreateSurface)");
            ApiError::invalid_argument("surface_id", rule)
        }
    }
}

/// What is loaded, and what is unloaded for the budget: told before that, since it made room.
pub(super) fn loading(before: &IndexedSurface, catalog: &Catalog, made: &Loading) -> Change {
    let after = before.after_loading(made);
    let revision = after.revision(catalog);
    let mut told = Vec::new();
    let unloaded: Vec<&ToolId> = made.unloaded.iter().map(|tool| &tool.tool_id).collect();
    if !unloaded.is_empty() || made.fresh.is_empty() {
        let data = json!({ "revision": revision, "unloaded": unloaded, "reason": "budget" });
        told.push((EventClass::SurfaceUpdated, facts(&data)));
    }
    if made.fresh.is_empty() {
        return Change { after, told };
    }
    let fresh = &made.fresh;
    told.extend(fresh.iter().map(|tool| {
        let LoadedTool { tool_id, name, digest, .. } = tool;
        let data = json!({ "tool_id": tool_id, "name": name, "revision": revision, "digest": digest });
        (EventClass::DeferredLoaded, facts(&data))
    }));
    let new: Vec<&ToolId> = fresh.iter().map(|tool| &tool.tool_id).collect();
    told.push((EventClass::SurfaceUpdated, facts(&json!({ "revision": revision, "loaded": new }))));
    Change { after, told }
}

pub(super) fn unloading(before: &IndexedSurface, catalog: &Catalog, gone: &[ToolId]) -> Change {
    let after = before.after_unloading(catalog, gone);
    let data = facts(&json!({ "revision": after.revision(catalog), "unloaded": gone }));
    Change { after, told: vec![(EventClass::SurfaceUpdated, data)] }
}

/// The change, and in its log before it what the catalog has changed about the surface since the log was told last. It costs no commit
/// of its own, so what many changes of the catalog made is one entry, when the surface is next changed or followed.
pub(super) fn noting(before: &Arc<IndexedSurface>, catalog: &Catalog, change: Change) -> Change {
    let Change { after, mut told } = change;
    if let Some(difference) = CatalogDifference::since_noted(before, catalog) {
        let data = json!({ "revision": before.revision(catalog), "catalog": difference });
        told.insert(0, (EventClass::SurfaceUpdated, facts(&data)));
    }
    Change { after: after.noting(catalog), told }
}
