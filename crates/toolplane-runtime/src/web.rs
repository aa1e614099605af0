//! The HTTP listener of a process, beside the gRPC one: HTTP/1.1 and HTTP/2 on one port, with the same encryption and the same ways to
//! know callers. What is answered, and to whom, is the business of who uses it.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http_body::Body;
use hyper::body::Incoming;
use rustls::pki_types::CertificateDer;
use tower::Service;

use crate::caller::Caller;
use crate::config::{GatewayConfig, ServerConfig};
use crate::server::internal::{Identified, check_exposed};
use crate::server::{Auth, Bound, Drain, ServerError};
use crate::shutdown::Shutdown;

mod connections;

/// How an HTTP listener treats its callers; usually [`from_config`](Self::from_config).
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// Encryption; `None` is clear text.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Who may call; `None` is everyone who can connect, as tenant `default` with every role.
    pub auth: Option<Arc<Auth>>,
    /// Most connections at once; further ones are closed.
    pub max_connections: usize,
    /// How long a client may take for the head of a request, the first of a connection or a later one.
    pub head_timeout: Duration,
    /// How often a quiet client of HTTP/2 is asked for a sign of life; it has half of that to answer.
    pub keepalive: Duration,
    /// How long what runs may finish after a stop was asked for.
    pub drain_timeout: Duration,
}

impl WebSettings {
    /// The settings of the configuration, with its files read.
    ///
    /// Fails with [`ServerError::File`] when a file cannot be read or used, and with [`ServerError::Transport`] when keys of an
    /// issuer may not be fetched from the configured address.
    pub fn from_config(server: &ServerConfig, gateway: &GatewayConfig) -> Result<Self, ServerError> {
        Ok(Self {
            tls: server.tls.as_ref().map(crate::tls::of_server).transpose()?.map(Arc::new),
            auth: server.auth.as_ref().map(Auth::from_config).transpose()?.map(Arc::new),
            max_connections: usize::try_from(gateway.max_connections).unwrap_or(usize::MAX),
            head_timeout: Duration::from_millis(server.first_request_ms),
            keepalive: Duration::from_millis(server.keepalive_ms),
            drain_timeout: server.drain_timeout(),
        })
    }
}

/// What a client showed of itself while the connection was encrypted; in the extensions of its requests.
#[derive(Clone, Debug)]
pub(crate) struct ShownCertificates(pub(crate) Arc<[CertificateDer<'static>]>);

/// Knows callers by what their requests show. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Callers(Option<Arc<Auth>>);

impl Callers {
    /// Whether a credential is asked for at all.
    pub fn are_known(&self) -> bool {
        self.0.is_some()
    }

    /// Who sent a request with this head. Fails with [`ApiError::Unauthenticated`](crate::ApiError::Unauthenticated) where a
    /// credential is asked for and none that is good is shown, and with
    /// [`ApiError::Unavailable`](crate::ApiError::Unavailable) where the keys of an issuer cannot be fetched.
    pub async fn identify(
        &self,
        headers: &http::HeaderMap,
        extensions: &http::Extensions,
    ) -> Result<Arc<Caller>, crate::ApiError> {
        let Some(auth) = &self.0 else { return Ok(Caller::unauthenticated()) };
        match auth.identify(headers, extensions) {
            Identified::Now(found) => found,
            Identified::Later(found) => found.await,
        }
    }
}

/// An HTTP listener that has its port and does not answer yet.
#[derive(Debug)]
pub struct WebServer {
    bound: Bound,
    settings: WebSettings,
}

impl WebServer {
    /// Puts the parts together. Fails with [`ServerError::Exposed`] for a listener beyond loopback that does not both encrypt and
    /// know its callers.
    pub fn new(bound: Bound, settings: WebSettings) -> Result<Self, ServerError> {
        check_exposed(&bound, settings.tls.is_some() && settings.auth.is_some())?;
        Ok(Self { bound, settings })
    }

    /// The address in use.
    pub fn address(&self) -> std::net::SocketAddr {
        self.bound.address()
    }

    /// Whether it is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.settings.tls.is_some()
    }

    /// Knows its callers.
    pub fn callers(&self) -> Callers {
        Callers(self.settings.auth.clone())
    }

    /// Serves until a stop is asked for, then lets what runs finish within [`WebSettings::drain_timeout`], and cuts the rest.
    pub async fn run<S, B>(self, service: S, shutdown: Shutdown) -> Drain
    where
        S: Service<http::Request<Incoming>, Response = http::Response<B>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        // Files of keys are followed as long as the listener runs.
        let _following = self.settings.auth.as_ref().map(Auth::follow);
        connections::serve(self.bound.into_listener(), self.settings, service, shutdown).await
    }
}
