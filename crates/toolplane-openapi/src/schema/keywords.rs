//! The keywords of one part of a schema. What has the wrong type in the document, or is no keyword, is left out: the part then
//! takes more than was meant, and the server has the last word.

use serde_json::{Map, Value, json};

use super::{Direction, Writer, bounded};
use crate::error::Fault;

/// Most bytes of a default or an example.
const MAX_EXAMPLE_BYTES: usize = 512;
/// Most examples of one part.
const MAX_EXAMPLES: usize = 2;
const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

impl Writer<'_> {
    /// The part at `place`, without its `$ref`.
    pub(super) fn keywords(&mut self, members: &Map<String, Value>, place: &str, depth: usize) -> Result<Value, Fault> {
        let mut new = Map::new();
        for (keyword, value) in members {
            let under = format!("{place}/{}", keyword.replace('~', "~0").replace('/', "~1"));
            if let Some(value) = self.keyword(keyword, value, &under, depth)? {
                self.nodes += 1 + value.as_array().map_or(0, |list| if keyword == "enum" { list.len() } else { 0 });
                new.insert(keyword.clone(), value);
            }
        }
        self.readable(members, &mut new);
        examples(members, &mut new);
        discriminator(members, &mut new);
        Ok(match self.document.has_json_schema() {
            true => Value::Object(new),
            false => of_3_0(members, new),
        })
    }

    fn keyword(&mut self, keyword: &str, value: &Value, place: &str, depth: usize) -> Result<Option<Value>, Fault> {
        let keep = |fits: bool| Ok(fits.then(|| value.clone()));
        let json_schema = self.document.has_json_schema();
        match keyword {
            "type" => Ok(type_of(value)),
            "title" | "description" => {
                let text = value.as_str().filter(|text| !text.trim().is_empty());
                Ok(text.map(|text| json!(bounded(text, self.budget.text))))
            }
            "format" | "pattern" | "contentEncoding" | "contentMediaType" => keep(value.is_string()),
            "enum" => keep(value.as_array().is_some_and(|list| !list.is_empty())),
            "const" => keep(json_schema),
            "default" => keep(value.to_string().len() <= MAX_EXAMPLE_BYTES),
            "multipleOf" => keep(value.as_f64().is_some_and(|step| step > 0.0)),
            "maximum" | "minimum" => keep(value.is_number()),
            "exclusiveMaximum" | "exclusiveMinimum" => keep(value.is_number() && json_schema),
            "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => {
                keep(value.is_u64())
            }
            "maxContains" | "minContains" => keep(value.is_u64() && json_schema),
            "uniqueItems" | "deprecated" => keep(value.is_boolean()),
            "required" => Ok(names(value)),
            "not" | "items" | "additionalProperties" if !value.is_array() => self.child(value, place, depth),
            "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentSchema"
            | "additionalItems"
                if json_schema =>
            {
                self.child(value, place, depth)
            }
            "allOf" | "anyOf" | "oneOf" => self.list(value, place, depth),
            "prefixItems" | "items" if json_schema => self.list(value, place, depth),
            "properties" => self.map(value, place, depth),
            "patternProperties" | "dependentSchemas" if json_schema => self.map(value, place, depth),
            "dependentRequired" if json_schema => keep(value.is_object()),
            // To pass over these would be to leave out what the writer asked for.
            "$dynamicRef" | "$recursiveRef" => {
                Err(Fault::at(place, format!("`{keyword}` is not supported; use `$ref`")))
            }
            _ => Ok(None),
        }
    }

    fn child(&mut self, value: &Value, place: &str, depth: usize) -> Result<Option<Value>, Fault> {
        let fits = value.is_object() || value.is_boolean();
        Ok(if fits { Some(self.part(value, place, depth + 1)?) } else { None })
    }

    fn list(&mut self, value: &Value, place: &str, depth: usize) -> Result<Option<Value>, Fault> {
        let Some(list) = value.as_array().filter(|list| !list.is_empty()) else { return Ok(None) };
        let mut parts = Vec::with_capacity(list.len());
        for (index, one) in list.iter().enumerate() {
            parts.push(self.part(one, &format!("{place}/{index}"), depth + 1)?);
        }
        Ok(Some(Value::Array(parts)))
    }

    fn map(&mut self, value: &Value, place: &str, depth: usize) -> Result<Option<Value>, Fault> {
        let Some(map) = value.as_object() else { return Ok(None) };
        let mut parts = Map::new();
        for (name, one) in map {
            let under = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
            parts.insert(name.clone(), self.part(one, &under, depth + 1)?);
        }
        Ok(Some(Value::Object(parts)))
    }

    /// Members that only the other side writes: left out of what callers write, and not asked for in what servers write.
    fn readable(&self, members: &Map<String, Value>, new: &mut Map<String, Value>) {
        let word = if self.direction == Direction::Request { "readOnly" } else { "writeOnly" };
        let Some(properties) = members.get("properties").and_then(Value::as_object) else { return };
        let says = |schema: &Value| schema.get(word) == Some(&Value::Bool(true));
        let behind = |schema: &Value| {
            let target = self.document.pointer_of(schema.get("$ref")?.as_str()?)?.into_owned();
            self.document.at(&target).map(says)
        };
        for (name, schema) in properties {
            if !says(schema) && behind(schema) != Some(true) {
                continue;
            }
            if self.direction == Direction::Request
                && let Some(properties) = new.get_mut("properties").and_then(Value::as_object_mut)
            {
                properties.shift_remove(name);
            }
            if let Some(required) = new.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|one| one != name);
            }
        }
    }
}

/// The branch is chosen by the value of one member: each branch says which.
fn discriminator(members: &Map<String, Value>, new: &mut Map<String, Value>) {
    let Some(discriminator) = members.get("discriminator") else { return };
    let Some(member) = discriminator.get("propertyName").and_then(Value::as_str) else { return };
    let mapping = discriminator.get("mapping").and_then(Value::as_object);
    for keyword in ["oneOf", "anyOf"] {
        let old = members.get(keyword).and_then(Value::as_array);
        let branches = new.get_mut(keyword).and_then(Value::as_array_mut);
        for (branch, old) in branches.into_iter().flatten().zip(old.into_iter().flatten()) {
            let Some(target) = old.get("$ref").and_then(Value::as_str) else { continue };
            let bare = target.rsplit('/').next().unwrap_or_default();
            let leads_here = |to: &Value| to.as_str().is_some_and(|to| to == target || to == bare);
            let named = mapping.into_iter().flatten().filter(|(_, to)| leads_here(to));
            let mut values: Vec<&str> = named.map(|(value, _)| value.as_str()).collect();
            if values.is_empty() {
                values.push(bare);
            }
            if let Some(branch) = branch.as_object_mut().filter(|branch| !branch.contains_key("properties")) {
                branch.insert("properties".to_owned(), json!({ member: { "enum": values } }));
                branch.insert("required".to_owned(), json!([member]));
            }
        }
    }
}

fn type_of(value: &Value) -> Option<Value> {
    let known = |one: &Value| one.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::String(_) => known(value).then(|| value.clone()),
        Value::Array(list) => {
            let mut kept: Vec<&Value> = Vec::new();
            for one in list.iter().filter(|one| known(one)) {
                if !kept.contains(&one) {
                    kept.push(one);
                }
            }
            (!kept.is_empty() && list.iter().all(known)).then(|| json!(kept))
        }
        _ => None,
    }
}

fn names(value: &Value) -> Option<Value> {
    let mut kept: Vec<&str> = Vec::new();
    for name in value.as_array()?.iter().filter_map(Value::as_str) {
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    Some(json!(kept))
}

/// `example` and `examples`, few and short.
fn examples(members: &Map<String, Value>, new: &mut Map<String, Value>) {
    let one = members.get("example").into_iter();
    let more = members.get("examples").and_then(Value::as_array).into_iter().flatten();
    let short = one.chain(more).filter(|example| example.to_string().len() <= MAX_EXAMPLE_BYTES);
    let kept: Vec<&Value> = short.take(MAX_EXAMPLES).collect();
    if !kept.is_empty() {
        new.insert("examples".to_owned(), json!(kept));
    }
}

/// What 3.0 says in words of its own.
fn of_3_0(old: &Map<String, Value>, mut new: Map<String, Value>) -> Value {
    for (bound, exclusive) in [("maximum", "exclusiveMaximum"), ("minimum", "exclusiveMinimum")] {
        if old.get(exclusive) == Some(&Value::Bool(true))
            && let Some(value) = new.shift_remove(bound)
        {
            new.insert(exclusive.to_owned(), value);
        }
    }
    if old.get("format").and_then(Value::as_str) == Some("byte") {
        new.insert("contentEncoding".to_owned(), json!("base64"));
    }
    if old.get("nullable") != Some(&Value::Bool(true)) {
        return Value::Object(new);
    }
    match new.get("type") {
        Some(Value::String(name)) => {
            let types = json!([name, "null"]);
            new.insert("type".to_owned(), types);
            if let Some(values) = new.get_mut("enum").and_then(Value::as_array_mut)
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
            let composed = ["allOf", "anyOf", "oneOf", "not"].iter().any(|word| new.contains_key(*word));
            if composed { json!({ "anyOf": [new, { "type": "null" }] }) } else { Value::Object(new) }
        }
        _ if new.is_empty() => Value::Object(new),
        _ => json!({ "anyOf": [new, { "type": "null" }] }),
    }
}
