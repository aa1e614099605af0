//! The configuration: one TOML file for all roles, with environment overrides.
//!
//! Every key has a default, so an empty file is a complete configuration. Unknown keys are refused. Durations are in
//! milliseconds and sizes in bytes, as the key's ending says; relative paths start at the working directory.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toolplane_credentials::CredentialConfig;

mod auth;
mod check;
mod check_auth;
mod endpoints;
mod environment;
mod error;
mod executor;
mod gateway;
mod hooks;
mod load;
mod meaning;
pub(crate) mod observe;
mod permission;
mod reranker;
mod scheduler;
#[cfg(feature = "schema")]
mod schema;
mod server;
mod store;
mod surface;
#[cfg(test)]
mod tests;
mod workspaces;

pub use auth::{AuthConfig, JwtAlgorithm, JwtConfig, MtlsConfig};
pub use endpoints::Endpoints;
pub use error::ConfigError;
pub use executor::{ExecutorConfig, HttpToolsConfig, QuotaConfig, SandboxConfig};
pub use gateway::{GatewayConfig, McpConfig};
pub use hooks::{HookAuthority, HookConfig};
pub use meaning::MeaningConfig;
pub use observe::{LogConfig, LogFormat, QueueParenting, TelemetryConfig};
pub use permission::{PermissionConfig, ReviewConfig};
pub use reranker::RerankerConfig;
pub use scheduler::{
    CleaningRuleConfig, OriginalRuleConfig, OriginalsConfig, RetentionRuleConfig, SchedulerConfig, TaintsConfig,
    ToolLimit,
};
#[cfg(feature = "schema")]
pub use schema::json_schema;
pub use server::{PeersConfig, ServerConfig, TlsConfig};
pub use store::{RedisConfig, RedisMode, StoreBackend, StoreConfig};
pub use surface::{SearchConfig, SurfaceConfig};
pub use workspaces::Workspaces;

/// What every environment override starts with: `TOOLPLANE__<SECTION>__<KEY>`.
pub const ENV_PREFIX: &str = "TOOLPLANE__";

/// The whole configuration. Each role reads its own section and the shared ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", schemars(title = "Toolplane configuration"))]
pub struct Config {
    /// The gRPC listener of this process.
    pub server: ServerConfig,
    /// Where the other roles are.
    pub peers: PeersConfig,
    /// Where the scheduler and the permission role keep their state.
    pub store: StoreConfig,
    /// The surface role: declarations, surfaces, search.
    pub surface: SurfaceConfig,
    /// The permission role: rules and approvals.
    pub permission: PermissionConfig,
    /// The scheduler role: invocations, queue, leases.
    pub scheduler: SchedulerConfig,
    /// The executor role: workers and their sandboxes.
    pub executor: ExecutorConfig,
    /// The gateway role: the HTTP listener. Without this section and `mcp` no HTTP is answered.
    pub gateway: Option<GatewayConfig>,
    /// MCP at the HTTP listener.
    pub mcp: Option<McpConfig>,
    /// Programs and services that are asked before and after calls.
    pub hooks: Vec<HookConfig>,
    /// The secrets of this worker: where they come from, what they are, and who they are for. Never a secret itself. Read again while the
    /// executor role runs: on SIGHUP, and when the file changes.
    pub credentials: Vec<CredentialConfig>,
    /// Providers of tools, each a table as the surface role reads it: MCP servers, OpenAPI documents, files of registrations. Read again
    /// while the role runs: on SIGHUP, and when this file changes.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>"))]
    pub providers: Vec<toml::Table>,
    /// Where large results are kept.
    pub objects: ObjectsConfig,
    /// Traces.
    pub telemetry: TelemetryConfig,
    /// Logs, on standard error.
    pub log: LogConfig,
    /// The file all of this was read from, for roles that read their section again; not a key.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// The kind of object store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ObjectsKind {
    /// A local directory.
    #[default]
    Local,
}

/// Where large results are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ObjectsConfig {
    /// The kind of object store.
    pub kind: ObjectsKind,
    /// Directory of the local store; `<server.data_dir>/objects` when absent.
    pub path: Option<PathBuf>,
    /// Where they are kept instead: `file:///directory`, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`.
    /// Credentials, region and endpoint of a bucket come from the environment or the machine, as the tools of its cloud read them.
    pub url: Option<String>,
    /// Where results wait on this machine while a bucket is away; `<server.data_dir>/spool` when absent.
    pub spool_path: Option<PathBuf>,
    /// Most bytes of results that wait there; without a spool when 0.
    pub spool_bytes: u64,
    /// Seconds after which a kept output that its ended call does not name is removed: what a crash left behind. Not at all when 0.
    pub orphan_grace_seconds: u64,
    /// Most bytes of one kept result.
    pub max_bytes: u64,
    /// Days a result is kept; without a limit when absent.
    pub retention_days: Option<u32>,
}

impl Default for ObjectsConfig {
    fn default() -> Self {
        Self {
            kind: ObjectsKind::Local,
            path: None,
            url: None,
            spool_path: None,
            spool_bytes: 1024 * 1024 * 1024,
            orphan_grace_seconds: 60 * 60,
            max_bytes: 64 * 1024 * 1024,
            retention_days: None,
        }
    }
}

impl Config {
    /// The directory of the object store.
    pub fn objects_dir(&self) -> PathBuf {
        let by_url = self.objects.url.as_deref().and_then(|url| url.strip_prefix("file://")).map(PathBuf::from);
        by_url.or_else(|| self.objects.path.clone()).unwrap_or_else(|| self.server.data_dir.join("objects"))
    }

    /// The URL of the bucket that large results are kept in, when they are not in [`Self::objects_dir`].
    pub fn objects_bucket(&self) -> Option<&str> {
        self.objects.url.as_deref().filter(|url| !url.starts_with("file://"))
    }

    /// Where large results wait on this machine while their bucket is away.
    pub fn spool_dir(&self) -> PathBuf {
        self.objects.spool_path.clone().unwrap_or_else(|| self.server.data_dir.join("spool"))
    }

    /// The directory the tools of the tenant `default` work in; see [`Config::workspaces`].
    pub fn workspace_dir(&self) -> PathBuf {
        self.executor.workspace.clone().unwrap_or_else(|| self.server.data_dir.join("workspace"))
    }
}
