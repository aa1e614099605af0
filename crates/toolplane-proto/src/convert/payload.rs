//! JSON values and references to bytes. A JSON value from outside passes the strict gate of the records here.

use bytes::Bytes;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload as records;

use crate::convert::{ConvertError, field};
use crate::v1;
use crate::v1::json_payload::Body;

/// The media type JSON values are sent as.
pub(super) const JSON: &str = "application/json";
const JSON_SCHEMA: &str = "application/schema+json";

impl From<&records::JsonPayload> for v1::JsonPayload {
    fn from(record: &records::JsonPayload) -> Self {
        Self {
            body: Some(Body::Inline(record.bytes().clone())),
            sha256: Bytes::copy_from_slice(record.digest().as_bytes()),
            size_bytes: record.size(),
            media_type: JSON.to_owned(),
            redaction: v1::RedactionState::None.into(),
        }
    }
}

impl TryFrom<v1::JsonPayload> for records::JsonPayload {
    type Error = ConvertError;

    /// [`ingest`] within the default limits.
    fn try_from(message: v1::JsonPayload) -> Result<Self, ConvertError> {
        ingest(message, &JsonLimits::default())
    }
}

/// Checks a JSON value from outside and keeps its bytes unchanged.
///
/// Refused are references, bytes that break `limits` or are not strict JSON, and a size or digest that is given and wrong.
/// The path of the error is relative to the value: empty, `sha256`, `size_bytes` or `media_type`.
pub fn ingest(message: v1::JsonPayload, limits: &JsonLimits) -> Result<records::JsonPayload, ConvertError> {
    let bytes = match message.body {
        Some(Body::Inline(bytes)) => bytes,
        Some(Body::Ref(_)) => return Err(ConvertError::new("ref", "is not accepted here: give the bytes inline")),
        None => return Err(ConvertError::missing("inline")),
    };
    if !is_json(&message.media_type) {
        return Err(ConvertError::new("media_type", format!("must be `{JSON}` or `{JSON_SCHEMA}`")));
    }
    if message.size_bytes != 0 && message.size_bytes != bytes.len() as u64 {
        let rule = format!("says {} but the value has {} bytes", message.size_bytes, bytes.len());
        return Err(ConvertError::new("size_bytes", rule));
    }
    let payload = records::JsonPayload::ingest(bytes, limits).map_err(|error| ConvertError::new("", error))?;
    if !message.sha256.is_empty() && message.sha256[..] != payload.digest().as_bytes()[..] {
        return Err(ConvertError::new("sha256", "does not match the bytes"));
    }
    Ok(payload)
}

/// Whether a value may be sent under this media type.
pub(super) fn is_json(media_type: &str) -> bool {
    matches!(media_type, "" | JSON | JSON_SCHEMA)
}

impl From<&records::PayloadRef> for v1::PayloadRef {
    fn from(record: &records::PayloadRef) -> Self {
        Self {
            uri: record.uri.to_string(),
            media_type: record.media_type.to_string(),
            digest: record.digest.to_string(),
            size_bytes: record.size_bytes,
        }
    }
}

impl TryFrom<v1::PayloadRef> for records::PayloadRef {
    type Error = ConvertError;

    fn try_from(message: v1::PayloadRef) -> Result<Self, ConvertError> {
        Ok(Self {
            uri: message.uri.into(),
            media_type: message.media_type.into(),
            digest: field::id("digest", &message.digest)?,
            size_bytes: message.size_bytes,
        })
    }
}
