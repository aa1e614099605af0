//! A schema the catalogue takes: as much of the document's as fits, and what it does not take mended where that only makes the
//! schema wider.

use serde_json::{Value, json};
use toolplane_catalog::CatalogLimits;
use toolplane_catalog::schema::{compile, decode_pointer};
use toolplane_records::error::FieldViolation;
use toolplane_records::payload::JsonPayload;

use super::{Budget, Direction, Writer};
use crate::document::Document;
use crate::error::Fault;

/// How much is tried, one after the other: nearly all the catalogue takes, then less.
const BUDGETS: [(usize, usize); 3] = [(4_000, 40), (1_200, 6), (300, 2)];
/// Most places that are mended.
const MAX_MENDED: usize = 40;

/// A schema the catalogue takes.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) schema: JsonPayload,
    /// Parts of the document's schema are not in it.
    pub(crate) cut: bool,
    /// Places that were made wider.
    pub(crate) mended: usize,
}

/// What `make` writes, within the bounds of the catalogue. Fails when `make` does, or when nothing of it is taken.
pub(crate) fn fitted(
    document: &Document,
    direction: Direction,
    make: impl Fn(&mut Writer<'_>) -> Result<Value, Fault>,
) -> Result<Fitted, Fault> {
    let limits = CatalogLimits::default();
    let mut last = Fault::at("", "has no schema that can be used");
    for (turn, (nodes, depth)) in BUDGETS.into_iter().enumerate() {
        let text = document.limits().max_schema_text_chars;
        let mut writer = Writer::new(document, direction, Budget { nodes, depth, text });
        let root = make(&mut writer)?;
        let (mut schema, cut) = writer.finish(root)?;
        // Of a large answer the outer parts say enough: it is only compared with its schema, nothing is made by it.
        if cut && direction == Direction::Response && turn + 1 < BUDGETS.len() {
            continue;
        }
        if cut {
            loosen(&mut schema);
        }
        match mended(schema, &limits) {
            Ok((schema, mended)) => return Ok(Fitted { schema, cut, mended }),
            Err(violation) => {
                let place = if violation.field.is_empty() { "the schema" } else { &violation.field };
                last = Fault::at("", format!("has a schema that cannot be used: {place} {}", violation.description));
            }
        }
    }
    Err(last)
}

fn mended(mut schema: Value, limits: &CatalogLimits) -> Result<(JsonPayload, usize), FieldViolation> {
    for mended in 0..=MAX_MENDED {
        let payload = JsonPayload::of(&schema);
        let Err(violations) = compile(&payload, limits) else { return Ok((payload, mended)) };
        let any = violations.iter().filter(|violation| mend(&mut schema, violation)).count();
        // What takes more in one place must not make the whole take less. Later: violations name places of before.
        if mended == 0 {
            loosen(&mut schema);
        }
        if any == 0 || mended == MAX_MENDED {
            return Err(violations
                .into_iter()
                .next()
                .unwrap_or(FieldViolation { field: String::new(), description: "is not taken".to_owned() }));
        }
    }
    Err(FieldViolation { field: String::new(), description: "has too much that is not taken".to_owned() })
}

/// Takes away what the violation is about, where that makes the schema wider and nothing else. False when it cannot.
fn mend(schema: &mut Value, violation: &FieldViolation) -> bool {
    let Some(mut tokens) = decode_pointer(&violation.field) else { return false };
    // A bound on how many fit is told as the place of what has to fit.
    let last = tokens.len().saturating_sub(1);
    for token in tokens.iter_mut().take(last).filter(|token| ["maxContains", "minContains"].contains(&token.as_str())) {
        *token = "contains".to_owned();
    }
    let at = |tokens: &[String]| {
        tokens.iter().fold(String::new(), |at, token| format!("{at}/{}", token.replace('~', "~0").replace('/', "~1")))
    };
    // A loop that consumes no input: alternatives that lead back say nothing, and neither does a reference to oneself.
    if violation.description.contains("refers back to itself") {
        let Some(part) = schema.pointer_mut(&at(&tokens)).and_then(Value::as_object_mut) else { return false };
        return ["oneOf", "anyOf", "$ref", "allOf", "not", "if"].iter().any(|word| part.shift_remove(*word).is_some());
    }
    // A regular expression this program does not run in linear time, a number it cannot hold, a keyword with a wrong value.
    let Some(keyword) = tokens.iter().rposition(|token| WIDENING.contains(&token.as_str())) else { return false };
    // A member or a definition may be called like a keyword.
    let named = |token: &String| ["properties", "patternProperties", "$defs"].contains(&token.as_str());
    if keyword > 0 && named(&tokens[keyword - 1]) {
        return false;
    }
    let Some(part) = schema.pointer_mut(&at(&tokens[..keyword])).and_then(Value::as_object_mut) else { return false };
    if tokens[keyword] == "patternProperties" {
        // They would forbid the members that were described by a pattern.
        ["additionalProperties", "unevaluatedProperties"].iter().for_each(|word| _ = part.shift_remove(*word));
    }
    part.shift_remove(&tokens[keyword]).is_some()
}

/// Keywords without which a schema takes more, or the same.
const WIDENING: [&str; 16] = [
    "pattern",
    "patternProperties",
    "propertyNames",
    "format",
    "default",
    "examples",
    "multipleOf",
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "enum",
    "const",
    "required",
    "dependentRequired",
    "type",
];

/// Keywords by which a schema takes less when a part of it takes more.
const TURNING: [&str; 7] = ["not", "if", "then", "else", "maxContains", "unevaluatedProperties", "unevaluatedItems"];

/// Where parts are left out, alternatives overlap: exactly one of them can no longer be asked for, nor that none fits.
fn loosen(part: &mut Value) {
    let Some(members) = part.as_object_mut() else { return };
    TURNING.iter().for_each(|word| _ = members.shift_remove(*word));
    if let Some(branches) = members.shift_remove("oneOf") {
        match members.get_mut("allOf").and_then(Value::as_array_mut) {
            Some(all) => all.push(json!({ "anyOf": branches })),
            None => _ = members.insert("allOf".to_owned(), json!([{ "anyOf": branches }])),
        }
    }
    for (keyword, value) in members.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas" | "$defs", Value::Object(parts)) => {
                parts.values_mut().for_each(loosen);
            }
            ("enum" | "const" | "default" | "examples" | "required" | "type", _) => {}
            (_, Value::Array(parts)) => parts.iter_mut().for_each(loosen),
            (_, part) => loosen(part),
        }
    }
}
