//! Streamable HTTP: every message is a request of its own; its answer is one message, or a stream of events.

pub(crate) mod events;
mod exchange;
pub(crate) mod headers;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use http::{Method, Request, Response};
use parking_lot::Mutex;
use tokio::task::{AbortHandle, JoinSet};

use crate::core::Core;
use crate::failure::CloseReason;
use crate::flight::Mailbox;
use crate::link::Heading;
use exchange::{Exchange, open, tell_once};

/// Answers to a server's own requests, and notices to it, that may be on their way at once.
const SIDE_REQUESTS: usize = 32;

/// The body of an answer, in pieces.
pub type Body = BoxStream<'static, Result<Bytes, String>>;

/// Why a request got no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Nothing has left: the address is not allowed or cannot be reached.
    #[error("{0}")]
    NotSent(String),
    /// It has left, or part of it has.
    #[error("{0}")]
    MayBeSent(String),
}

/// Sends one HTTP request, wherever that may go, with whatever credentials belong to it.
///
/// Redirects are answers like others: they are not followed by this client. Dropping the future or the body ends the request.
pub trait HttpSend: Send + Sync + fmt::Debug {
    /// Sends `request` and gives the answer as soon as its head is there. Fails when there is none.
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, SendError>>;
}

/// A server over HTTP.
#[derive(Clone, Debug)]
pub struct HttpEndpoint {
    /// The address of its one path, e.g. `https://tools.example.org/mcp`.
    pub url: String,
    /// Headers of every request, e.g. those a server wants beside its credentials. Those of the protocol cannot be set.
    pub headers: Vec<(String, String)>,
    /// What sends.
    pub send: Arc<dyn HttpSend>,
}

/// The sending end. What is under way ends when it is dropped.
#[derive(Debug)]
pub(crate) struct HttpLink {
    shared: Arc<Shared>,
    tasks: Mutex<JoinSet<()>>,
    exchanges: Mutex<HashMap<u64, AbortHandle>>,
}

/// What every exchange of a session knows.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) core: Arc<Core>,
    pub(crate) endpoint: HttpEndpoint,
    /// The session the server gave (the older way).
    pub(crate) session: Mutex<Option<String>>,
    side_requests: AtomicUsize,
}

impl HttpLink {
    pub(crate) fn new(core: Arc<Core>, endpoint: HttpEndpoint) -> Self {
        let shared = Shared { core, endpoint, session: Mutex::default(), side_requests: AtomicUsize::new(0) };
        Self { shared: Arc::new(shared), tasks: Mutex::default(), exchanges: Mutex::default() }
    }

    pub(crate) fn session(&self) -> Option<String> {
        self.shared.session.lock().clone()
    }

    /// Forgets the session, if it is still that one. Tells whether it was.
    pub(crate) fn forget_session(&self, gone: &Option<String>) -> bool {
        let mut session = self.shared.session.lock();
        let same = *session == *gone;
        if same {
            *session = None;
        }
        same
    }

    pub(crate) fn send(&self, id: u64, bytes: Bytes, heading: Heading, mailbox: Arc<Mailbox>) {
        let exchange = Exchange { shared: self.shared.clone(), id, heading, mailbox };
        let mut exchanges = self.exchanges.lock();
        exchanges.retain(|_, exchange| !exchange.is_finished());
        exchanges.insert(id, self.spawn(exchange.run(bytes)));
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.tasks.lock();
        while tasks.try_join_next().is_some() {}
        let closed = self.shared.core.closed().clone();
        tasks.spawn(async move {
            tokio::select! {
                () = closed.cancelled() => {}
                () = task => {}
            }
        })
    }

    pub(crate) async fn tell(&self, bytes: Bytes, heading: Heading) {
        tell_once(&self.shared, bytes, &heading).await;
    }

    pub(crate) fn answer(&self, bytes: Bytes, heading: Heading) {
        answer(&self.shared, bytes, &heading, |task| drop(self.spawn(task)));
    }

    pub(crate) fn abandon(&self, id: u64, notice: Option<Bytes>, heading: Heading) {
        if let Some(exchange) = self.exchanges.lock().remove(&id) {
            exchange.abort();
        }
        // By the newer protocol the end of the exchange says it all; by the older one it says nothing.
        if let Some(notice) = notice.filter(|_| !headers::is_stateless(&heading)) {
            let heading = Heading { version: heading.version, fields: Vec::new() };
            self.answer(notice, heading);
        }
    }

    /// Listens to what the server says unasked (the older way), until the stream ends.
    pub(crate) async fn listen(&self, heading: Heading) -> Result<(), u16> {
        exchange::listen(&self.shared, &heading).await
    }

    /// Ends the session at the server, which may refuse.
    pub(crate) async fn end(&self, heading: Heading) {
        if self.session().is_some() {
            let request = headers::request(&self.shared, Method::DELETE, &heading, Bytes::new(), None);
            let _ = open(&self.shared, request).await;
        }
    }
}

/// Sends something whose answer means nothing; too many at once end the session.
pub(crate) fn answer(
    shared: &Arc<Shared>,
    bytes: Bytes,
    heading: &Heading,
    spawn: impl FnOnce(BoxFuture<'static, ()>),
) {
    if shared.side_requests.fetch_add(1, Ordering::AcqRel) >= SIDE_REQUESTS {
        shared.side_requests.fetch_sub(1, Ordering::AcqRel);
        return shared.core.close(CloseReason::NotReading);
    }
    let (shared, heading) = (shared.clone(), heading.clone());
    let place = Place(shared.clone());
    spawn(Box::pin(async move {
        let _place = place;
        tell_once(&shared, bytes, &heading).await;
    }));
}

/// One of the places for what is sent beside requests.
struct Place(Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.side_requests.fetch_sub(1, Ordering::AcqRel);
    }
}
