//! The tools of this machine, as the configuration bounds them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolplane_execution::{ArtifactBounds, McpOptions, PoolLimits, Toolbox, ToolboxOptions, WorkspaceBounds};
use toolplane_runtime::{Config, clock};
use toolplane_sandbox::{RunLimits, Usage};

use crate::credentials;
use crate::error::ExecutorError;

/// Makes the workspace of the tools when it does not exist. Others of the same process may want to read it before tools run.
pub(crate) fn make_workspace(config: &Config) -> Result<PathBuf, ExecutorError> {
    let workspace = config.workspace_dir();
    std::fs::create_dir_all(&workspace).map_err(ExecutorError::file(&workspace))?;
    Ok(workspace)
}

/// Where outputs are that do not fit into memory, until they are kept.
pub(crate) fn outputs_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("executor").join("outputs")
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
    // What the operator allows, every tool may have.
    let ceiling = &mut options.ceiling;
    ceiling.output_kept_bytes = ceiling.output_kept_bytes.max(sandbox.output_kept_bytes);
    ceiling.output_max_bytes = ceiling.output_max_bytes.max(sandbox.output_max_bytes);
    options.mcp = mcp_options(config);
    let quota = &config.executor.quota;
    options.bounds = WorkspaceBounds {
        call: Usage { bytes: quota.call_bytes, files: quota.call_files },
        tenant: Usage { bytes: quota.tenant_bytes, files: quota.tenant_files },
        worker: Usage { bytes: quota.worker_bytes, files: quota.worker_files },
        reserve_bytes: quota.reserve_bytes,
    };
    options.outputs = Some(outputs_dir(&config.server.data_dir));
    options.artifacts = ArtifactBounds {
        bytes: sandbox.artifact_bytes,
        files: usize::try_from(sandbox.artifact_files).unwrap_or(usize::MAX),
    };
    options.credentials = Arc::new(credentials::source(config)?);
    options.clock = clock::now;
    let toolbox = Toolbox::probe(options).await;
    let directories: Vec<_> = std::iter::once(own).chain(config.workspaces().of_tenants()).collect();
    adopt(toolbox, directories).await
}

/// What MCP servers are given, and how long they are kept.
fn mcp_options(config: &Config) -> McpOptions {
    let (mcp, sandbox) = (&config.executor.mcp, &config.executor.sandbox);
    McpOptions {
        pool: PoolLimits {
            idle: Duration::from_millis(mcp.idle_ms),
            lifetime: Duration::from_millis(mcp.lifetime_ms),
            calls: mcp.calls,
            at_once: mcp.calls_at_once as usize,
            sessions: mcp.sessions as usize,
            ..PoolLimits::default()
        },
        limits: RunLimits {
            grace: Duration::from_millis(sandbox.grace_ms),
            memory_bytes: mcp.memory_bytes,
            pids: mcp.pids.into(),
            file_bytes: sandbox.file_bytes,
            scratch_bytes: sandbox.scratch_bytes,
            ..RunLimits::session()
        },
        env_names: mcp.env_names.clone(),
        read_paths: mcp.read_paths.clone(),
    }
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
