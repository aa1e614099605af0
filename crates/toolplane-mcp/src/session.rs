//! A session with one server: what it is, what it has, and calls of its tools.

mod call;
mod list;
mod listen;
mod negotiate;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::ask::{Ask, Clock, ask};
use crate::core::Core;
use crate::failure::{CloseReason, Failure, StartError};
use crate::flight::Ending;
use crate::http::{HttpEndpoint, HttpLink, headers};
use crate::limits::Limits;
use crate::link::{Heading, Link};
use crate::meta::{ClientInfo, Era};
use crate::stream::StreamLink;

pub use call::ToolCall;
pub use list::ToolList;
pub use negotiate::ServerInfo;

/// How to reach a server.
pub enum Transport {
    /// A pair of byte streams, e.g. the standard output and input of a process.
    Stream {
        /// What the server writes.
        read: Box<dyn AsyncRead + Send + Unpin>,
        /// What the server reads.
        write: Box<dyn AsyncWrite + Send + Unpin>,
    },
    /// Streamable HTTP.
    Http(HttpEndpoint),
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream { .. } => f.write_str("Stream"),
            Self::Http(endpoint) => f.debug_tuple("Http").field(&endpoint.url).finish(),
        }
    }
}

impl Transport {
    /// Standard output and input of a process.
    pub fn pipes(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self::Stream { read: Box::new(read), write: Box::new(write) }
    }
}

/// Which generation of the protocol is tried first. A server that does not speak it costs one more exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// 2026-07-28 first. Servers of before answer the unknown method at once.
    #[default]
    NewFirst,
    /// `initialize` first, for a server that is known to want it.
    OldFirst,
}

/// What a session is begun with.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// Who asks.
    pub client: ClientInfo,
    /// What the server may cost.
    pub limits: Limits,
    /// What is tried first.
    pub order: Order,
    /// Calls of this session can ask a person: told to servers of before 2026-07-28 at the beginning, to others with each call.
    pub answers: bool,
}

/// A session. Calls may be made at once; dropping it ends it, and with it the streams it was given.
#[derive(Debug)]
pub struct Session {
    pub(crate) inner: Arc<Inner>,
    /// Work of the session beside its calls, which ends with it.
    tasks: Mutex<JoinSet<()>>,
    listening: Mutex<bool>,
}

/// What calls and the work beside them share.
#[derive(Debug)]
pub(crate) struct Inner {
    core: Arc<Core>,
    link: Link,
    options: SessionOptions,
    /// What was agreed on.
    server: ServerInfo,
    /// A request has had an answer of the server, a refusal included.
    answered: AtomicBool,
    /// Held while a session that the server has forgotten is begun anew.
    renewing: tokio::sync::Mutex<()>,
}

impl Session {
    /// Begins a session and finds out what the server speaks. Fails when that does not happen within `limits.start`, or the server
    /// speaks no version this client does.
    pub async fn start(transport: Transport, options: SessionOptions) -> Result<Self, StartError> {
        let core = Arc::new(Core::new(options.limits.clone()));
        let link = match transport {
            Transport::Stream { read, write } => Link::Stream(StreamLink::start(&core, read, write)),
            Transport::Http(endpoint) => Link::Http(HttpLink::new(core.clone(), endpoint)),
        };
        let server = negotiate::agree(&core, &link, &options).await?;
        let renewing = tokio::sync::Mutex::default();
        let inner = Arc::new(Inner { core, link, options, server, answered: AtomicBool::new(false), renewing });
        Ok(Self { inner, tasks: Mutex::default(), listening: Mutex::default() })
    }

    /// What the server said of itself.
    pub fn server(&self) -> &ServerInfo {
        &self.inner.server
    }

    /// The session as its server calls it (HTTP of before 2026-07-28).
    pub fn session_id(&self) -> Option<String> {
        match &self.inner.link {
            Link::Http(link) => link.session(),
            Link::Stream(_) => None,
        }
    }

    /// Why the session is over; nothing while it lives.
    pub fn over(&self) -> Option<CloseReason> {
        self.inner.core.over()
    }

    /// Whether a question of the server was refused because nobody knows whose it is, and the next one would be, too.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.inner.core.is_in_doubt()
    }

    /// Whether the server has answered any request since the session began.
    pub fn has_answered(&self) -> bool {
        self.inner.answered.load(Ordering::Relaxed)
    }

    /// Waits until the session is over.
    pub async fn closed(&self) -> CloseReason {
        self.inner.core.closed().cancelled().await;
        self.over().unwrap_or(CloseReason::Closed)
    }

    /// Lines that were not messages, and the first of them as it may be shown.
    pub fn garbage(&self) -> (usize, Option<String>) {
        (self.inner.core.garbage_lines(), self.inner.core.first_garbage())
    }

    /// Grows when the server says that its tools have changed, and whenever such news may have been missed since this was asked for
    /// first. Nothing is heard of servers that do not tell.
    pub fn changes(&self) -> watch::Receiver<u64> {
        let changes = self.inner.core.changes();
        if !std::mem::replace(&mut *self.listening.lock(), true) && self.inner.server.tells_changes {
            self.tasks.lock().spawn(listen::run(self.inner.clone()));
        }
        changes
    }

    /// Does `told` whenever [`changes`](Self::changes) grow, until the session ends.
    pub fn on_change(&self, told: impl Fn() + Send + 'static) {
        let mut changes = self.changes();
        self.tasks.lock().spawn(async move {
            while changes.changed().await.is_ok() {
                told();
            }
        });
    }

    /// Ends the session, and tells a server that keeps one.
    pub async fn close(self) {
        if let Link::Http(link) = &self.inner.link {
            let heading = Heading { version: Some(self.inner.server.version.clone()), fields: Vec::new() };
            link.end(heading).await;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.inner.core.close(CloseReason::Closed);
    }
}

impl Inner {
    pub(crate) fn era(&self) -> Era {
        self.server.era
    }

    fn heading(&self, method: &str, name: Option<&str>) -> Heading {
        match self.link {
            Link::Stream(_) => Heading::default(),
            Link::Http(_) => headers::heading(&self.server.version, method, name),
        }
    }

    /// Makes a request, and remembers whether the server has ever answered one.
    pub(crate) async fn ask(&self, request: Ask<'_>, clock: &mut Clock) -> Result<Bytes, Failure> {
        let ended = self.ask_or_renew(request, clock).await;
        if matches!(ended, Ok(_) | Err(Failure::Refused(_) | Failure::Status { .. })) {
            self.answered.store(true, Ordering::Relaxed);
        }
        ended
    }

    /// Makes a request. A server that has forgotten the session gets a new one, and the request once more: it was not taken.
    async fn ask_or_renew(&self, request: Ask<'_>, clock: &mut Clock) -> Result<Bytes, Failure> {
        let Link::Http(http) = &self.link else { return end(ask(&self.core, &self.link, request, clock).await) };
        let session = http.session();
        let again = Ask { heading: request.heading.clone(), ..request };
        match ask(&self.core, &self.link, request, clock).await {
            Err(Ending::SessionGone) => {}
            ended => return end(ended),
        }
        {
            let _one_at_a_time = self.renewing.lock().await;
            if http.forget_session(&session) {
                negotiate::renew(&self.core, &self.link, &self.options, clock).await?;
            }
        }
        end(ask(&self.core, &self.link, again, clock).await)
    }
}

/// The end of a request as its caller is told.
fn end(ended: Result<Bytes, Ending>) -> Result<Bytes, Failure> {
    ended.map_err(|ending| match ending {
        Ending::Refused(error) => Failure::Refused(error),
        Ending::Failed(failure) => failure,
        Ending::SessionGone => Failure::NotSent("the server does not know the session any more".to_owned()),
    })
}
