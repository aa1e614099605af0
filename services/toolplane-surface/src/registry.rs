//! The tools and surfaces of all tenants: durable in the store, at hand in memory.
//!
//! A change is planned against the catalog, made durable in one commit, applied in memory, and only then published and
//! answered. One change of a tenant's tools goes on at a time; reads never wait for the store.

use std::sync::Arc;

use dashmap::DashMap;
use parking_lot::RwLock;
use toolplane_catalog::{Catalog, CatalogLimits};
use toolplane_records::codes;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::TenantId;
use toolplane_records::time::Timestamp;
use toolplane_runtime::{ApiError, tasks};
use toolplane_store::{Family, Store};
use tracing::Instrument as _;

use crate::cache::Cache;
use crate::error::{StartError, of_store};
use crate::keys;
use crate::records::StoredTool;
use crate::sync::Hub;

/// How many stored tools are read at once at start.
const READ_PAGE: usize = 500;

/// The state of the role. Cheap to clone; clones are the same registry.
#[derive(Clone)]
pub(crate) struct Registry(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) hub: Hub,
    pub(crate) surfaces: Cache,
    tenants: DashMap<TenantId, Arc<Tenant>>,
}

/// The tools of one tenant.
#[derive(Debug, Default)]
pub(crate) struct Tenant {
    pub(crate) catalog: RwLock<Catalog>,
    /// Held while tools are changed: a plan is only good for the catalog it was made from.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("hub", &self.0.hub).finish_non_exhaustive()
    }
}

impl Registry {
    /// Reads every stored tool back. One that cannot be used refuses the start: to go on without it would change what
    /// surfaces mean.
    pub(crate) async fn open(store: Arc<dyn Store>, patience: std::time::Duration) -> Result<Self, StartError> {
        // Revisions grow over restarts as long as there is less than one change a millisecond.
        let revision = keys::score(store.now().await?);
        let hub = Hub::new(revision, patience);
        let registry = Self(Arc::new(Inner { store, hub, surfaces: Cache::default(), tenants: DashMap::new() }));
        let mut after: Option<String> = None;
        loop {
            let page = registry.0.store.keys(Family::Declaration, after.as_deref(), READ_PAGE).await?;
            for (key, stored) in &page {
                registry.restore(key, &stored.bytes)?;
            }
            match page.last() {
                Some((key, _)) => after = Some(key.clone()),
                None => return Ok(registry),
            }
        }
    }

    fn restore(&self, key: &str, bytes: &[u8]) -> Result<(), StartError> {
        let unusable = |reason: String| StartError::Tool { key: key.to_owned(), reason };
        let tenant = keys::tenant_of_tool(key).ok_or_else(|| unusable("has no tenant".to_owned()))?;
        let stored: StoredTool = serde_json::from_slice(bytes).map_err(|error| unusable(error.to_string()))?;
        let tenant = self.tenant(&tenant);
        let mut catalog = tenant.catalog.write();
        let restored = catalog.restore(&stored.registration, stored.revision, stored.history);
        restored.map_err(|faults| unusable(first_of(&faults)))
    }

    /// The tools of a tenant; none yet for a new one.
    pub(crate) fn tenant(&self, id: &TenantId) -> Arc<Tenant> {
        if let Some(known) = self.0.tenants.get(id) {
            return Arc::clone(&known);
        }
        let fresh =
            || Arc::new(Tenant { catalog: RwLock::new(Catalog::new(CatalogLimits::default())), ..Tenant::default() });
        Arc::clone(&self.0.tenants.entry(id.clone()).or_insert_with(fresh))
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    pub(crate) async fn now(&self) -> Result<Timestamp, ApiError> {
        self.0.store.now().await.map_err(of_store)
    }
}

/// Runs a change to its end also when the caller goes away: what is durable must be applied too.
pub(crate) async fn to_the_end<T: Send + 'static>(
    change: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    match tasks::spawn("change of a surface", change.in_current_span()).await {
        Ok(outcome) => outcome,
        Err(error) => Err(ApiError::internal(codes::CHANGE_FAILED, error)),
    }
}

/// The first violation as a text, with how many there are.
pub(crate) fn first_of(faults: &[FieldViolation]) -> String {
    match faults {
        [] => "is refused".to_owned(),
        [only] => format!("`{}` {}", only.field, only.description),
        [first, rest @ ..] => {
            format!("`{}` {} (and {} more violations)", first.field, first.description, rest.len())
        }
    }
}
