//! Loading deferred tools into a surface, and unloading them again.

use std::collections::HashSet;

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{HiddenTool, LoadedTool};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::LoadingState;

use super::budget::{Account, Counting, Shortage, Unloaded};
use super::indexed::IndexedSurface;
use super::live::Room;
use super::record::loaded_now;
use super::resolve::{Resolution, resolve};
use crate::catalog::{Catalog, CatalogEntry};

/// What a request to load changes, and what it says of each name.
#[derive(Clone, Debug, Default)]
pub struct Loading {
    /// What is to be loaded, in order.
    pub fresh: Vec<LoadedTool>,
    /// What is unloaded for it, where there is a budget.
    pub unloaded: Vec<Unloaded>,
    /// The outcome for each name.
    pub outcomes: Vec<(String, LoadOutcome)>,
    /// What is loaded by the rules and stays so, and has to be written down from now on: a budget was given to a surface that had none.
    pub(super) kept: Vec<LoadedTool>,
    /// The budget after that.
    pub(super) account: Option<Account>,
}

impl Loading {
    /// Whether the surface stays what it is.
    pub fn is_nothing(&self) -> bool {
        self.fresh.is_empty() && self.account.is_none()
    }
}

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
    /// The tool does not fit into the budget of the surface.
    NoRoom {
        /// The tool.
        tool_id: ToolId,
        /// What there is too little of.
        shortage: Shortage,
    },
    /// No tool has that name.
    Unknown,
}

/// Loads the tools behind `names`, each given as in [`resolve`].
///
/// Gives back what is to be loaded, in order, and the outcome for each name; [`IndexedSurface::after_loading`] is the surface with
/// it. A tool that was declared anew since it was loaded is loaded again. Names that cannot be loaded do not keep others
/// from being loaded.
///
/// Within a budget the least used tools are unloaded for those that are asked for; never one that is asked for too, nor one that the maker
/// of the surface named in `load` or its owner wants `always_load`ed. A tool that does not fit all the same is not loaded.
pub fn load(
    surface: &IndexedSurface,
    catalog: &Catalog,
    names: &[String],
    now: Timestamp,
    counting: &Counting<'_>,
) -> Loading {
    let mut room = surface.room(catalog, counting);
    for name in room.is_some().then_some(names).into_iter().flatten() {
        if let Resolution::Callable(entry) | Resolution::Changed(entry, _) = resolve(surface, catalog, name, None)
            && let Some(room) = &mut room
        {
            room.keep(entry.tool_id(), now);
        }
    }
    let mut fresh: Vec<LoadedTool> = Vec::new();
    let mut taken: HashSet<ToolId> = HashSet::new();
    let mut outcomes = Vec::with_capacity(names.len());
    for name in names {
        let mut take = |entry: &CatalogEntry| {
            let id = entry.tool_id().clone();
            if taken.contains(&id) {
                return LoadOutcome::AlreadyLoaded(id);
            }
            if let Some(Err(shortage)) = room.as_mut().map(|room| room.take(entry, now)) {
                return LoadOutcome::NoRoom { tool_id: id, shortage };
            }
            taken.insert(id.clone());
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
    let (account, unloaded) = room.filter(|_| !fresh.is_empty()).map(Room::leave).unzip();
    Loading { fresh, unloaded: unloaded.unwrap_or_default(), outcomes, kept: Vec::new(), account }
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
