//! The tools of tenants in memory, with those among them that nobody may call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use parking_lot::{Mutex, RwLock};
use toolplane_catalog::Catalog;
use toolplane_catalog::catalog::Prepared;
use toolplane_records::ids::{TenantId, ToolId};

use super::empty;
use crate::denied::{Denials, DeniedTools};

/// All tenants that are known. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Tenants {
    all: Arc<DashMap<TenantId, Arc<Tenant>>>,
    /// What the rules deny to everybody.
    denials: Denials,
}

impl Tenants {
    /// Those who have these tools.
    pub(super) fn of(catalogs: HashMap<TenantId, Catalog>) -> Self {
        let denials = Denials::default();
        let tenant =
            |(id, catalog): (TenantId, Catalog)| (id.clone(), Arc::new(Tenant::new(id, catalog, denials.clone())));
        Self { all: Arc::new(catalogs.into_iter().map(tenant).collect()), denials }
    }

    /// Puts these tools in place of all.
    pub(super) fn renew(&self, mut catalogs: HashMap<TenantId, Catalog>) {
        for id in catalogs.keys() {
            drop(self.get(id));
        }
        for tenant in &*self.all {
            tenant.renew(catalogs.remove(tenant.key()).unwrap_or_else(empty));
        }
    }

    /// A tenant, who has no tools when it is a new one.
    pub(crate) fn get(&self, id: &TenantId) -> Arc<Tenant> {
        if let Some(known) = self.all.get(id) {
            return Arc::clone(&known);
        }
        let fresh = || Arc::new(Tenant::new(id.clone(), empty(), self.denials.clone()));
        Arc::clone(&self.all.entry(id.clone()).or_insert_with(fresh))
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<(TenantId, Arc<Tenant>)> {
        self.all.iter().map(|tenant| (tenant.key().clone(), Arc::clone(&tenant))).collect()
    }

    /// What the rules deny to everybody, by which tools are judged.
    pub(crate) fn denials(&self) -> &Denials {
        &self.denials
    }
}

/// The tools of one tenant.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) catalog: RwLock<Catalog>,
    /// Grows with every change of the catalog: a plan is only good for the one it was made from.
    pub(super) generation: AtomicU64,
    /// Held while tools are changed.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// Tools that have changed since somebody [took](Tenant::take_unread) them; all of them, where nobody ever did.
    unread: Mutex<Option<HashSet<ToolId>>>,
    id: TenantId,
    denials: Denials,
    /// The tools that nobody may call. Changed only by who holds the catalog.
    denied: RwLock<Arc<DeniedTools>>,
}

impl Tenant {
    fn new(id: TenantId, catalog: Catalog, denials: Denials) -> Self {
        Self {
            denied: RwLock::new(Arc::new(denials.of(&id).among(&catalog))),
            id,
            denials,
            catalog: RwLock::new(catalog),
            generation: AtomicU64::new(0),
            turn: tokio::sync::Mutex::default(),
            unread: Mutex::default(),
        }
    }

    /// The tools that have changed since this was called last; `None`: any may have.
    pub(crate) fn take_unread(&self) -> Option<HashSet<ToolId>> {
        self.unread.lock().replace(HashSet::new())
    }

    /// Puts changes into effect.
    pub(super) fn apply(&self, changes: Vec<impl Into<Prepared>>) {
        // Nobody who reads waits for this.
        let changes: Vec<Prepared> = changes.into_iter().map(Into::into).collect();
        let mut catalog = self.catalog.write();
        if let Some(unread) = &mut *self.unread.lock() {
            unread.extend(changes.iter().map(|change| change.tool_id().clone()));
        }
        self.judge(&changes);
        changes.into_iter().for_each(|change| catalog.apply(change));
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The tools that nobody may call.
    pub(crate) fn denied(&self) -> Arc<DeniedTools> {
        Arc::clone(&self.denied.read())
    }

    /// Looks among all tools for those that nobody may call; how many there are.
    pub(crate) fn look_for_denied(&self) -> usize {
        let catalog = self.catalog.read();
        self.look_among(&catalog)
    }

    fn look_among(&self, catalog: &Catalog) -> usize {
        let mut denied = self.denied.write();
        *denied = Arc::new(self.denials.of(&self.id).among(catalog));
        denied.tools.len()
    }

    /// Puts others in place of all tools.
    pub(super) fn renew(&self, new: Catalog) {
        let mut catalog = self.catalog.write();
        *catalog = new;
        self.look_among(&catalog);
        *self.unread.lock() = None;
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes of tools that change whether anybody may call them.
    fn judge(&self, changes: &[Prepared]) {
        let denials = self.denials.of(&self.id);
        let mut denied = self.denied.write();
        for change in changes {
            match denials.why(change.tool()) {
                Some(why) => _ = Arc::make_mut(&mut denied).tools.insert(change.tool_id().clone(), why.to_owned()),
                None if denied.tools.contains_key(change.tool_id()) => {
                    _ = Arc::make_mut(&mut denied).tools.remove(change.tool_id())
                }
                None => {}
            }
        }
    }
}
