//! What a server is and speaks.
//!
//! Tried on real servers: those of before 2026-07-28 answer `server/discover` at once with an error (-32601 or -32602 over streams,
//! status 400 over HTTP), and newer ones answer it; so asking that first costs the ones nothing and the others an exchange
//! without work. A server that does not answer at all within `limits.discover` is asked in the older way.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Order, SessionOptions, end};
use crate::ask::{Ask, Clock, ask};
use crate::core::Core;
use crate::failure::{Failure, StartError, shown};
use crate::flight::Ending;
use crate::http::headers;
use crate::link::{Heading, Link};
use crate::message;
use crate::meta::{Capabilities, Era, InitializeParams, Meta, NEWEST_OLD, OLD, PageParams, STATELESS};
use crate::watch::Unwatched;

/// The server does not speak the version it was asked in.
const UNSUPPORTED_VERSION: i64 = -32_022;
/// Longest text a server says of itself that is kept.
const TEXT: usize = 64 * 1024;
/// Longest name and version of a server that are kept, in characters.
const NAME: usize = 200;

/// What a server said of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    /// Its name; empty when it has none. Made to be shown.
    pub name: String,
    /// Its version. Made to be shown.
    pub version_of_server: String,
    /// Which generation of the protocol is spoken.
    pub era: Era,
    /// The version of the protocol that is spoken.
    pub version: String,
    /// It has tools.
    pub tools: bool,
    /// It tells when its tools change.
    pub tells_changes: bool,
    /// What it says of how to use it, as it said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

#[derive(Deserialize, Default)]
struct Implementation {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
}

#[derive(Deserialize)]
struct ServerCapabilities {
    tools: Option<ToolCapability>,
}

#[derive(Deserialize)]
struct ToolCapability {
    #[serde(rename = "listChanged", default)]
    changes: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    supported_versions: Vec<String>,
    capabilities: ServerCapabilities,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(rename = "_meta", default)]
    meta: DiscoveredMeta,
}

#[derive(Deserialize, Default)]
struct DiscoveredMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo", default)]
    server: Implementation,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    capabilities: ServerCapabilities,
    #[serde(default)]
    server_info: Implementation,
    #[serde(default)]
    instructions: Option<String>,
}

/// What one try of one generation said.
enum Tried {
    Agreed(ServerInfo),
    /// The server does not speak it; the versions it names, if it does.
    NotSpoken {
        versions: Vec<String>,
        why: Failure,
    },
    Failed(StartError),
}

/// Finds out what a server speaks.
pub(super) async fn agree(core: &Core, link: &Link, options: &SessionOptions) -> Result<ServerInfo, StartError> {
    let start = Start { core, link, options, deadline: Instant::now() + options.limits.start };
    let first = match options.order {
        Order::NewFirst => start.discover(true).await,
        Order::OldFirst => start.initialize().await,
    };
    let versions = match first {
        Tried::Agreed(server) => return Ok(server),
        Tried::Failed(error) => return Err(error),
        Tried::NotSpoken { versions, .. } => versions,
    };
    if options.order == Order::NewFirst && !versions.is_empty() && !versions.iter().any(|known| is_old(known)) {
        return Err(StartError::NoCommonVersion(versions));
    }
    let second = match options.order {
        Order::NewFirst => start.initialize().await,
        Order::OldFirst => start.discover(false).await,
    };
    let third = match second {
        // It was slow, and has answered the first question meanwhile: from then on it speaks only that.
        Tried::NotSpoken { versions, .. } if versions.iter().any(|version| version == STATELESS) => {
            start.discover(false).await
        }
        second => second,
    };
    match third {
        Tried::Agreed(server) => Ok(server),
        Tried::Failed(error) => Err(error),
        Tried::NotSpoken { versions, why } if versions.is_empty() => Err(StartError::Failed(why)),
        Tried::NotSpoken { versions, .. } => Err(StartError::NoCommonVersion(versions)),
    }
}

/// Begins a session anew that the server has forgotten.
pub(super) async fn renew(core: &Core, link: &Link, options: &SessionOptions, clock: &Clock) -> Result<(), Failure> {
    let most = Instant::now() + options.limits.start;
    let deadline = clock.deadline.map_or(most, |deadline| deadline.min(most));
    match (Start { core, link, options, deadline }).initialize().await {
        Tried::Agreed(_) => Ok(()),
        Tried::NotSpoken { why, .. } => Err(Failure::NotSent(format!("the session could not be renewed: {why}"))),
        Tried::Failed(error) => Err(Failure::NotSent(format!("the session could not be renewed: {error}"))),
    }
}

fn is_old(version: &str) -> bool {
    OLD.contains(&version)
}

struct Start<'a> {
    core: &'a Core,
    link: &'a Link,
    options: &'a SessionOptions,
    deadline: Instant,
}

impl Start<'_> {
    async fn request(
        &self,
        body: &(dyn Fn(u64) -> Bytes + Send + Sync),
        heading: Heading,
        until: Instant,
    ) -> Result<Bytes, Ending> {
        let cancel = CancellationToken::new();
        let request = Ask { body, heading, call: false, cancel: &cancel, watch: &Unwatched };
        ask(self.core, self.link, request, &mut Clock::until(until)).await
    }

    async fn discover(&self, may_be_silent: bool) -> Tried {
        let meta = Meta::new(Era::Stateless, &self.options.client, self.options.answers);
        let body = |id| message::write(Some(id), "server/discover", PageParams { cursor: None, meta });
        let heading = headers::heading(STATELESS, "server/discover", None);
        let patience = Instant::now() + self.options.limits.discover;
        let until = if may_be_silent { patience.min(self.deadline) } else { self.deadline };
        let ended = self.request(&body, heading, until).await;
        let silent = matches!(ended, Err(Ending::Failed(Failure::TimedOut { .. }))) && Instant::now() < self.deadline;
        if may_be_silent && silent {
            return Tried::NotSpoken { versions: Vec::new(), why: Failure::TimedOut { sent: true } };
        }
        let result = match ended {
            Ok(result) => result,
            Err(ending) => return self.not_spoken(ending),
        };
        let Some(found) = read::<Discovered>(&result) else { return unreadable(&result) };
        if !found.supported_versions.iter().any(|version| version == STATELESS) {
            let versions = found.supported_versions;
            return Tried::NotSpoken { versions, why: Failure::Unreadable("it names no version we speak".to_owned()) };
        }
        let era = (Era::Stateless, STATELESS.to_owned());
        Tried::Agreed(server(era, found.meta.server, found.capabilities, found.instructions))
    }

    async fn initialize(&self) -> Tried {
        let params = || InitializeParams {
            protocol_version: NEWEST_OLD,
            capabilities: Capabilities::new(self.options.answers),
            client_info: &self.options.client,
        };
        let body = |id| message::write(Some(id), "initialize", params());
        let result = match self.request(&body, Heading::default(), self.deadline).await {
            Ok(result) => result,
            Err(ending) => return self.not_spoken(ending),
        };
        let Some(found) = read::<Initialized>(&result) else { return unreadable(&result) };
        if found.protocol_version != STATELESS && !is_old(&found.protocol_version) {
            return Tried::Failed(StartError::NoCommonVersion(vec![toolplane_records::visible::excerpt(
                &found.protocol_version,
                NAME,
            )]));
        }
        let version = found.protocol_version;
        let era = if version == STATELESS { Era::Stateless } else { Era::Initialized };
        let heading = Heading { version: Some(version.clone()), fields: Vec::new() };
        #[derive(serde::Serialize)]
        struct Nothing {}
        self.link.tell(message::write(None, "notifications/initialized", Nothing {}), heading).await;
        Tried::Agreed(server((era, version), found.server_info, found.capabilities, found.instructions))
    }

    /// What an end without a result says of what the server speaks.
    fn not_spoken(&self, ending: Ending) -> Tried {
        match ending {
            Ending::Refused(error) => {
                let versions = match error.code {
                    UNSUPPORTED_VERSION => supported(&error),
                    _ => Vec::new(),
                };
                Tried::NotSpoken { versions, why: Failure::Refused(error) }
            }
            // Not for us to go on without: who may ask is not a question of the version.
            Ending::Failed(Failure::Status { status, challenge, text })
                if (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 408 | 429) =>
            {
                Tried::NotSpoken { versions: Vec::new(), why: Failure::Status { status, challenge, text } }
            }
            ending => Tried::Failed(self.failed(ending)),
        }
    }

    fn failed(&self, ending: Ending) -> StartError {
        if let Some(reason) = self.core.over() {
            return StartError::Closed { reason, garbage: self.core.first_garbage() };
        }
        match end(Err(ending)) {
            Err(Failure::TimedOut { .. }) => StartError::TimedOut,
            Err(failure) => StartError::Failed(failure),
            // An ending is never a result.
            Ok(_) => StartError::TimedOut,
        }
    }
}

fn read<T: DeserializeOwned>(result: &Bytes) -> Option<T> {
    serde_json::from_slice(result).ok()
}

fn unreadable(result: &Bytes) -> Tried {
    let begin = String::from_utf8_lossy(&result[..result.len().min(1024)]).into_owned();
    let why = Failure::Unreadable(format!("not what a server says of itself: `{}`", shown(&begin)));
    Tried::NotSpoken { versions: Vec::new(), why }
}

/// The versions a server names where it refuses ours.
fn supported(error: &crate::failure::RpcError) -> Vec<String> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    error.data.as_ref().and_then(|data| data.parse::<Data>().ok()).map(|data| data.supported).unwrap_or_default()
}

fn server(
    (era, version): (Era, String),
    server: Implementation,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
) -> ServerInfo {
    let kept = |text: &str| toolplane_records::visible::excerpt(text, NAME);
    ServerInfo {
        name: kept(&server.name),
        version_of_server: kept(&server.version),
        era,
        version,
        tools: capabilities.tools.is_some(),
        tells_changes: capabilities.tools.is_some_and(|tools| tools.changes),
        instructions: instructions.filter(|text| text.len() <= TEXT),
    }
}
