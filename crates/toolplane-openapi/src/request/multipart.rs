//! `multipart/form-data`.

use bytes::Bytes;
use toolplane_catalog::values::{invalid_binding, invalid_input};
use toolplane_records::error::ToolError;
use toolplane_records::operation::BodyPart;

use super::body::{as_text, from_base64};
use super::value::{At, scalar};

/// Longest name of a file, in characters.
const MAX_FILENAME: usize = 255;

/// What a file field holds.
pub(super) struct Content {
    pub(super) bytes: Bytes,
    filename: Option<String>,
    media_type: Option<String>,
}

/// The content of a file, given as `base64` or as `text`.
pub(super) fn content(value: &At<'_>) -> Result<Content, Box<ToolError>> {
    let (mut bytes, mut filename, mut media_type) = (None, None, None);
    for (name, member) in value.members()? {
        let text = member.text()?;
        match name.as_str() {
            "text" | "base64" if bytes.is_some() => {
                return Err(value.invalid("must have one of `base64` and `text`".to_owned()));
            }
            "text" => bytes = Some(text.into_bytes()),
            "base64" => {
                let decoded = from_base64(&text).ok_or_else(|| member.invalid("is not base64".to_owned()))?;
                bytes = Some(decoded);
            }
            "filename" => filename = Some(text),
            "media_type" => {
                let plain = |c: char| c.is_ascii_graphic() || c == ' ';
                if !text.contains('/') || text.len() > 200 || !text.chars().all(plain) {
                    return Err(member.invalid("is not a media type".to_owned()));
                }
                media_type = Some(text);
            }
            _ => {
                return Err(
                    member.invalid("is not known; a file has `base64`, `text`, `filename`, `media_type`".into())
                );
            }
        }
    }
    let bytes = bytes.ok_or_else(|| value.invalid("must have `base64` or `text`".to_owned()))?;
    if filename.as_ref().is_some_and(|name| name.chars().count() > MAX_FILENAME) {
        return Err(value.invalid(format!("has a file name longer than {MAX_FILENAME} characters")));
    }
    Ok(Content { bytes: bytes.into(), filename, media_type })
}

/// All parts, and the media type with the boundary.
pub(super) fn write(
    media_type: &str,
    given: &[(BodyPart, At<'_>)],
    boundary: &str,
) -> Result<(String, Bytes), Box<ToolError>> {
    if boundary.is_empty() || boundary.len() > 70 || !boundary.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(invalid_binding("the boundary of a multipart body must be 1 to 70 letters and digits"));
    }
    let mut body = Vec::new();
    for (part, value) in given.iter().filter(|(_, value)| value.raw.get() != "null") {
        for one in value.elements() {
            let content = if part.file { content(&one)? } else { plain(part, &one)? };
            let filename = content.filename.as_deref().or(part.file.then_some("file"));
            let kind = content.media_type.or_else(|| part.media_type.clone());
            let kind = kind.or_else(|| part.file.then(|| "application/octet-stream".to_owned()));
            if find(&content.bytes, boundary.as_bytes()) {
                return Err(invalid_input(&one.field, "holds the boundary that separates parts; try again"));
            }
            body.extend_from_slice(
                format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{}\"", quoted(&part.name)).as_bytes(),
            );
            if let Some(filename) = filename {
                body.extend_from_slice(format!("; filename=\"{}\"", quoted(filename)).as_bytes());
            }
            if let Some(kind) = kind {
                body.extend_from_slice(format!("\r\ncontent-type: {kind}").as_bytes());
            }
            body.extend_from_slice(b"\r\n\r\n");
            body.extend_from_slice(&content.bytes);
            body.extend_from_slice(b"\r\n");
        }
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((format!("{media_type}; boundary={boundary}"), body.into()))
}

/// A part that is no file: a text, or JSON.
fn plain(part: &BodyPart, value: &At<'_>) -> Result<Content, Box<ToolError>> {
    let (text, kind) = match (&part.media_type, scalar(value.raw)) {
        (Some(kind), _) => (as_text(kind, value)?, None),
        (None, Some(text)) => (text, None),
        (None, None) => (value.raw.get().to_owned(), Some("application/json".to_owned())),
    };
    Ok(Content { bytes: text.into(), filename: None, media_type: kind })
}

/// A name between quotes: what would end it is encoded, as browsers do.
fn quoted(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' => quoted.push_str("%22"),
            '\r' => quoted.push_str("%0D"),
            '\n' => quoted.push_str("%0A"),
            c => quoted.push(c),
        }
    }
    quoted
}

fn find(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
