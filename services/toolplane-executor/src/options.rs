//! Settings of a worker.

use std::path::PathBuf;
use std::time::Duration;

use toolplane_cleaning::CleaningPolicy;
use toolplane_execution::POOLS;
use toolplane_records::ids::WorkerId;
use toolplane_runtime::config::{Config, QueueParenting, Workspaces};

use crate::error::ExecutorError;
use crate::worker::Egress;

/// Settings of a worker.
#[derive(Clone, Debug)]
pub struct ExecutorOptions {
    /// Name of the worker, stable over restarts; made up once and kept in `data_dir` when absent.
    pub worker_id: Option<WorkerId>,
    /// Image the worker runs in, as its operator names it.
    pub image: Option<String>,
    /// Calls run at once, at least 1.
    pub slots: u32,
    /// Pools served, of those this machine can serve; all of them when absent.
    pub pools: Option<Vec<String>>,
    /// Where the worker keeps its name, its lock and its journal, below `executor/`.
    pub data_dir: PathBuf,
    /// Where the tools of each tenant work. That of the tenant `default` is the toolbox's own.
    pub workspaces: Workspaces,
    /// How long running calls may go on after a stop was asked for.
    pub drain: Duration,
    /// Most bytes of one gRPC message.
    pub max_message_bytes: usize,
    /// Most bytes of one output that are uploaded; larger ones are cut to a preview.
    pub max_persist_bytes: u64,
    /// How long a finished call waits for its outputs to be kept before they are cut to previews. It waits shorter when
    /// the scheduler would give the call up before.
    pub persist_timeout: Duration,
    /// Calls that worked at least this long go through the journal although they could be repeated.
    pub journal_after: Duration,
    /// Where HTTP tools and MCP servers may go.
    pub(crate) egress: Egress,
    /// How a span of a call hangs on the span that queued it.
    pub queue_parenting: QueueParenting,
    /// Arguments and results go into the spans of tools (`telemetry.capture_content`).
    pub capture_content: bool,
    /// What is taken out of what goes into spans (`scheduler.cleaning`).
    pub cleaning: CleaningPolicy,
    /// The session has a thread of its own, so that tools which keep every thread of the runtime busy never delay a
    /// heartbeat. Without it the session runs where the tools run: for a scheduler in the same process, which those
    /// tools would hold up anyway, and to which every hand-over between threads is a cost without a use.
    pub own_thread: bool,
}

impl ExecutorOptions {
    /// The settings of `config`.
    ///
    /// Fails with [`ExecutorError::Option`] for a worker id or an allowed host that is none.
    pub fn from_config(config: &Config) -> Result<Self, ExecutorError> {
        known_pools(config.executor.pools.as_deref().unwrap_or_default())?;
        let worker_id = config.executor.worker_id.as_deref().map(WorkerId::parse).transpose();
        let http = &config.executor.http;
        let egress = Egress::read(&http.allow, http.max_response_bytes)
            .map_err(|error| ExecutorError::Option { key: "executor.http.allow", rule: error.to_string() })?;
        let egress = egress
            .with_servers(&config.executor.mcp.allow)
            .map_err(|error| ExecutorError::Option { key: "executor.mcp.allow", rule: error.to_string() })?;
        Ok(Self {
            worker_id: worker_id
                .map_err(|rule| ExecutorError::Option { key: "executor.worker_id", rule: rule.to_string() })?,
            image: config.executor.image.clone(),
            slots: config.executor.slots().max(1),
            pools: config.executor.pools.clone(),
            data_dir: config.server.data_dir.clone(),
            workspaces: config.workspaces(),
            drain: config.server.drain_timeout(),
            max_message_bytes: config.server.max_message_bytes,
            max_persist_bytes: config.objects.max_bytes,
            persist_timeout: Duration::from_secs(300),
            journal_after: Duration::from_secs(1),
            egress,
            queue_parenting: config.telemetry.queue_parenting,
            capture_content: config.telemetry.capture_content,
            cleaning: config.scheduler.cleaning.clone(),
            own_thread: true,
        })
    }
}

fn known_pools(wanted: &[String]) -> Result<(), ExecutorError> {
    let rule = match wanted.iter().find(|pool| !POOLS.contains(&pool.as_str())) {
        Some(unknown) => format!("names `{unknown}`, which is not a pool; pools are: {}", POOLS.join(", ")),
        None => return Ok(()),
    };
    Err(ExecutorError::Option { key: "executor.pools", rule })
}
