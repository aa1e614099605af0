//! From a response to an outcome.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{self, HeaderMap, HeaderValue};
use serde::Serialize;
use toolplane_credentials::Mask;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::evidence::NativeIds;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use toolplane_sandbox::OutputFile;
use url::Url;

use super::spill::{Body, Spill};
use super::{Sent, unreachable};
use crate::credentials::CredentialSource;
use crate::failure::too_large;
use crate::outcome::{BYTES, Exact, Outcome};
use crate::progress::{Counts, Meter};
use crate::text::without_cut_end;

/// Most body bytes read when the tool declares nothing.
pub(crate) const DEFAULT_MAX_BYTES: u64 = 1024 * 1024;
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

/// An answer that was read, without secrets.
pub(crate) struct Read {
    /// Where it came from, without its query.
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// All of it, or its beginning where it is in a file.
    pub(crate) body: Bytes,
    pub(crate) file: Option<Arc<OutputFile>>,
    pub(crate) total_bytes: u64,
    /// Why it is not all there is.
    pub(crate) cut: Option<ToolError>,
    pub(crate) truncated: bool,
}

/// Reads at most `most` bytes of the body, and takes secrets out of all of it. What is large goes to a file in `outputs`, if there is such
/// a directory.
pub(crate) async fn read(
    sent: Sent,
    most: u64,
    outputs: Option<&Path>,
    meter: &mut Meter,
    credentials: &CredentialSource,
) -> Read {
    let Sent { mut url, mut response, injections } = sent;
    let (status, mut headers) = (response.status(), response.headers().clone());
    let mask = credentials.mask();
    let mut spill = Spill::new(outputs, mask.clone(), is_json(&headers));
    let (mut truncated, mut cut) = (false, None);
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = usize::try_from(most - spill.come).unwrap_or(usize::MAX);
                if let Err(error) = spill.push(&chunk[..chunk.len().min(room)]).await {
                    cut = Some(not_written(&error, status));
                    break;
                }
                meter.note(Counts { bytes_read: Some(spill.come), ..Counts::default() });
                if chunk.len() > room {
                    truncated = true;
                    let status = status.as_u16();
                    cut = Some(too_large(format!("the server gave more than {most} bytes (status {status})")));
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => {
                cut = Some(broken(&unreachable(&error, &url), spill.come, status));
                break;
            }
        }
    }
    // Closes the connection if there is more.
    drop(response);
    url.set_query(None);
    url.set_fragment(None);
    if !mask.is_empty() {
        masked_headers(&mask, &mut headers);
    }
    let body = spill.finish(cut.is_some()).await.unwrap_or_else(|error| {
        cut = Some(not_written(&error, status));
        Body::default()
    });
    drop(injections);
    let Body { held, file, total_bytes } = body;
    Read { url, status, headers, body: Bytes::from(held), file, total_bytes, cut, truncated }
}

/// The server has answered, and this worker has no room for it.
fn not_written(error: &std::io::Error, status: StatusCode) -> ToolError {
    let status = status.as_u16();
    let message = format!("the server answered (status {status}), and the answer cannot be written to disk: {error}");
    let mut error = ToolError::of(codes::RESULT_NOT_KEPT, message);
    error.side_effects = Some("completed".to_owned());
    error
}

/// The server was reached, and broke its own word.
fn broken(error: &ToolError, bytes: u64, status: StatusCode) -> ToolError {
    let message = format!("{} after {bytes} bytes (status {})", error.message, status.as_u16());
    let (class, advice) = (ErrorClass::ExecutionFailed, Recoverability::ChangeArguments);
    ToolError::new(codes::HTTP_UNREACHABLE, class, advice, message)
}

fn masked_headers(mask: &Mask, headers: &mut HeaderMap) {
    for value in headers.values_mut() {
        if let Cow::Owned(masked) = mask.bytes(value.as_bytes()) {
            *value = HeaderValue::from_bytes(&masked).unwrap_or(HeaderValue::from_static(""));
        }
    }
}

/// The outcome of a request of a caller.
pub(super) fn outcome(read: Read) -> Outcome {
    let outcome = shown(&read);
    match read.cut.or_else(|| status_error(read.status, &read.headers)) {
        Some(error) => outcome.failed(error),
        None => outcome,
    }
}

fn shown(read: &Read) -> Outcome {
    let Read { url, status, headers, body, file, total_bytes, truncated, .. } = read;
    let is_part = *truncated || file.is_some();
    let whole = if is_part { without_cut_end(body) } else { body };
    let encoded = headers.get(header::CONTENT_ENCODING).is_some_and(|value| value.as_bytes() != b"identity");
    let text = std::str::from_utf8(whole).ok().filter(|text| !encoded && !text.contains('\0'));
    let limits = JsonLimits { max_bytes: body.len(), ..JsonLimits::default() };
    let json = text
        .filter(|_| is_json(headers) && !is_part)
        .and_then(|text| JsonPayload::ingest(text.trim().to_owned().into_bytes(), &limits).ok());
    let report = HttpReport {
        status: status.as_u16(),
        url: url.to_string(),
        headers: bounded(headers),
        body_bytes: *total_bytes,
        truncated: *truncated,
        binary: text.is_none(),
        json,
    };
    let view = text.map_or_else(|| String::from_utf8_lossy(body), Cow::Borrowed);
    let mut exact = Exact::answer(body.clone(), media_type(headers), &view);
    if file.is_some() {
        // What is shown of it is made from the file.
        exact = Exact { file: file.clone(), total_bytes: *total_bytes, is_text: false, ..exact };
    }
    let mut outcome = Outcome::text(view.into_owned()).structured(&report).exactly(Some(exact));
    outcome.output_bytes = *total_bytes;
    outcome.evidence = Some(JsonPayload::of(&HttpEvidence {
        status: status.as_u16(),
        body_bytes: *total_bytes,
        native_ids: native_ids(headers),
    }));
    outcome
}

/// What is known of an answer beside its content.
#[derive(Serialize)]
struct HttpEvidence {
    status: u16,
    body_bytes: u64,
    #[serde(skip_serializing_if = "NativeIds::is_empty")]
    native_ids: NativeIds,
}

/// Headers in which servers say what they call a request, in the order of trust.
const REQUEST_IDS: [&str; 5] =
    ["x-request-id", "request-id", "x-amzn-requestid", "x-ms-request-id", "x-correlation-id"];

/// What the server calls the request, if it says so.
pub(crate) fn native_ids(headers: &HeaderMap) -> NativeIds {
    let said = REQUEST_IDS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
    NativeIds { http_request_id: said.unwrap_or_default().into(), ..NativeIds::default() }.plain()
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim() == "application/json" || kind.trim().ends_with("+json"))
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
pub(crate) fn bounded(headers: &HeaderMap) -> BTreeMap<String, String> {
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
