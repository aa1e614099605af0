//! From the input of a call to a request.

use std::collections::BTreeMap;

use bytes::Bytes;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_catalog::values::{Egress, invalid_binding};
use toolplane_openapi::HttpRequest;
use toolplane_records::error::ToolError;
use url::Url;

use super::{egress_denied, is_safe};
use crate::call::Call;
use crate::credentials::Injections;
use crate::failure::{excerpt, invalid_input};
use crate::input;

/// Tells a server that two requests are the same one.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

const MAX_HEADERS: usize = 32;
const MAX_HEADER_BYTES: usize = 16 * 1024;
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// What the tool takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpInput {
    /// Where to; http or https.
    url: String,
    /// `GET` when absent.
    method: Option<String>,
    /// Further headers.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Text is sent as it is, any other value as JSON.
    body: Option<Box<RawValue>>,
}

/// Headers that belong to the connection, or say who is asking: never input of a call.
const RESERVED: &[&str] = &[
    "host",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "expect",
    "authorization",
    "cookie",
    "forwarded",
    "via",
    "x-real-ip",
    "accept-encoding",
    "idempotency-key",
    "http2-settings",
];
const RESERVED_PREFIXES: &[&str] = &["proxy-", "x-forwarded-", "sec-"];

/// The headers that go along when a server sends the request to another origin. Any other may hold a secret that was meant
/// for the first one alone, whatever it is called.
const HARMLESS: &[HeaderName] = &[header::ACCEPT, header::ACCEPT_LANGUAGE, header::ACCEPT_ENCODING, header::USER_AGENT];

/// A request that may be sent.
#[derive(Clone)]
pub(crate) struct PreparedRequest {
    method: Method,
    pub(super) url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl PreparedRequest {
    /// Reads and checks the input.
    pub(super) fn read(call: &Call, egress: &Egress) -> Result<Self, ToolError> {
        let input: HttpInput = input::read(&call.input)?;
        let method = input.method.as_deref().unwrap_or("GET");
        let (url, method) = egress.check(&input.url, method).map_err(|error| *error)?;
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| invalid_input("method", "is not a method"))?;
        let mut headers = headers(&input.headers)?;
        let body = input.body.map(|body| read_body(&body, &mut headers)).transpose()?;
        Ok(Self::with(call, method, url, headers, body))
    }

    /// The request of an operation.
    pub(crate) fn of_operation(asked: HttpRequest, call: &Call) -> Result<Self, ToolError> {
        let wrong = || *invalid_binding("the operation makes a request that cannot be sent");
        let method = Method::from_bytes(asked.method.as_bytes()).map_err(|_| wrong())?;
        let mut headers = HeaderMap::new();
        for (name, value) in &asked.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            headers.insert(name, HeaderValue::from_str(value).map_err(|_| wrong())?);
        }
        Ok(Self::with(call, method, asked.url, headers, asked.body))
    }

    /// With what every request has.
    fn with(call: &Call, method: Method, url: Url, mut headers: HeaderMap, body: Option<Bytes>) -> Self {
        // A compressed answer could not be bounded by what it takes to read it.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if !is_safe(&method)
            && let Ok(key) = HeaderValue::from_str(&call.attempt.idempotency_key)
        {
            headers.insert(IDEMPOTENCY_KEY, key);
        }
        Self { method, url, headers, body }
    }

    /// Puts credentials in, at the last moment.
    pub(super) fn inject(&mut self, injections: &Injections) -> Result<(), ToolError> {
        injections.put_into_request(&mut self.headers, &mut self.url)
    }

    /// Sends it once.
    pub(super) async fn send(&self, client: &Client) -> reqwest::Result<Response> {
        let mut request = client.request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        request.send().await
    }

    /// Whether it only asks to read.
    pub(crate) fn is_safe(&self) -> bool {
        is_safe(&self.method)
    }

    /// Turns it to where a redirect leads, as browsers do. To another origin (scheme, host, port) goes no body, no method
    /// but `GET` and `HEAD`, and no header that is not harmless.
    pub(super) fn redirect(&mut self, target: Url, status: StatusCode) -> Result<(), ToolError> {
        let post_becomes_get = matches!(status.as_u16(), 301 | 302) && self.method == Method::POST;
        if (status == StatusCode::SEE_OTHER && self.method != Method::HEAD) || post_becomes_get {
            self.method = Method::GET;
            self.body = None;
            self.headers.remove(header::CONTENT_TYPE);
            self.headers.remove(IDEMPOTENCY_KEY);
        }
        if target.origin() != self.url.origin() {
            if self.body.is_some() || !self.is_safe() {
                let reason = format!("the server redirects a {} request or its body to another origin", self.method);
                return Err(egress_denied(&reason, target.as_str()));
            }
            self.headers = harmless(&self.headers);
        }
        self.url = target;
        Ok(())
    }
}

fn harmless(headers: &HeaderMap) -> HeaderMap {
    HARMLESS.iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
}

fn headers(given: &BTreeMap<String, String>) -> Result<HeaderMap, ToolError> {
    let bytes: usize = given.iter().map(|(name, value)| name.len() + value.len()).sum();
    if given.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
        let rule = format!("are more than {MAX_HEADERS}, or larger than {MAX_HEADER_BYTES} bytes");
        return Err(invalid_input("headers", rule));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let lower = name.to_ascii_lowercase();
        let shown = excerpt(name);
        let reserved = RESERVED.contains(&lower.as_str()) || RESERVED_PREFIXES.iter().any(|p| lower.starts_with(p));
        if reserved {
            return Err(invalid_input("headers", format!("must not hold `{shown}`, which is not for callers to set")));
        }
        let parsed = HeaderName::from_bytes(lower.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
        let (name, value) =
            parsed.ok_or_else(|| invalid_input("headers", format!("hold `{shown}`, which is not a header")))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

fn read_body(body: &RawValue, headers: &mut HeaderMap) -> Result<Bytes, ToolError> {
    let text: Option<String> = serde_json::from_str(body.get()).ok();
    let kind = if text.is_some() { "text/plain; charset=utf-8" } else { "application/json" };
    let bytes = text.unwrap_or_else(|| body.get().to_owned());
    if bytes.len() > MAX_BODY_BYTES {
        return Err(invalid_input("body", format!("is larger than {MAX_BODY_BYTES} bytes")));
    }
    headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static(kind));
    Ok(bytes.into())
}
