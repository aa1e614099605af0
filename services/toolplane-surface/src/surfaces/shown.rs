//! What of a surface is told: its head, how many tools it has, and some of them in order. No list of all tools is made.

mod offered;

use toolplane_catalog::{
    AskedFor, IndexedSurface, Lookup, Position, Selection, SurfaceCounts, SurfaceTool, Unmatched, filled, not_shown,
    outdated, unmatched,
};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::surface::{SurfaceBudget, SurfaceOutdated, ToolSurface};
use toolplane_runtime::ApiError;

pub(crate) use offered::{LeftOut, Offered};

use super::Surfaces;
use crate::registry::Registry;

/// A surface as it is now, with some of its tools.
#[derive(Debug)]
pub(crate) struct Told {
    /// The surface without its tools.
    pub(crate) head: ToolSurface,
    pub(crate) counts: SurfaceCounts,
    pub(crate) tools: Vec<SurfaceTool>,
    /// Behind which tool to go on, when there are more.
    pub(crate) next: Option<Position>,
}

/// What surfaces show at this moment. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Showing {
    registry: Registry,
    surfaces: Surfaces,
}

impl Showing {
    pub(crate) fn new(registry: Registry, surfaces: Surfaces) -> Self {
        Self { registry, surfaces }
    }

    /// The whole surface as it is now. For what looks at all of its tools anyway.
    pub(crate) async fn surface_now(&self, tenant: &TenantId, id: &SurfaceId) -> Result<ToolSurface, ApiError> {
        let view = self.surfaces.held(tenant, id).await?.view();
        let told = self.told(tenant, view.indexed(), None, |_| true);
        Ok(filled(told.head, told.tools))
    }

    /// What of a selection no tool fits now, and none that those above `surface` show.
    pub(crate) fn unmatched(
        &self,
        tenant: &TenantId,
        surface: &IndexedSurface,
        asked: &[AskedFor<'_>],
        selection: &Selection,
    ) -> Vec<Unmatched> {
        let owner = self.registry.tenant(tenant);
        unmatched(&owner.catalog.read(), asked, selection, surface.parents().next())
    }

    /// Which of the names in a field of a request lead to tools that `surface` does not show now, with why.
    pub(crate) fn not_shown(
        &self,
        tenant: &TenantId,
        surface: &IndexedSurface,
        field: &str,
        names: &[String],
    ) -> Vec<Unmatched> {
        self.surfaces.in_sight(tenant, |catalog, shut| not_shown(catalog, shut, field, names, surface))
    }

    /// What a surface says about choosing by which nothing can be called now.
    pub(crate) fn idle_choices(&self, tenant: &TenantId, surface: &IndexedSurface) -> Vec<Unmatched> {
        self.surfaces.in_sight(tenant, |catalog, shut| surface.idle_choices(catalog, shut))
    }

    /// What a pinned surface misses.
    pub(crate) fn outdated(&self, tenant: &TenantId, surface: &IndexedSurface) -> Option<SurfaceOutdated> {
        let owner = self.registry.tenant(tenant);
        outdated(surface, &owner.catalog.read())
    }

    /// The surface as it is now, with its tools behind `after` as long as `fits` says so of each.
    pub(crate) fn told(
        &self,
        tenant: &TenantId,
        surface: &IndexedSurface,
        after: Option<&Position>,
        mut fits: impl FnMut(&SurfaceTool) -> bool,
    ) -> Told {
        // Before the look: who goes on from a moment whose tools were other ones is told anew.
        let mark = self.surfaces.mark(tenant);
        self.surfaces.in_sight(tenant, |catalog, shut| {
            let (head, counts) = (surface.head(catalog), surface.counts(catalog, shut));
            let head = ToolSurface { moment: surface.moment(catalog).with_shut(mark).to_string(), ..head };
            let (mut tools, mut more) = (Vec::new(), false);
            for tool in surface.tools(catalog, shut, after) {
                if !fits(&tool) {
                    more = true;
                    break;
                }
                tools.push(tool);
            }
            // Where not even the first one fits, it is the first one again.
            let last = tools.last().map(SurfaceTool::position).or_else(|| after.cloned());
            Told { head, counts, next: last.filter(|_| more), tools }
        })
    }

    /// What a surface has loaded of its budget.
    pub(crate) fn budget(&self, tenant: &TenantId, surface: &IndexedSurface) -> Option<SurfaceBudget> {
        self.surfaces.in_sight(tenant, |catalog, shut| surface.budget(catalog, shut))
    }

    /// Which of these names, by their places, lead to tools that do not fit into the budget of the surface.
    pub(crate) fn left_for_budget(&self, tenant: &TenantId, surface: &IndexedSurface, names: &[String]) -> Vec<usize> {
        self.surfaces.in_sight(tenant, |catalog, shut| {
            let is_left = |name: &String| match catalog.find(name) {
                Lookup::One(entry) => surface.is_deferred_for_budget(entry) && !shut.is_shut(entry),
                Lookup::Ambiguous(_) | Lookup::Unknown => false,
            };
            names.iter().enumerate().filter(|(_, name)| is_left(name)).map(|(at, _)| at).collect()
        })
    }
}
