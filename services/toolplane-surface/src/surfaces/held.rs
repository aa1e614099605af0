//! Surfaces as they are in memory, for who uses them.

use std::sync::Arc;

use toolplane_catalog::{IndexedSurface, Moment};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_runtime::ApiError;

use super::Surfaces;
use crate::cache::Held;
use crate::error::of_store;
use crate::view::View;

impl Surfaces {
    /// A surface: the default one, or one that was made, which counts as a use of it.
    pub(crate) async fn held(&self, tenant: &TenantId, id: &SurfaceId) -> Result<Arc<Held>, ApiError> {
        if !id.is_default() {
            let held = self.cache.get(self.registry.store(), tenant, id).await?;
            // Who uses a surface uses those that it is within.
            for used in std::iter::successors(Some(&held), |held| held.above()) {
                self.uses.note(tenant, used);
            }
            return Ok(held);
        }
        if let Some(held) = self.defaults.get(tenant) {
            return Ok(held);
        }
        let now = self.registry.now().await?;
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        self.defaults.make(tenant, &catalog, now)
    }

    /// A surface that has come to a moment, where it ever did.
    pub(super) async fn held_at(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        moment: Moment,
    ) -> Result<Arc<Held>, ApiError> {
        let held = self.held(tenant, id).await?;
        if !self.is_ahead(tenant, &held.view(), moment) {
            return Ok(held);
        }
        // It was told by a process that is further than this one.
        self.registry.newest().await?;
        for id in held.view().indexed().lineage().map(IndexedSurface::id) {
            self.refresh(tenant, id).await?;
        }
        self.held(tenant, id).await
    }

    fn is_ahead(&self, tenant: &TenantId, view: &View, moment: Moment) -> bool {
        let owner = self.registry.tenant(tenant);
        let now = view.indexed().moment(&owner.catalog.read());
        moment.is_like(&now) && !now.reaches(&moment)
    }

    /// The surface, also where one that it is within is not there any more. No use of it.
    pub(super) async fn held_even_orphaned(&self, tenant: &TenantId, id: &SurfaceId) -> Result<Arc<Held>, ApiError> {
        self.cache.get_even_orphaned(self.registry.store(), tenant, id).await
    }

    /// Shows a surface as it is stored now, if it is in memory.
    pub(super) async fn refresh(&self, tenant: &TenantId, id: &SurfaceId) -> Result<(), ApiError> {
        self.cache.refresh(self.registry.store(), tenant, id).await.map_err(of_store)
    }
}
