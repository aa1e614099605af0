//! The body of one operation: which of its media types is sent, and how.

use serde_json::{Map, Value};
use toolplane_records::operation::{BodyEncoding, BodyPart, ParameterStyle};

use super::{Found, pointer_token};
use crate::document::Document;
use crate::error::{Fault, shown};

/// Most references and `allOf` one after the other in which members of a form are looked for.
const MAX_DEPTH: usize = 12;
/// Keywords beside which a body is no more than its members.
const PLAIN: [&str; 17] = [
    "type",
    "properties",
    "required",
    "description",
    "title",
    "example",
    "examples",
    "deprecated",
    "additionalProperties",
    "default",
    "xml",
    "externalDocs",
    "readOnly",
    "writeOnly",
    "nullable",
    "$schema",
    "$id",
];

/// A body, with what the document says of it.
#[derive(Debug)]
pub(super) struct Body<'d> {
    pub(super) media_type: String,
    pub(super) encoding: BodyEncoding,
    pub(super) required: bool,
    pub(super) description: &'d str,
    pub(super) schema: Option<(&'d Value, String)>,
    encodings: Option<&'d Map<String, Value>>,
}

/// One member of a body.
#[derive(Debug)]
pub(super) struct Member<'d> {
    pub(super) name: &'d str,
    pub(super) schema: &'d Value,
    pub(super) place: String,
}

/// The members of a body, where it is nothing but an object of them.
#[derive(Debug, Default)]
pub(super) struct Members<'d> {
    pub(super) members: Vec<Member<'d>>,
    pub(super) required: Vec<&'d str>,
}

/// The body of `one`; none when it takes none.
pub(super) fn read<'d>(document: &'d Document, one: &Found<'d>) -> Result<Option<Body<'d>>, Fault> {
    let Some(body) = one.members.get("requestBody") else { return Ok(None) };
    let (body, place) = document.follow(body, &format!("{}/requestBody", one.place))?;
    let Some(content) = body.get("content").and_then(Value::as_object).filter(|content| !content.is_empty()) else {
        return Ok(None);
    };
    // No server has to look at the body of these.
    if matches!(one.method.as_str(), "GET" | "HEAD") {
        return match body.get("required") == Some(&Value::Bool(true)) {
            true => Err(Fault::at(place, format!("is required, and a {} request has no body", one.method))),
            false => Ok(None),
        };
    }
    let known = content.iter().filter_map(|(kind, media)| Some((encoding_of(kind)?, kind, media)));
    let Some(((_, encoding), kind, media)) = known.min_by_key(|((rank, _), ..)| *rank) else {
        let kinds: Vec<String> = content.keys().take(4).map(|kind| shown(kind)).collect();
        let rule = format!("has only media types that are not supported: {}", kinds.join(", "));
        return Err(Fault::at(format!("{place}/content"), rule));
    };
    let at = format!("{place}/content/{}", pointer_token(kind));
    let media_type = match kind.as_str() {
        "*/*" | "application/*" => "application/json".to_owned(),
        "text/*" => "text/plain".to_owned(),
        kind if encoding == BodyEncoding::Bytes && kind.contains('*') => "application/octet-stream".to_owned(),
        kind => kind.to_owned(),
    };
    if !is_media_type(&media_type) {
        return Err(Fault::at(at, "is not a media type"));
    }
    Ok(Some(Body {
        media_type,
        encoding,
        required: body.get("required") == Some(&Value::Bool(true)),
        description: body.get("description").and_then(Value::as_str).unwrap_or_default(),
        schema: media.get("schema").map(|schema| (schema, format!("{at}/schema"))),
        encodings: media.get("encoding").and_then(Value::as_object),
    }))
}

/// Whether a text can stand in `Content-Type`.
fn is_media_type(text: &str) -> bool {
    text.len() <= 200 && text.contains('/') && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

/// How a media type is encoded, and how much it is liked.
fn encoding_of(kind: &str) -> Option<(u8, BodyEncoding)> {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match kind.as_str() {
        "application/json" => (0, BodyEncoding::Json),
        "*/*" | "application/*" => (2, BodyEncoding::Json),
        "application/x-www-form-urlencoded" => (3, BodyEncoding::Form),
        "multipart/form-data" => (4, BodyEncoding::Multipart),
        "application/xml" => (6, BodyEncoding::Text),
        kind if kind.ends_with("+json") => (1, BodyEncoding::Json),
        kind if kind.ends_with("+xml") => (6, BodyEncoding::Text),
        kind if kind.starts_with("text/") => (5, BodyEncoding::Text),
        // Parts in order, or lines of JSON: not made here.
        kind if kind.starts_with("multipart/") || kind.ends_with("json-seq") || kind.ends_with("jsonl") => return None,
        _ => (7, BodyEncoding::Bytes),
    })
}

impl<'d> Body<'d> {
    /// The members, where the body is no more than an object of named ones: fields of the input can stand for them. Forms always
    /// are; of JSON a plain object is, unless it may have further members or may be left out while some are required.
    pub(super) fn members(&self, document: &'d Document) -> Option<Members<'d>> {
        let (schema, place) = self.schema.as_ref()?;
        let mut members = Members::default();
        match self.encoding {
            BodyEncoding::Form | BodyEncoding::Multipart => {
                collect(document, schema, place, 0, true, &mut members);
                (!members.members.is_empty()).then_some(members)
            }
            BodyEncoding::Json => {
                let (object, place) = document.follow(schema, place).ok()?;
                let plain = object.keys().all(|key| PLAIN.contains(&key.as_str()) || key.starts_with("x-"));
                let is_object = matches!(object.get("type"), None | Some(Value::String(_)))
                    && object.get("type").and_then(Value::as_str).is_none_or(|name| name == "object");
                let closed = matches!(object.get("additionalProperties"), None | Some(Value::Bool(false)));
                let never_null = object.get("nullable") != Some(&Value::Bool(true));
                if !(plain && is_object && closed && never_null) {
                    return None;
                }
                of_object(object, &place, &mut members);
                let can_be_left_out = self.required || members.required.is_empty();
                (!members.members.is_empty() && can_be_left_out).then_some(members)
            }
            BodyEncoding::Text | BodyEncoding::Bytes => None,
        }
    }

    /// How one member of a form is written; JSON has no need of it.
    pub(super) fn part(&self, document: &Document, member: &Member<'_>) -> BodyPart {
        let said = self.encodings.and_then(|encodings| encodings.get(member.name));
        let text = |key: &str| said.and_then(|said| said.get(key)).and_then(Value::as_str);
        let style = match text("style") {
            Some("spaceDelimited") => Some(ParameterStyle::SpaceDelimited),
            Some("pipeDelimited") => Some(ParameterStyle::PipeDelimited),
            Some("deepObject") => Some(ParameterStyle::DeepObject),
            Some(_) => Some(ParameterStyle::Form),
            None if said.is_some_and(|said| said.get("explode").is_some()) => Some(ParameterStyle::Form),
            None => None,
        };
        let default = matches!(style, Some(ParameterStyle::Form | ParameterStyle::DeepObject) | None);
        // Several types mean that the sender chooses.
        let media_type = text("contentType").filter(|kind| is_media_type(kind) && !kind.contains(['*', ',']));
        let file = self.encoding == BodyEncoding::Multipart && is_file(document, member.schema, text("contentType"));
        BodyPart {
            name: member.name.to_owned(),
            field: None,
            style: style.filter(|_| self.encoding == BodyEncoding::Form),
            explode: said.and_then(|said| said.get("explode")).and_then(Value::as_bool).unwrap_or(default),
            media_type: media_type.map(str::to_owned),
            file,
        }
    }
}

/// The members of an object, those of what it is made of (`allOf`), and of every alternative.
fn collect<'d>(
    document: &'d Document,
    schema: &'d Value,
    place: &str,
    depth: usize,
    sure: bool,
    members: &mut Members<'d>,
) {
    let Ok((object, place)) = document.follow(schema, place) else { return };
    if depth > MAX_DEPTH {
        return;
    }
    let before = members.required.len();
    of_object(object, &place, members);
    if !sure {
        members.required.truncate(before);
    }
    for (keyword, sure) in [("allOf", sure), ("anyOf", false), ("oneOf", false)] {
        for (index, one) in object.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
            collect(document, one, &format!("{place}/{keyword}/{index}"), depth + 1, sure, members);
        }
    }
}

fn of_object<'d>(object: &'d Map<String, Value>, place: &str, members: &mut Members<'d>) {
    for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if schema.get("readOnly") == Some(&Value::Bool(true)) || members.members.iter().any(|one| one.name == name) {
            continue;
        }
        let place = format!("{place}/properties/{}", pointer_token(name));
        members.members.push(Member { name, schema, place });
    }
    let required = object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if members.members.iter().any(|one| one.name == name) && !members.required.contains(&name) {
            members.required.push(name);
        }
    }
}

/// Whether values are files: bytes and not text.
fn is_file(document: &Document, schema: &Value, content_type: Option<&str>) -> bool {
    let Ok((schema, _)) = document.follow(schema, "") else { return false };
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if let Some(items) = schema.get("items") {
        return text("type") == Some("array") && is_file(document, items, content_type);
    }
    let media = text("contentMediaType").filter(|_| text("contentEncoding").is_none());
    let binary = |kind: &str| {
        kind == "application/octet-stream" || ["image/", "audio/", "video/"].iter().any(|start| kind.starts_with(start))
    };
    (text("type").is_none_or(|name| name == "string") && text("format") == Some("binary"))
        || media.is_some_and(binary)
        || (text("type").is_none_or(|name| name == "string") && content_type.is_some_and(binary))
}
