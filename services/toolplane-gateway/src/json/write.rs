//! A message of the contract → JSON text. Fields that have their default value are left out, and JSON values within a message are
//! written as the bytes they are.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, ReflectMessage as _, Value};
use serde::Serialize;

use super::words::{self, EXACT, Form, REFERENCE, payload};

/// The message as JSON text.
pub(crate) fn message(message: &DynamicMessage) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    any_message(&mut out, message);
    out
}

fn any_message(out: &mut Vec<u8>, message: &DynamicMessage) {
    match words::form(&message.descriptor()) {
        Form::Object => object(out, message),
        Form::Instant => instant(out, message),
        Form::Payload => out.extend_from_slice(inline(message).unwrap_or(b"null")),
    }
}

fn object(out: &mut Vec<u8>, message: &DynamicMessage) {
    let mut names = Names::begin(out);
    for (field, set) in message.fields() {
        let kept = if words::is_payload(&field) { kept(set) } else { Kept::new() };
        if !matches!(set, Value::Message(one) if inline(one).is_none() && words::is_payload(&field)) {
            names.next(out, field.name());
            value(out, &field, set);
        }
        if !kept.is_empty() {
            names.next(out, &format!("{}{REFERENCE}", field.name()));
            references(out, &kept);
        }
    }
    out.push(b'}');
}

/// The members of an object, with commas between them.
struct Names(bool);

impl Names {
    fn begin(out: &mut Vec<u8>) -> Self {
        out.push(b'{');
        Self(false)
    }

    fn next(&mut self, out: &mut Vec<u8>, name: &str) {
        if std::mem::replace(&mut self.0, true) {
            out.push(b',');
        }
        plain(out, name);
        out.push(b':');
    }
}

fn value(out: &mut Vec<u8>, field: &FieldDescriptor, set: &Value) {
    let kind = field.kind();
    match set {
        Value::List(values) => {
            out.push(b'[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                element(out, &kind, value);
            }
            out.push(b']');
        }
        Value::Map(entries) => map(out, &kind, entries),
        one => element(out, &kind, one),
    }
}

fn map(out: &mut Vec<u8>, kind: &Kind, entries: &HashMap<MapKey, Value>) {
    let Some(kind) = kind.as_message().map(|entry| entry.map_entry_value_field().kind()) else { return };
    let mut sorted: Vec<(String, &Value)> = entries.iter().map(|(key, value)| (key_text(key), value)).collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let mut names = Names::begin(out);
    for (key, value) in sorted {
        names.next(out, &key);
        element(out, &kind, value);
    }
    out.push(b'}');
}

fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}

fn element(out: &mut Vec<u8>, kind: &Kind, one: &Value) {
    match one {
        Value::Message(message) => any_message(out, message),
        Value::Bool(truth) => plain(out, truth),
        Value::I32(number) => plain(out, number),
        Value::U32(number) => plain(out, number),
        Value::I64(number) if number.unsigned_abs() <= EXACT => plain(out, number),
        Value::I64(number) => plain(out, &number.to_string()),
        Value::U64(number) if *number <= EXACT => plain(out, number),
        Value::U64(number) => plain(out, &number.to_string()),
        Value::F32(number) if number.is_finite() => plain(out, number),
        Value::F32(number) => unmeasurable(out, f64::from(*number)),
        Value::F64(number) if number.is_finite() => plain(out, number),
        Value::F64(number) => unmeasurable(out, *number),
        Value::String(text) => plain(out, text),
        Value::Bytes(bytes) => plain(out, &STANDARD.encode(bytes)),
        Value::EnumNumber(number) => match kind.as_enum().and_then(|words: &EnumDescriptor| words.get_value(*number)) {
            Some(word) => plain(out, word.name()),
            // A word of a newer version.
            None => plain(out, number),
        },
        Value::List(_) | Value::Map(_) => plain(out, &()),
    }
}

/// What JSON has no number for.
fn unmeasurable(out: &mut Vec<u8>, number: f64) {
    let word = match number {
        _ if number.is_nan() => "NaN",
        _ if number > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    plain(out, word);
}

/// A value as `serde_json` writes it. Texts, numbers and truth values can always be written.
fn plain<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.extend_from_slice(b"null");
    }
}

fn instant(out: &mut Vec<u8>, message: &DynamicMessage) {
    let number = |field| message.get_field_by_number(field).map(|value| value.into_owned());
    let seconds = number(words::instant::SECONDS).and_then(|value| value.as_i64()).unwrap_or_default();
    let nanos = number(words::instant::NANOS).and_then(|value| value.as_i32()).unwrap_or_default();
    match jiff::Timestamp::new(seconds, nanos) {
        Ok(instant) => plain(out, &instant.to_string()),
        Err(_) => plain(out, &()),
    }
}

/// The bytes of a JSON value that is kept within its message.
fn inline(message: &DynamicMessage) -> Option<&[u8]> {
    let field = message.fields().find(|(field, _)| field.number() == payload::INLINE)?;
    match field.1 {
        Value::Bytes(bytes) if !bytes.is_empty() => Some(bytes),
        _ => None,
    }
}

/// JSON values of a field that are kept elsewhere: where in the field (nothing for a field of one value), and the value.
type Kept<'a> = Vec<(Option<String>, &'a DynamicMessage)>;

fn kept(set: &Value) -> Kept<'_> {
    let elsewhere = |one: &DynamicMessage| inline(one).is_none();
    match set {
        Value::Message(one) if elsewhere(one) => vec![(None, one)],
        Value::List(values) => {
            let values = values.iter().enumerate().filter_map(|(at, value)| Some((at, value.as_message()?)));
            values.filter(|(_, one)| elsewhere(one)).map(|(at, one)| (Some(at.to_string()), one)).collect()
        }
        _ => Vec::new(),
    }
}

fn references(out: &mut Vec<u8>, kept: &Kept<'_>) {
    if let [(None, one)] = &kept[..] {
        return reference(out, one);
    }
    let mut names = Names::begin(out);
    for (at, one) in kept {
        names.next(out, at.as_deref().unwrap_or_default());
        reference(out, one);
    }
    out.push(b'}');
}

/// Where a JSON value is kept, and what proves it.
fn reference(out: &mut Vec<u8>, message: &DynamicMessage) {
    let mut names = Names::begin(out);
    for (field, set) in message.fields() {
        match (field.number(), set) {
            (payload::REF, Value::String(uri)) => {
                names.next(out, "uri");
                plain(out, uri);
            }
            (payload::SHA256, Value::Bytes(digest)) => {
                names.next(out, "sha256");
                plain(out, &hex::encode(digest));
            }
            (payload::SIZE_BYTES | payload::MEDIA_TYPE, _) => {
                names.next(out, field.name());
                value(out, &field, set);
            }
            _ => {}
        }
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests;
