//! The executor as a role of a process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolplane_execution::{Toolbox, ToolboxOptions, WorkspaceBounds};
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::config::{Config, Endpoints};
use toolplane_runtime::health;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::Services;
use toolplane_sandbox::{RunLimits, Usage};

use crate::error::ExecutorError;
use crate::executor::Executor;
use crate::options::Options;
use crate::schedulers::{ConnectError, Schedulers};

/// Makes the workspace of the tools when it does not exist. Others of the same process may want to read it before tools run.
fn make_workspace(config: &Config) -> Result<PathBuf, ExecutorError> {
    let workspace = config.workspace_dir();
    std::fs::create_dir_all(&workspace).map_err(ExecutorError::file(&workspace))?;
    Ok(workspace)
}

/// The tools of `config`, probed on this machine. Makes the workspace when it does not exist, and looks
/// through all there are. Takes about a second.
///
/// Fails with [`ExecutorError::File`] when a workspace cannot be made or looked through. That a pool of tools cannot be
/// served here is no error: [`Toolbox::capabilities`] says so.
pub async fn toolbox(config: &Config) -> Result<Toolbox, ExecutorError> {
    let workspace = make_workspace(config)?;
    // Tools see it under a path of its own, and the sandbox wants to know it absolutely.
    let workspace = std::fs::canonicalize(&workspace).map_err(ExecutorError::file(&workspace))?;
    let own = workspace.clone();
    let mut options = ToolboxOptions::new(workspace);
    let sandbox = &config.executor.sandbox;
    options.limits = RunLimits {
        grace: Duration::from_millis(sandbox.grace_ms),
        cpu_seconds: sandbox.cpu_seconds.into(),
        memory_bytes: sandbox.memory_bytes,
        pids: sandbox.pids.into(),
        open_files: sandbox.open_files.into(),
        file_bytes: sandbox.file_bytes,
        scratch_bytes: sandbox.scratch_bytes,
        output_kept_bytes: sandbox.output_kept_bytes,
        output_max_bytes: sandbox.output_max_bytes,
        ..RunLimits::default()
    };
    let quota = &config.executor.quota;
    options.bounds = WorkspaceBounds {
        call: Usage { bytes: quota.call_bytes, files: quota.call_files },
        tenant: Usage { bytes: quota.tenant_bytes, files: quota.tenant_files },
        worker: Usage { bytes: quota.worker_bytes, files: quota.worker_files },
        reserve_bytes: quota.reserve_bytes,
    };
    let toolbox = Toolbox::probe(options).await;
    let directories: Vec<_> = std::iter::once(own).chain(config.workspaces().of_tenants()).collect();
    adopt(toolbox, directories).await
}

/// Looks through the workspaces before anything runs there: an earlier start of this worker may have been killed before it
/// could take back what its tools left.
async fn adopt(toolbox: Toolbox, directories: Vec<PathBuf>) -> Result<Toolbox, ExecutorError> {
    let look = move || {
        for directory in directories {
            let told = toolbox.adopt(&directory).map_err(ExecutorError::file(&directory))?;
            for line in told {
                tracing::warn!(workspace = %directory.display(), "at start: {line}");
            }
        }
        Ok(toolbox)
    };
    tokio::task::spawn_blocking(look).await.map_err(|error| ExecutorError::Session(std::io::Error::other(error)))?
}

/// What stopping late calls and reporting them takes at most, after the drain bound.
const REPORTING: Duration = Duration::from_secs(5);

/// The executor role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Executor,
    check: |config| Ok(Options::from_config(config).map(drop)?),
    // Hooks of the other roles may read the workspace, as it is when they are opened.
    prepare: |config| Ok(make_workspace(config).map(drop)?),
    start: |process, services| Box::pin(async move { role(&process, services).await }),
};

/// Starts the executor in its process. It serves nothing; it drains when the process is asked to stop.
async fn role(process: &Arc<Process>, services: Services) -> Result<Role, RoleError> {
    let mut options = Options::from_config(&process.config)?;
    options.own_thread = !process.config.peers.scheduler.is_empty();
    if process.config.peers.scheduler.is_empty() {
        // The listener of this very process takes the last reports: be done before it closes.
        options.drain = options.drain.saturating_sub(REPORTING).max(options.drain / 4);
    }
    let toolbox = Arc::new(toolbox(&process.config).await?);
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
    let handle = Executor::start(options, toolbox, Schedulers::new(urls, connect), shutdown.clone())?;
    process.tasks.spawn_fallible("executor", async move {
        handle.ended().await;
        if shutdown.is_requested() { Ok(()) } else { Err("the session ended although nobody asked for it") }
    });
    Ok(Role { services: Some(services), ..Role::default() })
}
