//! Requests that are answered with an error of JSON-RPC.

use http::StatusCode;
use serde_json::{Value, json};
use tonic::{Code, Status};
use toolplane_mcp::message::{INVALID_REQUEST, METHOD_NOT_FOUND};

use crate::door::error as told;
use crate::mcp::version::Version;

pub(crate) const PARSE_ERROR: i64 = -32_700;
pub(crate) const INVALID_PARAMS: i64 = -32_602;
pub(crate) const INTERNAL: i64 = -32_603;
/// A resource that does not exist, until 2025-11-25.
const RESOURCE_NOT_FOUND: i64 = -32_002;
const HEADER_MISMATCH: i64 = -32_020;
const CAPABILITY_MISSING: i64 = -32_021;
const VERSION_NOT_SUPPORTED: i64 = -32_022;

/// An error of JSON-RPC, and the status of HTTP where it is another than usual.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// What HTTP says; 200 when absent, because the request was understood.
    pub(crate) http: Option<StatusCode>,
}

impl Fault {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, http: None }
    }

    fn refused(code: i64, message: impl Into<String>) -> Self {
        Self { http: Some(StatusCode::BAD_REQUEST), ..Self::new(code, message) }
    }

    pub(crate) fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// What came is no JSON.
    pub(crate) fn unreadable() -> Self {
        Self::refused(PARSE_ERROR, "the message is no JSON")
    }

    /// What came is no message, or not one that may come now.
    pub(crate) fn no_message(message: impl Into<String>) -> Self {
        Self::refused(INVALID_REQUEST, message)
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// What every request has to say of itself is missing or wrong.
    pub(crate) fn meta(message: impl Into<String>) -> Self {
        Self::refused(INVALID_PARAMS, message)
    }

    /// There is no such method in this version.
    pub(crate) fn method(name: &str, version: Version) -> Self {
        let http = (!version.has_sessions()).then_some(StatusCode::NOT_FOUND);
        Self { http, ..Self::new(METHOD_NOT_FOUND, format!("there is no method `{name}` here")) }
    }

    /// A header does not say what the body says.
    pub(crate) fn header(message: impl Into<String>) -> Self {
        Self::refused(HEADER_MISMATCH, message)
    }

    /// The client did not say that it can do what the request needs. `capability` is one word, e.g. `elicitation`.
    pub(crate) fn capability(capability: &str, message: impl Into<String>) -> Self {
        let wanted = match capability.split_once('/') {
            Some(_) => json!({ "extensions": { (capability): {} } }),
            None => json!({ (capability): {} }),
        };
        Self::refused(CAPABILITY_MISSING, message).with(json!({ "requiredCapabilities": wanted }))
    }

    /// A version nobody speaks here.
    pub(crate) fn version(requested: &str) -> Self {
        let supported: Vec<_> = Version::ALL.iter().map(|version| version.as_str()).collect();
        Self::refused(VERSION_NOT_SUPPORTED, "this version of the protocol is not supported")
            .with(json!({ "supported": supported, "requested": requested }))
    }

    /// There is no such resource, or none for this caller.
    pub(crate) fn no_resource(uri: &str, version: Version) -> Self {
        let code = if version.has_sessions() { RESOURCE_NOT_FOUND } else { INVALID_PARAMS };
        Self::new(code, "there is no such resource").with(json!({ "uri": uri }))
    }

    /// The caller lacks a role; HTTP says so too, so that the client can ask its issuer for more.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.http == Some(StatusCode::FORBIDDEN)
    }
}

impl From<Status> for Fault {
    /// What a role refused. The facts of it are in `data`, as they are in answers of the JSON door.
    fn from(status: Status) -> Self {
        let code = match status.code() {
            Code::InvalidArgument | Code::NotFound | Code::AlreadyExists | Code::FailedPrecondition => INVALID_PARAMS,
            Code::OutOfRange => INVALID_PARAMS,
            Code::PermissionDenied | Code::Unauthenticated => INVALID_REQUEST,
            _ => INTERNAL,
        };
        let http = (status.code() == Code::PermissionDenied).then_some(StatusCode::FORBIDDEN);
        Self { http, ..Self::new(code, status.message()).with(told(&status)) }
    }
}
