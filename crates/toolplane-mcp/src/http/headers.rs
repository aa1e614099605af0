//! The headers of the protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request};
use toolplane_records::mcp::McpHeaderParameter;

use super::Shared;
use crate::link::Heading;
use crate::meta::STATELESS;

const VERSION: &str = "mcp-protocol-version";
pub(super) const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
/// Headers of the protocol, and of the connection: never those of an endpoint.
const RESERVED: [&str; 9] =
    ["accept", "content-type", "content-length", "host", VERSION, SESSION, LAST_EVENT, "mcp-method", "mcp-name"];
/// Longest value of a header made from an argument.
const VALUE: usize = 8 * 1024;

/// Whether a message is of the version without sessions.
pub(crate) fn is_stateless(heading: &Heading) -> bool {
    heading.version.as_deref() == Some(STATELESS)
}

/// What HTTP says of a message of this version.
pub(crate) fn heading(version: &str, method: &str, name: Option<&str>) -> Heading {
    let mut fields = Vec::new();
    if version == STATELESS {
        fields.push(("Mcp-Method".to_owned(), method.to_owned()));
        fields.extend(name.map(|name| ("Mcp-Name".to_owned(), encoded(name))));
    }
    Heading { version: Some(version.to_owned()), fields }
}

/// The headers a tool wants some of its arguments in.
pub(crate) fn parameters(wanted: &[McpHeaderParameter], arguments: &str) -> Vec<(String, String)> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let Ok(arguments) = serde_json::from_str::<serde_json::Value>(arguments) else { return Vec::new() };
    let value = |parameter: &McpHeaderParameter| {
        let found = parameter.path.iter().try_fold(&arguments, |value, key| value.get(key))?;
        let text = match found {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Bool(yes) => yes.to_string(),
            serde_json::Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (text.len() <= VALUE).then(|| (format!("Mcp-Param-{}", parameter.header), encoded(&text)))
    };
    wanted.iter().filter_map(value).collect()
}

/// A value as it may stand in a header: as it is, or in base64 with a mark around it.
fn encoded(value: &str) -> String {
    let writable = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let trimmed = value.starts_with(' ') || value.ends_with(' ');
    let marked = value.starts_with("=?base64?") && value.ends_with("?=");
    let plain = writable && !trimmed && !marked;
    if plain { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}

/// One request. Headers that cannot be written are left out.
pub(super) fn request(
    shared: &Shared,
    method: Method,
    heading: &Heading,
    body: Bytes,
    last_event: Option<&str>,
) -> Request<Bytes> {
    let reads_events = method == Method::GET;
    let posts = method == Method::POST;
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = shared.endpoint.url.parse().unwrap_or_default();
    let headers = request.headers_mut();
    let mut set = |name: &str, value: &str| {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    };
    for (name, value) in &shared.endpoint.headers {
        if !RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            set(name, value);
        }
    }
    if posts {
        set(header::CONTENT_TYPE.as_str(), "application/json");
        set(header::ACCEPT.as_str(), "application/json, text/event-stream");
    } else if reads_events {
        set(header::ACCEPT.as_str(), "text/event-stream");
    }
    if let Some(version) = &heading.version {
        set(VERSION, version);
    }
    if !is_stateless(heading)
        && let Some(session) = shared.session.lock().as_deref()
    {
        set(SESSION, session);
    }
    if let Some(last) = last_event {
        set(LAST_EVENT, last);
    }
    for (name, value) in &heading.fields {
        set(name, value);
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_headers() {
        for (value, written) in [
            ("get weather", "get weather"),
            ("", ""),
            (" x", "=?base64?IHg=?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("über", "=?base64?w7xiZXI=?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(encoded(value), written, "{value:?}");
        }
        let wanted = |path: &[&str]| McpHeaderParameter {
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            header: "Region".to_owned(),
        };
        let arguments = r#"{"a":{"b":true},"n":12,"o":{}}"#;
        for (path, header) in [(&["a", "b"][..], Some("true")), (&["n"], Some("12")), (&["o"], None), (&["x"], None)] {
            let made = parameters(&[wanted(path)], arguments);
            assert_eq!(made.first().map(|(_, value)| value.as_str()), header);
        }
    }
}
