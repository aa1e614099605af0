//! The surface of a caller that names none: every tool of its tenant, as it is declared right now.
//!
//! There is no record of it, and nothing to load: it is made from the catalog when it is first asked for, and again after a change.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use toolplane_catalog::{Catalog, ModelCapabilities, RoleConstraints, SurfaceRequest, select};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::surface::ToolSurface;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;
use toolplane_runtime::ApiError;

use crate::cache::Held;
use crate::error::of_violations;
use crate::registry::Registry;

/// Why it looks as it does.
const REASON: &str = "every tool of the tenant, as it is declared now";

/// The default surface of one tenant as it was made last, and for which generation of the catalog.
#[derive(Debug, Default)]
pub(crate) struct DefaultSurface(Mutex<Option<(u64, Arc<Held>)>>);

impl Registry {
    /// A surface: the default one, or one that was made.
    pub(crate) async fn held(&self, tenant: &TenantId, id: &SurfaceId) -> Result<Arc<Held>, ApiError> {
        if !id.is_default() {
            return self.0.surfaces.get(self.store(), tenant, id).await;
        }
        let now = self.now().await?;
        let owner = self.tenant(tenant);
        let catalog = owner.catalog.read();
        // Grows while the catalog is held for writing: under the lock it belongs to what is read here.
        let generation = owner.generation.load(Ordering::Acquire);
        let mut made = owner.default_surface.0.lock();
        if let Some((of, held)) = &*made
            && *of == generation
        {
            return Ok(Arc::clone(held));
        }
        let held = Arc::new(Held::of(every_tool(&catalog, tenant, now)?));
        *made = Some((generation, Arc::clone(&held)));
        Ok(held)
    }
}

/// A surface in which every tool that may be used at all is loaded.
fn every_tool(catalog: &Catalog, tenant: &TenantId, now: Timestamp) -> Result<ToolSurface, ApiError> {
    let mut request = SurfaceRequest::new(tenant.clone(), SurfaceScope::Tenant);
    request.role = RoleConstraints { role: "agent".to_owned(), interactive: true, ..RoleConstraints::default() };
    request.model = ModelCapabilities { deferred_tools: Some(false), ..ModelCapabilities::default() };
    request.surface_reason = REASON.to_owned();
    let selected = select(catalog, &request, SurfaceId::default_surface(), now);
    let surface = selected.map_err(|misnamed| of_violations(misnamed.violations(catalog.similar())))?;
    // The same in every process that knows the same tools, and after a restart: tools are never taken out of a catalog.
    let revision = catalog.entries().map(|entry| entry.revision).sum();
    Ok(ToolSurface { revision, ..surface })
}
