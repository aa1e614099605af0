//! Context modifiers in the output of a process: an array beside the fields of its answer.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;

use crate::failure;

/// The field that holds them.
const FIELD: &str = "_context_modifiers";
/// Most modifiers of one call, and most bytes of all of them.
const MOST: usize = 64;
const MOST_BYTES: usize = 64 * 1024;

/// The output without its modifiers, and the modifiers in order; every other byte stays as it was. An output that is no
/// object, or whose field is no array, has none.
///
/// Returns an error when a modifier is no object, or when there are more, or larger ones, than are kept.
pub(super) fn split(output: JsonPayload, wanted: bool) -> Result<(JsonPayload, Vec<JsonPayload>), ToolError> {
    if !wanted || !output.text().contains(FIELD) {
        return Ok((output, Vec::new()));
    }
    let Ok(OrderedFields(fields)) = output.parse::<OrderedFields<'_>>() else { return Ok((output, Vec::new())) };
    let found = fields.iter().find(|(name, _)| name == FIELD);
    let Some(Ok(modifiers)) = found.map(|(_, value)| serde_json::from_str::<Vec<&RawValue>>(value.get())) else {
        return Ok((output, Vec::new()));
    };
    let bytes: usize = modifiers.iter().map(|modifier| modifier.get().len()).sum();
    if modifiers.len() > MOST || bytes > MOST_BYTES {
        return Err(refuse(format!(
            "holds more than {MOST} context modifiers, or more than {MOST_BYTES} bytes of them"
        )));
    }
    if !modifiers.iter().all(|modifier| modifier.get().starts_with('{')) {
        return Err(refuse("holds a context modifier that is not an object".to_owned()));
    }
    let modifiers = modifiers.iter().map(|modifier| JsonPayload::from_checked(modifier.get().to_owned())).collect();
    Ok((without(&fields), modifiers))
}

/// The object of all fields but the one.
fn without(fields: &[(String, &RawValue)]) -> JsonPayload {
    let mut text = String::from("{");
    for (name, value) in fields.iter().filter(|(name, _)| name != FIELD) {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&serde_json::Value::from(name.as_str()).to_string());
        text.push(':');
        text.push_str(value.get());
    }
    text.push('}');
    JsonPayload::from_checked(text)
}

fn refuse(rule: String) -> ToolError {
    failure::execution_failed(codes::OUTPUT_INVALID, format!("the output of the tool {rule}"))
}

/// The fields of an object in the order they were written, values as they are.
struct OrderedFields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for OrderedFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = OrderedFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedFields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(OrderedFields(fields))
    }
}

#[cfg(test)]
mod tests;
