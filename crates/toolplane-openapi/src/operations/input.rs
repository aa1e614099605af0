//! What callers give: one object of flat fields, or of fixed groups where two fields would have one name.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use toolplane_records::operation::{BodyEncoding, BodyPart, OperationBody, OperationParameter, ParameterPlace};
use toolplane_records::payload::JsonPayload;

use super::body::{Body, Members};
use super::parameters::Parameter;
use crate::document::Document;
use crate::error::{Fault, shown};
use crate::schema::{Direction, Fitted, Writer, bounded, fitted};

/// The field, or the group, of the whole body.
const BODY: &str = "body";
/// Longest name of a field that providers of models take.
const MAX_FIELD: usize = 64;
/// Longest example that is told.
const MAX_EXAMPLE_BYTES: usize = 256;

/// The input of one operation.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) schema: JsonPayload,
    pub(super) parameters: Vec<OperationParameter>,
    pub(super) body: Option<OperationBody>,
    pub(super) notes: Vec<String>,
}

/// Decides where each value is in the input, and writes the schema of it.
pub(super) fn plan(
    document: &Document,
    mut parameters: Vec<Parameter<'_>>,
    body: Option<Body<'_>>,
) -> Result<Input, Fault> {
    let members = body.as_ref().and_then(|body| body.members(document));
    let fields = field_names(&parameters);
    let flat = is_flat(&fields, members.as_ref(), body.is_some());
    for (parameter, field) in parameters.iter_mut().zip(fields) {
        parameter.binding.input = match flat {
            true => vec![field],
            false => vec![group(parameter.binding.place).to_owned(), field],
        };
    }
    // In its group the body is one value again, where it is not a form.
    let members = members.filter(|_| flat || body.as_ref().is_some_and(is_form));
    let bound = body.as_ref().map(|body| bind(document, body, members.as_ref(), flat));
    let written = fitted(document, Direction::Request, |writer| {
        let fields = parameters.iter().map(|parameter| {
            let schema = of_parameter(document, writer, parameter)?;
            Ok((parameter.binding.input.clone(), parameter.binding.required, schema))
        });
        let mut fields = fields.collect::<Result<Vec<_>, Fault>>()?;
        if let (Some(body), Some(bound)) = (&body, &bound) {
            fields.extend(of_body(document, writer, body, members.as_ref(), bound, flat)?);
        }
        Ok(object(fields))
    })?;
    let notes = notes(&written);
    let parameters = parameters.into_iter().map(|parameter| parameter.binding).collect();
    Ok(Input { schema: written.schema, parameters, body: bound, notes })
}

fn notes(written: &Fitted) -> Vec<String> {
    let mut notes = Vec::new();
    if written.cut {
        notes.push("the input schema is larger than the catalogue takes: parts of it are left open".to_owned());
    }
    if written.mended > 0 {
        notes.push("the input schema asks for what cannot be checked here: those places are left open".to_owned());
    }
    notes
}

fn is_form(body: &Body<'_>) -> bool {
    matches!(body.encoding, BodyEncoding::Form | BodyEncoding::Multipart)
}

fn group(place: ParameterPlace) -> &'static str {
    match place {
        ParameterPlace::Path => "path",
        ParameterPlace::Query | ParameterPlace::Querystring => "query",
        ParameterPlace::Header => "header",
        ParameterPlace::Cookie => "cookie",
    }
}

/// A field name for each parameter: its own, with `_` for what providers of models do not take.
fn field_names(parameters: &[Parameter<'_>]) -> Vec<String> {
    let mut taken: HashSet<(&'static str, String)> = HashSet::new();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
    let name = |parameter: &Parameter<'_>| {
        let name: String = parameter.binding.name.chars().map(plain).take(MAX_FIELD).collect();
        // `filter[name]` reads better without the bracket's end.
        let trimmed = name.trim_end_matches('_');
        let base = if trimmed.is_empty() || parameter.binding.name == name { name.clone() } else { trimmed.to_owned() };
        let group = group(parameter.binding.place);
        let numbered = (2..).map(|number| format!("{}_{number}", &base[..base.len().min(MAX_FIELD - 5)]));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(&(group, name.clone())));
        let name = free.unwrap_or(base);
        taken.insert((group, name.clone()));
        name
    };
    parameters.iter().map(name).collect()
}

/// Whether every field has a name of its own.
fn is_flat(fields: &[String], members: Option<&Members<'_>>, has_body: bool) -> bool {
    let mut seen: HashSet<&str> = HashSet::new();
    let of_body: Vec<&str> = match members {
        Some(members) => members.members.iter().map(|member| member.name).collect(),
        None if has_body => vec![BODY],
        None => Vec::new(),
    };
    fields.iter().map(String::as_str).chain(of_body).all(|name| seen.insert(name))
}

fn bind(document: &Document, body: &Body<'_>, members: Option<&Members<'_>>, flat: bool) -> OperationBody {
    let parts: Vec<BodyPart> = match (members, is_form(body)) {
        (Some(members), true) => members.members.iter().map(|member| body.part(document, member)).collect(),
        (Some(members), false) => members.members.iter().map(|member| plain_part(member.name)).collect(),
        (None, _) => Vec::new(),
    };
    let input = if flat && members.is_some() { Vec::new() } else { vec![BODY.to_owned()] };
    OperationBody {
        media_type: body.media_type.clone(),
        encoding: body.encoding,
        required: body.required,
        input,
        parts,
    }
}

fn plain_part(name: &str) -> BodyPart {
    BodyPart { name: name.to_owned(), field: None, style: None, explode: false, media_type: None, file: false }
}

fn of_parameter(document: &Document, writer: &mut Writer<'_>, parameter: &Parameter<'_>) -> Result<Value, Fault> {
    let mut schema = match &parameter.schema {
        Some((schema, place)) => writer.write(schema, place)?,
        None => json!({}),
    };
    let Some(members) = schema.as_object_mut() else { return Ok(schema) };
    let (binding, most) = (&parameter.binding, document.limits().max_schema_text_chars);
    let mut text = bounded(parameter.description, most);
    if text.is_empty() {
        text = members.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    }
    if binding.input.last() != Some(&binding.name) {
        text = format!("{text} Sent as `{}`.", shown(&binding.name)).trim_start().to_owned();
    }
    if !text.is_empty() {
        members.insert("description".to_owned(), json!(text));
    }
    if parameter.deprecated {
        members.insert("deprecated".to_owned(), json!(true));
    }
    if let Some(example) = parameter.example.filter(|example| example.to_string().len() <= MAX_EXAMPLE_BYTES) {
        members.insert("examples".to_owned(), json!([example]));
    }
    Ok(schema)
}

type Field = (Vec<String>, bool, Value);

fn of_body(
    document: &Document,
    writer: &mut Writer<'_>,
    body: &Body<'_>,
    members: Option<&Members<'_>>,
    bound: &OperationBody,
    flat: bool,
) -> Result<Vec<Field>, Fault> {
    let Some(members) = members else {
        let schema = whole(document, writer, body)?;
        return Ok(vec![(vec![BODY.to_owned()], body.required, schema)]);
    };
    let mut fields = Vec::new();
    for (member, part) in members.members.iter().zip(&bound.parts) {
        let schema = match part.file {
            true => file(document, member.schema),
            false => writer.write(member.schema, &member.place)?,
        };
        let place = if flat { vec![member.name.to_owned()] } else { vec![BODY.to_owned(), member.name.to_owned()] };
        // What a body that may be left out needs cannot be asked of those who leave it out.
        let required = body.required && members.required.contains(&member.name);
        fields.push((place, required, schema));
    }
    Ok(fields)
}

/// The schema of a body that is one field.
fn whole(document: &Document, writer: &mut Writer<'_>, body: &Body<'_>) -> Result<Value, Fault> {
    let most = document.limits().max_schema_text_chars;
    let mut schema = match (body.encoding, &body.schema) {
        (BodyEncoding::Bytes, _) => file(document, &Value::Null),
        (BodyEncoding::Text, Some((schema, place))) => {
            let written = writer.write(schema, place)?;
            let is_text = written.get("type").and_then(Value::as_str) == Some("string");
            if is_text { written } else { json!({ "type": "string" }) }
        }
        (BodyEncoding::Text, None) => json!({ "type": "string" }),
        (_, Some((schema, place))) => writer.write(schema, place)?,
        (_, None) => json!({}),
    };
    if let Some(members) = schema.as_object_mut() {
        let said = bounded(body.description, most);
        let kind = shown(&body.media_type);
        let text = match body.encoding {
            BodyEncoding::Json if said.is_empty() => None,
            BodyEncoding::Json => Some(said),
            _ => Some(format!("{said} Sent as {kind}.").trim_start().to_owned()),
        };
        if let Some(text) = text {
            members.insert("description".to_owned(), json!(text));
        }
    }
    Ok(schema)
}

/// Bytes, as callers give them.
fn file(document: &Document, schema: &Value) -> Value {
    let members = document.follow(schema, "").ok().map(|(members, _)| members);
    let text = members.and_then(|members| members.get("description")).and_then(Value::as_str).unwrap_or_default();
    let said = bounded(text, document.limits().max_schema_text_chars);
    let one = json!({
        "type": "object",
        "description": format!("{said} A file: its content in `base64`, or as `text`.").trim_start(),
        "properties": {
            "base64": { "type": "string", "contentEncoding": "base64" },
            "text": { "type": "string" },
            "filename": { "type": "string" },
            "media_type": { "type": "string" }
        },
        "oneOf": [{ "required": ["base64"] }, { "required": ["text"] }],
        "additionalProperties": false
    });
    let several = members.and_then(|members| members.get("items")).is_some();
    if several { json!({ "type": "array", "items": one }) } else { one }
}

/// One object of all fields, those with two names in groups.
fn object(fields: Vec<Field>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (place, needed, schema) in fields {
        let (Some(first), rest) = (place.first(), place.get(1)) else { continue };
        if needed && !required.contains(first) {
            required.push(first.clone());
        }
        let Some(field) = rest else {
            properties.insert(first.clone(), schema);
            continue;
        };
        let group = properties
            .entry(first.clone())
            .or_insert_with(|| json!({ "type": "object", "properties": {}, "additionalProperties": false }));
        group["properties"][field] = schema;
        if needed {
            match group.get_mut("required").and_then(Value::as_array_mut) {
                Some(names) => names.push(json!(field)),
                None => group["required"] = json!([field]),
            }
        }
    }
    let mut root = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        root["required"] = json!(required);
    }
    root
}
