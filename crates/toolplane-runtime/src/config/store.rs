//! Where the scheduler and the permission role keep their state.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::ConfigError;

/// Where the surface, permission and scheduler roles keep their state, each apart from the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StoreConfig {
    /// The kind of store.
    pub backend: StoreBackend,
    /// Memory of each embedded store for what it has read or written lately, in bytes: 1 MiB at least.
    pub cache_bytes: usize,
    /// The Redis servers, for that backend.
    pub redis: RedisConfig,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { backend: StoreBackend::default(), cache_bytes: 32 * MIB, redis: RedisConfig::default() }
    }
}

/// The kinds of store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StoreBackend {
    /// A directory of this process; no other process can use it.
    #[default]
    Embedded,
    /// Redis, shared by any number of processes of each role.
    Redis,
}

/// How Redis is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RedisMode {
    /// One server.
    #[default]
    Standalone,
    /// A server with replicas, watched by sentinels; the URLs are those of the sentinels.
    Sentinel,
    /// A cluster; the URLs are those of some of its nodes.
    Cluster,
}

/// The Redis servers and how to reach them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RedisConfig {
    /// The server, e.g. `redis://127.0.0.1:6379/0`; `rediss://` encrypts.
    pub url: Option<String>,
    /// Several sentinels or nodes, in place of `url`; or several standalone servers, one shard after the other on each in turn.
    /// Their order must stay.
    pub urls: Vec<String>,
    /// Over how many shards the scheduler's records are spread, 1 to 64. Written when the store is made; it must stay.
    pub shards: usize,
    /// How Redis is run.
    pub mode: RedisMode,
    /// Name under which the sentinels know the server.
    pub sentinel_master: Option<String>,
    /// User to log in as.
    pub username: Option<String>,
    /// File that holds the password.
    pub password_file: Option<PathBuf>,
    /// Environment variable that holds the password.
    pub password_env: Option<String>,
    /// What all keys start with; processes that share it are one cluster. The permission role adds `-permission`.
    pub namespace: String,
    /// Authority that signed the servers' certificates (PEM).
    pub ca_file: Option<PathBuf>,
    /// Certificate shown to the servers (PEM).
    pub client_cert_file: Option<PathBuf>,
    /// Its key (PEM).
    pub client_key_file: Option<PathBuf>,
    /// Replicas that must have a write before it is answered.
    pub replicas: u32,
    /// Start although the servers may lose answered writes in a crash (`appendfsync` is not `always`).
    pub accept_buffered: bool,
}

impl Default for RedisConfig {
    fn default() -> Self {
        Self {
            url: None,
            urls: Vec::new(),
            shards: 1,
            mode: RedisMode::Standalone,
            sentinel_master: None,
            username: None,
            password_file: None,
            password_env: None,
            namespace: "toolplane".to_owned(),
            ca_file: None,
            client_cert_file: None,
            client_key_file: None,
            replicas: 0,
            accept_buffered: false,
        }
    }
}

impl RedisConfig {
    /// The servers: `url` and `urls` together, in that order.
    pub fn endpoints(&self) -> Vec<String> {
        self.url.iter().chain(&self.urls).cloned().collect()
    }
}

const MIB: usize = 1024 * 1024;
/// Most shards of a namespace.
const MAX_SHARDS: usize = 64;
/// Longest name of a key space.
const MAX_NAMESPACE: usize = 32;

impl StoreConfig {
    /// Checks the ranges of this section and what belongs together in it.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.cache_bytes < MIB {
            return Err(ConfigError::value("store.cache_bytes", "must be 1048576 (1 MiB) at least".to_owned()));
        }
        let redis = &self.redis;
        let refuse = |key: &str, rule: String| Err(ConfigError::value(&format!("store.redis.{key}"), rule));
        let name = &redis.namespace;
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > MAX_NAMESPACE || !name.chars().all(plain) {
            return refuse("namespace", format!("`{name}` is not 1 to {MAX_NAMESPACE} of `A-Za-z0-9._-`"));
        }
        if !(1..=MAX_SHARDS).contains(&redis.shards) {
            return refuse("shards", format!("must be 1 to {MAX_SHARDS}"));
        }
        for url in redis.endpoints() {
            if !["redis://", "rediss://"].iter().any(|scheme| url.starts_with(scheme)) {
                // The text may hold a password: it is not repeated here.
                return refuse("url", "must start with `redis://` or `rediss://`".to_owned());
            }
        }
        if redis.password_file.is_some() && redis.password_env.is_some() {
            return refuse("password_env", "only one of `password_file` and `password_env` can be set".to_owned());
        }
        if redis.client_cert_file.is_some() != redis.client_key_file.is_some() {
            return refuse("client_key_file", "`client_cert_file` and `client_key_file` belong together".to_owned());
        }
        if self.backend != StoreBackend::Redis {
            return Ok(());
        }
        match (redis.mode, redis.endpoints().len()) {
            (_, 0) => refuse("url", "the `redis` backend needs `url` or `urls`".to_owned()),
            (RedisMode::Standalone, count) if count > redis.shards => refuse(
                "urls",
                "a standalone server has one URL; for several set `mode`, or `shards` to as many at least".to_owned(),
            ),
            (RedisMode::Sentinel, _) if redis.sentinel_master.is_none() => {
                refuse("sentinel_master", "must name the server the sentinels watch".to_owned())
            }
            _ => Ok(()),
        }
    }
}
