//! A surface that is at hand: where each tool is in it is a matter of one look.

mod above;
mod moments;

use std::collections::BTreeSet;

use serde::Deserialize;
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::surface::{LoadedTool, SurfaceBudget, ToolSurface};
use toolplane_records::vocabulary::SurfaceScope;

use super::budget::{Budget, Counting, NoOtherBudget};
use super::choosing::Choosing;
use super::copied::CopiedSurface;
use super::extend::{Extension, NotExtended};
use super::live::{Deferral, LiveSurface, Place, Room, is_form};
use super::load::Loading;
use super::record::deferred_ref;
use super::request::{RoleConstraints, SurfaceRequest};
use super::resolve::Availability;
use super::scope::ScopeRules;
use super::shut::Shut;
use super::tools::{Position, SurfaceCounts, SurfaceTool, filled};
use super::visibility::{hidden_now, hidden_tool};
use crate::catalog::{Catalog, CatalogEntry};
use crate::history::Drift;
use crate::traits::Traits;
use crate::validate::Checked;

/// A surface of either form.
#[derive(Clone, Debug)]
pub struct IndexedSurface(Form);

#[derive(Clone, Debug)]
enum Form {
    Copied(Box<CopiedSurface>),
    Live(Box<LiveSurface>),
}

impl From<LiveSurface> for IndexedSurface {
    fn from(surface: LiveSurface) -> Self {
        Self(Form::Live(Box::new(surface)))
    }
}

impl IndexedSurface {
    /// A surface that stays what this record says. A tool in two lists counts as in the first of: loaded, deferred, blocked,
    /// excluded.
    pub fn new(surface: ToolSurface) -> Self {
        Self(Form::Copied(Box::new(CopiedSurface::new(surface))))
    }

    /// The surface behind stored bytes, of this version or of an earlier one.
    ///
    /// # Errors
    ///
    /// What is wrong with them as JSON.
    pub fn read(stored: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Named {
            #[serde(default)]
            form: u32,
        }
        let Named { form } = serde_json::from_slice(stored)?;
        if is_form(form) {
            return serde_json::from_slice::<LiveSurface>(stored).map(Self::from);
        }
        serde_json::from_slice(stored).map(Self::new)
    }

    /// The surface as bytes to be stored.
    ///
    /// # Errors
    ///
    /// A value that JSON cannot hold; records have none.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        match &self.0 {
            Form::Copied(copied) => serde_json::to_vec(copied.surface()),
            Form::Live(live) => serde_json::to_vec(live),
        }
    }

    /// The surface's id.
    pub fn id(&self) -> &SurfaceId {
        match &self.0 {
            Form::Copied(copied) => &copied.surface().surface_id,
            Form::Live(live) => live.id(),
        }
    }

    /// Where it applies.
    pub fn scope(&self) -> SurfaceScope {
        match &self.0 {
            Form::Copied(copied) => copied.surface().scope,
            Form::Live(live) => live.request().scope,
        }
    }

    /// Grows with every change of the surface and of those above it; of one that follows the catalog also with every change of that.
    pub fn revision(&self, catalog: &Catalog) -> u64 {
        match &self.0 {
            Form::Copied(copied) => copied.surface().revision,
            Form::Live(live) => live.revision(catalog),
        }
    }

    /// How often the surface itself was changed, whatever the catalog did.
    pub fn changes(&self) -> u64 {
        match &self.0 {
            Form::Copied(copied) => copied.surface().revision,
            Form::Live(live) => live.changes(),
        }
    }

    /// What keeping it in memory costs, in tools it names.
    pub fn weight(&self) -> usize {
        match &self.0 {
            Form::Copied(copied) => copied.weight(),
            Form::Live(live) => live.weight(),
        }
    }

    /// The surface without its tools.
    pub fn head(&self, catalog: &Catalog) -> ToolSurface {
        let head = match &self.0 {
            Form::Copied(copied) => copied.head(),
            Form::Live(live) => live.head(catalog),
        };
        ToolSurface { moment: self.moment(catalog).to_string(), ..head }
    }

    /// How many tools it has of each kind now.
    pub fn counts(&self, catalog: &Catalog, shut: Shut<'_>) -> SurfaceCounts {
        match &self.0 {
            Form::Copied(copied) => {
                let mut counts = SurfaceCounts::default();
                copied.tools(catalog, shut).iter().for_each(|tool| *counts.of(tool.position().list) += 1);
                counts
            }
            Form::Live(live) => live.counts(catalog, shut),
        }
    }

    /// Its tools as they are now, behind `after` or from the first one on: loaded, deferred, blocked, excluded. Each is where
    /// it belongs now: one that was retired, disabled or lost its setup is hidden with its reason, deferred ones are
    /// described as they are declared, and a loaded one says what of its schema changed since it was loaded.
    pub fn tools<'c>(
        &'c self,
        catalog: &'c Catalog,
        shut: Shut<'c>,
        after: Option<&Position>,
    ) -> Box<dyn Iterator<Item = SurfaceTool> + 'c> {
        match &self.0 {
            Form::Copied(copied) => {
                let tools = copied.tools(catalog, shut);
                let told = after.map_or(0, |after| behind(&tools, after));
                Box::new(tools.into_iter().skip(told))
            }
            Form::Live(live) => live.tools(catalog, shut, after),
        }
    }

    /// The whole surface as it is now, as the standard's record.
    pub fn record(&self, catalog: &Catalog, shut: Shut<'_>) -> ToolSurface {
        filled(self.head(catalog), self.tools(catalog, shut, None))
    }

    /// A tool that is loaded here, by the declaration it was loaded by.
    pub fn loaded(&self, entry: &CatalogEntry) -> Option<LoadedTool> {
        match &self.0 {
            Form::Copied(copied) => copied.loaded(entry.tool_id()).cloned(),
            Form::Live(live) => {
                let is_loaded = matches!(live.place(entry), Place::Loaded);
                is_loaded.then(|| live.loaded(entry).0)
            }
        }
    }

    /// What its own scope holds calls, searches and loads to.
    pub fn scope_rules(&self) -> ScopeRules {
        match &self.0 {
            Form::Copied(copied) => {
                let ToolSurface { scope, runtime_refs, role_constraints, .. } = copied.surface();
                let role = role_constraints.as_ref().and_then(|role| role.parse::<RoleConstraints>().ok());
                ScopeRules::stored(*scope, runtime_refs, &role.unwrap_or_default().role)
            }
            Form::Live(live) => {
                let SurfaceRequest { scope, runtime_refs, role, .. } = live.request();
                ScopeRules::stored(*scope, runtime_refs, &role.role)
            }
        }
    }

    /// The policies it names itself.
    fn own_policy_refs(&self) -> &[String] {
        match &self.0 {
            Form::Copied(copied) => &copied.surface().policy_refs,
            Form::Live(live) => &live.request().policy_refs,
        }
    }

    pub(super) fn choosing(&self) -> (Choosing, Option<&ToolId>) {
        match &self.0 {
            // What it was selected by is another thing there, and says nothing about choosing.
            Form::Copied(copied) => (Choosing::stored(copied.surface().default_tool_choice.as_ref(), None), None),
            Form::Live(live) => live.choosing(),
        }
    }

    /// Whether the tool is loaded or deferred here.
    pub fn shows(&self, entry: &CatalogEntry) -> bool {
        match &self.0 {
            Form::Copied(copied) => copied.shows(entry.tool_id()),
            Form::Live(live) => matches!(live.place(entry), Place::Deferred(_) | Place::Loaded),
        }
    }

    /// The providers that deferred tools still wait for.
    pub fn pending_providers(&self, catalog: &Catalog) -> Vec<String> {
        let waited_for: BTreeSet<&str> = match &self.0 {
            Form::Copied(copied) => copied.pending_providers().collect(),
            Form::Live(live) => live.pending_providers(catalog).collect(),
        };
        waited_for.into_iter().map(str::to_owned).collect()
    }

    /// Whether the surface may show the tool and it can be used at all; for suggesting names without the catalog.
    pub(super) fn may_show(&self, tool: &Checked) -> bool {
        let registration = tool.registration();
        match &self.0 {
            Form::Copied(copied) => {
                copied.shows(&registration.declaration.tool_id) && hidden_now(&Traits::of(registration)).is_none()
            }
            Form::Live(live) => live.may_show(tool),
        }
    }

    /// The state of a tool, by what the catalog says now.
    pub(crate) fn standing(&self, entry: &CatalogEntry) -> Availability<'_> {
        let live = match &self.0 {
            Form::Copied(copied) => return copied.standing(entry),
            Form::Live(live) => live,
        };
        match live.place(entry) {
            Place::Hidden((hiding, reason, message)) => {
                Availability::Hidden(hiding, hidden_tool(&entry.tool, reason, message))
            }
            Place::Deferred(why) => Availability::Deferred(why),
            Place::Loaded => match live.loaded(entry).1 {
                Drift::None => Availability::Loaded,
                drift => Availability::Stale(drift),
            },
            Place::Outside(who) => {
                let (hiding, reason, message) = live.outside(who);
                Availability::Hidden(hiding, hidden_tool(&entry.tool, reason, message))
            }
        }
    }

    /// The surface after these tools were loaded, and others unloaded for them, its revision grown by one if there are any; one that was loaded
    /// before is known by its new declaration, at its place.
    #[must_use]
    pub fn after_loading(&self, loading: &Loading) -> Self {
        match &self.0 {
            Form::Copied(copied) => Self(Form::Copied(Box::new(copied.after_loading(loading.fresh.clone())))),
            Form::Live(live) => Self(Form::Live(Box::new(live.after_loading(loading)))),
        }
    }

    /// The same surface within another budget, or its first, as [`after_loading`](Self::after_loading) makes it: what was unloaded for that.
    /// Nothing where the budget is what it was.
    ///
    /// # Errors
    ///
    /// A surface that is a copy, one without a budget that has more tools loaded than any has places for, or tools that stay loaded and do
    /// not fit.
    pub fn within_other_budget(
        &self,
        catalog: &Catalog,
        budget: Budget,
        counting: &Counting<'_>,
    ) -> Result<Option<Loading>, NoOtherBudget> {
        match &self.0 {
            Form::Copied(_) => Err(NoOtherBudget::Copied),
            Form::Live(live) => live.within_other_budget(catalog, budget, counting),
        }
    }

    /// What is loaded of its budget, and what was deferred for it; nothing where it has none. What is shut is not deferred for it.
    pub fn budget(&self, catalog: &Catalog, shut: Shut<'_>) -> Option<SurfaceBudget> {
        match &self.0 {
            Form::Copied(_) => None,
            Form::Live(live) => live.budget_record(catalog, shut),
        }
    }

    /// Whether it has a budget, or may get its first, so that what is used least in it counts.
    pub fn may_have_budget(&self) -> bool {
        matches!(&self.0, Form::Live(live) if live.may_have_budget())
    }

    /// What loading goes by where there is a budget.
    pub(super) fn room<'a>(&'a self, catalog: &'a Catalog, counting: &Counting<'a>) -> Option<Room<'a>> {
        match &self.0 {
            Form::Copied(_) => None,
            Form::Live(live) => live.room(catalog, counting),
        }
    }

    /// Whether the tool is deferred because it does not fit into the budget beside the others.
    pub fn is_deferred_for_budget(&self, entry: &CatalogEntry) -> bool {
        matches!(self.standing(entry), Availability::Deferred(Deferral::Budget))
    }

    /// The surface with these tools and namespaces as well, its revision grown by one; nothing when it has all of them. They are
    /// deferred: those to load are loaded by [`load`](super::load()), of the surface this gives.
    ///
    /// # Errors
    ///
    /// Names that lead to no tool, a surface that is a copy, one that was extended too often.
    pub fn after_extending(&self, catalog: &Catalog, by: &Extension) -> Result<Option<Self>, NotExtended> {
        match &self.0 {
            _ if by.is_empty() => Ok(None),
            Form::Copied(_) => Err(NotExtended::Copied),
            Form::Live(live) => Ok(live.after_extending(catalog, by)?.map(Self::from)),
        }
    }

    /// The surface after these tools, which were loaded, are deferred, its revision grown by one if there are any.
    #[must_use]
    pub fn after_unloading(&self, catalog: &Catalog, gone: &[ToolId]) -> Self {
        match &self.0 {
            Form::Copied(copied) => {
                let gone =
                    gone.iter().filter_map(|id| catalog.get(id)).map(|entry| deferred_ref(entry, Deferral::Discover));
                Self(Form::Copied(Box::new(copied.after_unloading(gone.collect()))))
            }
            Form::Live(live) => Self(Form::Live(Box::new(live.after_unloading(gone)))),
        }
    }
}

/// Where to go on behind a tool. One that was retired meanwhile, say, is in another list: then behind where it was by its id.
fn behind(tools: &[SurfaceTool], after: &Position) -> usize {
    let is_behind = |tool: &SurfaceTool| {
        let place = tool.position();
        (place.list, place.tool_id) > (after.list, after.tool_id.clone())
    };
    let found = tools.iter().position(|tool| tool.position() == *after).map(|at| at + 1);
    found.or_else(|| tools.iter().position(is_behind)).unwrap_or(tools.len())
}
