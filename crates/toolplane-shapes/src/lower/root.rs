//! The top of a schema as every vendor wants it: an object with its members, and no choice between several.

use serde_json::{Map, Value, json};

use super::Lower;
use super::gather::both;
use crate::loss::Done;

/// What may not stand at the top.
const CHOICES: [&str; 9] = ["oneOf", "anyOf", "allOf", "enum", "const", "not", "if", "then", "else"];

/// Whether the schema can stay as it was written: an object that says its members and nothing that may not be at the top.
pub(crate) fn is_plain(root: &Value) -> bool {
    let Value::Object(root) = root else { return false };
    let says = root.get("type") == Some(&Value::from("object")) && root.get("properties").is_some_and(Value::is_object);
    says && !root.contains_key("$ref") && CHOICES.iter().all(|keyword| !root.contains_key(*keyword))
}

impl Lower<'_> {
    /// The top as an object. Of several objects that may be given, it has the members of all, and requires what all require.
    pub(super) fn top(&mut self) -> Map<String, Value> {
        let root = self.root;
        let mut top = match root {
            Value::Object(root) => {
                let root = Map::clone(root);
                // What is at the top stays open: a reference to it is one to where it already is.
                self.open.push(String::new());
                let gathered = self.gathered(&root, "");
                // What the top refers to may be referred to again inside.
                self.open.truncate(1);
                gathered.members
            }
            _ => Map::new(),
        };
        for keyword in ["oneOf", "anyOf"] {
            let Some(Value::Array(branches)) = top.shift_remove(keyword) else { continue };
            self.losses.add("", keyword, Done::Merged);
            self.spread(&mut top, &branches, keyword);
        }
        for keyword in ["if", "then", "else", "not", "enum", "const"] {
            if top.shift_remove(keyword).is_some() {
                self.losses.add("", keyword, Done::Dropped);
            }
        }
        let is_object =
            top.get("type").is_none_or(|kind| super::gather::types(kind).iter().any(|kind| kind == "object"));
        if !is_object {
            self.losses.add("", "type", Done::Approximated);
        }
        let mut whole = Map::new();
        whole.insert("type".to_owned(), "object".into());
        let properties = top.shift_remove("properties").filter(Value::is_object);
        whole.insert("properties".to_owned(), properties.unwrap_or_else(|| json!({})));
        top.shift_remove("type");
        whole.extend(top);
        whole
    }

    /// Puts the members of branches into an object.
    fn spread(&mut self, object: &mut Map<String, Value>, branches: &[Value], keyword: &str) {
        let mut required: Option<Vec<Value>> = None;
        let mut properties = match object.get_mut("properties").map(Value::take) {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let own: Vec<String> = properties.keys().cloned().collect();
        for (index, branch) in branches.iter().enumerate() {
            let Value::Object(branch) = branch else { continue };
            let open = self.open.len();
            let branch = self.gathered(branch, &format!("/{keyword}/{index}")).members;
            self.open.truncate(open);
            if let Some(Value::Object(more)) = branch.get("properties") {
                for (name, schema) in more {
                    match properties.get_mut(name) {
                        None => drop(properties.insert(name.clone(), schema.clone())),
                        Some(same) if same == schema => {}
                        // What the object says itself holds for every branch.
                        Some(_) if own.contains(name) => {}
                        Some(other) => *other = either(other.take(), schema.clone()),
                    }
                }
            }
            let named = branch.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            required = Some(match required {
                None => named,
                Some(all) => all.into_iter().filter(|name| named.contains(name)).collect(),
            });
            if object.get("additionalProperties") == Some(&Value::Bool(false)) {
                continue;
            }
            if let Some(additional) = branch.get("additionalProperties") {
                object.entry("additionalProperties").or_insert_with(|| additional.clone());
            }
        }
        object.insert("properties".to_owned(), properties.into());
        let more = required.unwrap_or_default();
        if !more.is_empty() {
            let there = object.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(there) = there {
                let missing: Vec<Value> = more.into_iter().filter(|name| !there.contains(name)).collect();
                there.extend(missing);
            }
        }
    }
}

fn either(one: Value, other: Value) -> Value {
    match one {
        Value::Object(mut one) if one.len() == 1 && one.get("anyOf").is_some_and(Value::is_array) => {
            if let Some(Value::Array(branches)) = one.get_mut("anyOf")
                && !branches.contains(&other)
            {
                branches.push(other);
            }
            one.into()
        }
        one => json!({ "anyOf": [one, other] }),
    }
}

/// A branch together with what stands beside the choice.
pub(super) fn beside(branch: Value, rest: &Map<String, Value>) -> Value {
    let mut rest = rest.clone();
    for keyword in ["title", "description", "default", "examples", "$schema", "$id", "$comment", "$defs", "definitions"]
    {
        rest.shift_remove(keyword);
    }
    if rest.is_empty() { branch } else { both(branch, rest.into()) }
}
