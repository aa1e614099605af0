//! The gRPC listener of a process: bind first, serve with health, reflection, TLS and tokens, drain within a bound.
//!
//! A role contributes its generated services through [`Services`]; everything else about the wire is decided here once.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::server::ServerTlsConfig;
use tonic::transport::{Certificate, Identity};
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tower::Layer as _;

use crate::config::ServerConfig;
use crate::shutdown::Shutdown;

mod auth;
mod calls;
mod connection;
mod error;
mod inside;
mod observed;
mod remap;
mod services;
#[cfg(test)]
mod tests;

pub use auth::TokenSet;
pub use error::ServerError;
pub use remap::request_fault;
pub use services::Services;

use calls::CallLayer;
use inside::Inside;

/// What the client side of this crate shares with the server side.
pub(crate) mod internal {
    pub(crate) use super::auth::first_token;
    pub(crate) use super::error::read;
    pub(crate) use super::inside::Inside;
    pub(crate) use super::observed::{Observation, ObservedBody};
}

/// How often, and how far apart, a port in use is asked for again.
const BIND_ATTEMPTS: u32 = 20;
const BIND_PAUSE: Duration = Duration::from_millis(50);
const TCP_KEEPALIVE: Duration = Duration::from_secs(60);
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
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
}

/// Takes the port. Connections queue up until the server runs.
///
/// A port in use is asked for again for about a second: a predecessor that was killed while it started a program may hold
/// it a moment longer than it lived, through the half-started child.
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
    /// Who may call; `None` is everyone who can connect.
    pub tokens: Option<TokenSet>,
    /// How long running calls may finish after a stop was asked for.
    pub drain_timeout: Duration,
    /// Whether descriptors may be asked for.
    pub reflection: bool,
}

impl Default for ServerSettings {
    /// Clear text, everyone, 10 s, with reflection: for loopback.
    fn default() -> Self {
        Self { tls: None, tokens: None, drain_timeout: Duration::from_secs(10), reflection: true }
    }
}

impl ServerSettings {
    /// The settings of the configuration, with its files read.
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
        let tokens = config.auth.as_ref().map(|auth| TokenSet::read("server.auth.token_file", &auth.token_file));
        Ok(Self {
            tls: tls.transpose()?,
            tokens: tokens.transpose()?,
            drain_timeout: config.drain_timeout(),
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

/// The health of the services of one server, as `grpc.health.v1` reports it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Health {
    reporter: HealthReporter,
    names: Vec<&'static str>,
}

impl Health {
    /// Says whether one service can do its work now (its store is there, its peers answer).
    pub async fn set(&self, service: &str, serving: bool) {
        self.reporter.set_service_status(service, status(serving)).await;
    }

    /// Says it for the whole server (`""`) and every service of it.
    pub async fn set_all(&self, serving: bool) {
        self.set("", serving).await;
        for name in &self.names {
            self.set(name, serving).await;
        }
    }
}

fn status(serving: bool) -> ServingStatus {
    if serving { ServingStatus::Serving } else { ServingStatus::NotServing }
}

/// A server that has its port and its services, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    bound: Bound,
    services: Services,
    settings: ServerSettings,
    health: Health,
    inside: Option<Inside>,
}

impl Server {
    /// Puts the parts together. A listener beyond loopback without both encryption and tokens is refused.
    pub fn new(bound: Bound, services: Services, settings: ServerSettings) -> Result<Self, ServerError> {
        if !bound.address.ip().is_loopback() && (settings.tls.is_none() || settings.tokens.is_none()) {
            return Err(ServerError::Exposed { address: bound.address });
        }
        let health = Health { reporter: HealthReporter::new(), names: services.names() };
        Ok(Self { bound, services, settings, health, inside: None })
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

    /// The health to report; all services serve from [`run`](Self::run) on until told otherwise.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Serves until a stop is asked for, then drains: health says NOT_SERVING, nothing new is accepted, running calls
    /// may finish for `drain_timeout`, then connections are cut. Long streams should follow `shutdown` themselves.
    pub async fn run(self, shutdown: Shutdown) -> Result<Drain, ServerError> {
        let Self { bound, services, settings, health, inside } = self;
        let (draining, stop, cut) = (CancellationToken::new(), CancellationToken::new(), CancellationToken::new());
        health.set_all(true).await;
        let layer = CallLayer::new(services.catalog(), settings.tokens.clone(), draining.clone());
        let routes = routes(services, &settings, &health)?;
        if let Some(inside) = inside {
            inside.open(layer.layer(routes.clone()));
        }
        let router = transport(&settings)?.layer(layer).add_routes(routes);
        let incoming = connection::incoming(bound.listener, TCP_KEEPALIVE, cut.clone());
        let serving = router.serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
        let mut serving = std::pin::pin!(serving);
        tracing::info!(address = %bound.address, "serving");
        tokio::select! {
            ended = &mut serving => {
                ended.map_err(ServerError::transport)?;
                return Ok(Drain::Complete);
            }
            () = shutdown.requested() => {}
        }
        health.set_all(false).await;
        draining.cancel();
        stop.cancel();
        tokio::select! {
            ended = &mut serving => {
                ended.map_err(ServerError::transport)?;
                return Ok(Drain::Complete);
            }
            () = tokio::time::sleep(settings.drain_timeout) => {}
            () = shutdown.forced() => {}
        }
        tracing::warn!("drain ended early: cutting connections");
        cut.cancel();
        match tokio::time::timeout(CUT_GRACE, serving).await {
            Ok(ended) => ended.map_err(ServerError::transport)?,
            Err(_) => tracing::warn!("some connections did not notice"),
        }
        Ok(Drain::Cut)
    }
}

/// The services of the roles, and health.
fn routes(services: Services, settings: &ServerSettings, health: &Health) -> Result<Routes, ServerError> {
    let health = HealthServer::new(HealthService::from_health_reporter(health.reporter.clone()));
    Ok(services.into_routes(settings.reflection)?.add_service(health).prepare())
}

fn transport(settings: &ServerSettings) -> Result<tonic::transport::Server, ServerError> {
    let server = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(PING_EVERY))
        .http2_keepalive_timeout(Some(PING_TIMEOUT));
    match &settings.tls {
        Some(tls) => server.tls_config(tls.clone()).map_err(ServerError::transport),
        None => Ok(server),
    }
}
