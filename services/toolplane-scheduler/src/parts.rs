//! All parts of the scheduler, made and wired. Reading [`Parts::open`] shows the whole house: each part is made from the few it
//! uses, and none of them knows the part that uses it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use toolplane_lifecycle::Scope;
use toolplane_metrics::before_collect;
use toolplane_records::ids::{InvocationKey, TenantId};
use toolplane_results::PayloadStore;
use toolplane_store::Store;

use crate::calls::{Calls, Plans, Records};
use crate::cluster::Members;
use crate::dispatch::{
    Admissions, AsksHooks, Claims, Decisions, Fleet, Grants, Offers, Placements, Quarantine, ReadyQueues, Roster,
    Rounds, StartGate, Starts, Workers,
};
use crate::effects::{Listener, Router};
use crate::environment::Environment;
use crate::faults;
use crate::groups::{FreeLocks, GroupRetention, Groups, ScopeBell, Settler};
use crate::keeping::{Deletions, Holds, KeepRule, KeepTimes, Questions, Removal, Stays, Unfinished};
use crate::limits::{CallLimits, ConfiguredBounds, Rates};
use crate::repair::{Audit, Migration};
use crate::storage::{RecordError, Shards, Storage};
use crate::taints::{SessionTaints, TaintOptions};
use crate::timers::{DueTimers, LeaseWatchdog, Retention, Timers};
use crate::watch::{Fanout, Watchers};

/// Ticks after which timers that another scheduler did not handle are the share of every scheduler.
const TIMER_PATIENCE_TICKS: i64 = 3;

/// Settings of the parts; durations in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct PartsOptions {
    /// A full lease.
    pub(crate) lease_ms: i64,
    /// How long an offered lease waits for its receipt.
    pub(crate) offer_ms: i64,
    /// How often due timers are looked for.
    pub(crate) tick_ms: u64,
    /// How long a ready call waits for any worker of its pool to exist.
    pub(crate) placement_grace_ms: i64,
    /// How much one tenant and one tool may have.
    pub(crate) bounds: ConfiguredBounds,
    /// Shares of tenants that wait at the same time; 1 for those not named.
    pub(crate) weights: BTreeMap<TenantId, u64>,
    /// How long ended calls are kept.
    pub(crate) retention_ms: i64,
    /// What differs by class and by what tools say of their data.
    pub(crate) retention_rules: Vec<KeepRule>,
    /// The same for single tenants.
    pub(crate) tenant_retention_ms: BTreeMap<TenantId, i64>,
    /// Whether ended calls are written to the object store before they are removed.
    pub(crate) archive: bool,
    /// How long idempotency keys are remembered after their calls ended.
    pub(crate) key_window_ms: i64,
    /// Where this scheduler can be reached, for those that have to leave another one.
    pub(crate) endpoint: Option<String>,
    /// The shards of the store.
    pub(crate) shards: Shards,
    /// What taints sessions, and for how long.
    pub(crate) taints: TaintOptions,
}

impl PartsOptions {
    fn timer_patience_ms(&self) -> i64 {
        i64::try_from(self.tick_ms).unwrap_or(i64::MAX / 4).saturating_mul(TIMER_PATIENCE_TICKS)
    }
}

impl Default for PartsOptions {
    /// The defaults of the configuration.
    fn default() -> Self {
        const DAY_MS: i64 = 86_400_000;
        Self {
            lease_ms: 15_000,
            offer_ms: 5_000,
            tick_ms: 1_000,
            placement_grace_ms: 60_000,
            bounds: ConfiguredBounds::default(),
            weights: BTreeMap::new(),
            retention_ms: DAY_MS,
            retention_rules: Vec::new(),
            tenant_retention_ms: BTreeMap::new(),
            archive: false,
            key_window_ms: DAY_MS,
            endpoint: None,
            shards: Shards::ONE,
            taints: TaintOptions::default(),
        }
    }
}

/// What the parts ask of those around them.
pub(crate) struct Outside {
    /// Chance and tasks.
    pub(crate) environment: Environment,
    /// Whether decisions about waiting calls still hold.
    pub(crate) decisions: Arc<dyn Decisions>,
    /// Whether hooks are asked about the endings of calls with a plan.
    pub(crate) asks_hooks: AsksHooks,
    /// Who keeps what people were asked.
    pub(crate) questions: Arc<dyn Questions>,
}

/// The handles by which the parts are used. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) calls: Calls,
    pub(crate) admissions: Admissions,
    pub(crate) starts: Starts,
    pub(crate) fleet: Fleet,
    pub(crate) groups: Groups,
    pub(crate) watchers: Watchers,
    pub(crate) workers: Arc<Workers>,
    pub(crate) queues: Arc<ReadyQueues>,
    pub(crate) quarantine: Arc<Quarantine>,
    pub(crate) taints: SessionTaints,
    pub(crate) holds: Holds,
    pub(crate) deletions: Deletions,
    pub(crate) stays: Stays,
}

/// What runs beside the handles, once.
pub(crate) struct Loops {
    rounds: Rounds,
    timers: Timers,
    retention: Retention,
    pub(crate) audit: Arc<Audit>,
    listener: Listener,
    settler: Settler,
    scopes: mpsc::Receiver<Scope>,
    grants: Arc<Grants>,
}

/// What [`Parts::open`] gives.
pub(crate) struct Opened {
    /// The handles.
    pub(crate) parts: Parts,
    /// What runs beside them.
    pub(crate) loops: Loops,
    /// Calls whose hooks should have answered by now.
    pub(crate) hooks_overdue: mpsc::UnboundedReceiver<InvocationKey>,
}

impl Parts {
    /// Makes the parts over `store`, with start guards and archives in `objects`. Nothing runs until [`Loops::run`].
    ///
    /// Returns an error when a bound is malformed, when the store does not answer, and when no number is left among its schedulers.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        objects: PayloadStore,
        options: PartsOptions,
        outside: Outside,
    ) -> Result<Opened, RecordError> {
        let opened = Self::wire(store, objects.clone(), options, outside)?;
        let Self { calls, fleet, workers, queues, quarantine, .. } = &opened.parts;
        let now = calls.now().await?;
        Migration::new(calls, &objects).name_by_tenant(now).await?;
        fleet.schedulers().show(workers.served(), now).await?;
        quarantine.refresh(now).await?;
        queues.look_up(calls.storage()).await?;
        Ok(opened)
    }

    /// Makes each part from those it uses. Nothing is read or written.
    #[expect(
        clippy::too_many_lines,
        reason = "each line makes one part of those above it; in pieces nobody would see what needs what"
    )]
    fn wire(
        store: Arc<dyn Store>,
        objects: PayloadStore,
        options: PartsOptions,
        outside: Outside,
    ) -> Result<Opened, RecordError> {
        let environment = outside.environment;
        let storage = Storage::spread(store, options.shards, environment.clone());
        let name = format!("scheduler-{}", environment.uuid().simple());
        let limits = Arc::new(CallLimits::new(options.bounds.clone()).map_err(RecordError::Pattern)?);
        let rates = Arc::new(Rates::new(&options.bounds, limits.clone(), environment.clone()));
        let members = Arc::new(Members::new(storage.clone(), name.clone(), options.endpoint.clone()));
        let (workers, queues) = (Arc::new(Workers::default()), Arc::new(ReadyQueues::default()));
        let roster = Arc::new(Roster::new(storage.clone(), name));
        let (quarantine, fanout) = (Arc::new(Quarantine::new(storage.clone())), Arc::new(Fanout::default()));
        let (scope_bell, scopes) = ScopeBell::new();
        let (overdue, hooks_overdue) = mpsc::unbounded_channel();

        let (plans, records) = (Plans::new(storage.clone()), Records::new(storage.clone()));
        let offers = Offers::new(storage.clone(), plans.clone(), workers.clone(), outside.asks_hooks, options.offer_ms);
        let effects = faults::around_commits(Router {
            shared: storage.is_shared(),
            members: members.clone(),
            workers: workers.clone(),
            queues: queues.clone(),
            quarantine: quarantine.clone(),
            scopes: scope_bell,
            offers,
            fanout: fanout.clone(),
        });
        let calls = Calls::new(records.clone(), plans, limits.clone(), effects, options.key_window_ms);

        let gate = StartGate::new(quarantine.clone(), outside.decisions);
        let grants = Arc::new(Grants::new(workers.clone(), limits, members.clone(), options.offer_ms, environment));
        let free = Arc::new(FreeLocks::new(storage.clone(), options.lease_ms));
        let admissions =
            Admissions::new(calls.clone(), free, rates.clone(), queues.clone(), grants.clone(), gate.clone());
        let claims = Claims::new(calls.clone(), grants.clone(), gate.clone(), queues.clone(), rates.clone());
        let rounds = Rounds::new(storage.clone(), queues.clone(), grants.clone(), claims, options.weights.clone());
        let starts = Starts::new(calls.clone(), objects.clone(), gate);
        let fleet = Fleet::new(workers.clone(), roster.clone(), members.clone(), queues.clone(), storage.is_shared());
        let seen = (workers.clone(), members.clone(), queues.clone());
        let placements = Arc::new(Placements::new(calls.clone(), seen, options.placement_grace_ms));
        let watchers = Watchers::new(records, fanout.clone());
        let groups = Groups::new(calls.clone(), admissions.clone(), watchers.clone());

        let (tick_ms, taints) = (options.tick_ms, SessionTaints::new(storage.clone(), options.taints.clone()));
        let timers = Timers {
            calls: calls.clone(),
            due: DueTimers::new(calls.clone(), members.clone(), overdue, options.timer_patience_ms()),
            placements,
            members: members.clone(),
            workers: workers.clone(),
            roster,
            queues: queues.clone(),
            quarantine: quarantine.clone(),
            rates,
            watchdog: LeaseWatchdog::new(Duration::from_millis(tick_ms)),
            lease_ms: options.lease_ms,
            tick_ms,
        };
        let unfinished = Unfinished::new(storage.clone(), objects, outside.questions);
        let retention = retention(&storage, &calls, unfinished, (members.clone(), taints.clone()), &options);
        let (holds, deletions) = (retention.removal.holds.clone(), Deletions { removal: retention.removal.clone() });
        let stays = Stays::new(retention.times.clone(), holds.clone());
        let listener = Listener {
            storage,
            workers: workers.clone(),
            queues: queues.clone(),
            quarantine: quarantine.clone(),
            fanout,
        };
        let audit = Arc::new(Audit::new(calls.clone(), members, queues.clone(), tick_ms));
        let settler = Settler::new(calls.clone(), tick_ms, options.lease_ms);

        let parts = Self {
            calls,
            admissions,
            starts,
            fleet,
            groups,
            watchers,
            workers,
            queues,
            quarantine,
            taints,
            holds,
            deletions,
            stays,
        };
        let loops = Loops { rounds, timers, retention, audit, listener, settler, scopes, grants };
        Ok(Opened { parts, loops, hooks_overdue })
    }
}

impl Loops {
    /// Runs dispatch, timers and the settling of scopes until `stop` resolves; from then on, no call is claimed here any more.
    pub(crate) async fn run(self, stop: impl Future<Output = ()>) {
        let workers = self.timers.workers.clone();
        let _telling = before_collect(move || workers.tell_levels());
        // In order, so that a simulation is the same each time; none of them ever ends.
        tokio::select! {
            biased;
            () = stop => {}
            () = self.rounds.run() => {}
            () = self.timers.run() => {}
            () = self.retention.run() => {}
            () = self.audit.run() => {}
            () = self.listener.run() => {}
            () = self.settler.run(self.scopes) => {}
        }
        self.grants.stop();
    }
}

/// What removes calls, and what keeps them from it.
fn retention(
    storage: &Storage,
    calls: &Calls,
    unfinished: Unfinished,
    (members, taints): (Arc<Members>, SessionTaints),
    options: &PartsOptions,
) -> Retention {
    let (holds, key_window_ms) = (Holds::new(storage.clone()), options.key_window_ms);
    let removal = Removal { calls: calls.clone(), holds, unfinished, key_window_ms };
    Retention {
        removal,
        members,
        taints,
        groups: GroupRetention::new(storage.clone(), options.retention_ms, key_window_ms),
        times: KeepTimes {
            usual: options.retention_ms,
            tenants: options.tenant_retention_ms.clone(),
            rules: options.retention_rules.clone(),
        },
        agenda: Mutex::default(),
        archive: options.archive,
        tick_ms: options.tick_ms,
    }
}
