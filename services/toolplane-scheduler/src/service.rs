//! The scheduler as a component: opened from the configuration, served over gRPC, stopped within a bound.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolplane_backend::{Backend, BackendError, Keeper};
use toolplane_hooks::{Hooks, HooksError};
use toolplane_proto::v1::invocation_service_server::InvocationServiceServer;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::v1::worker_service_server::WorkerServiceServer;
use toolplane_records::cluster::ClusterRole;
use toolplane_records::ids::{InvocationKey, TenantId};
use toolplane_records::json::JsonLimits;
use toolplane_results::PayloadStore;
use toolplane_results::payload::PayloadOptions;
use toolplane_runtime::client::Peer;
use toolplane_runtime::health;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::Services;
use toolplane_runtime::{Config, Shutdown, Tasks};

use crate::calls::Calls;
use crate::ending::{self, Endings};
use crate::environment::Environment;
use crate::faults;
use crate::intake::{HOOK_EVENTS, PermissionPeer, Preparer, SpecLimits, SurfacePeer, ToolLimits, follow_catalog};
use crate::limits::{ConfiguredBounds, ToolBound};
use crate::parts::{Loops, Opened, Outside, Parts, PartsOptions};
use crate::recheck::{Approvals, DecisionsInForce, RecheckLoop, Rechecker};
use crate::rpc::{InvocationApi, InvocationParts, StreamLimit, WorkerApi, WorkerParts, WorkerTerms};
use crate::storage::RecordError;

/// Longest overall time limit a caller may set: 30 days, the longest an approval may wait.
const MAX_DEADLINE_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// How long a ready call waits for a worker of its pool to connect.
const PLACEMENT_GRACE_MS: i64 = 60_000;
/// The services of the role, as health checks name them.
const INVOCATIONS: &str = "toolplane.v1.InvocationService";
const WORKERS: &str = "toolplane.v1.WorkerService";
/// How often expired payloads are looked for.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The scheduler could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchedulerError {
    /// The store cannot be opened.
    #[error("cannot open the scheduler's store: {0}")]
    Store(#[from] BackendError),
    /// The object store cannot be opened.
    #[error("cannot open the object store: {0}")]
    Objects(String),
    /// A hook cannot be opened.
    #[error(transparent)]
    Hooks(#[from] HooksError),
    /// The store does not answer, or a bound is malformed.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// The other roles, as the scheduler meets them.
#[derive(Clone, Debug)]
struct Peers {
    /// The surface service.
    surface: Peer,
    /// The permission service.
    permission: Peer,
}

/// The scheduler: its services and what runs beside them.
#[derive(Debug)]
struct Scheduler {
    invocations: InvocationApi,
    workers: WorkerApi,
    backend: Backend,
    max_message_bytes: usize,
}

/// What runs beside the services, once.
struct Background {
    loops: Loops,
    hooks_overdue: mpsc::UnboundedReceiver<InvocationKey>,
    endings: Endings,
    approvals: Approvals,
    permission: PermissionServiceClient<Peer>,
    in_force: Arc<DecisionsInForce>,
    rechecks: RecheckLoop,
    surface: SurfacePeer,
    payloads: PayloadStore,
    calls: Calls,
    backend: Backend,
}

impl Scheduler {
    /// Opens the scheduler's store below the data directory. Nothing runs until [`Background::start`].
    async fn open(config: &Config, peers: Peers, shutdown: Shutdown) -> Result<(Self, Background), SchedulerError> {
        let settings = &config.scheduler;
        let backend = Backend::open(config, Keeper::Scheduler).await?;
        let payloads = open_objects(config)?;
        let limits = ToolLimits {
            default_timeout_ms: settings.default_timeout_ms,
            max_timeout_ms: settings.max_timeout_ms,
            max_inline_bytes: settings.max_inline_result_bytes,
        };
        let surface = SurfacePeer::new(peers.surface, limits);
        let permission = PermissionPeer::new(peers.permission);
        let client = permission.client();
        let hooks = Hooks::open(config, &[HOOK_EVENTS, ending::HOOK_EVENTS].concat()).await?;
        let (in_force, asked) = DecisionsInForce::new(surface.clone());
        let environment = Environment::real();
        let asks_hooks = ending::asks_hooks(hooks.clone());
        let outside = Outside { environment, decisions: in_force.clone(), asks_hooks };
        let Opened { parts, loops, hooks_overdue } =
            Parts::open(backend.store(), payloads.clone(), options(config), outside).await?;
        let Parts { calls, admissions, starts, fleet, groups, watchers, workers, queues, quarantine } = parts;

        let (most_inline, capture) = (settings.max_inline_result_bytes, config.telemetry.capture_content);
        let endings = Endings::new(calls.clone(), hooks.clone(), payloads.clone(), most_inline, capture);
        let clock = calls.storage().clone();
        let decisions = faults::before_decisions(in_force.clone());
        let preparer = Preparer::new(surface.clone(), permission, hooks, clock, decisions, workers, quarantine);
        let preparer = Arc::new(preparer);
        let rechecker = Rechecker::new(calls.clone(), preparer.clone(), in_force.clone());
        let approvals = Approvals::new(client.clone(), calls.clone(), rechecker.clone());
        let rechecks =
            RecheckLoop { rechecker, approvals: approvals.clone(), in_force: in_force.clone(), queues, asked };
        let max_bytes = usize::try_from(settings.max_input_bytes).unwrap_or(usize::MAX);
        let invocations = InvocationApi::new(InvocationParts {
            calls: calls.clone(),
            admissions,
            groups,
            fleet: fleet.clone(),
            preparer,
            payloads: payloads.clone(),
            limits: SpecLimits {
                json: JsonLimits { max_bytes, ..JsonLimits::default() },
                max_deadline_ms: MAX_DEADLINE_MS,
            },
            approvals: approvals.clone(),
            watchers,
            streams: Arc::new(StreamLimit::new(settings.max_watchers, settings.max_watchers_per_tenant)),
        });
        let terms = WorkerTerms {
            heartbeat_ms: u32::try_from(settings.heartbeat_ms).unwrap_or(u32::MAX),
            lease_ms: u32::try_from(settings.lease_ms).unwrap_or(u32::MAX),
            max_inline_bytes: settings.max_inline_result_bytes,
        };
        let sessions = WorkerParts { calls: calls.clone(), starts, fleet, endings: endings.clone(), terms };
        let workers = WorkerApi { parts: sessions, payloads: payloads.clone(), shutdown };
        let background = Background {
            loops,
            hooks_overdue,
            endings,
            approvals,
            permission: client,
            in_force,
            rechecks,
            surface,
            payloads,
            calls,
            backend: backend.clone(),
        };
        Ok((Self { invocations, workers, backend, max_message_bytes: config.server.max_message_bytes }, background))
    }

    /// Adds the scheduler's gRPC services to a server's.
    #[must_use]
    fn add_to(&self, services: Services) -> Services {
        let limit = self.max_message_bytes;
        services
            .with(
                InvocationServiceServer::new(self.invocations.clone())
                    .max_decoding_message_size(limit)
                    .max_encoding_message_size(limit),
            )
            .with(
                WorkerServiceServer::new(self.workers.clone())
                    .max_decoding_message_size(limit)
                    .max_encoding_message_size(limit),
            )
            .without_span("toolplane.v1.WorkerService/Work")
            .without_span("toolplane.v1.InvocationService/WatchInvocation")
    }
}

impl Background {
    /// Starts dispatch, timers and the streams to the other roles.
    fn start(self, tasks: &Tasks) {
        let stop = tasks.shutdown().token();
        let until = stop.clone();
        tasks.spawn("scheduler loops", async move { self.loops.run(until.cancelled()).await });
        tasks.spawn("scheduler endings", self.endings.run(self.hooks_overdue, stop.clone()));
        tasks.spawn("scheduler approvals", self.approvals.follow(stop.clone()));
        tasks.spawn("scheduler policy", self.in_force.follow(self.permission, stop.clone()));
        tasks.spawn("scheduler rechecks", self.rechecks.run(stop.clone()));
        let name = format!("scheduler-{}", uuid::Uuid::now_v7().simple());
        tasks.spawn("scheduler catalog", follow_catalog(self.surface, name, stop.clone()));
        let (payloads, calls, until) = (self.payloads, self.calls, stop.clone());
        tasks.spawn("scheduler retention", async move {
            until.run_until_cancelled(expire_payloads(payloads, calls)).await;
        });
        let failed = self.backend.failed();
        tasks.spawn_fallible("scheduler store", async move {
            // After a failed write nothing may be acknowledged any more: the process ends and recovers.
            stop.run_until_cancelled(failed).await.map_or(Ok(()), Err)
        });
    }
}

fn open_objects(config: &Config) -> Result<PayloadStore, SchedulerError> {
    let objects = config.objects.path.clone().unwrap_or_else(|| config.server.data_dir.join("objects"));
    let keep = PayloadOptions { max_bytes: config.objects.max_bytes, retention_days: config.objects.retention_days };
    PayloadStore::local(&objects, keep).map_err(|error| SchedulerError::Objects(error.to_string()))
}

/// The settings of the parts.
fn options(config: &Config) -> PartsOptions {
    let settings = &config.scheduler;
    let tools = settings.tools.iter().map(|limit| ToolBound {
        tool: limit.tool.clone(),
        max_running: limit.max_running,
        rate_per_s: limit.rate_per_s,
    });
    let weights = settings.weights.iter();
    let listen = config.server.listen;
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    PartsOptions {
        lease_ms: signed(settings.lease_ms),
        offer_ms: signed(settings.offer_ms),
        tick_ms: settings.tick_ms,
        placement_grace_ms: PLACEMENT_GRACE_MS,
        bounds: ConfiguredBounds {
            max_waiting: settings.max_queued_per_tenant,
            max_running_per_tenant: settings.max_running_per_tenant,
            rate_per_tenant: settings.rate_per_tenant,
            rate_burst: settings.rate_burst,
            tools: tools.collect(),
        },
        weights: weights.map(|(tenant, weight)| (TenantId::from_trusted(tenant), u64::from(*weight))).collect(),
        retention_ms: signed(settings.retention_seconds.saturating_mul(1000)),
        archive: settings.archive,
        key_window_ms: signed(settings.idempotency_window_seconds.saturating_mul(1000)),
        // A port that was made up, or an address that means any, does not say where to connect.
        endpoint: (listen.port() != 0 && !listen.ip().is_unspecified()).then(|| format!("{scheme}://{listen}")),
    }
}

/// Removes payloads past their retention, and what interrupted uploads left behind.
async fn expire_payloads(payloads: PayloadStore, calls: Calls) {
    let mut tick = tokio::time::interval(EXPIRY_INTERVAL);
    loop {
        tick.tick().await;
        let Ok(now) = calls.now().await else { continue };
        match payloads.remove_expired(now).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "expired payloads were removed"),
            Err(error) => tracing::warn!(%error, "expired payloads could not be removed; trying again later"),
        }
    }
}

/// The scheduler role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Scheduler,
    check,
    prepare: |_| Ok(()),
    start: |process, services| Box::pin(async move { role(&process, services).await }),
};

/// Checks what only this role understands in the configuration, without starting anything.
fn check(config: &Config) -> Result<(), RoleError> {
    Hooks::check(config)?;
    Ok(toolplane_backend::check(config, Keeper::Scheduler)?)
}

/// The scheduler as a role of `process`: opened, started, and added to `services`.
async fn role(process: &Process, services: Services) -> Result<Role, RoleError> {
    let configured = &process.config.peers;
    let peers = Peers {
        surface: process.peer(ClusterRole::Surface, &configured.surface)?,
        permission: process.peer(ClusterRole::Permission, &configured.permission)?,
    };
    let shutdown = process.tasks.shutdown().clone();
    let (scheduler, background) = Scheduler::open(&process.config, peers.clone(), shutdown).await?;
    background.start(&process.tasks);
    follow_needs(process, &scheduler.backend, peers);
    let (fleet, backend) = (scheduler.workers.parts.fleet.clone(), scheduler.backend.clone());
    let close = async move {
        fleet.schedulers().leave().await;
        Ok(backend.close().await?)
    };
    Ok(Role { services: Some(scheduler.add_to(services)), close: vec![Box::pin(close)] })
}

/// Keeps the health up to date: without its store the scheduler can do nothing, without the other roles it accepts no calls.
fn follow_needs(process: &Process, backend: &Backend, peers: Peers) {
    let (readiness, tasks) = (&process.readiness, &process.tasks);
    let stop = tasks.shutdown().token();
    let store = readiness.need("the scheduler's store", &[INVOCATIONS, WORKERS, "scheduler"]);
    let (backend, until) = (backend.clone(), stop.clone());
    tasks.spawn("scheduler store health", async move { backend.follow(store, until).await });
    for (role, peer, service) in [
        ("surface", peers.surface, "toolplane.v1.SurfaceService"),
        ("permission", peers.permission, "toolplane.v1.PermissionService"),
    ] {
        let need = readiness.need(format!("the {role} service"), &[INVOCATIONS, "scheduler"]);
        tasks.spawn("scheduler peer health", health::follow(need, peer, service, stop.clone()));
    }
}

fn signed(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX / 4)
}
