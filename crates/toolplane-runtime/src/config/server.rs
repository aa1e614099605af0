//! The listener of this process and the way to the others.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::auth::AuthConfig;
use super::endpoints::Endpoints;

/// The gRPC listener of this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address to listen on; port 0 takes a free one. Beyond loopback, `tls` and `auth` are required.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub listen: SocketAddr,
    /// A second address that answers health checks and nothing else, in clear text: for probes that must not wait behind
    /// callers. A process that only runs tools has no other, and takes a free port of this machine when this is absent.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub health_listen: Option<SocketAddr>,
    /// Where this process keeps its state.
    pub data_dir: PathBuf,
    /// How long the process may take to end after a stop was asked for. Running calls may finish, but for the last five seconds (at most three quarters
    /// of the whole), in which late ones are stopped and told.
    pub drain_timeout_ms: u64,
    /// Largest gRPC message taken or sent.
    pub max_message_bytes: usize,
    /// Whether clients may ask for the descriptors of the services.
    pub reflection: bool,
    /// How long a client may keep one connection, give or take a tenth by chance; then it is asked to connect anew, so
    /// that load spreads to processes that started later. 0 lets connections live without a limit.
    pub max_connection_age_ms: u64,
    /// How long calls on a connection that has reached its age may go on; then their streams end as `UNAVAILABLE`.
    pub connection_grace_ms: u64,
    /// How often this process pings a quiet connection; without an answer within half of it,
    /// the connection is given up.
    pub keepalive_ms: u64,
    /// How long a connection may take to its first request of a known caller; then it is closed.
    pub first_request_ms: u64,
    /// Most connections at once; half of the open files the process may have (`ulimit -n`) when absent. Parts of them are
    /// kept for newcomers, for operators and processes of the cluster, and for health checks.
    pub max_connections: Option<u32>,
    /// Most connections of ordinary callers at one address (IPv6: one /64 network); three quarters of their part when absent.
    pub max_connections_per_address: Option<u32>,
    /// Encryption; absent means clear text.
    pub tls: Option<TlsConfig>,
    /// Who may call; absent means everyone who can connect.
    pub auth: Option<AuthConfig>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7420)),
            health_listen: None,
            data_dir: PathBuf::from(".toolplane"),
            drain_timeout_ms: 10_000,
            max_message_bytes: 4 * 1024 * 1024,
            reflection: true,
            max_connection_age_ms: 15 * 60 * 1000,
            connection_grace_ms: 30_000,
            keepalive_ms: 20_000,
            first_request_ms: 10_000,
            max_connections: None,
            max_connections_per_address: None,
            tls: None,
            auth: None,
        }
    }
}

impl ServerConfig {
    /// How long the process may take to end after a stop was asked for. Running calls may finish, but for the last five seconds (at most three quarters
    /// of the whole), in which late ones are stopped and told.
    pub fn drain_timeout(&self) -> Duration {
        Duration::from_millis(self.drain_timeout_ms)
    }
}

/// Encryption of the listener. All files are PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// Certificate chain of this server.
    pub cert_file: PathBuf,
    /// Private key of this server.
    pub key_file: PathBuf,
    /// When set, clients must show a certificate signed by this authority.
    #[serde(default)]
    pub client_ca_file: Option<PathBuf>,
}

/// Where the other roles are. A role left out is served by this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PeersConfig {
    /// The surface role, e.g. `http://127.0.0.1:7421`.
    pub surface: Endpoints,
    /// The permission role.
    pub permission: Endpoints,
    /// The scheduler role.
    pub scheduler: Endpoints,
    /// Authority that signed the peers' certificates (PEM), for `https` URLs.
    pub ca_file: Option<PathBuf>,
    /// Name in the peers' certificates, when it is not the host of the URL (e.g. a process that reaches itself by
    /// address).
    pub server_name: Option<String>,
    /// File whose first line is the bearer token or API key shown to peers, which needs the role `peer` there, and `worker`
    /// to run calls. When absent, the first token of `server.auth.token_file` is shown, if there is one.
    pub token_file: Option<PathBuf>,
}
