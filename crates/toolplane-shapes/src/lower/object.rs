//! Objects and arrays, lowered.

use serde_json::{Map, Value, json};

use super::{Lower, NotStrict, Strict};
use crate::loss::Done;
use crate::pointer::below;

/// Keywords an object is made of.
pub(super) const OBJECT: [&str; 4] = ["type", "properties", "required", "additionalProperties"];
/// Keywords an array is made of.
pub(super) const ARRAY: [&str; 4] = ["type", "items", "prefixItems", "additionalItems"];

impl Lower<'_> {
    pub(super) fn object(
        &mut self,
        part: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<Map<String, Value>, NotStrict> {
        let mut whole = Map::new();
        whole.insert("type".to_owned(), "object".into());
        let required: Vec<&str> =
            part.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut properties = Map::new();
        let mut needed = Vec::new();
        if let Some(Value::Object(declared)) = part.get("properties") {
            for (name, schema) in declared {
                let at = below(&below(at, "properties"), name);
                if schema == &Value::Bool(false) {
                    self.losses.add(&at, "properties", Done::Dropped);
                    continue;
                }
                let allowed = self.rules.names.of(name);
                if allowed != *name {
                    self.losses.noted(&at, "name", Done::Renamed, allowed.clone());
                }
                self.counted.properties += 1;
                self.counted.characters += allowed.chars().count();
                let mut member = self.value(schema, &at, depth + 1)?;
                let is_required = required.contains(&name.as_str());
                if !is_required && self.rules.strict == Some(Strict::OpenAi) {
                    if make_nullable(&mut member) {
                        self.losses.add(&at, "required", Done::Nullable);
                    }
                    needed.push(Value::from(allowed.as_str()));
                } else if is_required {
                    needed.push(Value::from(allowed.as_str()));
                }
                properties.insert(allowed, member.into());
            }
        }
        if required.iter().any(|name| part.get("properties").and_then(|properties| properties.get(*name)).is_none()) {
            self.losses.add(&below(at, "required"), "required", Done::Dropped);
        }
        let is_empty = properties.is_empty();
        // Gemini takes no object whose members are said to be none.
        if !is_empty || self.rules.strict.is_some() || at.is_empty() {
            whole.insert("properties".to_owned(), properties.into());
        }
        if !needed.is_empty() || self.rules.strict == Some(Strict::OpenAi) {
            whole.insert("required".to_owned(), needed.into());
        }
        self.additional(part, is_empty, at, depth, &mut whole)?;
        if part.get("patternProperties").and_then(Value::as_object).is_some_and(|patterns| !patterns.is_empty()) {
            self.strictly(&below(at, "patternProperties"), "its members are named by patterns")?;
        }
        self.rest(part, &OBJECT, at, &mut whole);
        Ok(whole)
    }

    /// Whether members without a name may be given.
    fn additional(
        &mut self,
        part: &Map<String, Value>,
        is_empty: bool,
        at: &str,
        depth: usize,
        into: &mut Map<String, Value>,
    ) -> Result<(), NotStrict> {
        let place = below(at, "additionalProperties");
        let declared = part.get("additionalProperties");
        if self.rules.strict.is_some() {
            match declared {
                Some(Value::Bool(false)) => {}
                None if !is_empty => self.losses.add(at, "additionalProperties", Done::Closed),
                _ => self.strictly(&place, "it may have members that are not named")?,
            }
            into.insert("additionalProperties".to_owned(), false.into());
            return Ok(());
        }
        match declared {
            None => {}
            Some(_) if !self.rules.additional => self.losses.add(&place, "additionalProperties", Done::Dropped),
            Some(Value::Bool(said)) => drop(into.insert("additionalProperties".to_owned(), (*said).into())),
            Some(schema) => {
                let schema = self.value(schema, &place, depth + 1)?;
                into.insert("additionalProperties".to_owned(), schema.into());
            }
        }
        Ok(())
    }

    pub(super) fn array(
        &mut self,
        part: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<Map<String, Value>, NotStrict> {
        let mut whole = Map::new();
        whole.insert("type".to_owned(), "array".into());
        let of_place = match (part.get("prefixItems"), part.get("items")) {
            (Some(Value::Array(each)), rest) => Some((each, "prefixItems", rest)),
            (None, Some(Value::Array(each))) => Some((each, "items", part.get("additionalItems"))),
            _ => None,
        };
        let items = match (of_place, part.get("items")) {
            (Some((each, keyword, rest)), _) => {
                self.losses.add(&below(at, keyword), keyword, Done::AnyOf);
                let mut branches: Vec<Value> = each.clone();
                branches.extend(rest.filter(|rest| rest.is_object()).cloned());
                branches.dedup();
                json!({ "anyOf": branches })
            }
            (None, Some(items)) => items.clone(),
            (None, None) => Value::Bool(true),
        };
        let items = self.value(&items, &below(at, "items"), depth + 1)?;
        whole.insert("items".to_owned(), items.into());
        self.rest(part, &ARRAY, at, &mut whole);
        Ok(whole)
    }
}

/// Lets a value be `null`; false where it could be that before.
pub(super) fn make_nullable(part: &mut Map<String, Value>) -> bool {
    if let Some(Value::Array(branches)) = part.get_mut("anyOf") {
        if branches.iter().any(|branch| branch.get("type") == Some(&Value::from("null"))) {
            return false;
        }
        branches.push(json!({ "type": "null" }));
        return true;
    }
    let mut kinds = part.get("type").map(super::gather::types).unwrap_or_default();
    if kinds.iter().any(|kind| kind == "null") {
        return false;
    }
    kinds.push("null".to_owned());
    part.insert("type".to_owned(), kinds.into());
    if let Some(Value::Array(values)) = part.get_mut("enum") {
        values.push(Value::Null);
    }
    true
}
