//! What MCP servers may be given, and how long they are kept.

use std::path::PathBuf;

use toolplane_mcp::PoolLimits;
use toolplane_sandbox::RunLimits;

/// What MCP servers may be given, and how long they are kept.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// How long sessions are kept, and how many. For servers that are programs and for those over HTTP each.
    pub pool: PoolLimits,
    /// Bounds of a server that is a program.
    pub limits: RunLimits,
    /// Variables of the worker's own environment that a binding may hand on by name.
    pub env_names: Vec<String>,
    /// Directories of the host in which a binding may name what its server reads.
    pub read_paths: Vec<PathBuf>,
}

impl Default for McpOptions {
    /// Servers get nothing of the worker's.
    fn default() -> Self {
        Self {
            pool: PoolLimits::default(),
            limits: RunLimits::session(),
            env_names: Vec::new(),
            read_paths: Vec::new(),
        }
    }
}
