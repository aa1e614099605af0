//! The sections of the surface and executor roles.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The surface role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceConfig {
    /// A surface of more tools than this defers those nobody asked for by name.
    pub defer_threshold: u32,
    /// Tool files (JSON or TOML) registered at start.
    pub declarations: Vec<PathBuf>,
}

impl Default for SurfaceConfig {
    fn default() -> Self {
        Self { defer_threshold: 30, declarations: Vec::new() }
    }
}

/// The executor role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecutorConfig {
    /// Name of this worker, stable over restarts; made up once and kept in `server.data_dir` when absent.
    pub worker_id: Option<String>,
    /// Calls run at a time; two per processor when absent.
    pub slots: Option<u32>,
    /// Directory tools work in; `<server.data_dir>/workspace` when absent.
    pub workspace: Option<PathBuf>,
    /// Pools served; every pool this machine can serve when absent.
    pub pools: Option<Vec<String>>,
    /// Bounds of sandboxed processes.
    pub sandbox: SandboxConfig,
    /// Bounds of HTTP tools.
    pub http: HttpToolsConfig,
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

/// Bounds of one sandboxed process tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Time between the polite and the forced end of a tree.
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
            grace_ms: 2_000,
        }
    }
}

/// Bounds of HTTP tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
