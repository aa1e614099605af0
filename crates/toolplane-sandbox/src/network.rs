//! Hosts a run may reach: none, or those that a [`Gate`] of the worker connects it to.
//!
//! The network namespace of a run is empty but for its own loopback, with a grant too. Process 1 opens one listening socket there and hands
//! it to the worker, which answers on it as an HTTP proxy (`CONNECT`, and requests for `http://` addresses). The program is told of it
//! by the usual variables. So every connection that leaves is made by the worker, to a host and a port that the gate was asked about by
//! name; there is no route, no name server and no socket of the host inside that a program could use instead.

mod proxy;
pub(crate) mod request;

use std::io;

use tokio::net::TcpStream;

use crate::backend::BoxFuture;

pub(crate) use proxy::Proxy;

/// Where the proxy is, as the program sees it.
pub(crate) const PROXY_PORT: u16 = 3128;

/// Variables that tell programs of the proxy.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("HTTP_PROXY", "http://127.0.0.1:3128"),
    ("HTTPS_PROXY", "http://127.0.0.1:3128"),
    ("http_proxy", "http://127.0.0.1:3128"),
    ("https_proxy", "http://127.0.0.1:3128"),
    ("NO_PROXY", "127.0.0.1,localhost"),
    ("no_proxy", "127.0.0.1,localhost"),
    // Node looks at these variables only when it is told to.
    ("NODE_USE_ENV_PROXY", "1"),
];

/// Decides which hosts a run may reach, and connects to them.
pub trait Gate: Send + Sync + std::fmt::Debug {
    /// Connects to `target`, or says why not. What is behind the connection is the gate's to look at: addresses a name leads to, private
    /// networks, time limits. Dropped when the run ends.
    fn connect(&self, target: Target) -> BoxFuture<'_, Result<TcpStream, GateError>>;

    /// Answers a request in plain text itself, e.g. to put something into it that the program is not to have. `None`, as by default, when it
    /// is to go through a connection like any other.
    ///
    /// What is answered is written to the program's end of the connection, `stream`, from which the body of the request is read; `begun` are
    /// its first bytes. Fails with a [`GateError`] as long as nothing was written. Dropped when the run ends.
    fn answer<'a>(
        &'a self,
        target: &'a Target,
        request: &'a PlainRequest,
        begun: &'a [u8],
        stream: &'a mut TcpStream,
    ) -> Option<BoxFuture<'a, Result<(), GateError>>> {
        let _ = (target, request, begun, stream);
        None
    }
}

/// A request in plain text as a program sent it, without what is between the program and the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainRequest {
    /// A token in capitals or not.
    pub method: String,
    /// The host as the program wrote it, with the port if it named one.
    pub authority: String,
    /// Path and query as the program wrote them; begins with `/`.
    pub path: String,
    /// Names and values of fields, in their order. There is no `Host` among them.
    pub fields: Vec<(String, String)>,
}

/// What a program wants to reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// A name or an address as the program wrote it, in lower case: 1 to 253 letters, digits, `-`, `_` and `.`, or of an IPv6 address
    /// without brackets also `:`.
    pub host: String,
    /// 1 to 65535.
    pub port: u16,
    /// The program speaks for itself (`CONNECT`), as for TLS. Otherwise it sends a request in plain text, whose `Host` is this one; what
    /// follows it on the same connection is not looked at. Either way, a grant is for all that answers at this host and port.
    pub tunnel: bool,
}

/// Why a program is not connected.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// It must not reach this host. On record as a violation; the text is shown to the program.
    #[error("{0}")]
    Refused(String),
    /// The host cannot be reached.
    #[error("the host cannot be reached: {0}")]
    Failed(#[from] io::Error),
    /// The request is none that can be answered. The text is shown to the program.
    #[error("{0}")]
    Unfit(String),
}
