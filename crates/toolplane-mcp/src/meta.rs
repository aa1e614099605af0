//! What this client says of itself and of a call with each request (`_meta`), and once at the beginning.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of the protocol without sessions.
pub const STATELESS: &str = "2026-07-28";
/// The newest version with a handshake.
pub const NEWEST_OLD: &str = "2025-11-25";
/// The versions with a handshake, newest first.
pub const OLD: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Where a request of the version without sessions says its version, in `_meta`.
pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Where it says what its client can do.
pub const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where it says who its client is.
pub const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";

/// Which generation of the protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// 2026-07-28: each request says all it needs.
    Stateless,
    /// 2025-11-25 and before: a session begins with `initialize`.
    Initialized,
}

/// Who asks, as servers are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientInfo {
    /// The name of the program.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Default for ClientInfo {
    fn default() -> Self {
        Self { name: "toolplane".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// The place of a call in a trace (W3C trace context), sent as it is. Values that are not ASCII, or longer than 8 KiB, are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// `00-<trace>-<span>-<flags>`.
    pub traceparent: Option<String>,
    /// What vendors add.
    pub tracestate: Option<String>,
}

impl TraceContext {
    fn usable(value: &Option<String>) -> Option<&str> {
        value.as_deref().filter(|text| text.len() <= 8 * 1024 && text.bytes().all(|byte| matches!(byte, b' '..=b'~')))
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Empty {}

/// What this client can do. What is not here, it refuses: sampling and roots.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Capabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<Elicitation>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Elicitation {
    form: Empty,
    url: Empty,
}

impl Capabilities {
    /// With or without a person who can be asked.
    pub(crate) fn new(answers: bool) -> Self {
        Self { elicitation: answers.then(Elicitation::default) }
    }
}

/// `_meta` of one request.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo", skip_serializing_if = "Option::is_none")]
    client: Option<&'a ClientInfo>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", skip_serializing_if = "Option::is_none")]
    capabilities: Option<Capabilities>,
    #[serde(rename = "progressToken", skip_serializing_if = "Option::is_none")]
    progress: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracestate: Option<&'a str>,
}

impl<'a> Meta<'a> {
    /// What every request of this generation says.
    pub(crate) fn new(era: Era, client: &'a ClientInfo, answers: bool) -> Self {
        match era {
            Era::Initialized => Self::default(),
            Era::Stateless => Self {
                version: Some(STATELESS),
                client: Some(client),
                capabilities: Some(Capabilities::new(answers)),
                ..Self::default()
            },
        }
    }

    /// What a call says as well: the request it is, for progress, and its place in a trace.
    pub(crate) fn call(self, id: u64, trace: &'a TraceContext) -> Self {
        Self {
            progress: Some(id),
            traceparent: TraceContext::usable(&trace.traceparent),
            tracestate: TraceContext::usable(&trace.tracestate),
            ..self
        }
    }

    /// Without anything, `_meta` is not sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.version.is_none() && self.progress.is_none()
    }
}

/// Parameters of `server/discover` and of each page of a list.
#[derive(Debug, Serialize)]
pub(crate) struct PageParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub(crate) meta: Meta<'a>,
}

/// Parameters of `initialize`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitializeParams<'a> {
    pub(crate) protocol_version: &'static str,
    pub(crate) capabilities: Capabilities,
    pub(crate) client_info: &'a ClientInfo,
}

/// Parameters of `subscriptions/listen`.
#[derive(Debug, Serialize)]
pub(crate) struct ListenParams<'a> {
    pub(crate) notifications: ListenTo,
    #[serde(rename = "_meta")]
    pub(crate) meta: Meta<'a>,
}

/// What is listened to.
#[derive(Debug, Serialize)]
pub(crate) struct ListenTo {
    #[serde(rename = "toolsListChanged")]
    pub(crate) tools: bool,
}

/// Parameters of `tools/call`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallParams<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_state: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    pub(crate) meta: Meta<'a>,
}

/// Parameters of `notifications/cancelled`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelledParams {
    pub(crate) request_id: u64,
    pub(crate) reason: &'static str,
}
