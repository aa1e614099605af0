//! The input of a call, as far as Cedar's values reach.

use std::collections::HashMap;

use cedar_policy::{Entity, EntityAttrEvaluationError, RestrictedExpression};
use serde_json::Value;

use crate::names::Type;
use crate::request::{set, text};
use crate::wanted::Wanted;

/// Bounds of what is handed to policies.
const MAX_VALUES: usize = 1000;
const MAX_DEPTH: usize = 16;
const MAX_BYTES: usize = 64 * 1024;
/// There is one of each map in a request.
const ID: &str = "call";

/// The input by JSON pointer, one map for each type of value.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    texts: HashMap<String, RestrictedExpression>,
    numbers: HashMap<String, RestrictedExpression>,
    switches: HashMap<String, RestrictedExpression>,
    lists: HashMap<String, RestrictedExpression>,
}

/// What is left of the bounds, and whether anything was left out.
struct Budget<'a> {
    redacted: &'a [String],
    values: usize,
    bytes: usize,
    complete: bool,
}

impl<'a> Budget<'a> {
    fn new(redacted: &'a [String]) -> Self {
        Self { redacted, values: MAX_VALUES, bytes: MAX_BYTES, complete: true }
    }

    /// Whether this value may be shown; what may not is missing.
    fn take(&mut self, pointer: &str, value: &Value, depth: usize) -> bool {
        let bytes = pointer.len() + value.as_str().map_or(8, str::len);
        let fits = self.values > 0 && bytes <= self.bytes && depth <= MAX_DEPTH;
        if !fits || self.redacted.iter().any(|redacted| redacted == pointer) {
            self.complete = false;
            return false;
        }
        self.values -= 1;
        self.bytes -= bytes;
        true
    }
}

impl Arguments {
    /// The maps of `input`, and whether all of it is in them.
    pub(crate) fn of(input: &Value, redacted: &[String]) -> (Self, bool) {
        let mut found = Self::default();
        let mut budget = Budget::new(redacted);
        found.add(String::new(), input, 0, &mut budget);
        (found, budget.complete)
    }

    /// Whether all of `value` was added.
    fn add(&mut self, pointer: String, value: &Value, depth: usize, budget: &mut Budget<'_>) -> bool {
        if !budget.take(&pointer, value, depth) {
            return false;
        }
        let mut whole = true;
        match value {
            Value::Null => {}
            Value::Bool(value) => drop(self.switches.insert(pointer, RestrictedExpression::new_bool(*value))),
            Value::Number(number) => match number.as_i64() {
                Some(number) => drop(self.numbers.insert(pointer, RestrictedExpression::new_long(number))),
                None => drop(self.texts.insert(pointer, text(&number.to_string()))),
            },
            Value::String(value) => drop(self.texts.insert(pointer, text(value))),
            Value::Array(members) => {
                for (index, member) in members.iter().enumerate() {
                    whole &= self.add(format!("{pointer}/{index}"), member, depth + 1, budget);
                }
                // A list with something missing would look like a shorter one.
                let shown = members.iter().map(scalar).collect::<Option<Vec<_>>>();
                if let Some(shown) = shown.filter(|_| whole) {
                    self.lists.insert(pointer, set(shown));
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let below = format!("{pointer}/{}", escaped(name));
                    whole &= self.add(below, field, depth + 1, budget);
                }
            }
        }
        whole
    }

    /// The maps that policies look at, as entities.
    pub(crate) fn entities(self, wanted: &Wanted) -> Result<Vec<Entity>, Box<EntityAttrEvaluationError>> {
        let maps = [
            ("text", Type::Texts, self.texts),
            ("number", Type::Numbers, self.numbers),
            ("switch", Type::Switches, self.switches),
            ("list", Type::Lists, self.lists),
        ];
        let looked_at = maps.into_iter().filter(|(name, _, _)| wanted.has(name));
        let entity = |kind: Type, tags| Entity::new_with_tags(kind.uid(ID), [], [], tags).map_err(Box::new);
        looked_at.map(|(_, kind, tags)| entity(kind, tags)).collect()
    }

    /// The record that names the four maps.
    pub(crate) fn record(complete: bool) -> Option<RestrictedExpression> {
        let map = |kind: Type| RestrictedExpression::new_entity_uid(kind.uid(ID));
        let fields = [
            ("text", map(Type::Texts)),
            ("number", map(Type::Numbers)),
            ("switch", map(Type::Switches)),
            ("list", map(Type::Lists)),
            ("complete", RestrictedExpression::new_bool(complete)),
        ];
        RestrictedExpression::new_record(fields.map(|(name, value)| (name.to_owned(), value))).ok()
    }
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(value) => Some(value.clone()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The input as a record; none when it is no object, or does not fit the bounds. Redacted values and nulls are absent.
pub(crate) fn record(input: &Value, redacted: &[String]) -> Option<RestrictedExpression> {
    let mut budget = Budget::new(redacted);
    value("", input, 0, &mut budget).filter(|_| input.is_object() && (budget.complete || !redacted.is_empty()))
}

fn value(pointer: &str, json: &Value, depth: usize, budget: &mut Budget<'_>) -> Option<RestrictedExpression> {
    if !budget.take(pointer, json, depth) {
        return None;
    }
    match json {
        Value::Null => None,
        Value::Bool(value) => Some(RestrictedExpression::new_bool(*value)),
        Value::Number(number) => {
            Some(number.as_i64().map_or_else(|| text(&number.to_string()), RestrictedExpression::new_long))
        }
        Value::String(value) => Some(text(value)),
        Value::Array(members) => {
            let each = members.iter().enumerate();
            let shown = each.map(|(index, member)| value(&format!("{pointer}/{index}"), member, depth + 1, budget));
            // A set with a member missing is another set.
            shown.collect::<Option<Vec<_>>>().map(RestrictedExpression::new_set)
        }
        Value::Object(fields) => {
            let mut shown = Vec::with_capacity(fields.len());
            for (name, field) in fields {
                let below = format!("{pointer}/{}", escaped(name));
                shown.extend(value(&below, field, depth + 1, budget).map(|field| (name.clone(), field)));
            }
            RestrictedExpression::new_record(shown).ok()
        }
    }
}
