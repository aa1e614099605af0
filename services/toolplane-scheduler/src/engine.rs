//! The scheduler's core: it applies lifecycle commands to stored invocations, one atomic commit at a time.

mod admit;
mod apply;
mod asked;
mod audit;
mod claim;
mod commit;
mod dispatch;
mod error;
mod express;
mod fence;
mod forget;
mod groups;
mod guard;
mod heal;
mod hints;
mod hot;
mod hub;
mod keys;
mod limits;
mod members;
mod message;
mod mutants;
mod offer;
mod plan;
mod pushback;
mod quarantine;
mod queues;
mod read;
mod receipts;
mod relay;
mod rename;
mod retire;
mod roster;
mod scopes;
mod standing;
mod steady;
mod sweep;
#[cfg(test)]
mod tests;
mod together;
mod watch;
mod workers;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dashmap::DashMap;
use parking_lot::Mutex;
use toolplane_lifecycle::fairness::Drr;
use toolplane_lifecycle::{LeaseKey, Refusal};
use toolplane_records::ids::{TenantId, WorkerId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_results::PayloadStore;
use toolplane_store::{Durability, Store};

pub use admit::{Admission, Admitted};
pub use error::EngineError;
pub use forget::forget;
pub use limits::{Bounds, ToolBound};
pub use message::Message;
pub use plan::DispatchPlan;
pub use read::{InvocationFilter, Page};
pub use roster::Enlisted;
pub use standing::{Moment, Standing};
pub use watch::{Watch, WatchItem};
pub use workers::{Placement, PoolGap, WorkerInfo, WorkerLink};

pub(crate) use apply::{Attached, is_race};
pub(crate) use groups::*;
pub(crate) use guard::Started;
pub(crate) use hub::Subscription;
pub(crate) use keys::payload_uri;
pub(crate) use quarantine::kept_out_error;
pub(crate) use sweep::gap_error;

/// Settings of the engine; durations in milliseconds.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// A full lease.
    pub lease_ms: i64,
    /// How long an offered lease waits for its receipt.
    pub offer_ms: i64,
    /// How often due timers are looked for.
    pub tick_ms: u64,
    /// How long a ready call waits for any worker of its pool to exist.
    pub placement_grace_ms: i64,
    /// How much one tenant and one tool may have.
    pub bounds: Bounds,
    /// Shares of tenants that wait at the same time; 1 for those not named.
    pub weights: BTreeMap<TenantId, u64>,
    /// How long ended calls are kept.
    pub retention_ms: i64,
    /// Whether ended calls are written to the object store before they are removed.
    pub archive: bool,
    /// How long idempotency keys are remembered after their calls ended.
    pub key_window_ms: i64,
    /// Where this scheduler can be reached, for those that have to leave another one.
    pub endpoint: Option<String>,
}

impl Default for EngineOptions {
    /// The defaults of the configuration.
    fn default() -> Self {
        const DAY_MS: i64 = 86_400_000;
        Self {
            lease_ms: 15_000,
            offer_ms: 5_000,
            tick_ms: 1_000,
            placement_grace_ms: 60_000,
            bounds: Bounds::default(),
            weights: BTreeMap::new(),
            retention_ms: DAY_MS,
            archive: false,
            key_window_ms: DAY_MS,
            endpoint: None,
        }
    }
}

/// The scheduler's state and rules behind one cheap handle.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    /// Other processes write to the store too.
    shared: bool,
    objects: PayloadStore,
    options: EngineOptions,
    /// Made up at each start.
    name: String,
    hub: Arc<hub::Hub>,
    hot: hot::HotTable,
    workers: workers::Workers,
    bell: dispatch::Bell,
    backlog: queues::Backlog,
    /// Whose turn it is in each pool.
    turns: Mutex<HashMap<String, Drr>>,
    /// Where the look at very many queues goes on.
    lane: AtomicUsize,
    limits: limits::Limits,
    plans: plan::Plans,
    fences: fence::Fences,
    members: members::Members,
    roster: roster::Roster,
    quarantine: quarantine::Quarantine,
    scopes: scopes::Scopes,
    steady: steady::Steady,
    audit: audit::Progress,
    standing: OnceLock<Arc<dyn standing::Standing>>,
    asked: OnceLock<asked::Asked>,
    /// When a worker of each pool was last there.
    served: DashMap<String, Timestamp>,
    draining: AtomicBool,
    repairs: AtomicU64,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine over `store`, with start guards and archives in `objects`. Nothing runs until [`Engine::run`].
    pub async fn open(
        store: Arc<dyn Store>,
        objects: PayloadStore,
        options: EngineOptions,
    ) -> Result<Self, EngineError> {
        let shared = store.is_shared();
        let limits = limits::Limits::new(options.bounds.clone()).map_err(EngineError::Pattern)?;
        let name = format!("scheduler-{}", uuid::Uuid::now_v7().simple());
        let engine = Self(Arc::new(Inner {
            shared,
            objects,
            roster: roster::Roster::new(store.clone(), name.clone()),
            name,
            hub: Arc::default(),
            hot: hot::HotTable::default(),
            workers: workers::Workers::default(),
            bell: dispatch::Bell::default(),
            backlog: queues::Backlog::default(),
            turns: Mutex::default(),
            lane: AtomicUsize::new(0),
            limits,
            plans: plan::Plans::default(),
            fences: fence::Fences::default(),
            members: members::Members::default(),
            quarantine: quarantine::Quarantine::default(),
            scopes: scopes::Scopes::default(),
            steady: steady::Steady::new(Duration::from_millis(options.tick_ms)),
            audit: audit::Progress::default(),
            standing: OnceLock::new(),
            asked: OnceLock::new(),
            served: DashMap::new(),
            draining: AtomicBool::new(false),
            repairs: AtomicU64::new(0),
            store,
            options,
        }));
        let now = engine.now().await?;
        engine.name_by_tenant(now).await?;
        engine.show_membership(now).await?;
        engine.refresh_quarantine(now).await?;
        engine.refresh_backlog().await?;
        Ok(engine)
    }

    /// Runs dispatch, timers and coordination until `stop` resolves; from then on, no call is claimed here any more.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = stop => {}
            () = self.dispatch_loop() => {}
            () = self.sweep_loop() => {}
            () = self.tend_loop() => {}
            () = self.listen_loop() => {}
            () = self.coordinate_loop() => {}
        }
        self.0.draining.store(true, Ordering::Release);
    }

    /// Ends what others know of this scheduler. Call it when nothing more is reported to it.
    pub async fn leave(&self) {
        self.leave_members().await;
    }

    /// Where other schedulers that share the store can be reached, as far as they said.
    pub fn other_schedulers(&self) -> Vec<String> {
        self.0.members.others()
    }

    /// What an answered acceptance survives.
    pub fn durability(&self) -> Durability {
        self.0.store.durability()
    }

    /// The store's clock.
    pub async fn now(&self) -> Result<Timestamp, EngineError> {
        Ok(self.0.store.now().await?)
    }

    /// Connected workers.
    pub fn workers(&self) -> &workers::Workers {
        &self.0.workers
    }

    /// What the cluster knows of its workers, those connected here included.
    pub(crate) fn roster(&self) -> &roster::Roster {
        &self.0.roster
    }

    /// Whether the scheduler of that name lives; this one does.
    pub(crate) fn lives(&self, scheduler: &str) -> bool {
        scheduler == self.0.name || self.0.members.lives(scheduler)
    }

    /// Index entries that the audit had to put right since this engine was opened. Anything but 0 is a fault of ours.
    pub fn audit_repairs(&self) -> u64 {
        self.0.repairs.load(Ordering::Relaxed)
    }

    /// Where the scheduler of that name can be reached, when it lives and knows.
    pub(crate) fn endpoint_of(&self, scheduler: &str) -> Option<String> {
        if scheduler == self.0.name { self.0.options.endpoint.clone() } else { self.0.members.endpoint_of(scheduler) }
    }

    /// The name of this scheduler, made up at each start.
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Whose credential the worker of this id is connected with now, to whichever scheduler.
    pub(crate) async fn actor_of_worker(&self, worker_id: &WorkerId) -> Result<Option<String>, EngineError> {
        if let Some(link) = self.0.workers.here(worker_id) {
            return Ok(link.info.actor.clone());
        }
        if !self.0.shared {
            return Ok(None);
        }
        let recorded = self.0.roster.one(worker_id).await?;
        Ok(recorded.filter(|one| !one.is_lost(|scheduler| self.lives(scheduler))).and_then(|one| one.info.actor))
    }

    /// Makes a worker available for calls.
    pub(crate) fn connect_worker(&self, link: Arc<WorkerLink>) {
        self.0.workers.connect(link);
        self.0.bell.ring();
    }

    /// The record of a call whose current lease is `lease`; refused as fenced when it is another.
    pub(crate) async fn leased(&self, lease: &LeaseKey) -> Result<Arc<Invocation>, EngineError> {
        // What another scheduler changed is only in the store.
        let hot = if self.0.shared { None } else { self.0.hot.peek(&lease.call()).await };
        let record = match hot {
            Some(record) => record,
            None => self.load(&lease.call()).await?.record,
        };
        match &record.lease {
            Some(current) if lease.names(current) => Ok(record),
            _ if record.status.is_terminal() => {
                let refusal = Refusal::Terminal(record.status);
                Err(EngineError::Refused { refusal, record })
            }
            _ => Err(EngineError::Refused { refusal: Refusal::Fenced, record }),
        }
    }
}
