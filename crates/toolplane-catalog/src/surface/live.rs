//! A surface as a selection: what was asked for, the revision of the catalog at that moment, and what was loaded since.
//!
//! It holds no list of tools. Which tools it shows, and how, is judged from the catalog when somebody asks: by groups of
//! tools with the same traits, and one by one for the few that the surface itself names.

mod above;
mod budget;
mod judge;
mod lists;
mod made;
mod record;
mod steps;
mod stored;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::LoadedTool;
use toolplane_records::time::Timestamp;

pub(super) use self::budget::Room;
pub(crate) use self::judge::Deferral;
pub(super) use self::judge::Place;
use self::made::{Freshness, Made, named_tools};
pub use self::record::select;
use self::steps::Step;
pub(super) use self::stored::is_form;
use self::stored::{FORM, Stored};
use super::budget::{Account, Unloaded};
use super::extend::{Added, Extension, MAX_ADDED, NotExtended};
use super::indexed::IndexedSurface;
use super::lineage::{Above, Parent};
use super::load::Loading;
use super::misnamed::Misnamed;
use super::request::{DeferPolicy, SurfaceRequest, within};
use super::selection::Selection;
use super::shut::Shut;
use crate::catalog::{Catalog, CatalogEntry};
use crate::traits::Traits;

/// A surface that follows the catalog.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct LiveSurface {
    made: Arc<Made>,
    /// What the request chooses tools by.
    selection: Arc<Selection>,
    /// What was loaded since, in the order it was.
    loads: Vec<LoadedTool>,
    places: HashMap<ToolId, usize>,
    /// What was unloaded since, and not loaded again: the rules do not load it.
    unloaded: BTreeSet<ToolId>,
    /// What it was extended by since.
    added: Arc<Added>,
    /// What it has loaded within its budget; nothing where it has none. Where it has one, no rule loads a tool by itself: all that
    /// is loaded is in `loads`.
    account: Option<Account>,
    /// How often the surface itself was changed; 1 when it is made.
    changes: u64,
    /// What it was before the last of these changes, the oldest first.
    steps: Vec<Step>,
    /// Up to which revision of the catalog its log tells what that changed about it; nothing where it was never told.
    noted: Option<u64>,
    /// And up to which changes of those above it.
    noted_above: Above,
    /// The surface it is within, where that is at hand; never stored with it.
    above: Option<Arc<IndexedSurface>>,
}

impl LiveSurface {
    /// Makes the surface `request` asks for. Where it has a budget, nothing is loaded before
    /// [`loaded_within_budget`](Self::loaded_within_budget).
    ///
    /// # Errors
    ///
    /// The entries of `tool_refs`, `load` and `blocked` that lead to no tool or to several: a misspelt name must neither
    /// block nothing nor show something else.
    pub fn make(
        catalog: &Catalog,
        request: &SurfaceRequest,
        surface_id: SurfaceId,
        created_at: Timestamp,
    ) -> Result<Self, Misnamed> {
        Self::make_within(catalog, request, surface_id, created_at, None, Shut::NOTHING)
    }

    /// The same within another surface: it shows nothing that the other one does not. What is shut now does not count among the tools that
    /// may be too many to load them all.
    ///
    /// # Errors
    ///
    /// What [`make`](Self::make) fails with.
    pub fn make_within(
        catalog: &Catalog,
        request: &SurfaceRequest,
        surface_id: SurfaceId,
        created_at: Timestamp,
        above: Option<Arc<IndexedSurface>>,
        shut: Shut<'_>,
    ) -> Result<Self, Misnamed> {
        let made = Made::of(catalog, request, surface_id, created_at, above.as_deref().map(Parent::now))?;
        let surface = Self::from(Stored {
            form: FORM,
            made: Arc::new(made),
            changes: 1,
            loads: Vec::new(),
            unloaded: BTreeSet::new(),
            added: Arc::default(),
            account: None,
            steps: Vec::new(),
            noted: Some(catalog.revision()),
            noted_above: above.iter().flat_map(|above| above.lineage()).map(IndexedSurface::changes).collect(),
        });
        let surface = surface.within(above);
        let crowded = match surface.made.request.defer {
            DeferPolicy::Auto { threshold } => {
                let counts = surface.counts(catalog, shut);
                counts.loaded + counts.deferred > threshold as usize
            }
            DeferPolicy::All => true,
            DeferPolicy::None => false,
        };
        let budget = surface.made.request.budget;
        let account = (!budget.is_none()).then(|| Account::of(budget));
        Ok(Self { account, ..surface.with(|made| made.crowded = crowded) })
    }

    /// The same surface with what the caller said of the model exactly as it was given.
    #[must_use]
    pub fn with_model_capabilities(self, given: JsonPayload) -> Self {
        self.with(|made| made.model_capabilities = Some(given))
    }

    /// The same surface, which goes by the newest declarations, and whose revision is that of the catalog.
    #[must_use]
    pub fn newest(self) -> Self {
        let newest = self.with(|made| {
            made.freshness = Freshness::Newest;
            made.as_of = 0;
        });
        Self { changes: 0, ..newest }
    }

    fn with(self, change: impl FnOnce(&mut Made)) -> Self {
        let mut made = Made::clone(&self.made);
        change(&mut made);
        Self { made: Arc::new(made), ..self }
    }

    /// The surface's id.
    pub fn id(&self) -> &SurfaceId {
        &self.made.surface_id
    }

    /// What it was made for.
    pub fn request(&self) -> &SurfaceRequest {
        &self.made.request
    }

    /// How often the surface itself was changed.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Grows with every change of the surface, of those above it and of the catalog.
    pub fn revision(&self, catalog: &Catalog) -> u64 {
        self.revision_at(catalog.revision())
    }

    /// What that is at a revision of the catalog.
    pub(super) fn revision_at(&self, catalog: u64) -> u64 {
        self.changes + self.changes_above() + catalog.saturating_sub(self.made.as_of)
    }

    /// Up to which revision of the catalog its log tells what that changed about it.
    pub(super) fn noted(&self) -> Option<u64> {
        self.noted
    }

    /// The same surface, whose log tells that up to what the catalog is now.
    pub(super) fn noting(&self, catalog: &Catalog) -> Self {
        let noted_above = self.above.iter().flat_map(|above| above.lineage()).map(IndexedSurface::changes).collect();
        Self { noted: Some(catalog.revision()), noted_above, ..self.clone() }
    }

    /// When it was made.
    pub(super) fn created_at(&self) -> Timestamp {
        self.made.created_at
    }

    /// The revision of the catalog it was made at.
    pub(super) fn begins_at(&self) -> u64 {
        self.made.as_of
    }

    /// How many tools it names itself: what keeping it in memory costs.
    pub fn weight(&self) -> usize {
        1 + self.made.names().count() + self.selection.len() + self.loads.len() + self.unloaded.len() + self.added.len()
    }

    /// The surface after these tools were loaded and those were unloaded for them; one that was loaded before is known by its new declaration,
    /// at its place.
    pub(super) fn after_loading(&self, loading: &Loading) -> Self {
        if loading.is_nothing() {
            return self.clone();
        }
        let (mut loads, mut unloaded) = (self.loads.clone(), self.unloaded.clone());
        for tool in &loading.fresh {
            unloaded.remove(&tool.tool_id);
            match self.places.get(&tool.tool_id).and_then(|at| loads.get_mut(*at)) {
                Some(known) => known.clone_from(tool),
                None => loads.push(tool.clone()),
            }
        }
        // What the rules loaded stays before what was loaded on demand.
        let kept: BTreeSet<&ToolId> = loading.kept.iter().map(|tool| &tool.tool_id).collect();
        loads.retain(|tool| !kept.contains(&tool.tool_id));
        loads.splice(0..0, loading.kept.iter().cloned());
        let gone: BTreeSet<&ToolId> = loading.unloaded.iter().map(|Unloaded { tool_id, .. }| tool_id).collect();
        loads.retain(|tool| !gone.contains(&tool.tool_id));
        if self.account.is_none() && loading.account.is_some() {
            // The rules loaded them: that they do no longer is what a difference to before has to tell.
            unloaded.extend(gone.into_iter().cloned());
        }
        let account = loading.account.clone().or_else(|| self.account.clone());
        self.changed(loads, unloaded, Arc::clone(&self.added), account)
    }

    /// The surface with what is asked for, deferred, that it was not made for; nothing when it has all of that.
    pub(super) fn after_extending(&self, catalog: &Catalog, by: &Extension) -> Result<Option<Self>, NotExtended> {
        if self.is_pinned() {
            return Err(NotExtended::Pinned);
        }
        let mut faults = Misnamed::default();
        let mut tools = named_tools(catalog, "tool_refs", &by.tool_refs, &mut faults);
        tools.extend(named_tools(catalog, "load", &by.load, &mut faults));
        faults.into_result().map_err(NotExtended::Misnamed)?;
        let mut added = Added::clone(&self.added);
        let is_shown = |entry: &CatalogEntry| matches!(self.place(entry), Place::Deferred(_) | Place::Loaded);
        added.tools.extend(tools.into_iter().filter(|id| !catalog.get(id).is_some_and(is_shown)));
        let selection = by.selection();
        if !selection.is_empty() && !self.is_of_everything() {
            if selection.criteria.is_empty() {
                let has = |namespace: &String| self.has_all_of(namespace);
                added.namespaces.extend(selection.namespaces.into_iter().filter(|namespace| !has(namespace)));
            } else if selection != *self.selection {
                added.selections.insert(selection);
            }
        }
        if added == *self.added {
            return Ok(None);
        }
        if added.len() > MAX_ADDED {
            return Err(NotExtended::Full { most: MAX_ADDED });
        }
        Ok(Some(self.changed(self.loads.clone(), self.unloaded.clone(), Arc::new(added), self.account.clone())))
    }

    /// The surface after these tools were unloaded.
    pub(super) fn after_unloading(&self, gone: &[ToolId]) -> Self {
        if gone.is_empty() {
            return self.clone();
        }
        let (mut loads, mut unloaded) = (self.loads.clone(), self.unloaded.clone());
        unloaded.extend(gone.iter().cloned());
        loads.retain(|tool| !unloaded.contains(&tool.tool_id));
        let mut account = self.account.clone();
        if let Some(account) = &mut account {
            gone.iter().for_each(|id| account.take(id, false));
        }
        self.changed(loads, unloaded, Arc::clone(&self.added), account)
    }

    fn changed(
        &self,
        loads: Vec<LoadedTool>,
        unloaded: BTreeSet<ToolId>,
        added: Arc<Added>,
        account: Option<Account>,
    ) -> Self {
        let (made, changes) = (Arc::clone(&self.made), self.changes.saturating_add(1));
        let (steps, noted, noted_above) = (Vec::new(), self.noted, self.noted_above.as_slice().to_vec());
        let mut after =
            Stored { form: FORM, made, changes, loads, unloaded, added, account, steps, noted, noted_above };
        after.steps = steps::after(self, &after);
        Self::from(after).within(self.above.clone())
    }

    /// Whether it stays with the tools there were when it was made.
    pub(super) fn is_pinned(&self) -> bool {
        self.made.freshness == Freshness::Pinned
    }

    /// The same surface, if it followed its catalog.
    pub(super) fn unpinned(&self) -> Self {
        self.clone().with(|made| made.freshness = Freshness::Live)
    }

    /// Whether it was made for all tools.
    fn is_of_everything(&self) -> bool {
        self.made.request.tool_refs.is_empty() && self.selection.is_empty()
    }

    /// Whether it was made for every tool of a namespace.
    fn has_all_of(&self, namespace: &str) -> bool {
        self.selection.criteria.is_empty() && within(namespace, &self.selection.namespaces)
    }

    /// Whether it was made for tools of these traits, whatever they are called.
    fn chooses(&self, traits: &Traits) -> bool {
        if self.selection.is_empty() { self.is_of_everything() } else { self.selection.fits(traits) }
    }

    /// Every tool that is judged by itself, and not with its group.
    fn special(&self) -> BTreeSet<&ToolId> {
        let mut all: BTreeSet<&ToolId> = self.places.keys().chain(&self.unloaded).collect();
        self.named_in_lineage(&mut all);
        all
    }

    /// Adds the tools that it, or one above it, has another say about than about their groups.
    pub(in crate::surface) fn named_in_lineage<'s>(&'s self, all: &mut BTreeSet<&'s ToolId>) {
        all.extend(self.made.names().chain(&self.added.tools));
        if let Some(above) = &self.above {
            above.named_in_lineage(all);
        }
    }

    fn is_special(&self, id: &ToolId) -> bool {
        self.places.contains_key(id) || self.unloaded.contains(id) || self.is_named(id)
    }

    /// Whether it, or one above it, has another say about the tool than about its group.
    pub(in crate::surface) fn is_named(&self, id: &ToolId) -> bool {
        let own = self.made.has_name(id) || self.added.tools.contains(id);
        own || self.above.as_ref().is_some_and(|above| above.is_named(id))
    }
}
