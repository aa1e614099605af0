//! Finds the primary and connects to it.

use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ClientTlsConfig, ConnectionAddr, ConnectionInfo, IntoConnectionInfo,
    ProtocolVersion, PushInfo, TlsCertificates, Value,
};

use crate::facts::{self, Facts};
use crate::keys::KeySpace;
use crate::open_error::OpenError;
use crate::options::{RedisOptions, Servers, TlsFiles};
use crate::reply;

/// How many requests may wait inside a connection for the socket.
const PIPELINE: usize = 1024;

/// What takes in messages that come without being asked for.
pub(crate) type Pushed = Box<dyn Fn(PushInfo) + Send + Sync>;

/// Knows where the servers are and how to connect to them.
#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) options: RedisOptions,
    seeds: Vec<ConnectionInfo>,
    // Any key of the namespace: they all share one slot.
    key: String,
    certificates: Option<TlsCertificates>,
    // Which seed is asked first: another one each time, so that one with old news does not hold us up.
    turn: AtomicUsize,
}

impl Connector {
    /// Checks the options and reads the files they name.
    pub(crate) fn new(options: RedisOptions, keys: &KeySpace) -> Result<Self, OpenError> {
        let invalid = |reason: String| OpenError::InvalidOption { reason };
        let seeds = options.servers.urls().iter().map(|url| {
            let parsed = url.as_str().into_connection_info();
            parsed.map_err(|error| invalid(format!("an address is no `redis://` or `rediss://` URL: {error}")))
        });
        let seeds = seeds.collect::<Result<Vec<_>, _>>()?;
        let first = seeds.first().ok_or_else(|| invalid("no server is named".to_owned()))?;
        let certificates = match first.addr() {
            ConnectionAddr::TcpTls { .. } => Some(certificates(&options.tls)?),
            ConnectionAddr::Tcp(..) => None,
            other => return Err(invalid(format!("`{other}` is no TCP address"))),
        };
        Ok(Self { key: keys.names(), options, seeds, certificates, turn: AtomicUsize::new(0) })
    }

    /// A connection to the primary, once that was found fit for use. Messages it pushes go to `pushed`.
    pub(crate) async fn primary(&self, pushed: Option<Pushed>) -> Result<(MultiplexedConnection, Facts), OpenError> {
        let info = self.locate().await?;
        let mut connection = self.connect(self.with_user(info), pushed).await?;
        let facts = facts::inspect(&mut connection, &self.options).await?;
        Ok((connection, facts))
    }

    /// True when the primary is a node of a cluster.
    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.options.servers, Servers::Cluster { .. })
    }

    async fn locate(&self) -> Result<ConnectionInfo, OpenError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut last = OpenError::Unreachable { reason: "no server is named".to_owned() };
        for at in 0..self.seeds.len() {
            let seed = &self.seeds[(turn + at) % self.seeds.len()];
            let found = match &self.options.servers {
                Servers::Standalone { .. } => Ok(seed.clone()),
                Servers::Sentinel { master, .. } => self.named_by(seed, master).await,
                Servers::Cluster { .. } => self.owner(seed).await,
            };
            match found {
                Ok(info) => return Ok(info),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn named_by(&self, sentinel: &ConnectionInfo, master: &str) -> Result<ConnectionInfo, OpenError> {
        let mut connection = self.connect(sentinel.clone(), None).await?;
        let mut command = redis::cmd("SENTINEL");
        let answer = command.arg("GET-MASTER-ADDR-BY-NAME").arg(master).query_async(&mut connection).await;
        match answer.map_err(|error| OpenError::of(&error))? {
            Value::Array(place) => self.at_place(sentinel, &place),
            _ => Err(OpenError::Unreachable { reason: format!("a sentinel knows no master `{master}`") }),
        }
    }

    async fn owner(&self, node: &ConnectionInfo) -> Result<ConnectionInfo, OpenError> {
        let refused = |error: redis::RedisError| OpenError::of(&error);
        let mut connection = self.connect(self.with_user(node.clone()), None).await?;
        let slot = redis::cmd("CLUSTER").arg("KEYSLOT").arg(&self.key).query_async(&mut connection).await;
        let slot: u64 = slot.map_err(refused)?;
        let ranges = redis::cmd("CLUSTER").arg("SLOTS").query_async(&mut connection).await;
        let ranges: Vec<Value> = ranges.map_err(refused)?;
        for range in ranges {
            let Value::Array(fields) = range else { continue };
            let bound = |at: usize| reply::number(fields.get(at).cloned());
            if let (Ok(first), Ok(last), Some(Value::Array(place))) = (bound(0), bound(1), fields.get(2))
                && (first..=last).contains(&slot)
            {
                return self.at_place(node, place);
            }
        }
        Err(OpenError::Unreachable { reason: format!("no server of the cluster holds slot {slot}") })
    }

    /// The server at (host, port), as `source` knows it.
    fn at_place(&self, source: &ConnectionInfo, place: &[Value]) -> Result<ConnectionInfo, OpenError> {
        let named = place.first().cloned().and_then(|host| reply::text(host).ok()).filter(|host| !host.is_empty());
        let port = reply::number(place.get(1).cloned()).ok().and_then(|port| u16::try_from(port).ok());
        let port = port.ok_or_else(|| OpenError::Unreachable { reason: "a server has no port".to_owned() })?;
        let own = match source.addr() {
            ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => host.clone(),
            other => other.to_string(),
        };
        // A node that does not know its own address leaves it out.
        let host = named.unwrap_or(own);
        let address = match self.certificates {
            Some(_) => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
            None => ConnectionAddr::Tcp(host, port),
        };
        address.into_connection_info().map_err(|error| OpenError::of(&error))
    }

    fn with_user(&self, info: ConnectionInfo) -> ConnectionInfo {
        let mut settings = info.redis_settings().clone();
        if let Some(name) = &self.options.username {
            settings = settings.set_username(name);
        }
        if let Some(password) = &self.options.password {
            settings = settings.set_password(password.reveal());
        }
        info.set_redis_settings(settings)
    }

    async fn connect(&self, info: ConnectionInfo, pushed: Option<Pushed>) -> Result<MultiplexedConnection, OpenError> {
        let place = info.addr().to_string();
        let refused = |error: redis::RedisError| match OpenError::of(&error) {
            OpenError::Unreachable { reason } => OpenError::Unreachable { reason: format!("{place}: {reason}") },
            other => other,
        };
        // The library's version does not concern the server, and telling it is a command that access rules may forbid.
        let mut settings = info.redis_settings().clone().set_skip_set_lib_name();
        let mut config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.options.connect_timeout))
            .set_response_timeout(Some(self.options.command_timeout))
            .set_pipeline_buffer_size(PIPELINE);
        if let Some(pushed) = pushed {
            settings = settings.set_protocol(ProtocolVersion::RESP3);
            config = config.set_push_sender(move |message| {
                pushed(message);
                Ok::<(), ()>(())
            });
        }
        let info = info.set_redis_settings(settings);
        let client = match &self.certificates {
            Some(certificates) => Client::build_with_tls(info, certificates.clone()),
            None => Client::open(info),
        };
        let connecting = async { client?.get_multiplexed_async_connection_with_config(&config).await };
        connecting.await.map_err(refused)
    }
}

fn certificates(files: &TlsFiles) -> Result<TlsCertificates, OpenError> {
    // The process may have chosen already; then that choice holds.
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| drop(rustls::crypto::aws_lc_rs::default_provider().install_default()));
    let read = |path: &Path| std::fs::read(path).map_err(|source| OpenError::File { path: path.to_owned(), source });
    let root_cert = files.ca.as_deref().map(read).transpose()?;
    let client_tls = match &files.client {
        None => None,
        Some((cert, key)) => Some(ClientTlsConfig { client_cert: read(cert)?, client_key: read(key)? }),
    };
    Ok(TlsCertificates { client_tls, root_cert })
}
