//! Accepting connections, encrypting them, and serving requests on them until the listener drains.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http_body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt as _};

use super::{ShownCertificates, WebSettings};
use crate::server::Drain;
use crate::shutdown::Shutdown;
use crate::tasks;

/// Pause after a failed accept: without it, running out of file descriptors would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What all connections of a listener share.
struct Terms<S> {
    service: S,
    settings: WebSettings,
    /// Ends connections that did not end in time.
    cut: CancellationToken,
}

/// Serves the listener until a stop is asked for, and drains it.
pub(super) async fn serve<S, B>(listener: TcpListener, settings: WebSettings, service: S, shutdown: Shutdown) -> Drain
where
    S: Service<http::Request<Incoming>, Response = http::Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let places = Arc::new(Semaphore::new(settings.max_connections.min(Semaphore::MAX_PERMITS)));
    let (graceful, cut) = (GracefulShutdown::new(), CancellationToken::new());
    let drain_timeout = settings.drain_timeout;
    let stop = shutdown.token();
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Without a place the connection is closed: what waits in a queue is not served either, and does not know it.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let terms = Terms { service: service.clone(), settings: settings.clone(), cut: cut.clone() };
        let watcher = graceful.watcher();
        let serving = async move {
            let cut = terms.cut.clone();
            cut.run_until_cancelled(connection(stream, terms, watcher)).await;
            drop(place);
        };
        drop(tasks::spawn("http connection", serving));
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => Drain::Complete,
        () = tokio::time::sleep(drain_timeout) => cut_off(&cut),
        () = shutdown.forced() => cut_off(&cut),
    }
}

fn cut_off(cut: &CancellationToken) -> Drain {
    tracing::warn!("drain ended early: cutting HTTP connections");
    cut.cancel();
    Drain::Cut
}

/// Serves one connection to its end.
async fn connection<S, B>(stream: TcpStream, terms: Terms<S>, watcher: Watcher)
where
    S: Service<http::Request<Incoming>, Response = http::Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // Answers are small: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let Some(tls) = terms.settings.tls.clone() else {
        return requests(stream, None, terms, watcher).await;
    };
    let accepting = TlsAcceptor::from(tls).accept(stream);
    match tokio::time::timeout(terms.settings.head_timeout, accepting).await {
        Ok(Ok(stream)) => {
            let shown = stream.get_ref().1.peer_certificates().map(|chain| ShownCertificates(chain.to_vec().into()));
            requests(stream, shown, terms, watcher).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "a connection could not be encrypted"),
        Err(_) => tracing::debug!("a connection took too long to be encrypted"),
    }
}

async fn requests<I, S, B>(stream: I, shown: Option<ShownCertificates>, terms: Terms<S>, watcher: Watcher)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<http::Request<Incoming>, Response = http::Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let Terms { service, settings, .. } = terms;
    let service = service.map_request(move |mut request: http::Request<Incoming>| {
        if let Some(shown) = &shown {
            request.extensions_mut().insert(shown.clone());
        }
        request
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(settings.head_timeout);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(settings.keepalive)
        .keep_alive_timeout(settings.keepalive / 2);
    let serving = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    if let Err(error) = watcher.watch(serving).await {
        tracing::debug!(error, "an HTTP connection broke");
    }
}
