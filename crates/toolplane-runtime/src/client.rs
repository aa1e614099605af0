//! Channels to the other roles: lazy, kept alive, with token and trace context on every call.

use std::error::Error as StdError;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::Either;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use opentelemetry::Context as TraceContext;
use tonic::body::Body;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Status, TimeoutExpired};
use toolplane_records::codes;
use toolplane_records::ids::TenantId;
use tower::Service;

use crate::caller::{self, Caller};
use crate::config::Config;
use crate::server::internal::{Inside, Observation, ObservedBody, OwnProcess, first_token, is_caller, read};
use crate::server::{ServerError, access};
use crate::status::ApiError;
use crate::telemetry::Span;
use crate::telemetry::context::{TRACEPARENT, inject_into_headers};
use crate::telemetry::spans::rpc;
use crate::tls::TlsFault;

mod choice;
mod retry;
#[cfg(test)]
mod tests;

pub use retry::{Backoff, retry};

use choice::{Choice, Picked};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TCP_KEEPALIVE: Duration = Duration::from_secs(60);
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// How peers are connected to; usually [`from_config`](Self::from_config).
#[derive(Clone, Debug, Default)]
pub struct PeerSettings {
    /// Authority that signed the peers' certificates (PEM); needed for `https`.
    pub ca: Option<Vec<u8>>,
    /// Our certificate and key (PEM), for peers that ask for one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// Name in the peers' certificates, when it is not the host of the URL.
    pub server_name: Option<String>,
    /// Our bearer token.
    pub token: Option<String>,
}

impl PeerSettings {
    /// The settings of the configuration, with its files read. Fails with [`ServerError::File`] when one of them cannot
    /// be read, or when a token file is not UTF-8 text or holds no token.
    pub fn from_config(config: &Config) -> Result<Self, ServerError> {
        let peers = &config.peers;
        let identity = config.server.tls.as_ref().map(|tls| {
            Ok((read("server.tls.cert_file", &tls.cert_file)?, read("server.tls.key_file", &tls.key_file)?))
        });
        let identity: Option<(Vec<u8>, Vec<u8>)> = identity.transpose()?;
        // A certificate that is a caller says who we are: a token beside it would be of another caller.
        let auth = config.server.auth.as_ref();
        let named = auth.zip(identity.as_ref()).is_some_and(|(auth, (certificate, _))| is_caller(auth, certificate));
        let own = auth.and_then(|auth| auth.token_file.as_ref()).filter(|_| !named);
        let token = match (&peers.token_file, own) {
            (Some(file), _) => Some(first_token("peers.token_file", file)?),
            (None, Some(file)) => Some(first_token("server.auth.token_file", file)?),
            (None, None) => None,
        };
        Ok(Self {
            ca: peers.ca_file.as_ref().map(|file| read("peers.ca_file", file)).transpose()?,
            identity,
            server_name: peers.server_name.clone(),
            token,
        })
    }
}

impl PeerSettings {
    /// The settings of a service of somebody else, with its files read: nothing of what this process shows its peers.
    ///
    /// # Errors
    ///
    /// [`ServerError::Transport`] when one of them cannot be read, or the token file has no token in its first line.
    pub fn of_files(token_file: Option<&Path>, ca_file: Option<&Path>) -> Result<Self, ServerError> {
        let unreadable =
            |key: &str, error: std::io::Error| ServerError::Transport(format!("`{key}` cannot be read: {error}"));
        let token = match token_file {
            None => None,
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| unreadable("token_file", error))?;
                let first = text.lines().next().unwrap_or_default().trim().to_owned();
                if first.is_empty() {
                    return Err(ServerError::Transport("`token_file` has no token in its first line".to_owned()));
                }
                Some(first)
            }
        };
        let ca = match ca_file {
            None => None,
            Some(file) => Some(std::fs::read(file).map_err(|error| unreadable("ca_file", error))?),
        };
        Ok(Self { ca, token, ..Self::default() })
    }
}

/// The URL under which a process reaches its own listener.
pub fn own_url(address: SocketAddr, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(reachable(address.ip()), address.port()))
}

/// The address under which this machine reaches a listener on `ip`.
fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    }
}

/// A channel to one role, for generated clients (`SurfaceServiceClient::new(peer)`). Cheap to clone; clones share the
/// connection.
///
/// A connection that cannot be made, or breaks under a call, answers the call with `UNAVAILABLE`.
#[derive(Clone, Debug)]
pub struct Peer {
    way: Way,
    authorization: Option<HeaderValue>,
}

impl Peer {
    /// Whether the peer is this very process, so that a call may carry [typed](crate::typed) streams.
    pub fn is_inside(&self) -> bool {
        matches!(self.way, Way::Inside(..))
    }

    /// A request made for `caller`, whom this process serves: the peer treats it as the caller's own.
    pub fn on_behalf<T>(caller: &Caller, request: T) -> tonic::Request<T> {
        spoken(request, |headers| caller::carry(caller, headers))
    }

    /// The peer for all that `caller` asks through this process.
    pub fn serving(self, caller: Arc<Caller>) -> OnBehalf {
        OnBehalf { peer: self, caller }
    }

    /// A request of this process about things of `tenant`.
    pub fn for_tenant<T>(tenant: &TenantId, request: T) -> tonic::Request<T> {
        spoken(request, |headers| caller::carry_tenant(tenant, headers))
    }
}

/// A channel on which every request is of one caller, whom this process serves: the peer treats it as the caller's own. What the caller's
/// roles do not allow is refused before it is asked.
#[derive(Clone, Debug)]
pub struct OnBehalf {
    peer: Peer,
    caller: Arc<Caller>,
}

impl Service<http::Request<Body>> for OnBehalf {
    type Response = http::Response<Body>;
    type Error = tonic::transport::Error;
    type Future = <Peer as Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.peer.poll_ready(cx)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        // The peer trusts this process: what its callers may not ask is refused here.
        let method = request.uri().path().trim_start_matches('/');
        if let Err(refused) = access::check_outside(method, self.caller.roles) {
            return Box::pin(std::future::ready(Ok(Status::from(refused).into_http())));
        }
        caller::carry(&self.caller, request.headers_mut());
        self.peer.call(request)
    }
}

fn spoken<T>(request: T, carry: impl FnOnce(&mut http::HeaderMap)) -> tonic::Request<T> {
    let mut request = tonic::Request::new(request);
    let mut headers = std::mem::take(request.metadata_mut()).into_headers();
    carry(&mut headers);
    *request.metadata_mut() = tonic::metadata::MetadataMap::from_headers(headers);
    request
}

/// How calls reach a peer.
#[derive(Clone, Debug)]
enum Way {
    Connection(Line),
    /// One of several processes, chosen for each call.
    Any(Choice<Line>, Option<Picked<Line>>),
    /// The peer is this very process.
    Inside(Inside, ServerAddress),
}

/// A connection and where it leads.
#[derive(Clone, Debug)]
struct Line {
    channel: Channel,
    place: ServerAddress,
}

/// What spans say about where a call went.
#[derive(Clone, Debug)]
struct ServerAddress {
    host: Arc<str>,
    port: u16,
}

/// A channel to the peer at `url` (`http://` or `https://`). Connects at the first call, and again whenever needed.
/// Must be called within the runtime.
///
/// Fails with [`ServerError::Transport`] when `url` is not such a URL, when an `https://` peer is named without a
/// [`PeerSettings::ca`], and when the certificates or the token cannot be used. That the peer is away is no error here:
/// calls find out.
pub fn connect(url: &str, settings: &PeerSettings) -> Result<Peer, ServerError> {
    Ok(Peer { way: Way::Connection(line(url, settings)?), authorization: authorization(settings)? })
}

/// A channel to one of the processes at `urls`, which can do each other's work: calls stay with one of them, at first any,
/// until it is away, and then move to the next. A call that was already under way is answered with `UNAVAILABLE` and
/// not repeated here; see [`retry`]. At least one URL; must be called within the runtime.
///
/// Fails with [`ServerError::Transport`] when `urls` is empty, and when [`connect`] would fail for one of them.
pub fn connect_any(urls: &[String], settings: &PeerSettings) -> Result<Peer, ServerError> {
    match urls {
        [] => Err(ServerError::Transport("no URL to connect to".to_owned())),
        [url] => connect(url, settings),
        urls => {
            let lines: Vec<Line> = urls.iter().map(|url| line(url, settings)).collect::<Result<_, _>>()?;
            let first = usize::try_from(RandomState::new().hash_one(urls.len())).unwrap_or_default();
            let way = Way::Any(Choice::new(lines, first), None);
            Ok(Peer { way, authorization: authorization(settings)? })
        }
    }
}

fn line(url: &str, settings: &PeerSettings) -> Result<Line, ServerError> {
    let bad = |reason: &str| ServerError::Transport(format!("`{url}` {reason}"));
    let mut endpoint = Endpoint::from_shared(url.to_owned())
        .map_err(|_| bad("is not a URL"))?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .tcp_keepalive(Some(TCP_KEEPALIVE))
        .http2_keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .keep_alive_while_idle(true);
    let (secure, host) = match (endpoint.uri().scheme_str(), endpoint.uri().host()) {
        (Some("http"), Some(host)) => (false, host.to_owned()),
        (Some("https"), Some(host)) => (true, host.to_owned()),
        _ => return Err(bad("must be `http://host:port` or `https://host:port`")),
    };
    let port = endpoint.uri().port_u16().unwrap_or(if secure { 443 } else { 80 });
    if secure {
        let ca = settings.ca.as_ref().ok_or_else(|| bad("is encrypted: set `peers.ca_file`"))?;
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca));
        if let Some((cert, key)) = &settings.identity {
            tls = tls.identity(Identity::from_pem(cert, key));
        }
        if let Some(name) = &settings.server_name {
            tls = tls.domain_name(name);
        }
        endpoint = endpoint.tls_config(tls).map_err(ServerError::transport)?;
    }
    Ok(Line { channel: endpoint.connect_lazy(), place: ServerAddress { host: host.into(), port } })
}

/// The peer that is this very process, whose listener is at `address`. A call takes the way inside: it is checked,
/// traced and served like any other, and needs no connection.
pub(crate) fn own(inside: Inside, address: SocketAddr, settings: &PeerSettings) -> Result<Peer, ServerError> {
    let place = ServerAddress { host: reachable(address.ip()).to_string().into(), port: address.port() };
    Ok(Peer { way: Way::Inside(inside, place), authorization: authorization(settings)? })
}

fn authorization(settings: &PeerSettings) -> Result<Option<HeaderValue>, ServerError> {
    let Some(token) = &settings.token else { return Ok(None) };
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| ServerError::Transport("a token cannot be sent: it is no header value".to_owned()))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

impl Service<http::Request<Body>> for Peer {
    type Response = http::Response<Body>;
    type Error = tonic::transport::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match &mut self.way {
            Way::Connection(line) => Service::poll_ready(&mut line.channel, cx),
            Way::Any(choice, picked) => {
                let picked = picked.get_or_insert_with(|| choice.pick(Instant::now()));
                Service::poll_ready(&mut picked.one.channel, cx)
            }
            Way::Inside(..) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let (way, place, outcome) = match &mut self.way {
            Way::Connection(line) => (Either::Left(&mut line.channel), &line.place, None),
            Way::Any(choice, picked) => {
                let picked = picked.get_or_insert_with(|| choice.pick(Instant::now()));
                (Either::Left(&mut picked.one.channel), &picked.one.place, Some((choice.clone(), picked.at)))
            }
            Way::Inside(inside, place) => (Either::Right(inside), &*place, None),
        };
        let method = request.uri().path().trim_start_matches('/');
        // Health is asked for every few seconds, and says nothing about a call.
        let span = match method.starts_with("grpc.health.") {
            true => Span::none(),
            false => rpc::client(method, &place.host, place.port),
        };
        let headers = request.headers_mut();
        // A caller that set a context of its own (a queue entry's) knows better.
        if !headers.contains_key(TRACEPARENT) {
            match span.context() {
                Some(context) => inject_into_headers(context, headers),
                None => TraceContext::map_current(|context| inject_into_headers(context, headers)),
            }
        }
        if let Some(token) = self.authorization.as_ref().filter(|_| !headers.contains_key(AUTHORIZATION)) {
            headers.insert(AUTHORIZATION, token.clone());
        }
        let observation = Observation::client(span.clone());
        let call = match way {
            Either::Left(channel) => Either::Left(Service::call(channel, request)),
            Either::Right(inside) => {
                request.extensions_mut().insert(OwnProcess);
                Either::Right(inside.clone().call(request).map(Ok))
            }
        };
        if let Way::Any(_, picked) = &mut self.way {
            // The next call chooses anew.
            *picked = None;
        }
        Box::pin(async move {
            let answer = answered(call.await);
            if let (Some((choice, at)), Ok(response)) = (outcome, &answer) {
                choice.note(at, code_of(response) != Some(Code::Unavailable), Instant::now());
            }
            finish(answer, span, observation)
        })
    }
}

/// A broken or missing connection as the answer gRPC has for it. The caller's own deadline stays what it is.
fn answered<E: StdError + 'static>(answer: Result<http::Response<Body>, E>) -> Result<http::Response<Body>, E> {
    let error = match answer {
        Ok(response) => return Ok(response),
        Err(error) => error,
    };
    let mut cause: Option<&(dyn StdError + 'static)> = Some(&error);
    let mut said = String::new();
    while let Some(one) = cause {
        if one.is::<TimeoutExpired>() {
            return Err(error);
        }
        said = one.to_string();
        cause = one.source();
    }
    let (reason, said) = match TlsFault::find(&error) {
        Some(fault) => (codes::TLS_FAILED, fault.to_string()),
        None => (codes::NO_CONNECTION, said),
    };
    let gone = ApiError::Unavailable { reason, message: format!("no connection: {said}"), retry_after: Duration::ZERO };
    Ok(Status::from(gone).into_http())
}

/// The status of a call that failed before its first message.
fn code_of(response: &http::Response<Body>) -> Option<Code> {
    response.headers().get(Status::GRPC_STATUS).map(|code| Code::from_bytes(code.as_bytes()))
}

/// Follows the call to its status: now, or at the end of its body.
fn finish<E>(
    answer: Result<http::Response<Body>, E>,
    span: Span,
    mut observation: Observation,
) -> Result<http::Response<Body>, E> {
    match answer {
        Ok(response) => match code_of(&response) {
            Some(code) => {
                observation.end(code);
                Ok(response)
            }
            None if span.is_disabled() => {
                observation.end(Code::Ok);
                Ok(response)
            }
            None => Ok(response.map(|body| Body::new(ObservedBody::new(body, observation, None)))),
        },
        Err(error) => {
            observation.end(Code::Unavailable);
            Err(error)
        }
    }
}
