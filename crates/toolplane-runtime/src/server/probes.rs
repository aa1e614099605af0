//! A listener that answers health checks and nothing else, for processes without one of their own and for probes that
//! must not wait in a queue with callers.

use std::net::SocketAddr;

use tokio_util::sync::CancellationToken;
use tonic_health::pb::health_server::HealthServer;

use super::admission::ConnectionLimits;
use super::lanes::Lanes;
use super::seats::Seats;
use super::{Access, Bound, CallLayer, ServerError, ServerSettings, Services, TCP_KEEPALIVE, connection, transport};
use crate::health::{HealthApi, Readiness};

/// Answers health checks at a port that is held, in clear text, until `stop`. It says nothing but what a service lacks,
/// and takes few connections. Fails with [`ServerError::Transport`] when the transport fails.
pub async fn serve(bound: Bound, readiness: Readiness, stop: CancellationToken) -> Result<(), ServerError> {
    let settings = ServerSettings::default();
    let catalog = Services::default().catalog();
    let layer = CallLayer::new(catalog.clone(), Access::new(&[], catalog), None, stop.clone());
    let router = transport(&settings, None)?.layer(layer).add_service(HealthServer::new(HealthApi(readiness)));
    let seats = Seats::new(ConnectionLimits::of_probes(settings.first_request));
    let mut lanes = Lanes::new(false);
    let connections = lanes.add(None, &stop, &stop);
    let serving = router.serve_with_incoming_shutdown(connections, stop.clone().cancelled_owned());
    lanes.serve(async move { serving.await.map_err(ServerError::transport) });
    lanes.run(connection::incoming(bound.listener, TCP_KEEPALIVE, seats.clone()), seats, stop).await
}

/// Where a process that serves nothing answers health checks when it is not told: on this machine only, at a free port.
pub const ANYWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
