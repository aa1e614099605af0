//! The gRPC listener of a process: bind first, serve with health, reflection, TLS and known callers, drain within a bound.
//!
//! A role contributes its generated services through [`Services`]; everything else about the wire is decided here once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::server::ServerTlsConfig;
use tonic::transport::{Certificate, Identity};
use tonic_health::pb::health_server::HealthServer;
use tower::Layer as _;

use crate::config::ServerConfig;
use crate::health::readiness::Readiness;
use crate::health::service::HealthApi;
use crate::shutdown::Shutdown;

pub mod access;
mod admission;
mod auth;
mod calls;
mod connection;
pub(crate) mod error;
mod inside;
mod lanes;
mod life;
mod observed;
pub mod probes;
mod remap;
mod seats;
mod services;
#[cfg(test)]
mod tests;

pub use auth::Auth;
pub use error::ServerError;
pub use life::{ConnectionAge, ConnectionLife};
pub use remap::request_fault;
pub use services::Services;

use access::Access;
use admission::ConnectionLimits;
use calls::CallLayer;
use inside::Inside;
use lanes::Lanes;
use seats::Seats;

pub(crate) use auth::jwks_address;

/// Fewest connections a listener can be told to take.
pub(crate) use admission::FEWEST as FEWEST_CONNECTIONS;

/// What the client side of this crate shares with the server side.
pub(crate) mod internal {
    pub(crate) use super::auth::{Identified, OwnProcess, first_token, is_caller};
    pub(crate) use super::check_exposed;
    pub(crate) use super::error::read;
    pub(crate) use super::inside::Inside;
    pub(crate) use super::observed::{Observation, ObservedBody};
}

/// How often, and how far apart, a port in use is asked for again.
const BIND_ATTEMPTS: u32 = 20;
const BIND_PAUSE: Duration = Duration::from_millis(50);
const TCP_KEEPALIVE: Duration = Duration::from_secs(60);
/// Calls a client may have given up before this process came to them: callers do that while it starts or is slow.
/// Beyond it the connection ends; without room it would end as soon as twenty callers give up.
const PENDING_RESETS: usize = 256;
/// Before the bound of a drain, the moment at which streams that go on are ended in words.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long closed connections may take to be noticed after a drain was cut.
const CUT_GRACE: Duration = Duration::from_secs(2);

/// A listener that already holds its port, before anything else is started.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// The address in use; with port 0 asked for, the port that was found.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn into_listener(self) -> TcpListener {
        self.listener
    }
}

/// Refuses a listener that other machines can reach and that is not `safe`: encrypted, with callers that are known.
pub(crate) fn check_exposed(bound: &Bound, safe: bool) -> Result<(), ServerError> {
    match bound.address.ip().is_loopback() || safe {
        true => Ok(()),
        false => Err(ServerError::Exposed { address: bound.address }),
    }
}

/// Takes the port. Connections queue up until the server runs.
///
/// A port in use is asked for again for about a second: a predecessor that was killed while it started a program may hold
/// it a moment longer than it lived, through the half-started child.
///
/// Fails with [`ServerError::Bind`] when the port is still in use after that, or cannot be taken for another reason.
pub async fn bind(address: SocketAddr) -> Result<Bound, ServerError> {
    let refuse = |source: std::io::Error| ServerError::Bind { address, reason: source.to_string() };
    let mut patience = BIND_ATTEMPTS;
    let listener = loop {
        match TcpListener::bind(address).await {
            Err(source) if source.kind() == std::io::ErrorKind::AddrInUse && patience > 0 => {
                patience -= 1;
                tokio::time::sleep(BIND_PAUSE).await;
            }
            bound => break bound.map_err(refuse)?,
        }
    };
    let address = listener.local_addr().map_err(refuse)?;
    Ok(Bound { listener, address })
}

/// How a server treats its callers; usually [`from_config`](Self::from_config).
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Encryption; `None` is clear text.
    pub tls: Option<ServerTlsConfig>,
    /// Who may call; `None` is everyone who can connect, as tenant `default` with every role.
    pub auth: Option<Arc<Auth>>,
    /// What a caller with access may do.
    pub access: &'static [access::Row],
    /// How long running calls may finish after a stop was asked for.
    pub drain_timeout: Duration,
    /// How old connections become; `None` is as old as their clients like.
    pub connection_age: Option<ConnectionAge>,
    /// How often a quiet client is asked for a sign of life; it has half of that to answer.
    pub keepalive: Duration,
    /// How long a connection may take to its first request of a known caller.
    pub first_request: Duration,
    /// Most connections at once, and most of one address; derived from the descriptors of the process when absent.
    pub connections: (Option<u32>, Option<u32>),
    /// Whether descriptors may be asked for.
    pub reflection: bool,
}

impl Default for ServerSettings {
    /// Clear text, everyone, 10 s, connections without an age, with reflection: for loopback.
    fn default() -> Self {
        Self {
            tls: None,
            auth: None,
            access: access::TABLE,
            drain_timeout: Duration::from_secs(10),
            connection_age: None,
            keepalive: Duration::from_secs(20),
            first_request: Duration::from_secs(10),
            connections: (None, None),
            reflection: true,
        }
    }
}

impl ServerSettings {
    /// The settings of the configuration, with its files read.
    ///
    /// Fails with [`ServerError::File`] when a file cannot be read or a file of tokens or keys is malformed, and with
    /// [`ServerError::Transport`] when keys of an issuer may not be fetched from the configured address.
    pub fn from_config(config: &ServerConfig) -> Result<Self, ServerError> {
        let tls = config.tls.as_ref().map(|files| {
            let identity = Identity::from_pem(
                error::read("server.tls.cert_file", &files.cert_file)?,
                error::read("server.tls.key_file", &files.key_file)?,
            );
            let tls = ServerTlsConfig::new().identity(identity);
            match &files.client_ca_file {
                Some(file) => {
                    Ok(tls.client_ca_root(Certificate::from_pem(error::read("server.tls.client_ca_file", file)?)))
                }
                None => Ok(tls),
            }
        });
        let auth = config.auth.as_ref().map(Auth::from_config).transpose()?;
        Ok(Self {
            tls: tls.transpose()?,
            auth: auth.map(Arc::new),
            access: access::TABLE,
            drain_timeout: config.drain_timeout(),
            connection_age: (config.max_connection_age_ms > 0).then(|| ConnectionAge {
                most: Duration::from_millis(config.max_connection_age_ms),
                grace: Duration::from_millis(config.connection_grace_ms),
            }),
            keepalive: Duration::from_millis(config.keepalive_ms),
            first_request: Duration::from_millis(config.first_request_ms),
            connections: (config.max_connections, config.max_connections_per_address),
            reflection: config.reflection,
        })
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// Everything that ran has finished.
    Complete,
    /// The bound was reached, or the end was forced: connections were cut.
    Cut,
}

/// A server that has its port and its services, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    bound: Bound,
    services: Services,
    settings: ServerSettings,
    readiness: Readiness,
    inside: Option<Inside>,
}

impl Server {
    /// Puts the parts together. A listener beyond loopback that does not both encrypt and know its callers is refused.
    pub fn new(bound: Bound, services: Services, settings: ServerSettings) -> Result<Self, ServerError> {
        check_exposed(&bound, settings.tls.is_some() && settings.auth.is_some())?;
        let readiness = Readiness::default();
        readiness.add(services.names());
        Ok(Self { bound, services, settings, readiness, inside: None })
    }

    /// Opens this way in as well once the server runs.
    pub(crate) fn with_inside(mut self, inside: Inside) -> Self {
        self.inside = Some(inside);
        self
    }

    /// The address in use.
    pub fn address(&self) -> SocketAddr {
        self.bound.address
    }

    /// Answers health checks with what this process needs and has.
    #[must_use]
    pub fn with_readiness(mut self, readiness: Readiness) -> Self {
        readiness.add(self.services.names());
        self.readiness = readiness;
        self
    }

    /// Serves until a stop is asked for, then drains: health says NOT_SERVING, nothing new is accepted, running calls
    /// may finish for `drain_timeout`. Streams that go on are ended as `UNAVAILABLE` just before that, and then
    /// connections are cut. Long streams should follow `shutdown` themselves.
    ///
    /// Fails with [`ServerError::Descriptors`] when the descriptors cannot be read for reflection, and with
    /// [`ServerError::Transport`] when the TLS settings are refused or the transport fails.
    pub async fn run(self, shutdown: Shutdown) -> Result<Drain, ServerError> {
        let Self { bound, services, settings, readiness, inside } = self;
        let (draining, stop) = (CancellationToken::new(), CancellationToken::new());
        let (ends, cut) = (CancellationToken::new(), CancellationToken::new());
        readiness.open(true);
        let catalog = services.catalog();
        let access = Access::new(settings.access, catalog.clone());
        let layer = CallLayer::new(catalog, access, settings.auth.clone(), draining.clone());
        // Files of keys are followed as long as the server runs.
        let _following = settings.auth.as_ref().map(Auth::follow);
        let routes = routes(services, &settings, &readiness)?;
        if let Some(inside) = inside {
            inside.open(layer.layer(routes.clone()));
        }
        let mut lanes = Lanes::new(settings.tls.is_some());
        let ages =
            settings.connection_age.map_or_else(|| vec![None], |age| age.lanes().into_iter().map(Some).collect());
        for age in ages {
            let router = transport(&settings, age)?.layer(layer.clone()).add_routes(routes.clone());
            let connections = lanes.add(age, &ends, &cut);
            let serving = router.serve_with_incoming_shutdown(connections, stop.clone().cancelled_owned());
            lanes.serve(async move { serving.await.map_err(ServerError::transport) });
        }
        let (total, per_address) = settings.connections;
        let seats =
            Seats::new(ConnectionLimits::derive(total, per_address, seats::descriptors(), settings.first_request));
        let incoming = connection::incoming(bound.listener, TCP_KEEPALIVE, seats.clone());
        let serving = lanes.run(incoming, seats, stop.clone());
        let mut serving = std::pin::pin!(serving);
        tracing::info!(address = %bound.address, "serving");
        tokio::select! {
            ended = &mut serving => {
                ended?;
                return Ok(Drain::Complete);
            }
            () = shutdown.requested() => {}
        }
        readiness.open(false);
        draining.cancel();
        stop.cancel();
        let last_words = LAST_WORDS.min(settings.drain_timeout / 2);
        let bound = async {
            tokio::time::sleep(settings.drain_timeout - last_words).await;
            ends.cancel();
            tokio::time::sleep(last_words).await;
        };
        tokio::select! {
            ended = &mut serving => {
                ended?;
                return Ok(Drain::Complete);
            }
            () = bound => {}
            () = shutdown.forced() => {}
        }
        tracing::warn!("drain ended early: cutting connections");
        cut.cancel();
        match tokio::time::timeout(CUT_GRACE, serving).await {
            Ok(ended) => ended?,
            Err(_) => tracing::warn!("some connections did not close in time"),
        }
        Ok(Drain::Cut)
    }
}

/// The services of the roles, and health.
fn routes(services: Services, settings: &ServerSettings, readiness: &Readiness) -> Result<Routes, ServerError> {
    let health = HealthServer::new(HealthApi(readiness.clone()));
    Ok(services.into_routes(settings.reflection)?.add_service(health).prepare())
}

/// The transport of connections that become this old. The end of their grace is their own business: told of a grace, the
/// transport would not ask clients to leave before it is over.
fn transport(settings: &ServerSettings, age: Option<ConnectionAge>) -> Result<tonic::transport::Server, ServerError> {
    let mut server = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(settings.keepalive))
        .http2_keepalive_timeout(Some(settings.keepalive / 2))
        .http2_max_pending_accept_reset_streams(Some(PENDING_RESETS));
    if let Some(age) = age {
        server = server.max_connection_age(age.most);
    }
    match &settings.tls {
        Some(tls) => server.tls_config(tls.clone()).map_err(ServerError::transport),
        None => Ok(server),
    }
}
