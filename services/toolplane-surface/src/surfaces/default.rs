//! The surface of a caller that names none: every tool of its tenant, as it is declared right now.
//!
//! There is no record of it, and nothing to load: it is a selection of everything, which goes by the newest declarations.

use std::sync::Arc;

use dashmap::DashMap;
use toolplane_catalog::{Catalog, LiveSurface, ModelCapabilities, RoleConstraints, SurfaceRequest};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;
use toolplane_runtime::ApiError;

use crate::cache::Held;
use crate::error::of_violations;

/// Why it looks as it does.
const REASON: &str = "every tool of the tenant, as it is declared now";

/// The default surfaces of tenants, each made when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Defaults(DashMap<TenantId, Arc<Held>>);

impl Defaults {
    /// That of a tenant, where it was asked for before.
    pub(super) fn get(&self, tenant: &TenantId) -> Option<Arc<Held>> {
        self.0.get(tenant).map(|held| Arc::clone(&held))
    }

    /// That of a tenant, made of its catalog where nobody was faster.
    pub(super) fn make(&self, tenant: &TenantId, catalog: &Catalog, now: Timestamp) -> Result<Arc<Held>, ApiError> {
        let made = every_tool(catalog, tenant, now)?;
        let held = || Arc::new(Held::of(made.into()));
        Ok(Arc::clone(&self.0.entry(tenant.clone()).or_insert_with(held)))
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
