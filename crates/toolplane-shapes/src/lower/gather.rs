//! One part of a schema with what it refers to, and with what all of it has to be, put together.

use serde_json::{Map, Value};

use super::Lower;
use crate::loss::Done;
use crate::pointer::{below, target};

/// A part put together.
pub(super) struct Gathered {
    /// Without `$ref` and `allOf`.
    pub(super) members: Map<String, Value>,
    /// How many references were gone through: they are open while what is inside is looked at.
    pub(super) opened: usize,
    /// A reference leads back to what is being looked at: nothing is said of what is there.
    pub(super) recursive: bool,
}

impl Lower<'_> {
    /// The part at `at`, with what stands beside a reference first: it knows best.
    pub(super) fn gathered(&mut self, part: &Map<String, Value>, at: &str) -> Gathered {
        let mut gathered = Gathered { members: Map::new(), opened: 0, recursive: false };
        self.gather(part, at, &mut gathered, 0);
        gathered
    }

    fn gather(&mut self, part: &Map<String, Value>, at: &str, into: &mut Gathered, depth: usize) {
        for (keyword, value) in part {
            if !matches!(keyword.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef" | "allOf") {
                self.merge(&mut into.members, keyword, value, at);
            }
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = part.get(keyword).and_then(Value::as_str) else { continue };
            let Some((place, found)) = target(self.root, reference) else {
                self.losses.add(at, keyword, Done::Dropped);
                continue;
            };
            let before = self.open.len() - into.opened;
            if self.open[before..].contains(&place) {
                // It is in what is being put together already.
                continue;
            }
            if self.open.contains(&place) || depth > 32 {
                into.recursive = true;
                if let Some(kind) = found.get("type") {
                    self.merge(&mut into.members, "type", kind, at);
                }
                continue;
            }
            self.losses.add(at, keyword, Done::Inlined);
            self.open.push(place.clone());
            into.opened += 1;
            match found {
                Value::Object(found) => self.gather(found, &place, into, depth + 1),
                other => self.merge_bool(&mut into.members, other),
            }
        }
        let Some(Value::Array(all)) = part.get("allOf") else { return };
        // Parts are put together that way here, too.
        if self.root.pointer(at).is_some_and(|declared| declared.get("allOf").is_some()) {
            self.losses.add(at, "allOf", Done::Merged);
        }
        for (index, member) in all.iter().enumerate() {
            let at = format!("{at}/allOf/{index}");
            match member {
                Value::Object(member) if depth < 32 => self.gather(member, &at, into, depth + 1),
                Value::Object(_) => self.losses.add(&at, "allOf", Done::Dropped),
                other => self.merge_bool(&mut into.members, other),
            }
        }
    }

    fn merge_bool(&mut self, into: &mut Map<String, Value>, value: &Value) {
        if value == &Value::Bool(false) {
            into.entry("not").or_insert_with(|| Value::Object(Map::new()));
        }
    }

    /// Adds what another part says too.
    fn merge(&mut self, into: &mut Map<String, Value>, keyword: &str, value: &Value, at: &str) {
        let Some(there) = into.get_mut(keyword) else {
            into.insert(keyword.to_owned(), value.clone());
            return;
        };
        if there == value {
            return;
        }
        match (keyword, there, value) {
            ("properties", Value::Object(there), Value::Object(more)) => {
                for (name, schema) in more {
                    match there.get_mut(name) {
                        None => drop(there.insert(name.clone(), schema.clone())),
                        Some(same) if same == schema => {}
                        Some(other) => *other = both(other.take(), schema.clone()),
                    }
                }
            }
            ("required", Value::Array(there), Value::Array(more)) => {
                for name in more {
                    if !there.contains(name) {
                        there.push(name.clone());
                    }
                }
            }
            ("items", there, more) => *there = both(there.take(), more.clone()),
            ("type", there, more) => narrow_types(there, more),
            ("enum", Value::Array(there), Value::Array(more)) => there.retain(|value| more.contains(value)),
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", there, more) => {
                if more.as_f64() > there.as_f64() {
                    *there = more.clone();
                }
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", there, more) => {
                if more.as_f64() < there.as_f64() {
                    *there = more.clone();
                }
            }
            ("additionalProperties", there, Value::Bool(false)) => *there = Value::Bool(false),
            ("additionalProperties", there @ Value::Bool(true), more) => *there = more.clone(),
            ("additionalProperties", Value::Bool(false), _) | ("additionalProperties", _, Value::Bool(true)) => {}
            ("title" | "description" | "default" | "examples" | "example" | "deprecated", ..) => {}
            (keyword, ..) if keyword.starts_with('$') || keyword == "definitions" => {}
            (keyword, ..) => self.losses.add(&below(at, keyword), keyword, Done::Dropped),
        }
    }
}

/// A schema that says what both say.
pub(super) fn both(one: Value, other: Value) -> Value {
    serde_json::json!({ "allOf": [one, other] })
}

/// The types that both allow. `integer` is a `number`.
fn narrow_types(there: &mut Value, more: &Value) {
    let (one, other) = (types(there), types(more));
    let mut kept: Vec<String> = Vec::new();
    for kind in &one {
        if other.contains(kind) || (kind == "integer" && other.iter().any(|kind| kind == "number")) {
            kept.push(kind.clone());
        } else if kind == "number" && other.iter().any(|kind| kind == "integer") {
            kept.push("integer".to_owned());
        }
    }
    if !kept.is_empty() {
        *there = if let [kind] = &*kept { Value::from(kind.as_str()) } else { Value::from(kept) };
    }
}

/// The types a keyword `type` allows.
pub(super) fn types(value: &Value) -> Vec<String> {
    match value {
        Value::String(kind) => vec![kind.clone()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
