//! Surfaces within surfaces, as they are read from the store.

use std::sync::Arc;

use toolplane_catalog::{IndexedSurface, MAX_DEPTH};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_runtime::ApiError;
use toolplane_store::Store;

use super::{Cache, Held};
use crate::{error, keys};

impl Cache {
    /// The surface from the store, with those above it from memory or from there. Only for who holds `loading`.
    pub(super) async fn read_line(
        &self,
        store: &dyn Store,
        tenant: &TenantId,
        id: &SurfaceId,
    ) -> Result<Arc<Held>, ApiError> {
        let mut line: Vec<(IndexedSurface, u64)> = Vec::new();
        let mut above: Option<Arc<Held>> = None;
        let mut next = Some(id.clone());
        while let Some(wanted) = next.take() {
            if let Some(held) = self.slots.lock().find(&(tenant.clone(), wanted.clone())) {
                above = Some(held);
                break;
            }
            let read = read(store, tenant, &wanted).await?.filter(|_| line.len() < MAX_DEPTH);
            let Some((surface, version)) = read else { return Err(not_there(id, &wanted)) };
            next = surface.parent().map(|parent| parent.surface_id.clone());
            line.push((surface, version));
        }
        let mut lowest = above;
        for (surface, version) in line.into_iter().rev() {
            if let (Some(parent), Some(above)) = (surface.parent(), &lowest)
                && !parent.is(above.view.load().indexed())
            {
                return Err(not_there(id, &parent.surface_id));
            }
            let key = (tenant.clone(), surface.id().clone());
            let held = Arc::new(Held::at(surface, version, lowest));
            self.slots.lock().keep(key, Arc::clone(&held));
            lowest = Some(held);
        }
        lowest.ok_or_else(|| not_there(id, id))
    }

    /// The surface, also where one that it is within is not there any more or cannot be read: then it is nowhere in memory, and shows nothing.
    pub(crate) async fn get_even_orphaned(
        &self,
        store: &dyn Store,
        tenant: &TenantId,
        id: &SurfaceId,
    ) -> Result<Arc<Held>, ApiError> {
        if let Ok(held) = self.get(store, tenant, id).await {
            return Ok(held);
        }
        let (surface, version) = read(store, tenant, id).await?.ok_or_else(|| not_there(id, id))?;
        Ok(Arc::new(Held::at(surface, version, None)))
    }
}

async fn read(store: &dyn Store, tenant: &TenantId, id: &SurfaceId) -> Result<Option<(IndexedSurface, u64)>, ApiError> {
    let stored = store.get(&keys::surface(tenant, id)).await.map_err(error::of_store)?;
    let Some(stored) = stored else { return Ok(None) };
    Ok(Some((IndexedSurface::read(&stored.bytes).map_err(error::unreadable)?, stored.version)))
}

/// `asked` cannot be used, since `missing`, which it is or is within, is not there.
fn not_there(asked: &SurfaceId, missing: &SurfaceId) -> ApiError {
    if asked == missing { ApiError::not_found("surface", asked.as_str()) } else { error::parent_gone(asked, missing) }
}
