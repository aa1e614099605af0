//! The tools and surfaces of all tenants: durable in the store, with a copy in memory.
//!
//! A change is planned against the catalog, made durable in one commit, applied in memory, and only then published and
//! answered. One change of a tenant's tools goes on at a time in a process; reads never wait for the store while the memory
//! is known to be right (`follow.rs`).

mod read;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;
use tokio::time::Instant;
use toolplane_catalog::catalog::Prepared;
use toolplane_catalog::{Catalog, CatalogLimits};
use toolplane_records::codes;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::time::Timestamp;
use toolplane_runtime::{ApiError, tasks};
use toolplane_store::{Commit, Store};
use tracing::Instrument as _;

use self::read::read_catalogs;
use crate::changes::{Changes, Followers, Head, Made};
use crate::denied::{Denials, DeniedTools};
use crate::error::{SurfaceError, of_store};
use crate::keys;
use crate::memory::Memory;
use crate::sync::{Hub, Subject, Subscription};

/// The state of the role. Cheap to clone; clones are the same registry.
#[derive(Clone)]
pub(crate) struct Registry(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) hub: Hub,
    /// What else is in memory of the store.
    pub(crate) memory: Memory,
    /// What the rules deny to everybody.
    pub(crate) denials: Denials,
    pub(crate) changes: Changes,
    /// Whom a change waits for beside the schedulers that follow this process; absent where only this process writes.
    pub(crate) followers: Option<Followers>,
    /// How far the memory of this process has come in the changes of all.
    pub(crate) applied: Mutex<Head>,
    /// Held while newer changes are taken in; when that was last begun and then finished.
    pub(crate) taking_in: tokio::sync::Mutex<Option<Instant>>,
    tenants: DashMap<TenantId, Arc<Tenant>>,
}

/// The tools of one tenant.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) catalog: RwLock<Catalog>,
    /// Grows with every change of the catalog: a plan is only good for the one it was made from.
    pub(crate) generation: AtomicU64,
    /// Held while tools are changed.
    pub(crate) turn: tokio::sync::Mutex<()>,
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
    pub(crate) fn apply(&self, changes: Vec<impl Into<Prepared>>) {
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
        denied.len()
    }

    /// Puts others in place of all tools.
    fn renew(&self, new: Catalog) {
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
                Some(why) => _ = Arc::make_mut(&mut denied).insert(change.tool_id().clone(), why.to_owned()),
                None if denied.contains_key(change.tool_id()) => {
                    _ = Arc::make_mut(&mut denied).remove(change.tool_id())
                }
                None => {}
            }
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("hub", &self.0.hub).finish_non_exhaustive()
    }
}

impl Registry {
    /// Reads every stored tool back. One that cannot be used refuses the start: to go on without it would change what
    /// surfaces mean.
    pub(crate) async fn open(store: Arc<dyn Store>, patience: Duration, memory: Memory) -> Result<Self, SurfaceError> {
        let changes = Changes::new(Arc::clone(&store));
        // Taken first: what is read after it is at least as new.
        let head = changes.head().await?;
        // Alone, revisions grow over restarts as long as there is less than one change a millisecond.
        let revision = if store.is_shared() { head.revision } else { keys::score(store.now().await?) };
        let catalogs = read_catalogs(&*store).await?;
        let denials = Denials::default();
        let tenant =
            |(id, catalog): (TenantId, Catalog)| (id.clone(), Arc::new(Tenant::new(id, catalog, denials.clone())));
        let tenants = catalogs.into_iter().map(tenant).collect();
        let followers = store.is_shared().then(|| Followers::new(Arc::clone(&store)));
        let registry = Self(Arc::new(Inner {
            hub: Hub::new(revision, patience),
            memory,
            denials,
            changes,
            followers,
            applied: Mutex::new(head),
            taking_in: tokio::sync::Mutex::default(),
            tenants,
            store,
        }));
        registry.0.memory.read(registry.store()).await?;
        Ok(registry)
    }

    /// Reads all tools again, and all else in memory.
    pub(crate) async fn read_again(&self) -> Result<(), SurfaceError> {
        let mut catalogs = read_catalogs(self.store()).await?;
        for id in catalogs.keys() {
            drop(self.tenant(id));
        }
        for tenant in &self.0.tenants {
            tenant.renew(catalogs.remove(tenant.key()).unwrap_or_else(empty));
        }
        self.0.memory.read_again(self.store()).await?;
        Ok(())
    }

    /// The tools of a tenant; none yet for a new one.
    pub(crate) fn tenant(&self, id: &TenantId) -> Arc<Tenant> {
        if let Some(known) = self.0.tenants.get(id) {
            return Arc::clone(&known);
        }
        let fresh = || Arc::new(Tenant::new(id.clone(), empty(), self.0.denials.clone()));
        Arc::clone(&self.0.tenants.entry(id.clone()).or_insert_with(fresh))
    }

    /// What the rules deny to everybody, by which tools are judged.
    pub(crate) fn denials(&self) -> &Denials {
        &self.0.denials
    }

    /// All tenants that are known.
    pub(crate) fn tenants(&self) -> Vec<(TenantId, Arc<Tenant>)> {
        self.0.tenants.iter().map(|tenant| (tenant.key().clone(), Arc::clone(&tenant))).collect()
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    /// Makes a change of anything but tools durable, which is about `subjects`. Others are not told yet: see
    /// [`take_in`](Self::take_in).
    pub(crate) async fn make_change(&self, commit: Commit, subjects: &[Subject]) -> Result<Made, ApiError> {
        self.0.changes.make(commit, subjects, None).await.map_err(of_store)
    }

    /// The revision of everything that is applied and told. Taken before what it is to be reported with is read.
    pub(crate) fn revision(&self) -> u64 {
        self.0.hub.revision()
    }

    /// The revision as it grows.
    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.0.hub.revisions()
    }

    /// A scheduler called `name` that wants to be told of every change.
    pub(crate) fn subscribe(&self, name: &str) -> Subscription {
        self.0.hub.subscribe(name)
    }

    pub(crate) async fn now(&self) -> Result<Timestamp, ApiError> {
        self.0.store.now().await.map_err(of_store)
    }
}

fn empty() -> Catalog {
    Catalog::new(CatalogLimits::default())
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
