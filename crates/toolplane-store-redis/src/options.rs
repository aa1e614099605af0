//! How the store is told where its Redis is.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use toolplane_store::Durability;

/// Where the servers are. Addresses are URLs: `redis://host:port`, or `rediss://host:port` with TLS, which then holds for
/// every server that is found through them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Servers {
    /// One server, which must be a primary. The URL may name a database: `redis://host:port/1`.
    Standalone {
        /// The server.
        url: String,
    },
    /// The primary that sentinels name, now and after every failover.
    Sentinel {
        /// What the sentinels call it.
        master: String,
        /// The sentinels. User and password of a sentinel are part of its URL.
        urls: Vec<String>,
    },
    /// The node of a Redis Cluster that holds the slot of the namespace.
    Cluster {
        /// Some of the nodes; the others are found through them.
        urls: Vec<String>,
    },
}

impl Servers {
    pub(crate) fn urls(&self) -> &[String] {
        match self {
            Self::Standalone { url } => std::slice::from_ref(url),
            Self::Sentinel { urls, .. } | Self::Cluster { urls } => urls,
        }
    }
}

/// A word that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` out of logs.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// PEM files for connections with TLS. Without them the system's authorities are trusted and no certificate is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The authorities to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// The certificate to show, and its key.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// Everything about a [`RedisStore`](crate::RedisStore) but what it keeps.
#[derive(Clone, Debug)]
pub struct RedisOptions {
    /// Where the servers are.
    pub servers: Servers,
    /// The user, for servers with access rules.
    pub username: Option<String>,
    /// The password.
    pub password: Option<Secret>,
    /// Files for `rediss://`.
    pub tls: TlsFiles,
    /// 1 to 32 letters, digits, `-`, `_` or `.`: keeps stores apart that share a server. Processes that work together
    /// name the same.
    pub namespace: String,
    /// How long an answer may take. A commit is repeated and given up after twice this time.
    pub command_timeout: Duration,
    /// How long making a connection may take.
    pub connect_timeout: Duration,
    /// On how many replicas a commit must be before it is answered.
    pub replicas: u32,
    /// What the servers are known to promise, for users that may not read their settings. Without it such a store is
    /// [`Durability::Buffered`].
    pub assume_durability: Option<Durability>,
    /// Whether to take no new work while the servers are [`Durability::Buffered`], which may change as they run.
    pub refuse_buffered: bool,
}

impl RedisOptions {
    /// Options for `servers`, with the namespace `toolplane`, 2 s for an answer, 1 s for a connection, and no replicas.
    pub fn new(servers: Servers) -> Self {
        Self {
            servers,
            username: None,
            password: None,
            tls: TlsFiles::default(),
            namespace: "toolplane".to_owned(),
            command_timeout: Duration::from_secs(2),
            connect_timeout: Duration::from_secs(1),
            replicas: 0,
            assume_durability: None,
            refuse_buffered: false,
        }
    }

    /// Options for one server at `url`.
    pub fn standalone(url: impl Into<String>) -> Self {
        Self::new(Servers::Standalone { url: url.into() })
    }
}
