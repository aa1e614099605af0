//! The role as a whole: its parts and its place in a process.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use toolplane_execution::Toolbox;
use toolplane_records::cluster::ClusterRole;
use toolplane_records::ids::WorkerId;
use toolplane_runtime::config::Endpoints;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::Services;
use toolplane_runtime::{Shutdown, health};

use crate::credentials;
use crate::error::ExecutorError;
use crate::options::ExecutorOptions;
use crate::parts;
use crate::reporter::Journal;
use crate::schedulers::{ConnectError, Schedulers};
use crate::toolbox::{make_workspace, outputs_dir, toolbox};
use crate::worker::{Capabilities, Identity, Introduction};

/// What stopping late calls and reporting them takes at most, after the drain bound.
const REPORTING: Duration = Duration::from_secs(5);

/// The executor role, running: one worker. It lives on when this is dropped; [`ExecutorRole::ended`] waits for its end.
#[derive(Debug)]
pub struct ExecutorRole {
    worker_id: WorkerId,
    incarnation: String,
    capabilities: Capabilities,
    connected: watch::Receiver<bool>,
    ended: watch::Receiver<bool>,
}

impl ExecutorRole {
    /// Takes the worker's identity and starts its session with one of `schedulers`. Returns at once; they may be away. Must
    /// be called within a multi-threaded runtime, which then runs the tools.
    ///
    /// `shutdown` drains the worker: it takes no more calls, gives back what has not begun, lets what runs finish within
    /// [`ExecutorOptions::drain`], and says goodbye.
    ///
    /// # Errors
    ///
    /// - [`ExecutorError::Locked`] when another worker uses the same [`ExecutorOptions::data_dir`].
    /// - [`ExecutorError::File`] when a file in it cannot be made, read or locked.
    /// - [`ExecutorError::WorkerId`] when the kept name of the worker is damaged.
    /// - [`ExecutorError::Option`] when [`ExecutorOptions::pools`] names a pool that does not exist.
    /// - [`ExecutorError::Session`] when a thread cannot be started.
    pub fn open(
        options: ExecutorOptions,
        toolbox: Arc<Toolbox>,
        schedulers: Schedulers,
        shutdown: Shutdown,
    ) -> Result<Self, ExecutorError> {
        let identity = Identity::take(&options.data_dir, options.worker_id.clone())?;
        let (journal, left) = Journal::open(&identity.home.join("journal"), &outputs_dir(&options.data_dir))?;
        let introduction = Arc::new(Introduction {
            image: options.image.clone().unwrap_or_default(),
            slots: options.slots.max(1),
            capabilities: Capabilities::of(&toolbox.capabilities(), &options.egress, options.pools.as_deref())?,
            identity,
            credentials: toolbox.credentials().clone(),
        });
        announce(&introduction);
        let (connected, seen_connected) = watch::channel(false);
        let own_thread = options.own_thread;
        let (worker_id, incarnation) =
            (introduction.identity.worker_id.clone(), introduction.identity.incarnation.clone());
        let capabilities = introduction.capabilities.clone();
        let parts = parts::wire(options, toolbox, schedulers, introduction, journal, shutdown, connected);
        let ended = parts.spawn(own_thread, left)?;
        Ok(Self { worker_id, incarnation, capabilities, connected: seen_connected, ended })
    }

    /// Name of the worker, stable over restarts.
    pub fn worker_id(&self) -> &WorkerId {
        &self.worker_id
    }

    /// This start of it.
    pub fn incarnation(&self) -> &str {
        &self.incarnation
    }

    /// What it serves, and what it does not.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Waits until a scheduler has welcomed the worker.
    pub async fn connected(&mut self) {
        let _ = self.connected.wait_for(|connected| *connected).await;
    }

    /// Waits until the worker has drained and ended. Ask for it through the [`Shutdown`] it was started with.
    pub async fn ended(mut self) {
        let _ = self.ended.wait_for(|ended| *ended).await;
    }
}

fn announce(introduction: &Introduction) {
    let Introduction { identity, slots, capabilities, .. } = introduction;
    let Identity { worker_id, incarnation, .. } = identity;
    tracing::info!(%worker_id, incarnation, slots, pools = capabilities.pools.join(","), "executor starts");
    for gap in &capabilities.gaps {
        tracing::warn!(pool = gap.pool, reason = gap.reason_code, "pool not served: {}", gap.message);
    }
}

/// The executor role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Executor,
    check: |config| Ok(ExecutorOptions::from_config(config).map(drop)?),
    // Hooks of the other roles may read the workspace, as it is when they are opened.
    rehearse: |_| Ok(Vec::new()),
    prepare: |config| Ok(make_workspace(config).map(drop)?),
    start: |process, services| Box::pin(async move { role(&process, services).await }),
};

/// Starts the executor in its process. It serves nothing; it drains when the process is asked to stop.
async fn role(process: &Arc<Process>, services: Services) -> Result<Role, RoleError> {
    let mut options = ExecutorOptions::from_config(&process.config)?;
    options.own_thread = !process.config.peers.scheduler.is_empty();
    if process.config.peers.scheduler.is_empty() {
        // The listener of this very process takes the last reports: be done before it closes.
        options.drain = options.drain.saturating_sub(REPORTING).max(options.drain / 4);
    }
    let toolbox = Arc::new(toolbox(&process.config).await?);
    // What is in them is masked before the first call.
    credentials::load(toolbox.credentials()).await;
    let (source, file) = (toolbox.credentials().clone(), process.config.file.clone());
    let stop = process.tasks.shutdown().token();
    process.tasks.spawn("executor credentials", credentials::follow(source, file, stop));
    let schedulers = &process.config.peers.scheduler;
    // Asked once here, so that a missing or malformed address is refused at start and not retried without end.
    let any = process.peer(ClusterRole::Scheduler, schedulers)?;
    let need = process.readiness.need("the scheduler", &["executor"]);
    let stop = process.tasks.shutdown().token();
    process.tasks.spawn("executor peer health", health::follow(need, any, "toolplane.v1.WorkerService", stop));
    let (owner, urls) = (process.clone(), schedulers.urls().to_vec());
    let connect = Arc::new(move |url: &str| {
        let at = Endpoints::new(Some(url).filter(|url| !url.is_empty()).map(str::to_owned));
        owner.peer(ClusterRole::Scheduler, &at).map_err(|error| ConnectError(error.to_string()))
    });
    let shutdown = process.tasks.shutdown().clone();
    let executor = ExecutorRole::open(options, toolbox, Schedulers::new(urls, connect), shutdown.clone())?;
    process.tasks.spawn_fallible("executor", async move {
        executor.ended().await;
        if shutdown.is_requested() { Ok(()) } else { Err("the worker's session ended without a request to shut down") }
    });
    Ok(Role { services: Some(services), ..Role::default() })
}
