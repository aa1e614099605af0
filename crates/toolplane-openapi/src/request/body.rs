//! The bytes of a body, and values that are written by a media type.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use bytes::Bytes;
use toolplane_catalog::values::invalid_input;
use toolplane_records::error::ToolError;
use toolplane_records::operation::{BodyEncoding, BodyPart, OperationBody, ParameterStyle};

use super::value::{At, Input, scalar};
use super::{encode, multipart, style};

/// The media type and the bytes; none when there is no body to send.
pub(super) fn write(
    body: &OperationBody,
    input: &Input<'_>,
    boundary: &str,
) -> Result<Option<(String, Bytes)>, Box<ToolError>> {
    let media_type = body.media_type.clone();
    if !body.input.is_empty() {
        let Some(value) = input.at(&body.input)? else {
            // A body that may be `null` is sent as that.
            let null = body.encoding == BodyEncoding::Json && input.member(&body.input[0]).is_some();
            return match body.required {
                true if null => Ok(Some((media_type, Bytes::from_static(b"null")))),
                true => Err(invalid_input(&body.input.join("."), "is missing")),
                false => Ok(None),
            };
        };
        return Ok(Some(match body.encoding {
            BodyEncoding::Json => (media_type, Bytes::copy_from_slice(value.raw.get().as_bytes())),
            BodyEncoding::Text => (media_type, Bytes::from(value.text()?)),
            BodyEncoding::Bytes => (media_type, multipart::content(&value)?.bytes),
            BodyEncoding::Form => (media_type, form(&members(&value, body)?)?),
            BodyEncoding::Multipart => multipart::write(&media_type, &members(&value, body)?, boundary)?,
        }));
    }
    let given = body.parts.iter().filter_map(|part| {
        let field = part.field.as_ref().unwrap_or(&part.name);
        let raw = input.member(field)?;
        Some((part.clone(), At { field: field.clone(), raw }))
    });
    let given: Vec<(BodyPart, At<'_>)> = given.collect();
    if given.is_empty() && !body.required {
        return Ok(None);
    }
    Ok(Some(match body.encoding {
        BodyEncoding::Form => (media_type, form(&given)?),
        BodyEncoding::Multipart => multipart::write(&media_type, &given, boundary)?,
        _ => (media_type, object(&given)),
    }))
}

/// An object of the members that are given, each spelled as it was given.
fn object(given: &[(BodyPart, At<'_>)]) -> Bytes {
    let members = given
        .iter()
        .map(|(part, value)| format!("{}:{}", serde_json::Value::from(part.name.as_str()), value.raw.get()));
    Bytes::from(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// The members of a value, each with how it is written.
fn members<'a>(value: &At<'a>, body: &OperationBody) -> Result<Vec<(BodyPart, At<'a>)>, Box<ToolError>> {
    let part = |name: &str| {
        let known = body.parts.iter().find(|part| part.name == name).cloned();
        known.unwrap_or_else(|| BodyPart {
            name: name.to_owned(),
            field: None,
            style: None,
            explode: false,
            media_type: None,
            file: false,
        })
    };
    Ok(value.members()?.into_iter().map(|(name, value)| (part(&name), value)).collect())
}

/// `application/x-www-form-urlencoded`
fn form(given: &[(BodyPart, At<'_>)]) -> Result<Bytes, Box<ToolError>> {
    let mut pairs = Vec::new();
    for (part, value) in given.iter().filter(|(_, value)| value.raw.get() != "null") {
        if let Some(style) = part.style {
            let piece = value.piece(style == ParameterStyle::DeepObject)?;
            let shape = style::Shape::of_field(part, style);
            pairs.extend(style::pairs(&shape, &piece).map_err(|rule| value.invalid(rule))?);
            continue;
        }
        // Without a style each element is a field, and what is composed is JSON.
        for one in value.elements() {
            let text = match &part.media_type {
                Some(kind) => as_text(kind, &one)?,
                None => scalar(one.raw).unwrap_or_else(|| one.raw.get().to_owned()),
            };
            pairs.push(format!("{}={}", encode::form(&part.name), encode::form(&text)));
        }
    }
    Ok(Bytes::from(pairs.join("&")))
}

/// A value as a text of a media type.
pub(super) fn as_text(kind: &str, value: &At<'_>) -> Result<String, Box<ToolError>> {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind == "application/json" || kind.ends_with("+json") {
        true => Ok(value.raw.get().to_owned()),
        false => value.text(),
    }
}

/// A query that is one value (`in: querystring`).
pub(super) fn whole_query(kind: &str, value: &At<'_>) -> Result<String, Box<ToolError>> {
    if kind == "application/x-www-form-urlencoded" && value.is_object() {
        let mut pairs = Vec::new();
        for (name, value) in value.members()? {
            for one in value.elements().into_iter().filter(|one| one.raw.get() != "null") {
                let text = scalar(one.raw).unwrap_or_else(|| one.raw.get().to_owned());
                pairs.push(format!("{}={}", encode::query(&name, false), encode::query(&text, false)));
            }
        }
        return Ok(pairs.join("&"));
    }
    Ok(encode::query(&as_text(kind, value)?, false))
}

/// The bytes of a base64 text, with or without padding, of either alphabet.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|engine| engine.decode(&text).ok())
}
