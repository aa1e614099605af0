//! What a response means for a call.

mod detail;
mod pages;
mod retry;
mod status;

use bytes::Bytes;
use toolplane_catalog::{AnswerValidator, CatalogLimits};
use toolplane_records::error::{FieldViolation, ToolError};
use toolplane_records::json::JsonLimits;
use toolplane_records::operation::OperationBinding;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;

pub use pages::NextPage;
pub use retry::retry_after_ms;
pub use status::status_error;

/// The media type of bytes of which nothing is known.
const BYTES: &str = "application/octet-stream";
/// Longest media type that is told.
const MAX_MEDIA_TYPE: usize = 128;

/// A response, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// What it means.
    pub meaning: Meaning,
    /// What it holds, whatever it means.
    pub content: Content,
    /// There is more of it, and how it is asked for.
    pub next: Option<NextPage>,
}

/// What a response means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It did what was asked.
    Success {
        /// Where the content is not what the document says; empty when it is, or when there is nothing to compare.
        mismatch: Vec<FieldViolation>,
    },
    /// The server names another place. It is for the caller of this function to go there or not.
    Redirect {
        /// That place, as the server wrote it.
        location: Option<String>,
    },
    /// It did not.
    Failure {
        /// Why, with the advice that goes with what is known of effects.
        error: Box<ToolError>,
        /// The same request may be sent again without harm.
        retry_safe: bool,
    },
}

/// What a response holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Empty,
    /// One JSON value, in its exact bytes.
    Json(JsonPayload),
    /// A text.
    Text {
        /// The text, exact.
        text: String,
        /// Its media type, in the words of the server.
        media_type: String,
    },
    /// Anything else, exact.
    Bytes {
        /// The bytes.
        bytes: Bytes,
        /// Their media type, in the words of the server.
        media_type: String,
    },
}

/// Reads the response to a request that was made of `binding`. Headers are pairs of name (in any case) and value; `body` is all of
/// it, not unpacked. `now` is when the response came, for dates in `Retry-After`.
///
/// A status of 100 to 399 that is neither success nor redirect is a failure of the server: nothing here asked for it.
pub fn response(
    binding: &OperationBinding,
    status: u16,
    headers: &[(String, String)],
    body: &Bytes,
    now: Timestamp,
) -> Answer {
    let content = content(headers, body);
    let json = match &content {
        Content::Json(payload) => Some(payload),
        _ => None,
    };
    let meaning = match status {
        200..=299 => Meaning::Success { mismatch: json.map_or_else(Vec::new, |json| mismatch(binding, json)) },
        301 | 302 | 303 | 307 | 308 => Meaning::Redirect { location: header(headers, "location").map(str::to_owned) },
        // What was asked for has not changed, and there is nothing to show; only a caller who asked so is told this.
        304 => Meaning::Success { mismatch: Vec::new() },
        _ => {
            let detail = detail::of(&content);
            let (error, retry_safe) = status_error(status, headers, &detail, binding.idempotent, now);
            Meaning::Failure { error: Box::new(error), retry_safe }
        }
    };
    let next = match &meaning {
        Meaning::Success { .. } => pages::next(binding, headers, json),
        _ => None,
    };
    Answer { status, meaning, content, next }
}

/// The first header of that name.
pub(crate) fn header<'a>(headers: &'a [(String, String)], wanted: &str) -> Option<&'a str> {
    headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
}

/// A body is text only where it says so in nothing that contradicts it: packed bytes and those that are no UTF-8 stay bytes.
fn content(headers: &[(String, String)], body: &Bytes) -> Content {
    if body.is_empty() {
        return Content::Empty;
    }
    let packed = header(headers, "content-encoding").filter(|encoding| !encoding.eq_ignore_ascii_case("identity"));
    let media_type = match packed {
        Some("gzip" | "x-gzip") => "application/gzip",
        Some(_) => BYTES,
        None => header(headers, "content-type")
            .filter(|kind| kind.len() <= MAX_MEDIA_TYPE && kind.contains('/'))
            .unwrap_or(BYTES),
    };
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let text = std::str::from_utf8(body).ok().filter(|text| packed.is_none() && !text.contains('\0'));
    let media_type = media_type.to_owned();
    let Some(text) = text.filter(|_| is_text(&essence)) else {
        return Content::Bytes { bytes: body.clone(), media_type };
    };
    if essence == "application/json" || essence.ends_with("+json") {
        let limits = JsonLimits { max_bytes: body.len(), ..JsonLimits::default() };
        if let Ok(payload) = JsonPayload::ingest(body.slice_ref(text.trim().as_bytes()), &limits) {
            return Content::Json(payload);
        }
    }
    Content::Text { text: text.to_owned(), media_type }
}

/// Whether a media type is read as text.
fn is_text(essence: &str) -> bool {
    let words = ["application/json", "application/xml", "application/javascript", "application/yaml"];
    essence.starts_with("text/")
        || words.contains(&essence)
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
        || essence == "application/x-www-form-urlencoded"
        || essence == "application/x-ndjson"
}

/// Where the content is not what the document says. A schema that cannot be used says nothing.
fn mismatch(binding: &OperationBinding, json: &JsonPayload) -> Vec<FieldViolation> {
    let Some(schema) = &binding.response_schema else { return Vec::new() };
    let schema = JsonPayload::from_checked(schema.clone());
    let Ok(validator) = AnswerValidator::new(Some(&schema), &CatalogLimits::default()) else { return Vec::new() };
    validator.validate(json).err().unwrap_or_default()
}
