//! The surface of a caller that names none: every tool of its tenant, as it is declared right now.
//!
//! There is no record of it, and nothing to load: it is a selection of everything, which goes by the newest declarations.

use std::sync::{Arc, OnceLock};

use toolplane_catalog::{Catalog, LiveSurface, ModelCapabilities, RoleConstraints, SurfaceRequest};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;
use toolplane_runtime::ApiError;

use crate::cache::Held;
use crate::error::of_violations;
use crate::registry::Registry;

/// Why it looks as it does.
const REASON: &str = "every tool of the tenant, as it is declared now";

/// The default surface of one tenant, made when it is first asked for.
#[derive(Debug, Default)]
pub(crate) struct DefaultSurface(OnceLock<Arc<Held>>);

impl Registry {
    /// A surface: the default one, or one that was made, which counts as a use of it.
    pub(crate) async fn held(&self, tenant: &TenantId, id: &SurfaceId) -> Result<Arc<Held>, ApiError> {
        if !id.is_default() {
            let held = self.0.memory.surfaces.get(self.store(), tenant, id).await?;
            // Who uses a surface uses those that it is within.
            for used in std::iter::successors(Some(&held), |held| held.above()) {
                self.note_use(tenant, used);
            }
            return Ok(held);
        }
        let owner = self.tenant(tenant);
        if let Some(held) = owner.default_surface.0.get() {
            return Ok(Arc::clone(held));
        }
        let now = self.now().await?;
        let made = every_tool(&owner.catalog.read(), tenant, now)?;
        Ok(Arc::clone(owner.default_surface.0.get_or_init(|| Arc::new(Held::of(made.into())))))
    }
}

/// A surface in which every tool that may be used at all is loaded.
fn every_tool(catalog: &Catalog, tenant: &TenantId, now: Timestamp) -> Result<LiveSurface, ApiError> {
    let mut request = SurfaceRequest::new(tenant.clone(), SurfaceScope::Tenant);
    request.role = RoleConstraints { role: "agent".to_owned(), interactive: true, ..RoleConstraints::default() };
    request.model = ModelCapabilities { deferred_tools: Some(false), ..ModelCapabilities::default() };
    request.surface_reason = REASON.to_owned();
    let made = LiveSurface::make(catalog, &request, SurfaceId::default_surface(), now);
    let made = made.map_err(|misnamed| of_violations(misnamed.violations(catalog.similar())))?;
    Ok(made.newest())
}
