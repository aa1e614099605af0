//! The headers of the protocol, held to what the body says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use crate::mcp::client::Meta;
use crate::mcp::fault::Fault;
use crate::mcp::version::Version;

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
pub(super) const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A client sends JSON and takes both kinds of answers.
pub(super) fn check_media(headers: &HeaderMap) -> Result<(), StatusCode> {
    let sent = headers.get(CONTENT_TYPE).and_then(|sent| sent.to_str().ok()).unwrap_or_default();
    let sent = sent.split(';').next().unwrap_or_default().trim();
    if !sent.eq_ignore_ascii_case(JSON) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    if takes(headers, JSON) && takes(headers, EVENTS) { Ok(()) } else { Err(StatusCode::NOT_ACCEPTABLE) }
}

/// Whether a client takes answers of this kind.
pub(super) fn takes(headers: &HeaderMap, wanted: &str) -> bool {
    let group = wanted.split('/').next().unwrap_or_default();
    let all = headers.get_all(ACCEPT).into_iter().filter_map(|accept| accept.to_str().ok());
    all.flat_map(|accept| accept.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        range == wanted || range == "*/*" || range.strip_suffix("/*") == Some(group)
    })
}

/// The version the headers name.
pub(super) fn version(headers: &HeaderMap) -> Option<&str> {
    headers.get(VERSION)?.to_str().ok().map(str::trim)
}

/// The version of a request that says all it needs; nothing where it belongs to a session, or begins one.
pub(super) fn stateless(headers: &HeaderMap, meta: &Meta) -> Result<Option<Version>, Fault> {
    let header = version(headers);
    match (header, meta.version()) {
        (None, Some(_)) => Err(Fault::header("the header `MCP-Protocol-Version` is missing")),
        (Some(header), Some(body)) if header != body => {
            Err(Fault::header("`MCP-Protocol-Version` says another version than `_meta`"))
        }
        (Some(_), Some(body)) => match Version::parse(body).filter(|version| !version.has_sessions()) {
            Some(version) => Ok(Some(version)),
            None => Err(Fault::version(body)),
        },
        (Some(header), None) => match Version::parse(header) {
            Some(version) if version.has_sessions() => Ok(None),
            Some(_) => Err(Fault::meta("`_meta` does not say the version of the protocol")),
            // A session of a version that was never agreed on: what was is in the id of the session.
            None => Err(Fault::version(header)),
        },
        (None, None) => Ok(None),
    }
}

/// What a request is about is in its headers too, for what routes it: they must say the same.
pub(super) fn check_routing(headers: &HeaderMap, method: &str, params: &Bytes) -> Result<(), Fault> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        uri: Option<String>,
        #[serde(default)]
        task_id: Option<String>,
    }
    if text(headers, METHOD).as_deref() != Some(method) {
        return Err(Fault::header("`Mcp-Method` does not say the method of the body"));
    }
    let params: Params = serde_json::from_slice(params).unwrap_or_default();
    let name = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id,
        _ => return Ok(()),
    };
    match name {
        Some(name) if text(headers, NAME).as_deref() != Some(name.as_str()) => {
            Err(Fault::header("`Mcp-Name` does not say the name in the body"))
        }
        // What is missing in the body is told by who reads it.
        _ => Ok(()),
    }
}

/// A value as it is, or in base64 with a mark around it. Several values are none.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut all = headers.get_all(name).into_iter();
    let (value, None) = (all.next()?, all.next()) else { return None };
    let value = value.to_str().ok()?.trim();
    match value.strip_prefix("=?base64?").and_then(|coded| coded.strip_suffix("?=")) {
        Some(coded) => String::from_utf8(STANDARD.decode(coded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn meta(version: Option<&str>) -> Meta {
        let meta = version.map_or_else(|| json!({}), |version| json!({ toolplane_mcp::meta::VERSION_KEY: version }));
        Meta::of(&Bytes::from(json!({ "_meta": meta }).to_string())).unwrap()
    }

    #[test]
    fn a_client_takes_both_kinds_of_answers() {
        let check = |sent: &str, accept: &str| check_media(&headers(&[("content-type", sent), ("accept", accept)]));
        assert_eq!(check("application/json; charset=utf-8", "application/json, text/event-stream"), Ok(()));
        assert_eq!(check("application/json", "*/*"), Ok(()));
        assert_eq!(check("text/plain", "*/*"), Err(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        assert_eq!(check("application/json", "application/json"), Err(StatusCode::NOT_ACCEPTABLE));
        assert_eq!(check("application/json", "text/*;q=0.1"), Err(StatusCode::NOT_ACCEPTABLE));
    }

    #[test]
    fn the_version_is_said_twice_and_alike() {
        let of = |header: Option<&str>, body: Option<&str>| {
            let headers = header.map_or_else(HeaderMap::new, |header| headers(&[(VERSION, header)]));
            stateless(&headers, &meta(body)).map_err(|fault| fault.code)
        };
        assert_eq!(of(Some("2026-07-28"), Some("2026-07-28")), Ok(Some(Version::V2026July)));
        assert_eq!(of(Some("2025-06-18"), None), Ok(None));
        assert_eq!(of(None, None), Ok(None));
        assert_eq!(of(None, Some("2026-07-28")), Err(-32_020));
        assert_eq!(of(Some("2025-11-25"), Some("2026-07-28")), Err(-32_020));
        assert_eq!(of(Some("v9"), Some("v9")), Err(-32_022));
        assert_eq!(of(Some("2025-11-25"), Some("2025-11-25")), Err(-32_022));
        assert_eq!(of(Some("v9"), None), Err(-32_022));
        assert_eq!(of(Some("2026-07-28"), None), Err(-32_602));
    }

    #[test]
    fn headers_say_what_the_body_says() {
        let check = |method: &str, name: Option<&str>, params: serde_json::Value| {
            let mut all = vec![(METHOD, method)];
            all.extend(name.map(|name| (NAME, name)));
            check_routing(&headers(&all), "tools/call", &Bytes::from(params.to_string())).is_ok()
        };
        assert!(check("tools/call", Some("a"), json!({ "name": "a" })));
        assert!(check("tools/call", Some("=?base64?w6Q=?="), json!({ "name": "ä" })));
        assert!(!check("tools/call", Some("b"), json!({ "name": "a" })));
        assert!(!check("tools/call", None, json!({ "name": "a" })));
        assert!(!check("tools/list", Some("a"), json!({ "name": "a" })));
        assert!(!check("tools/call", Some("=?base64?*?="), json!({ "name": "a" })));
    }
}
