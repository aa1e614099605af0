//! From bytes to one JSON value, within bounds.

mod yaml;

use serde_json::Value;
use toolplane_records::json::{self, JsonLimits};

use crate::error::DocumentError;
use crate::limits::DocumentLimits;

/// Reads JSON, or YAML as JSON values. What begins like a JSON object is read as JSON alone.
pub(crate) fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<Value, DocumentError> {
    if bytes.len() > limits.max_bytes {
        let rule = format!("is {} bytes; at most {} are allowed", bytes.len(), limits.max_bytes);
        return Err(DocumentError::Unreadable(rule));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| DocumentError::Unreadable(format!("is not valid UTF-8 at byte {}", error.valid_up_to())))?;
    if !text.trim_start().starts_with('{') {
        return yaml::read(text, limits).map_err(DocumentError::Unreadable);
    }
    let bounds = JsonLimits { max_bytes: limits.max_bytes, max_depth: limits.max_depth, max_nodes: limits.max_nodes };
    json::check(bytes, &bounds).map_err(|refusal| DocumentError::Unreadable(refusal.to_string()))?;
    serde_json::from_str(text).map_err(|error| DocumentError::Unreadable(format!("cannot be read as JSON: {error}")))
}
