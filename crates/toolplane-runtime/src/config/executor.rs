//! The section of the executor role.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The executor role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExecutorConfig {
    /// Name of this worker, stable over restarts; made up once and kept in `server.data_dir` when absent.
    pub worker_id: Option<String>,
    /// Image this worker runs in, best with its digest; the evidence of calls names it. Nothing is told when absent.
    pub image: Option<String>,
    /// Calls run at a time; two per processor when absent.
    pub slots: Option<u32>,
    /// Directory the tools of the tenant `default` work in; `<server.data_dir>/workspace` when absent.
    pub workspace: Option<PathBuf>,
    /// Directory in which every other tenant has a workspace of its own; that of `workspace` with `-tenants` added when absent.
    pub tenant_workspaces: Option<PathBuf>,
    /// Pools served; every pool this machine can serve when absent.
    pub pools: Option<Vec<String>>,
    /// Bounds on what is kept in workspaces.
    pub quota: QuotaConfig,
    /// Bounds of sandboxed processes.
    pub sandbox: SandboxConfig,
    /// Bounds of HTTP tools.
    pub http: HttpToolsConfig,
    /// What MCP servers may be given, and how long they are kept.
    pub mcp: McpServersConfig,
}

impl ExecutorConfig {
    /// Calls run at a time.
    pub fn slots(&self) -> u32 {
        self.slots.unwrap_or_else(|| {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            u32::try_from(processors.saturating_mul(2)).unwrap_or(u32::MAX)
        })
    }
}

/// How much workspaces may hold, as bytes on disk and as files (directories count too). A call in a workspace that is full is
/// refused; a tool that goes over a bound is ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct QuotaConfig {
    /// Most bytes one call may add.
    pub call_bytes: u64,
    /// Most files one call may add.
    pub call_files: u64,
    /// Most bytes of one tenant.
    pub tenant_bytes: u64,
    /// Most files of one tenant.
    pub tenant_files: u64,
    /// Most bytes of all tenants together, on one worker.
    pub worker_bytes: u64,
    /// Most files of all tenants together, on one worker.
    pub worker_files: u64,
    /// Bytes that stay free on the disk of the workspaces.
    pub reserve_bytes: u64,
}

impl Default for QuotaConfig {
    fn default() -> Self {
        const GIB: u64 = 1024 * 1024 * 1024;
        Self {
            call_bytes: GIB,
            call_files: 50_000,
            tenant_bytes: 8 * GIB,
            tenant_files: 200_000,
            worker_bytes: 64 * GIB,
            worker_files: 1_600_000,
            reserve_bytes: GIB / 2,
        }
    }
}

/// Bounds of one sandboxed process tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// Memory.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub pids: u32,
    /// Processor time in seconds.
    pub cpu_seconds: u32,
    /// Open files of one process.
    pub open_files: u32,
    /// Largest file written.
    pub file_bytes: u64,
    /// Room in the scratch directory.
    pub scratch_bytes: u64,
    /// Bytes of each output stream that are kept, from its start and its end.
    pub output_kept_bytes: u64,
    /// Bytes of each output stream after which the tree is ended.
    pub output_max_bytes: u64,
    /// Bytes of all files together that are kept of what one tree leaves as artifacts.
    pub artifact_bytes: u64,
    /// How many such files.
    pub artifact_files: u32,
    /// Time between SIGTERM and SIGKILL when a process tree is ended.
    pub grace_ms: u64,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            memory_bytes: 512 * 1024 * 1024,
            pids: 128,
            cpu_seconds: 30,
            open_files: 256,
            file_bytes: 64 * 1024 * 1024,
            scratch_bytes: 256 * 1024 * 1024,
            output_kept_bytes: 16 * 1024 * 1024,
            output_max_bytes: 16 * 1024 * 1024,
            artifact_bytes: 256 * 1024 * 1024,
            artifact_files: 64,
            grace_ms: 2_000,
        }
    }
}

/// Bounds of HTTP tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HttpToolsConfig {
    /// Hosts HTTP tools may reach, as `host` or `host:port`; a declaration can only narrow this. Empty: none.
    pub allow: Vec<String>,
    /// Most bytes of a response, after decompression.
    pub max_response_bytes: u64,
}

impl Default for HttpToolsConfig {
    fn default() -> Self {
        Self { allow: Vec::new(), max_response_bytes: 4 * 1024 * 1024 }
    }
}

/// What the MCP servers of tools may be given, and how long they are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct McpServersConfig {
    /// Hosts that servers over HTTP may be at, and that servers in the sandbox may reach, as `host` or `host:port`; a binding can only
    /// narrow this. Empty: none.
    pub allow: Vec<String>,
    /// Variables of this worker's own environment that a server in the sandbox may be handed by name.
    pub env_names: Vec<String>,
    /// Directories, absolute, beneath which a binding may name what a server in the sandbox reads, e.g. where its packages are installed.
    pub read_paths: Vec<PathBuf>,
    /// Most sessions with servers in the sandbox that are kept at a time, and as many with servers over HTTP.
    pub sessions: u32,
    /// Calls that share a session at a time.
    pub calls_at_once: u32,
    /// Calls after which a session is ended and its server started anew.
    pub calls: u64,
    /// How long a session that nobody uses is kept.
    pub idle_ms: u64,
    /// How long a session is used at all.
    pub lifetime_ms: u64,
    /// Memory of one server in the sandbox.
    pub memory_bytes: u64,
    /// Processes and threads of one server in the sandbox.
    pub pids: u32,
}

impl Default for McpServersConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            env_names: Vec::new(),
            read_paths: Vec::new(),
            sessions: 64,
            calls_at_once: 8,
            calls: 10_000,
            idle_ms: 300_000,
            lifetime_ms: 3_600_000,
            memory_bytes: 1024 * 1024 * 1024,
            pids: 128,
        }
    }
}
