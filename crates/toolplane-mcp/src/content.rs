//! What a tool gave back.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_records::json;
use toolplane_records::payload::JsonPayload;

use crate::failure::{Failure, shown};
use crate::limits::Limits;

/// Some servers leave the padding away.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const BASE64_FOR_URLS: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    general_purpose::GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Most notes about one result.
const NOTES: usize = 16;
/// Longest media type.
const MEDIA_TYPE: usize = 256;
/// The media type of bytes of which nothing is said.
const BYTES: &str = "application/octet-stream";

/// What a tool gave back. That the tool failed is an answer too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The tool says that it failed; the content says why.
    pub is_error: bool,
    /// What it says, part by part.
    pub content: Vec<Content>,
    /// The structured content, byte for byte; none where it is `null`.
    pub structured: Option<JsonPayload>,
    /// What was left out, and what is odd.
    pub notes: Vec<String>,
}

/// One part of what a tool says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// What the bytes are, as the server says.
        media_type: String,
        /// The picture.
        bytes: Bytes,
    },
    /// Sound.
    Audio {
        /// What the bytes are, as the server says.
        media_type: String,
        /// The sound.
        bytes: Bytes,
    },
    /// Something that can be read elsewhere.
    ResourceLink {
        /// Where.
        uri: String,
        /// Its name.
        name: String,
        /// Its title.
        title: Option<String>,
        /// What it is.
        description: Option<String>,
        /// What its bytes are.
        media_type: Option<String>,
        /// How many bytes.
        size: Option<u64>,
    },
    /// Something that is read elsewhere, sent along.
    Resource {
        /// Where it is.
        uri: String,
        /// What it is, as the server says.
        media_type: Option<String>,
        /// What is in it.
        body: ResourceBody,
    },
    /// Something this client does not know, or cannot read, as it was written.
    Other {
        /// What it calls itself.
        kind: String,
        /// The part, as it was written.
        json: JsonPayload,
    },
}

/// What is in a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Bytes),
}

/// What a result is, by the newer protocol. A result that does not say is complete.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResultKind {
    Complete,
    InputRequired,
    Other(String),
}

#[derive(Deserialize)]
struct KindOnly {
    #[serde(rename = "resultType", default)]
    kind: Option<String>,
}

pub(crate) fn kind(result: &Bytes) -> ResultKind {
    let kind = serde_json::from_slice::<KindOnly>(result).ok().and_then(|read| read.kind);
    match kind.as_deref() {
        None | Some("complete") => ResultKind::Complete,
        Some("input_required") => ResultKind::InputRequired,
        Some(other) => ResultKind::Other(other.to_owned()),
    }
}

/// One part, with all any kind of part has.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    #[serde(borrow, default)]
    data: Option<std::borrow::Cow<'a, str>>,
    #[serde(rename = "mimeType")]
    media_type: Option<String>,
    uri: Option<String>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    size: Option<u64>,
    #[serde(borrow, default)]
    resource: Option<Embedded<'a>>,
}

#[derive(Deserialize)]
struct Embedded<'a> {
    uri: String,
    #[serde(rename = "mimeType")]
    media_type: Option<String>,
    text: Option<String>,
    #[serde(borrow, default)]
    blob: Option<std::borrow::Cow<'a, str>>,
}

/// Reads the result of a call. Fails when it is not one; a part that cannot be read is kept as it is.
pub(crate) fn read(result: &Bytes, limits: &Limits) -> Result<ToolAnswer, Failure> {
    let not_one = |why: String| Failure::Unreadable(format!("the result {why}"));
    json::check(result, &limits.json()).map_err(|refusal| not_one(refusal.to_string()))?;
    let raw: &RawValue = serde_json::from_slice(result).map_err(|error| not_one(error.to_string()))?;
    let members = json::members(raw).map_err(|_| not_one("is not an object".to_owned()))?;
    let mut answer = ToolAnswer::default();
    let mut said = false;
    for (key, value) in members {
        match key.as_str() {
            "content" => {
                let parts = json::elements(value).map_err(|_| not_one("has content that is not a list".to_owned()))?;
                said = true;
                read_parts(&mut answer, parts, limits);
            }
            "structuredContent" if value.get() != "null" => {
                said = true;
                let bytes = Bytes::copy_from_slice(value.get().as_bytes());
                answer.structured = Some(JsonPayload::from_checked(bytes));
            }
            "isError" => match value.get() {
                "true" => answer.is_error = true,
                "false" | "null" => {}
                _ => return Err(not_one("does not say whether it is an error".to_owned())),
            },
            _ => {}
        }
    }
    if said { Ok(answer) } else { Err(not_one("has no content".to_owned())) }
}

fn read_parts(answer: &mut ToolAnswer, parts: Vec<&RawValue>, limits: &Limits) {
    let left_out = parts.len().saturating_sub(limits.contents);
    for part in parts.into_iter().take(limits.contents) {
        let (content, note) = read_part(part);
        answer.content.push(content);
        if let Some(note) = note.filter(|_| answer.notes.len() < NOTES) {
            answer.notes.push(note);
        }
    }
    if left_out > 0 {
        answer
            .notes
            .push(format!("{left_out} parts of the content are left out: at most {} are kept", limits.contents));
    }
}

/// One part, and what is odd about it.
fn read_part(raw: &RawValue) -> (Content, Option<String>) {
    let other = |kind: &str, why: &str| {
        let json = JsonPayload::from_checked(Bytes::copy_from_slice(raw.get().as_bytes()));
        (Content::Other { kind: shown(kind), json }, Some(format!("a part of the kind `{}` {why}", shown(kind))))
    };
    let Ok(part) = serde_json::from_str::<Part<'_>>(raw.get()) else {
        return other("", "cannot be read and is kept as it is");
    };
    let kind = part.kind.clone();
    match known(part) {
        Some(Ok(content)) => (content, None),
        Some(Err(why)) => other(&kind, why),
        None => other(&kind, "is not known and kept as it is"),
    }
}

/// A part of a kind that is known: the part, or what is wrong with it.
fn known(part: Part<'_>) -> Option<Result<Content, &'static str>> {
    let data = |kind: fn(String, Bytes) -> Content| match part.data.as_deref().and_then(decode) {
        Some(bytes) => Ok(kind(media_type(part.media_type.clone()), bytes)),
        None => Err("has no bytes that can be read and is kept as it is"),
    };
    match part.kind.as_str() {
        "text" => Some(part.text.map(Content::Text).ok_or("has no text and is kept as it is")),
        "image" => Some(data(|media_type, bytes| Content::Image { media_type, bytes })),
        "audio" => Some(data(|media_type, bytes| Content::Audio { media_type, bytes })),
        "resource_link" => {
            Some(part.uri.ok_or("has no address and is kept as it is").map(|uri| Content::ResourceLink {
                uri,
                name: part.name.unwrap_or_default(),
                title: part.title,
                description: part.description,
                media_type: part.media_type,
                size: part.size,
            }))
        }
        "resource" => Some(part.resource.ok_or("has no resource and is kept as it is").and_then(embedded)),
        _ => None,
    }
}

fn embedded(resource: Embedded<'_>) -> Result<Content, &'static str> {
    let body = match (resource.text, resource.blob) {
        (Some(text), _) => ResourceBody::Text(text),
        (None, Some(blob)) => {
            ResourceBody::Blob(decode(&blob).ok_or("has no bytes that can be read and is kept as it is")?)
        }
        (None, None) => return Err("has nothing in it and is kept as it is"),
    };
    Ok(Content::Resource { uri: resource.uri, media_type: resource.media_type, body })
}

/// What the server says the bytes are, if it is a media type at all.
fn media_type(said: Option<String>) -> String {
    let usable = |said: &String| {
        said.len() <= MEDIA_TYPE && said.contains('/') && said.bytes().all(|b| (b' '..=b'~').contains(&b))
    };
    said.filter(usable).unwrap_or_else(|| BYTES.to_owned())
}

/// Decodes base64; it is never larger than the message it came in.
fn decode(text: &str) -> Option<Bytes> {
    let decoded = BASE64.decode(text).or_else(|_| BASE64_FOR_URLS.decode(text)).or_else(|_| {
        // Some servers break lines.
        let joined: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        BASE64.decode(joined)
    });
    decoded.ok().map(Bytes::from)
}

#[cfg(test)]
mod tests;
