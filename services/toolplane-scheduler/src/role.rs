//! The role as a whole: its store, its parts, its handlers, its background work.

use std::sync::Arc;

use toolplane_backend::{Backend, Keeper};
use toolplane_hooks::Hooks;
use toolplane_proto::v1::invocation_service_server::InvocationServiceServer;
use toolplane_proto::v1::worker_service_server::WorkerServiceServer;
use toolplane_records::cluster::ClusterRole;
use toolplane_records::vocabulary::HookEvent;
use toolplane_runtime::client::Peer;
use toolplane_runtime::health;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::Services;
use toolplane_runtime::{Config, Tasks};
use toolplane_store::StoreError;

use crate::account;
use crate::background::Background;
use crate::cleaning::{self, Cleaning};
use crate::ending::{self, Endings, NextSteps};
use crate::environment::Environment;
use crate::error::SchedulerError;
use crate::faults;
use crate::intake::{HOOK_EVENTS, PermissionPeer, Preparer, SurfacePeer};
use crate::kept::{self, Orphans};
use crate::options::SchedulerOptions;
use crate::originals::Originals;
use crate::parts::{Opened, Outside, Parts};
use crate::provider_news::ProviderNews;
use crate::recheck::{Approvals, DecisionsInForce, RecheckLoop, Rechecker};
use crate::result_questions::ResultQuestions;
use crate::rpc::{InvocationApi, InvocationParts, StreamLimit, WorkerApi, WorkerParts};
use crate::storage::{RecordError, Shards};

/// The services of the role, as health checks name them.
const INVOCATIONS: &str = "toolplane.v1.InvocationService";
const WORKERS: &str = "toolplane.v1.WorkerService";

/// The points of a call whose hooks this role asks.
fn hook_events() -> Vec<HookEvent> {
    [HOOK_EVENTS, ending::HOOK_EVENTS].concat()
}

/// The other roles, as the scheduler meets them.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    /// The surface service.
    pub(crate) surface: Peer,
    /// The permission service.
    pub(crate) permission: Peer,
}

/// The scheduler role, running. It does not listen by itself: [`SchedulerRole::add_to`] puts it behind a listener.
#[derive(Debug)]
pub struct SchedulerRole {
    invocations: InvocationApi,
    workers: WorkerApi,
    backend: Backend,
    max_message_bytes: usize,
}

/// Opens the role as configured, with its background work among `tasks`.
///
/// # Errors
///
/// - [`SchedulerError::Open`] when the store cannot be opened.
/// - [`SchedulerError::Hooks`] when a hook cannot be opened.
/// - Everything [`SchedulerRole::open`] fails with.
async fn start(config: &Config, peers: Peers, tasks: &Tasks) -> Result<SchedulerRole, SchedulerError> {
    let backend = Backend::open(config, Keeper::Scheduler).await?;
    let hooks = Hooks::open(config, &hook_events()).await?;
    SchedulerRole::open(SchedulerOptions::from_config(config), backend, hooks, peers, tasks).await
}

impl SchedulerRole {
    /// Opens the role over `backend` and starts its background work, which ends with the shutdown of `tasks`.
    ///
    /// Fails with [`SchedulerError::Objects`] when the object store cannot be opened, and with [`SchedulerError::Record`]
    /// when the store does not answer, or a bound is malformed.
    #[expect(
        clippy::too_many_lines,
        reason = "each line makes one part of those above it; in pieces nobody would see what needs what"
    )]
    pub(crate) async fn open(
        options: SchedulerOptions,
        backend: Backend,
        hooks: Hooks,
        peers: Peers,
        tasks: &Tasks,
    ) -> Result<Self, SchedulerError> {
        let retention_ms = options.parts.retention_ms;
        let payloads = kept::open(&options).await.map_err(SchedulerError::Objects)?;
        let surface = SurfacePeer::new(peers.surface.clone(), options.tools);
        let (in_force, asked) = DecisionsInForce::new(surface.clone());
        let permission = PermissionPeer::new(peers.permission, in_force.clone());
        let environment = Environment::real();
        let asks_hooks = ending::asks_hooks(hooks.clone());
        let questions = Arc::new(permission.clone());
        let outside = Outside { environment, decisions: in_force.clone(), asks_hooks, questions };
        account::begin();
        let store = backend.measured(Keeper::Scheduler, backend.spread(|count| Arc::new(Shards::new(count))));
        let Opened { parts, loops, hooks_overdue } =
            Parts::open(store, payloads.clone(), options.parts, outside).await?;
        let (calls, fleet, taints) = (parts.calls, parts.fleet, parts.taints);

        let (most_inline, capture) = (options.terms.max_inline_bytes, options.capture_content);
        let news = ProviderNews::default();
        let cleaning = Cleaning::new(&options.cleaning, &options.cleaning_rules).map_err(RecordError::Pattern)?;
        let originals =
            Originals::new(&options.original_keys, &options.original_rules).map_err(RecordError::Pattern)?;
        let kept = (payloads.clone(), cleaning.clone(), originals.clone(), taints.clone());
        let next_steps = NextSteps::new(surface.clone());
        let hooks_after = hooks.clone();
        let clock = calls.storage().clone();
        let decisions = faults::before_decisions(in_force.clone());
        let known = (parts.quarantine, taints.clone());
        let preparer =
            Preparer::new(surface.clone(), permission.clone(), hooks, clock, decisions, parts.workers, known);
        let preparer = Arc::new(preparer);
        let rechecker = Rechecker::new(calls.clone(), preparer.clone(), in_force.clone());
        let questions = Some(ResultQuestions::new(rechecker.clone(), permission.client()));
        let told = (news.clone(), next_steps);
        let endings = Endings::new(calls.clone(), hooks_after, kept, told, most_inline, capture, questions);
        let approvals =
            Approvals::new(permission.client(), calls.clone(), rechecker.clone(), Arc::new(endings.clone()));
        let (queues, in_turn) = (parts.queues, approvals.clone());
        let rechecks = RecheckLoop { rechecker, approvals: in_turn, in_force: in_force.clone(), queues, asked };
        let orphans = Orphans::new(
            calls.records().clone(),
            (payloads.clone(), parts.holds.clone()),
            options.orphan_grace_ms,
            retention_ms,
        );
        let invocations = InvocationApi::new(InvocationParts {
            orphans: orphans.clone(),
            calls: calls.clone(),
            admissions: parts.admissions,
            groups: parts.groups,
            fleet: fleet.clone(),
            preparer,
            payloads: payloads.clone(),
            limits: options.requests,
            export_settle_ms: options.export_settle_ms,
            approvals: approvals.clone(),
            watchers: parts.watchers,
            taints: taints.clone(),
            streams: Arc::new(StreamLimit::new(options.watchers.0, options.watchers.1)),
            holds: parts.holds,
            deletions: parts.deletions,
            originals,
            stays: parts.stays.clone(),
            drains: tasks.shutdown().token(),
        });
        let sessions = WorkerParts {
            calls: calls.clone(),
            starts: parts.starts,
            fleet,
            endings: endings.clone(),
            cleaning,
            taints,
            news: news.clone(),
            terms: options.terms,
        };
        let workers = WorkerApi { parts: sessions, payloads: payloads.clone(), shutdown: tasks.shutdown().clone() };
        let background = Background {
            loops,
            hooks_overdue,
            endings,
            approvals,
            permission,
            in_force,
            rechecks,
            surface,
            news: (news, peers.surface),
            payloads,
            orphans,
            stays: parts.stays,
            calls,
            backend: backend.clone(),
        };
        background.start(tasks);
        Ok(Self { invocations, workers, backend, max_message_bytes: options.max_message_bytes })
    }

    /// Adds this role to what a listener answers for.
    #[must_use]
    pub fn add_to(&self, services: Services) -> Services {
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
    /// Leaves the other schedulers and ends the store with a last checkpoint; call it after the listener has ended. Fails with
    /// [`StoreError::Poisoned`] when a write of an embedded store failed, now or before; with Redis it does not fail.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.workers.parts.fleet.schedulers().leave().await;
        self.backend.close().await
    }
}

/// The scheduler role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Scheduler,
    check,
    rehearse: |_| Ok(Vec::new()),
    prepare: |_| Ok(()),
    start: |process, services| Box::pin(async move { role(&process, services).await }),
};

/// Checks what only this role understands in the configuration, without starting anything.
fn check(config: &Config) -> Result<(), RoleError> {
    Hooks::check(config)?;
    let cleaned = config.scheduler.cleaning_rules.iter().map(|rule| &rule.tool).enumerate();
    let kept = config.scheduler.originals.keep.iter().map(|rule| &rule.tool).enumerate();
    let cleaned = cleaned.map(|(index, tool)| ("cleaning_rules", index, tool));
    for (list, index, tool) in cleaned.chain(kept.map(|(index, tool)| ("originals.keep", index, tool))) {
        if let Some(slip) = cleaning::slip(tool) {
            return Err(SchedulerError::CleaningRule { list, index, slip }.into());
        }
    }
    Ok(toolplane_backend::check(config, Keeper::Scheduler)?)
}

/// The scheduler role in its process: opened, with its background work running, and added to `services`.
async fn role(process: &Process, services: Services) -> Result<Role, RoleError> {
    let configured = &process.config.peers;
    let peers = Peers {
        surface: process.peer(ClusterRole::Surface, &configured.surface)?,
        permission: process.peer(ClusterRole::Permission, &configured.permission)?,
    };
    let service = start(&process.config, peers.clone(), &process.tasks).await?;
    follow_needs(process, &service.backend, peers);
    let services = service.add_to(services);
    let close = async move { service.close().await.map_err(|error| RoleError::new(error.code(), error)) };
    Ok(Role { services: Some(services), close: vec![Box::pin(close)] })
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
