//! What of a surface is told: its head, how many tools it has, and some of them in order. No list of all tools is made.

use toolplane_catalog::{
    AskedFor, Catalog, IndexedSurface, Position, Selection, Shut, SurfaceCounts, SurfaceTool, Unmatched, filled,
    not_shown_above, outdated, unmatched,
};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::surface::{SurfaceOutdated, ToolSurface};
use toolplane_runtime::ApiError;

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

impl Registry {
    /// The surface as it is now, with its tools behind `after` as long as `fits` says so of each.
    pub(crate) async fn told(
        &self,
        tenant: &TenantId,
        surface: &IndexedSurface,
        after: Option<&Position>,
        fits: impl FnMut(&SurfaceTool) -> bool,
    ) -> Result<Told, ApiError> {
        let now = self.now().await?;
        let mut told = self.told_unmarked(tenant, surface, after, fits);
        let refs = told.tools.iter_mut().filter_map(|tool| match tool {
            SurfaceTool::Deferred(tool) => Some(tool),
            _ => None,
        });
        self.mark(tenant, refs, now);
        Ok(told)
    }

    /// The whole surface as it is now. For what looks at all of its tools anyway.
    pub(crate) async fn surface_now(&self, tenant: &TenantId, id: &SurfaceId) -> Result<ToolSurface, ApiError> {
        let view = self.held(tenant, id).await?.view();
        let told = self.told(tenant, view.indexed(), None, |_| true).await?;
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
        let owner = self.tenant(tenant);
        unmatched(&owner.catalog.read(), asked, selection, surface.parents().next())
    }

    /// Which of the names in a field of a request lead to tools that those above `surface` do not show now.
    pub(crate) fn not_shown_above(
        &self,
        tenant: &TenantId,
        surface: &IndexedSurface,
        field: &str,
        names: &[String],
    ) -> Vec<Unmatched> {
        let owner = self.tenant(tenant);
        not_shown_above(&owner.catalog.read(), field, names, surface)
    }

    /// What a surface says about choosing by which nothing can be called now.
    pub(crate) fn idle_choices(&self, tenant: &TenantId, surface: &IndexedSurface) -> Vec<Unmatched> {
        self.in_sight(tenant, |catalog, shut| surface.idle_choices(catalog, shut))
    }

    /// What a pinned surface misses.
    pub(crate) fn outdated(&self, tenant: &TenantId, surface: &IndexedSurface) -> Option<SurfaceOutdated> {
        let owner = self.tenant(tenant);
        outdated(surface, &owner.catalog.read())
    }

    /// What [`told`](Self::told) tells, without what providers say of single tools at this moment.
    pub(crate) fn told_unmarked(
        &self,
        tenant: &TenantId,
        surface: &IndexedSurface,
        after: Option<&Position>,
        mut fits: impl FnMut(&SurfaceTool) -> bool,
    ) -> Told {
        self.in_sight(tenant, |catalog, shut| {
            let (head, counts) = (surface.head(catalog), surface.counts(catalog, shut));
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

    /// What is made of a tenant's catalog and of what keeps its tools from being used at this moment.
    pub(crate) fn in_sight<T>(&self, tenant: &TenantId, look: impl FnOnce(&Catalog, Shut<'_>) -> T) -> T {
        let owner = self.tenant(tenant);
        let (catalog, denied) = (owner.catalog.read(), owner.denied());
        look(&catalog, Shut { by_traits: &|traits| self.shut(traits), denied: &denied })
    }
}
