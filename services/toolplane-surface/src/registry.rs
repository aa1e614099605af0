//! The tools of all tenants, durable in the store and with a copy in memory, and the count of all changes, which others follow.
//!
//! A change is planned against the catalog, made durable in one commit, applied in memory, and only then published and
//! answered. One change of a tenant's tools goes on at a time in a process; reads never wait for the store while the memory
//! is known to be right (`registry/follow.rs`).

mod follow;
mod read;
mod tenants;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use toolplane_catalog::{Catalog, CatalogLimits};
use toolplane_records::codes;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::TenantId;
use toolplane_records::time::Timestamp;
use toolplane_runtime::{ApiError, tasks};
use toolplane_store::{Commit, Store};
use tracing::Instrument as _;

pub(crate) use self::tenants::{Tenant, Tenants};
pub(crate) use self::tools::ToolFilter;

use self::read::read_catalogs;
use crate::changes::{Changes, Followers, Head, Made};
use crate::error::{SurfaceError, of_store};
use crate::keys;
use crate::memory::Memory;
use crate::sync::{Hub, Subject, Subscription};

/// The tools of tenants, the store, and the count of changes. Cheap to clone; clones are the same registry.
#[derive(Clone)]
pub(crate) struct Registry(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    hub: Hub,
    /// What else is in memory, to be read again when others changed it.
    memory: Memory,
    changes: Changes,
    /// Whom a change waits for beside the schedulers that follow this process; absent where only this process writes.
    followers: Option<Followers>,
    /// How far the memory of this process has come in the changes of all.
    applied: Mutex<Head>,
    /// Held while newer changes are taken in; when that was last begun and then finished.
    taking_in: tokio::sync::Mutex<Option<Instant>>,
    tenants: Tenants,
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
        let tenants = Tenants::of(read_catalogs(&*store).await?);
        let followers = store.is_shared().then(|| Followers::new(Arc::clone(&store)));
        let registry = Self(Arc::new(Inner {
            hub: Hub::new(revision, patience),
            memory,
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
    async fn read_again(&self) -> Result<(), SurfaceError> {
        self.0.tenants.renew(read_catalogs(self.store()).await?);
        self.0.memory.read_again(self.store()).await?;
        Ok(())
    }

    /// All tenants with their tools.
    pub(crate) fn tenants(&self) -> &Tenants {
        &self.0.tenants
    }

    /// The tools of a tenant; none yet for a new one.
    pub(crate) fn tenant(&self, id: &TenantId) -> Arc<Tenant> {
        self.0.tenants.get(id)
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
