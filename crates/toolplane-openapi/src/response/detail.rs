//! What a server says of a failure, in one short text.

use serde_json::Value;
use toolplane_records::visible::excerpt;

use super::Content;

/// Most characters of all of it.
const MAX_DETAIL: usize = 600;
/// Most characters of one part.
const MAX_PART: usize = 300;
/// Largest body that is looked into, in bytes.
const MAX_LOOKED_INTO: u64 = 256 * 1024;

/// From problem details (RFC 9457) and what other servers use in their place; the beginning of a text.
pub(super) fn of(content: &Content) -> String {
    let text = match content {
        Content::Json(payload) if payload.size() <= MAX_LOOKED_INTO => of_json(&payload.to_value()),
        Content::Text { text, media_type } if !media_type.contains("html") => excerpt(text.trim(), MAX_PART),
        _ => String::new(),
    };
    excerpt(&text, MAX_DETAIL)
}

fn of_json(value: &Value) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = excerpt(text.trim(), MAX_PART);
        if !text.is_empty() && !parts.contains(&text) {
            parts.push(text);
        }
    };
    match value {
        Value::String(text) => add(text),
        Value::Object(members) => {
            let inner = members.get("error").filter(|error| error.is_object());
            for members in [Some(value), inner].into_iter().flatten() {
                for key in ["title", "code", "message", "error", "error_description", "detail", "msg", "reason"] {
                    match members.get(key) {
                        Some(Value::String(text)) => add(text),
                        Some(list @ Value::Array(_)) => add(&list.to_string()),
                        _ => {}
                    }
                }
                for key in ["errors", "invalid-params", "details", "violations"] {
                    if let Some(found @ (Value::Array(_) | Value::Object(_))) = members.get(key) {
                        add(&found.to_string());
                    }
                }
            }
        }
        _ => {}
    }
    parts.join(": ")
}
