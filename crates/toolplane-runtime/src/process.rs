//! One process from its configuration to its exit: bind, telemetry, roles, serve, drain, close.
//!
//! The same for a single role and for all roles together, so that both compositions are the same code.

mod error;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use toolplane_records::cluster::ClusterRole;

pub use self::error::RoleError;

use crate::client::{self, Peer, PeerSettings};
use crate::config::{Config, ConfigError, Endpoints, LogFormat};
use crate::health::Readiness;
use crate::metrics;
use crate::server::internal::Inside;
use crate::server::{self, Bound, Server, ServerSettings, Services};
use crate::shutdown::Shutdown;
use crate::tasks::Tasks;
use crate::telemetry;

/// Time background tasks get to end after the listener has drained.
const TASK_GRACE: Duration = Duration::from_secs(5);

/// What a role is started with.
#[derive(Debug)]
pub struct Process {
    /// The configuration, checked.
    pub config: Config,
    /// Where background work goes; its shutdown is the process's.
    pub tasks: Tasks,
    /// What its services need and have.
    pub readiness: Readiness,
    own: Option<(Inside, SocketAddr)>,
    role: Option<ClusterRole>,
    settings: PeerSettings,
}

impl Process {
    /// A channel to the role at `endpoints`, whichever of them is there, or to this process's own services when none is
    /// configured.
    ///
    /// Fails with a [`RoleError`] when no endpoint is configured and this process does not answer for `role` itself,
    /// and when a URL, a certificate or the token cannot be used.
    pub fn peer(&self, role: ClusterRole, endpoints: &Endpoints) -> Result<Peer, RoleError> {
        match endpoints.urls() {
            [] => self.own_peer(role),
            urls => Ok(client::connect_any(urls, &self.settings)?),
        }
    }

    /// A channel to each of the processes at `endpoints`, in that order, or the one to this process's own services: for
    /// those who choose themselves.
    ///
    /// Returns an error as [`peer`](Self::peer) does, for the first endpoint that cannot be used.
    pub fn peers(&self, role: ClusterRole, endpoints: &Endpoints) -> Result<Vec<Peer>, RoleError> {
        match endpoints.urls() {
            [] => Ok(vec![self.own_peer(role)?]),
            urls => Ok(urls.iter().map(|url| client::connect(url, &self.settings)).collect::<Result<_, _>>()?),
        }
    }

    fn own_peer(&self, role: ClusterRole) -> Result<Peer, RoleError> {
        // A process of a single role does not serve the others.
        match self.own.as_ref().filter(|_| self.role.is_none_or(|own| own == role)) {
            Some((inside, address)) => Ok(client::own(inside.clone(), *address, &self.settings)?),
            None => Err(nowhere(role)),
        }
    }
}

/// What a role brings into its process.
#[derive(Default)]
pub struct Role {
    /// Its gRPC services.
    pub services: Option<Services>,
    /// What remains to be done when the listener has drained and background work has ended, in order.
    pub close: Vec<BoxFuture<'static, Result<(), RoleError>>>,
}

impl std::fmt::Debug for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Role").field("services", &self.services).field("close", &self.close.len()).finish()
    }
}

/// One role, as every process that runs it does.
#[derive(Clone, Copy, Debug)]
pub struct RoleProgram {
    /// Which.
    pub role: ClusterRole,
    /// Checks what only this role understands in the configuration, without starting anything.
    pub check: fn(&Config) -> Result<(), RoleError>,
    /// What else a start would refuse, as far as it can be known without a store; with what it would warn of in its log. Only asked where
    /// nothing is started: a start finds it out by itself.
    pub rehearse: fn(&Config) -> Result<Vec<String>, RoleError>,
    /// What has to be there before any role of the process starts.
    pub prepare: fn(&Config) -> Result<(), RoleError>,
    /// Starts it in its process, and adds its services to those that are there.
    pub start: fn(Arc<Process>, Services) -> BoxFuture<'static, Result<Role, RoleError>>,
}

/// Runs these roles in one process until it is asked to stop, and drains it; in the order in which they are given.
///
/// Says `listening on <address>` on standard output once calls are answered. Fails with a [`RoleError`] when the port
/// cannot be taken, when telemetry or a role cannot be started, and when the listener or background work ends badly.
pub async fn run(config: Config, programs: &[RoleProgram], descriptors: &[u8]) -> Result<(), RoleError> {
    let build = |process: Arc<Process>, services| compose(programs, process, services);
    run_composed(config, Plan::of(programs), descriptors, build).await
}

/// Starts the roles one after the other and puts their services behind one listener.
async fn compose(programs: &[RoleProgram], process: Arc<Process>, services: Services) -> Result<Role, RoleError> {
    programs.iter().try_for_each(|program| (program.prepare)(&process.config))?;
    let mut whole = Role { services: Some(services), close: Vec::new() };
    for program in programs {
        let services =
            whole.services.take().ok_or_else(|| RoleError::without_code("no listener to put a role behind"))?;
        let started = (program.start)(process.clone(), services).await?;
        whole.services = started.services;
        whole.close.extend(started.close);
    }
    Ok(whole)
}

/// How a process is run.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// The one role; all of them in one process when absent.
    role: Option<ClusterRole>,
    /// Whether the process answers gRPC calls.
    listens: bool,
}

impl Plan {
    fn of(programs: &[RoleProgram]) -> Self {
        let role = match programs {
            [one] => Some(one.role),
            _ => None,
        };
        Self { role, listens: programs.iter().any(|program| program.role.listens()) }
    }

    /// Last part of `service.name`; empty for all roles in one process.
    fn name(self) -> &'static str {
        self.role.map_or("", ClusterRole::as_str)
    }
}

async fn run_composed<F, B>(config: Config, plan: Plan, descriptors: &[u8], build: B) -> Result<(), RoleError>
where
    F: Future<Output = Result<Role, RoleError>>,
    B: FnOnce(Arc<Process>, Services) -> F,
{
    let shutdown = Shutdown::new();
    shutdown.on_signals().map_err(RoleError::without_code)?;
    // The port first: a second process on the same port ends before it touches anything.
    let bound = if plan.listens { Some(server::bind(config.server.listen).await?) } else { None };
    let probed = match probed_at(&config, plan) {
        Some(address) => Some(server::bind(address).await?),
        None => None,
    };
    let measured = match config.telemetry.metrics_listen {
        Some(address) => Some(server::bind(address).await?),
        None => None,
    };
    let guard = telemetry::init(&config.telemetry, &config.log, plan.name())?;
    let tasks = Tasks::new(shutdown.clone());
    let inside = Inside::new();
    // Open until background work has ended: a worker that drains still has something to say to its scheduler.
    let closing = inside.closing();
    let own = bound.as_ref().map(|bound| (inside.clone(), bound.address()));
    let settings = PeerSettings::from_config(&config)?;
    let process = Arc::new(Process {
        config,
        tasks: tasks.clone(),
        readiness: Readiness::default(),
        own,
        role: plan.role,
        settings,
    });
    let role = build(process.clone(), Services::new(descriptors)?).await?;
    answer_probes(probed, &process);
    if let Some(bound) = measured {
        metrics::answer(bound, &process.config.server, &process.tasks)?;
    }
    let asked = match (bound, role.services) {
        (Some(bound), Some(services)) => {
            let settings = ServerSettings::from_config(&process.config.server)?;
            let server =
                Server::new(bound, services, settings)?.with_inside(inside).with_readiness(process.readiness.clone());
            println!("listening on {}", server.address());
            let serving = server.run(shutdown.clone());
            let asked_at = async {
                shutdown.requested().await;
                Instant::now()
            };
            let (served, asked) = tokio::join!(
                async {
                    let served = serving.await;
                    // A server that ended by itself takes its background work with it.
                    shutdown.request();
                    served
                },
                asked_at
            );
            served?;
            asked
        }
        _ => {
            process.readiness.open(true);
            shutdown.requested().await;
            process.readiness.open(false);
            Instant::now()
        }
    };
    // One bound for the whole drain: what the listener took of it is gone, and a little is always left to end in.
    let left = process.config.server.drain_timeout().saturating_sub(asked.elapsed());
    let failed = tasks.join(left + TASK_GRACE).await;
    drop(closing);
    for close in role.close {
        if let Err(error) = close.await {
            tracing::error!(%error, "a role could not be closed cleanly");
        }
    }
    guard.shutdown().await;
    Ok(failed?)
}

/// Where health checks are answered beside the gRPC listener; a process that has none answers them always.
fn probed_at(config: &Config, plan: Plan) -> Option<SocketAddr> {
    config.server.health_listen.or((!plan.listens).then_some(server::probes::ANYWHERE))
}

/// Answers health checks for as long as the process has something to do.
fn answer_probes(probed: Option<Bound>, process: &Process) {
    let Some(bound) = probed else { return };
    println!("health on {}", bound.address());
    let (readiness, stop) = (process.readiness.clone(), process.tasks.shutdown().token());
    process.tasks.spawn("health", async move {
        if let Err(error) = server::probes::serve(bound, readiness, stop).await {
            tracing::error!(%error, "this process no longer answers health checks");
        }
    });
}

/// Runs `programs` until the process is asked to stop: where the configuration is (all defaults without one), and whether it is
/// only checked. Exit code 2 means that the configuration is refused, 1 any other failure.
pub fn start(
    programs: &[RoleProgram],
    descriptors: &'static [u8],
    config: Option<&Path>,
    check_config: bool,
) -> ExitCode {
    #[cfg(feature = "count-allocations")]
    if let Err(error) = toolplane_allocations::answer() {
        eprintln!("this process cannot say how often it allocates: {error}");
    }
    // Who only checks a configuration reads what is said.
    let looks = |format| if check_config { LogFormat::Text } else { format };
    let config = match Config::load(config, std::env::vars_os()) {
        Ok(config) => config,
        Err(error) => return refused(&error.into(), looks(Config::log_format(config, std::env::vars_os()))),
    };
    let format = looks(config.log.format);
    match check(&config, programs) {
        Err(error) => refused(&error, format),
        Ok(()) if check_config => rehearsed(&config, programs),
        Ok(()) => exit_code(block_on(run(config, programs, descriptors)), format),
    }
}

/// Says what the roles would refuse or warn of at a start.
fn rehearsed(config: &Config, programs: &[RoleProgram]) -> ExitCode {
    let mut warnings = Vec::new();
    for program in programs {
        match (program.rehearse)(config) {
            Ok(told) => warnings.extend(told),
            Err(error) => return refused(&error, LogFormat::Text),
        }
    }
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    match warnings.len() {
        0 => println!("the configuration is good"),
        1 => println!("the configuration is good, with 1 warning"),
        many => println!("the configuration is good, with {many} warnings"),
    }
    ExitCode::SUCCESS
}

/// Checks a configuration that can be read.
fn check(config: &Config, programs: &[RoleProgram]) -> Result<(), RoleError> {
    ServerSettings::from_config(&config.server)?;
    PeerSettings::from_config(config)?;
    crate::tls::check(&config.server, &config.peers)?;
    check_endpoints(config, Plan::of(programs))?;
    programs.iter().try_for_each(|program| (program.check)(config))
}

/// A role on its own has to know where those are that it asks, and the gateway where it listens.
fn check_endpoints(config: &Config, plan: Plan) -> Result<(), RoleError> {
    let Config { peers, .. } = config;
    let is_there = |role: ClusterRole| match role {
        ClusterRole::Surface => !peers.surface.is_empty(),
        ClusterRole::Permission => !peers.permission.is_empty(),
        ClusterRole::Scheduler => !peers.scheduler.is_empty(),
        // No caller asks it.
        ClusterRole::Executor | ClusterRole::Gateway => true,
    };
    if plan.role == Some(ClusterRole::Gateway) && config.gateway().is_none() {
        return Err(ConfigError::value("gateway", "is missing: it says where this role listens").into());
    }
    let asked = plan.role.map_or(&[][..], ClusterRole::asks);
    asked.iter().find(|role| !is_there(**role)).map_or(Ok(()), |role| Err(nowhere(*role)))
}

fn nowhere(role: ClusterRole) -> RoleError {
    ConfigError::value(&format!("peers.{role}"), format!("must say where the {role} role is")).into()
}

/// Runs `process` on a multi-threaded runtime.
fn block_on<T>(process: impl Future<Output = Result<T, RoleError>>) -> Result<T, RoleError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(RoleError::without_code)?.block_on(process)
}

/// Says what is wrong on standard error, as the log there looks.
fn say(error: &RoleError, format: LogFormat) {
    // Where nothing can be said, that cannot be said either.
    let _ = std::io::stderr().write_all(&error.told(format));
}

/// Says why a configuration is refused; code 2.
fn refused(error: &RoleError, format: LogFormat) -> ExitCode {
    say(error, format);
    ExitCode::from(2)
}

/// Says what went wrong; code 1.
fn exit_code(outcome: Result<(), RoleError>, format: LogFormat) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error, format);
            ExitCode::FAILURE
        }
    }
}

/// Every process of ours allocates through mimalloc: calls are made of many small, short-lived pieces that cross threads,
/// and the system's allocator spends a sixth of a call on its locks.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The same, counted: a bench wants to know how often a call allocates.
#[cfg(feature = "count-allocations")]
#[global_allocator]
static ALLOCATOR: toolplane_allocations::Counting<mimalloc::MiMalloc> =
    toolplane_allocations::Counting(mimalloc::MiMalloc);
