//! Who asks over MCP: what a client said of itself, and the session or connection it belongs to.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use toolplane_mcp::meta::{CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY};

use crate::mcp::fault::Fault;
use crate::mcp::log::Level;
use crate::mcp::version::Version;

/// The extension for calls that take long.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Longest name of a client that is remembered, in bytes.
const NAME: usize = 64;

/// What a client can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Abilities {
    /// Asks its person for the values of a form.
    #[serde(rename = "f", default)]
    pub(crate) forms: bool,
    /// Comes back to calls that take long.
    #[serde(rename = "t", default)]
    pub(crate) tasks: bool,
}

impl Abilities {
    /// What `capabilities` of the protocol say.
    fn read(capabilities: &Value) -> Self {
        let asks = capabilities.get("elicitation").and_then(Value::as_object);
        // Before there were two ways to ask, an empty object meant forms.
        let forms = asks.is_some_and(|ways| ways.contains_key("form") || !ways.contains_key("url"));
        let extension = |name: &str| capabilities.get("extensions").is_some_and(|all| all.get(name).is_some());
        Self { forms, tasks: extension(TASKS) }
    }
}

/// A client, as far as it matters to what is answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Client {
    pub(crate) version: Version,
    pub(crate) can: Abilities,
    /// What it calls itself.
    pub(crate) name: String,
    /// From which level on it wants to be told what happens, where it says so with each request.
    pub(crate) log: Option<Level>,
}

/// Where a list of tools says the moment of the surface it shows, and a call the one it goes by.
pub(crate) const SURFACE_MOMENT: &str = "toolplane/surface_moment";

/// The `_meta` of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    /// What progress is told under: a text or a number.
    pub(crate) progress: Option<Box<RawValue>>,
    pub(crate) traceparent: Option<String>,
    pub(crate) tracestate: Option<String>,
    /// The call the client comes back to, in place of a new one.
    pub(crate) invocation: Option<String>,
    /// The same key and the same call within a day is one call.
    pub(crate) idempotency_key: Option<String>,
    /// The moment of the surface a call goes by.
    pub(crate) surface_moment: Option<String>,
    rest: serde_json::Map<String, Value>,
}

#[derive(Deserialize)]
struct WithMeta {
    #[serde(rename = "_meta", default)]
    meta: Option<Value>,
}

impl Meta {
    /// The `_meta` of these parameters; empty where there is none. Fails when it is no object, or what is known of it is not what
    /// the protocol says.
    pub(crate) fn of(params: &Bytes) -> Result<Self, Fault> {
        // A list would be read as the members in their order.
        if !params.starts_with(b"{") {
            return Err(Fault::params("the parameters are no object"));
        }
        let with: WithMeta =
            serde_json::from_slice(params).map_err(|_| Fault::params("the parameters are no object"))?;
        let Some(meta) = with.meta else { return Ok(Self::default()) };
        let mut rest = match meta {
            Value::Object(rest) => rest,
            _ => return Err(Fault::params("`_meta` is no object")),
        };
        let mut text = |key: &str| -> Result<Option<String>, Fault> {
            match rest.remove(key) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text)),
                Some(_) => Err(Fault::params(format!("`_meta.{key}` is no text"))),
            }
        };
        let (traceparent, tracestate) = (text("traceparent")?, text("tracestate")?);
        let (invocation, idempotency_key) = (text("toolplane/invocation_id")?, text("toolplane/idempotency_key")?);
        let surface_moment = text(SURFACE_MOMENT)?;
        if surface_moment.as_ref().is_some_and(String::is_empty) {
            // A call that was to be guarded must not go without.
            return Err(Fault::params(format!("`_meta.{SURFACE_MOMENT}` is empty: leave it out, or give a moment")));
        }
        let progress = match rest.remove("progressToken") {
            None | Some(Value::Null) => None,
            Some(token @ (Value::String(_) | Value::Number(_))) => RawValue::from_string(token.to_string()).ok(),
            Some(_) => return Err(Fault::params("`_meta.progressToken` is neither a text nor a number")),
        };
        Ok(Self { progress, traceparent, tracestate, invocation, idempotency_key, surface_moment, rest })
    }

    /// Of a request that asked for progress under this token, and said nothing else.
    pub(crate) fn of_progress(token: Option<&str>) -> Self {
        let progress = token.and_then(|token| RawValue::from_string(token.to_owned()).ok());
        Self { progress, ..Self::default() }
    }

    /// The version a request says it is of.
    pub(crate) fn version(&self) -> Option<&str> {
        self.rest.get(VERSION_KEY).and_then(Value::as_str)
    }

    /// The client of a request that says all it needs.
    pub(crate) fn client(&self, version: Version) -> Result<Client, Fault> {
        let Some(capabilities) = self.rest.get(CAPABILITIES_KEY).filter(|said| said.is_object()) else {
            return Err(Fault::meta(format!("`_meta` has no `{CAPABILITIES_KEY}`")));
        };
        let log = match self.rest.get(LOG_LEVEL) {
            None => None,
            Some(said) => Some(Level::of(said).ok_or_else(|| Fault::params("`_meta` has a log level nobody knows"))?),
        };
        let name = name_of(self.rest.get(CLIENT_KEY));
        Ok(Client { version, can: Abilities::read(capabilities), name, log })
    }
}

/// What a client calls itself, cut.
fn name_of(info: Option<&Value>) -> String {
    let name = info.and_then(|info| info.get("name")).and_then(Value::as_str).unwrap_or_default();
    name.chars().filter(|character| character.is_ascii_graphic()).take(NAME).collect()
}

/// What a session agreed on. It is the id of the session, sealed: no process has to remember it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    #[serde(rename = "v")]
    version: String,
    #[serde(rename = "c")]
    can: Abilities,
    #[serde(rename = "n")]
    name: String,
    /// Makes it unlike every other one.
    #[serde(rename = "s")]
    pub(crate) nonce: String,
    /// Seconds since 1970.
    #[serde(rename = "t")]
    begun: u64,
}

/// How long a session may be used, in seconds: a month.
const LIFETIME: u64 = 30 * 24 * 60 * 60;

impl Session {
    /// The session that `initialize` with these parameters begins. Fails where they are not what the protocol says.
    pub(crate) fn begin(params: &Bytes, nonce: String, now: u64) -> Result<Self, Fault> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            protocol_version: String,
            #[serde(default)]
            capabilities: Value,
            #[serde(default)]
            client_info: Value,
        }
        let said: Params =
            serde_json::from_slice(params).map_err(|error| Fault::params(format!("not an `initialize`: {error}")))?;
        Ok(Self {
            version: Version::agreed(&said.protocol_version).as_str().to_owned(),
            can: Abilities::read(&said.capabilities),
            name: name_of(Some(&said.client_info)),
            nonce,
            begun: now,
        })
    }

    /// The client; `None` for a session that is too old, or of a version that is no longer spoken.
    pub(crate) fn client(&self, now: u64) -> Option<Client> {
        let version = Version::parse(&self.version)?;
        let young = now.saturating_sub(self.begun) < LIFETIME;
        young.then(|| Client { version, can: self.can, name: self.name.clone(), log: None })
    }
}

/// Within what ids of requests are unique: a session, or a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope(pub(crate) String);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bytes(value: &Value) -> Bytes {
        Bytes::from(value.to_string())
    }

    #[test]
    fn a_request_without_a_session_says_what_its_client_can() {
        let said = |capabilities: Value| {
            let meta = json!({ "_meta": { VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: capabilities } });
            Meta::of(&bytes(&meta)).unwrap().client(Version::V2026July)
        };
        assert!(said(json!({ "elicitation": {} })).unwrap().can.forms);
        assert!(said(json!({ "elicitation": { "form": {}, "url": {} } })).unwrap().can.forms);
        assert!(!said(json!({ "elicitation": { "url": {} } })).unwrap().can.forms);
        assert!(said(json!({ "extensions": { TASKS: {} } })).unwrap().can.tasks);
        assert_eq!(said(json!({})).unwrap().can, Abilities::default());
        assert_eq!(said(json!(null)).unwrap_err().http, Some(http::StatusCode::BAD_REQUEST));
    }

    #[test]
    fn what_is_not_as_the_protocol_says_is_refused() {
        for wrong in [
            json!([]),
            json!({ "_meta": 1 }),
            json!({ "_meta": { "progressToken": {} } }),
            json!({ "_meta": { "traceparent": 1 } }),
            json!({ "_meta": { SURFACE_MOMENT: "" } }),
        ] {
            assert!(Meta::of(&bytes(&wrong)).is_err(), "{wrong}");
        }
        let meta = Meta::of(&bytes(&json!({ "_meta": { "progressToken": 7 } }))).unwrap();
        assert_eq!(meta.progress.unwrap().get(), "7");
    }

    #[test]
    fn a_session_is_what_was_agreed_on_for_a_month() {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": { "elicitation": {} }, "clientInfo": { "name": "x y\n" }
        });
        let session = Session::begin(&bytes(&params), "n".to_owned(), 1_000).unwrap();
        let client = session.client(2_000).unwrap();
        assert_eq!((client.version, client.can.forms, client.name.as_str()), (Version::V2025June, true, "xy"));
        assert_eq!(session.client(1_000 + LIFETIME), None);
        assert!(Session::begin(&bytes(&json!({})), String::new(), 0).is_err());
    }
}
