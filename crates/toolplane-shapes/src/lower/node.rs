//! One part of a schema, lowered.

use serde_json::{Map, Value, json};

use super::gather::types;
use super::object::make_nullable;
use super::root::beside;
use super::{Lower, NotStrict};
use crate::loss::Done;
use crate::pointer::below;

/// Types of which several may stand in one list.
const SCALARS: [&str; 5] = ["string", "number", "integer", "boolean", "null"];
/// Most branches of a choice.
const MOST_BRANCHES: usize = 100;

impl Lower<'_> {
    /// A schema where one is expected: an object or a truth value.
    pub(super) fn value(&mut self, schema: &Value, at: &str, depth: usize) -> Result<Map<String, Value>, NotStrict> {
        match schema {
            Value::Object(part) => self.node(Map::clone(part), at, depth),
            _ => self.anything(&Map::new(), at),
        }
    }

    /// A part of a schema.
    pub(super) fn node(
        &mut self,
        part: Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<Map<String, Value>, NotStrict> {
        if !self.has_room(at, depth)? {
            return self.anything(&part, at);
        }
        let gathered = self.gathered(&part, at);
        let inside = match gathered.recursive {
            true => self.recursive(&gathered.members, at),
            false => self.known(&gathered.members, at, depth),
        };
        self.open.truncate(self.open.len() - gathered.opened);
        inside
    }

    /// What refers back to what it is in: it ends here.
    fn recursive(&mut self, part: &Map<String, Value>, at: &str) -> Result<Map<String, Value>, NotStrict> {
        self.strictly(at, "it refers to itself")?;
        self.losses.add(at, "$ref", Done::Cut);
        match part.get("type").map(types).as_deref() {
            Some([kind]) if kind == "array" => {
                let items = self.anything(&Map::new(), at)?;
                Ok(members(json!({ "type": "array", "items": items })))
            }
            Some([kind]) => {
                let mut ended = members(json!({ "type": kind }));
                self.describe(part, &[], &mut ended);
                Ok(ended)
            }
            _ => self.anything(part, at),
        }
    }

    fn known(&mut self, part: &Map<String, Value>, at: &str, depth: usize) -> Result<Map<String, Value>, NotStrict> {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = part.get(keyword) {
                let mut rest = part.clone();
                rest.shift_remove(keyword);
                if branches.iter().any(says_what) {
                    return self.choice(branches, &rest, (at, keyword), depth);
                }
                // Only which members go together, which no vendor can hold.
                self.losses.add(&below(at, keyword), keyword, Done::Dropped);
                return self.known(&rest, at, depth);
            }
        }
        let kinds = match part.get("type") {
            Some(kind) => types(kind),
            None => inferred(part),
        };
        match &*kinds {
            [] => self.anything(part, at),
            [kind] if kind == "object" => self.object(part, at, depth),
            [kind] if kind == "array" => self.array(part, at, depth),
            [kind] => self.scalar(part, json!(kind), at),
            kinds => self.several(part, kinds, at, depth),
        }
    }

    /// One of several schemas.
    fn choice(
        &mut self,
        branches: &[Value],
        rest: &Map<String, Value>,
        (at, keyword): (&str, &str),
        depth: usize,
    ) -> Result<Map<String, Value>, NotStrict> {
        if keyword == "oneOf" {
            self.losses.add(&below(at, keyword), keyword, Done::AnyOf);
        }
        let (mut lowered, mut may_be_null): (Vec<Value>, bool) = (Vec::new(), false);
        for (index, branch) in branches.iter().enumerate().filter(|(_, branch)| **branch != Value::Bool(false)) {
            let place = format!("{}/{index}", below(at, keyword));
            if index >= MOST_BRANCHES {
                self.strictly(&place, "it has too many alternatives")?;
                self.losses.add(&place, keyword, Done::Cut);
                break;
            }
            if self.rules.nullable && is_null(branch) {
                may_be_null = true;
                continue;
            }
            let branch = self.value(&beside(branch.clone(), rest), &place, depth + 1)?;
            let inner = branch.get("anyOf").and_then(Value::as_array).filter(|_| branch.len() == 1).cloned();
            for branch in inner.unwrap_or_else(|| vec![branch.into()]) {
                if !lowered.contains(&branch) {
                    lowered.push(branch);
                }
            }
        }
        let mut whole = match &*lowered {
            [] => members(json!({ "type": "null" })),
            [Value::Object(one)] => one.clone(),
            _ => members(json!({ "anyOf": lowered })),
        };
        if whole.get("description").is_none() {
            self.describe(rest, &[], &mut whole);
        }
        if may_be_null {
            whole.insert("nullable".to_owned(), true.into());
        }
        Ok(whole)
    }

    /// A value of one of several types.
    fn several(
        &mut self,
        part: &Map<String, Value>,
        kinds: &[String],
        at: &str,
        depth: usize,
    ) -> Result<Map<String, Value>, NotStrict> {
        let some: Vec<&String> = kinds.iter().filter(|kind| *kind != "null").collect();
        let may_be_null = some.len() < kinds.len();
        if !self.rules.nullable && kinds.iter().all(|kind| SCALARS.contains(&kind.as_str())) {
            return self.scalar(part, json!(kinds), at);
        }
        let of_type = |kind: &str| {
            let mut of_type = part.clone();
            of_type.insert("type".to_owned(), kind.into());
            of_type
        };
        if let [kind] = &*some {
            let mut whole = self.known(&of_type(kind), at, depth)?;
            match self.rules.nullable {
                true => drop(whole.insert("nullable".to_owned(), true.into())),
                false => drop(may_be_null && make_nullable(&mut whole)),
            }
            return Ok(whole);
        }
        let branches: Vec<Value> = kinds.iter().map(|kind| Value::Object(of_type(kind))).collect();
        self.choice(&branches, &Map::new(), (at, "type"), depth)
    }

    fn scalar(&mut self, part: &Map<String, Value>, kind: Value, at: &str) -> Result<Map<String, Value>, NotStrict> {
        let mut whole = Map::new();
        whole.insert("type".to_owned(), kind.clone());
        let mut used = vec!["type"];
        let values = match (part.get("enum"), part.get("const")) {
            (Some(Value::Array(values)), _) => Some(values.clone()),
            (_, Some(value)) => Some(vec![value.clone()]),
            _ => None,
        };
        if let Some(mut values) = values {
            used.extend(["enum", "const"]);
            if self.rules.enums_of_texts {
                values.retain(|value| !value.is_null());
            }
            if self.rules.enums_of_texts && !values.iter().all(Value::is_string) {
                self.rest(part, &["type"], at, &mut whole);
                return Ok(whole);
            }
            self.counted.values += values.len();
            self.counted.characters +=
                values.iter().filter_map(Value::as_str).map(|text| text.chars().count()).sum::<usize>();
            whole.insert("enum".to_owned(), values.into());
        }
        if self.rules.nullable && kind == "null" {
            whole.insert("type".to_owned(), "string".into());
            whole.insert("nullable".to_owned(), true.into());
            self.losses.add(at, "type", Done::Approximated);
        }
        self.rest(part, &used, at, &mut whole);
        Ok(whole)
    }

    /// Any value at all.
    fn anything(&mut self, part: &Map<String, Value>, at: &str) -> Result<Map<String, Value>, NotStrict> {
        self.strictly(at, "it may be any value")?;
        let mut whole = Map::new();
        if self.rules.nullable {
            self.losses.add(at, "type", Done::Approximated);
            let kinds = ["string", "number", "boolean", "object"].map(|kind| json!({ "type": kind }));
            whole.insert("anyOf".to_owned(), json!(kinds));
        }
        self.describe(part, &[], &mut whole);
        Ok(whole)
    }
}

/// Whether a branch says what a value is, and not only what must be there with what.
fn says_what(branch: &Value) -> bool {
    const SAYS: [&str; 11] =
        ["type", "properties", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "items", "format", "pattern"];
    branch.as_object().is_some_and(|branch| SAYS.iter().any(|keyword| branch.contains_key(*keyword)))
}

fn is_null(branch: &Value) -> bool {
    branch.get("type") == Some(&Value::from("null")) || branch.get("const") == Some(&Value::Null)
}

/// The type that other keywords speak of.
fn inferred(part: &Map<String, Value>) -> Vec<String> {
    let of_values = |values: &[Value]| {
        let mut kinds: Vec<String> = Vec::new();
        for value in values {
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            if !kinds.iter().any(|known| known == kind) {
                kinds.push(kind.to_owned());
            }
        }
        kinds
    };
    if let Some(Value::Array(values)) = part.get("enum") {
        return of_values(values);
    }
    if let Some(value) = part.get("const") {
        return of_values(std::slice::from_ref(value));
    }
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| part.contains_key(*keyword));
    let kind = if has(&["properties", "required", "additionalProperties", "patternProperties", "minProperties"]) {
        "object"
    } else if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        "array"
    } else if has(&["minLength", "maxLength", "pattern", "format"]) {
        "string"
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        "number"
    } else {
        return Vec::new();
    };
    vec![kind.to_owned()]
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
