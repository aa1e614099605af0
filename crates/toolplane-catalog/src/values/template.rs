//! Command lines with places for input fields.
//!
//! An argument that is exactly `{field}` is replaced by that field of the input: text as it is, numbers and booleans as
//! JSON spells them. It stays one argument whatever is in it; no shell is involved. `{{field}}` is the literal text
//! `{field}`. Every other argument is literal. The program itself cannot come from the input.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::visible::excerpt;

use super::refusals::{invalid_binding, invalid_input};

/// The arguments for one call.
///
/// # Errors
///
/// - [`BINDING_INVALID`](toolplane_records::codes::BINDING_INVALID) when the template is empty, a place is malformed,
///   or the program is a place: the declaration is wrong.
/// - [`INPUT_INVALID`](toolplane_records::codes::INPUT_INVALID) when the input is not an object, or a field that the
///   template names is missing or null, contains NUL, or is neither text, number nor boolean.
pub fn fill(template: &[String], input: &JsonPayload) -> Result<Vec<String>, Box<ToolError>> {
    match template.first() {
        None => return Err(invalid_binding("the tool has an empty command line")),
        Some(program) if place(program)?.is_some() => {
            return Err(invalid_binding("the program of the tool must not come from the input"));
        }
        Some(_) => {}
    }
    let Ok(fields) = input.parse::<BTreeMap<String, &RawValue>>() else {
        return Err(invalid_input("", "must be an object"));
    };
    template.iter().map(|argument| fill_one(argument, &fields)).collect()
}

fn fill_one(argument: &str, fields: &BTreeMap<String, &RawValue>) -> Result<String, Box<ToolError>> {
    let Some(field) = place(argument)? else {
        return Ok(literal(argument));
    };
    let text = match fields.get(field).map(|value| value.get()) {
        None | Some("null") => return Err(invalid_input(field, "is needed for the command line of this tool")),
        Some(text) if text.starts_with('"') => {
            serde_json::from_str(text).map_err(|_| invalid_input(field, "must be text"))?
        }
        Some(text) if text.starts_with(['{', '[']) => {
            return Err(invalid_input(field, "must be text, a number or a boolean"));
        }
        // A number of any size, exactly as it was given.
        Some(text) => text.to_owned(),
    };
    let text: String = text;
    if text.contains('\0') {
        return Err(invalid_input(field, "must not contain NUL"));
    }
    Ok(text)
}

/// The field an argument is the place of, if it is one.
fn place(argument: &str) -> Result<Option<&str>, Box<ToolError>> {
    let Some(inner) = argument.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else { return Ok(None) };
    if inner.starts_with('{') && inner.ends_with('}') {
        return Ok(None);
    }
    let name = |byte: u8| byte == b'_' || byte == b'-' || byte.is_ascii_alphanumeric();
    if inner.is_empty() || !inner.bytes().all(name) {
        let text = excerpt(argument, 200);
        return Err(invalid_binding(format!("`{text}` in the tool's command line is not a field name in braces")));
    }
    Ok(Some(inner))
}

fn literal(argument: &str) -> String {
    match argument.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
        Some(inner) => format!("{{{inner}}}"),
        None => argument.to_owned(),
    }
}

#[cfg(test)]
mod tests;
