//! From a response to an outcome.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};
use serde::Serialize;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use url::Url;

use super::unreachable;
use crate::failure::too_large;
use crate::outcome::{BYTES, Exact, Outcome};
use crate::progress::{Counts, Meter};
use crate::text::without_cut_end;

/// Most body bytes read when the tool declares nothing.
pub(super) const DEFAULT_MAX_BYTES: u64 = 1024 * 1024;
/// Bounds of the headers that are told.
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 8192;
/// Longest media type that is accepted.
const MAX_MEDIA_TYPE: usize = 128;

#[derive(Debug, Serialize)]
struct HttpReport {
    status: u16,
    /// The URL that answered, without its query.
    url: String,
    headers: BTreeMap<String, String>,
    body_bytes: u64,
    truncated: bool,
    /// The body is not text: the content is only a view of it, and its bytes are kept beside it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    binary: bool,
    /// The body, when it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<JsonPayload>,
}

/// Reads at most `most` bytes of the body and makes the outcome.
pub(super) async fn outcome(
    url: &Url,
    mut response: Response,
    most: u64,
    meter: &mut Meter,
) -> Result<Outcome, ToolError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    let mut truncated = false;
    let mut broken = None;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = usize::try_from(most).unwrap_or(usize::MAX) - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                meter.note(Counts { bytes_read: Some(body.len() as u64), ..Counts::default() });
                if chunk.len() > room {
                    truncated = true;
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => {
                broken = Some(unreachable(&error, url));
                break;
            }
        }
    }
    // Closes the connection if there is more.
    drop(response);
    let outcome = shown(url, status, &headers, &body, truncated);
    let error = if truncated {
        Some(too_large(format!("the server gave more than {most} bytes (status {})", status.as_u16())))
    } else if let Some(broken) = broken {
        let message = format!("{} after {} bytes (status {})", broken.message, body.len(), status.as_u16());
        // The server was reached, and broke its own word.
        let (class, advice) = (ErrorClass::ExecutionFailed, Recoverability::ChangeArguments);
        Some(ToolError::new(codes::HTTP_UNREACHABLE, class, advice, message))
    } else {
        status_error(status, &headers)
    };
    Ok(match error {
        Some(error) => outcome.failed(error),
        None => outcome,
    })
}

fn shown(url: &Url, status: StatusCode, headers: &HeaderMap, body: &[u8], truncated: bool) -> Outcome {
    let whole = if truncated { without_cut_end(body) } else { body };
    let encoded = headers.get(header::CONTENT_ENCODING).is_some_and(|value| value.as_bytes() != b"identity");
    let text = std::str::from_utf8(whole).ok().filter(|text| !encoded && !text.contains('\0'));
    let limits = JsonLimits { max_bytes: body.len(), ..JsonLimits::default() };
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim() == "application/json" || kind.trim().ends_with("+json"));
    let json = text
        .filter(|_| is_json && !truncated)
        .and_then(|text| JsonPayload::ingest(text.trim().to_owned().into_bytes(), &limits).ok());
    let mut place = url.clone();
    place.set_query(None);
    place.set_fragment(None);
    let report = HttpReport {
        status: status.as_u16(),
        url: place.into(),
        headers: bounded(headers),
        body_bytes: body.len() as u64,
        truncated,
        binary: text.is_none(),
        json,
    };
    let view = text.map_or_else(|| String::from_utf8_lossy(body), Cow::Borrowed);
    let exact = Exact::answer(Bytes::copy_from_slice(body), media_type(headers), &view);
    let mut outcome = Outcome::text(view.into_owned()).structured(&report).exactly(Some(exact));
    outcome.output_bytes = body.len() as u64;
    outcome
}

/// What the body is, in the words of the server: it was not unpacked, so a packed one is what it was packed into.
fn media_type(headers: &HeaderMap) -> String {
    let said = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::trim);
    match said(header::CONTENT_ENCODING) {
        None | Some("identity") => {}
        Some("gzip" | "x-gzip") => return "application/gzip".to_owned(),
        Some(_) => return BYTES.to_owned(),
    }
    let named = said(header::CONTENT_TYPE).filter(|kind| kind.len() <= MAX_MEDIA_TYPE && kind.contains('/'));
    named.unwrap_or(BYTES).to_owned()
}

/// Headers for the report: the first ones, without cookies.
fn bounded(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut bytes = 0;
    let mut told = BTreeMap::new();
    for (name, value) in headers.iter().filter(|(name, _)| **name != header::SET_COOKIE).take(MAX_HEADERS) {
        bytes += name.as_str().len() + value.len();
        if bytes > MAX_HEADER_BYTES {
            break;
        }
        told.insert(name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    told
}

fn status_error(status: StatusCode, headers: &HeaderMap) -> Option<ToolError> {
    if status.as_u16() < 400 {
        return None;
    }
    let message = format!("the server answered with status {}", status.as_u16());
    let (class, recoverability) = match status.as_u16() {
        429 => (ErrorClass::RateLimited, Recoverability::RetryLater),
        500.. => (ErrorClass::ExecutionFailed, Recoverability::RetryLater),
        _ => (ErrorClass::ExecutionFailed, Recoverability::ChangeArguments),
    };
    let retry_after_s = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let error = ToolError::new(codes::HTTP_STATUS, class, recoverability, message);
    Some(ToolError { retry_after_ms: retry_after_s.map(|seconds| seconds.saturating_mul(1000)), ..error })
}
