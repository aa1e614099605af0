//! What changed between two schemas of one tool, in words for an agent that knows the older one.

use serde_json::{Map, Value};
use toolplane_records::visible::excerpt;

use super::pointer::escape;

/// Most differences that are told.
const MAX_TOLD: usize = 8;
/// Most keywords that are told of one field.
const MAX_KEYWORDS: usize = 3;

/// The differences, fields first; `None` is a tool without arguments. Empty when both say the same.
pub fn differences(before: Option<&Value>, now: Option<&Value>) -> Vec<String> {
    let mut told = match (before, now) {
        (None, None) => Vec::new(),
        (None, Some(_)) => vec!["it takes arguments now".to_owned()],
        (Some(_), None) => vec!["it takes no arguments any more".to_owned()],
        (Some(before), Some(now)) => of_fields(before, now).into_iter().chain(of_the_rest(before, now)).collect(),
    };
    if told.len() > MAX_TOLD {
        let more = told.len() - MAX_TOLD;
        told.truncate(MAX_TOLD);
        told.push(format!("and {more} more differences"));
    }
    told
}

fn of_fields(before: &Value, now: &Value) -> Vec<String> {
    let (old, new) = (members(before, "properties"), members(now, "properties"));
    let required = |schema: &Value, name: &str| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let mut told = Vec::new();
    for (name, schema) in &old {
        let field = format!("`/{}`", excerpt(&escape(name), 80));
        let Some(other) = new.get(name) else {
            told.push(format!("{field} is gone"));
            continue;
        };
        if schema != other {
            told.push(format!("{field} changed: {}", of_keywords(schema, other)));
        }
        match (required(before, name), required(now, name)) {
            (false, true) => told.push(format!("{field} is required now")),
            (true, false) => told.push(format!("{field} is not required any more")),
            _ => {}
        }
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        let and = if required(now, name) { " and required" } else { "" };
        told.push(format!("`/{}` is new{and}", excerpt(&escape(name), 80)));
    }
    // Required, and described nowhere.
    let named = |schema: &Value| schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let plain = |name: &&str| !old.contains_key(*name) && !new.contains_key(*name);
    for name in named(now).iter().filter_map(Value::as_str).filter(plain).filter(|name| !required(before, name)) {
        told.push(format!("`/{}` is required now", excerpt(&escape(name), 80)));
    }
    for name in named(before).iter().filter_map(Value::as_str).filter(plain).filter(|name| !required(now, name)) {
        told.push(format!("`/{}` is not required any more", excerpt(&escape(name), 80)));
    }
    told
}

/// Root keywords beside the fields.
fn of_the_rest(before: &Value, now: &Value) -> Vec<String> {
    let silent = ["properties", "required", "$schema", "$id", "id", "$comment"];
    let rest = |schema: &Value| {
        let mut rest = schema.as_object().cloned().unwrap_or_default();
        silent.iter().for_each(|keyword| drop(rest.remove(*keyword)));
        rest
    };
    keywords(&rest(before), &rest(now))
}

fn of_keywords(before: &Value, now: &Value) -> String {
    let mut told = match (before.as_object(), now.as_object()) {
        (Some(before), Some(now)) => keywords(before, now),
        _ => Vec::new(),
    };
    if told.len() > MAX_KEYWORDS {
        let more = told.len() - MAX_KEYWORDS;
        told.truncate(MAX_KEYWORDS);
        told.push(format!("{more} more"));
    }
    if told.is_empty() { "it is described anew".to_owned() } else { told.join(", ") }
}

fn keywords(before: &Map<String, Value>, now: &Map<String, Value>) -> Vec<String> {
    let mut told = Vec::new();
    for (keyword, value) in before {
        let name = excerpt(keyword, 40);
        match now.get(keyword) {
            None => told.push(format!("`{name}` is gone (was {})", short(value))),
            Some(other) if other == value => {}
            Some(other) => match (short(value), short(other)) {
                (old, new) if old == new => told.push(format!("`{name}` is another one")),
                (old, new) => told.push(format!("`{name}` is {new} (was {old})")),
            },
        }
    }
    let new = now.iter().filter(|(keyword, _)| !before.contains_key(*keyword));
    told.extend(new.map(|(keyword, value)| format!("`{}` is {} (is new)", excerpt(keyword, 40), short(value))));
    told
}

fn members(schema: &Value, keyword: &str) -> Map<String, Value> {
    schema.get(keyword).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn short(value: &Value) -> String {
    match value {
        Value::Object(members) => format!("an object of {} fields", members.len()),
        other => excerpt(&other.to_string(), 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(before: &Value, now: &Value) -> Vec<String> {
        differences(Some(before), Some(now))
    }

    #[test]
    fn every_kind_of_change_is_named() {
        let before = json!({ "type": "object", "required": ["path", "mode"], "properties": {
            "path": { "type": "string" }, "mode": { "enum": ["a"] }, "limit": { "type": "integer" }, "same": {} } });
        let now = json!({ "type": "object", "required": ["path", "limit", "to"], "additionalProperties": false,
            "properties": { "same": {}, "path": { "type": "array", "minItems": 1 }, "mode": { "enum": ["a"] },
                "limit": { "type": "integer" }, "to": {}, "x/y": {} } });
        assert_eq!(
            told(&before, &now),
            [
                r#"`/path` changed: `type` is "array" (was "string"), `minItems` is 1 (is new)"#,
                "`/mode` is not required any more",
                "`/limit` is required now",
                "`/to` is new and required",
                "`/x~1y` is new",
                "`additionalProperties` is false (is new)",
            ]
        );
        assert_eq!(told(&now, &now), [""; 0]);
        let (open, named) = (json!({ "type": "object" }), json!({ "type": "object", "required": ["m"] }));
        assert_eq!(told(&open, &named), ["`/m` is required now"]);
        assert_eq!(told(&named, &open), ["`/m` is not required any more"]);
        assert_eq!(differences(Some(&now), None), ["it takes no arguments any more"]);
        assert_eq!(differences(None, Some(&now)), ["it takes arguments now"]);
    }

    #[test]
    fn long_lists_and_hostile_names_stay_short() {
        let many: Map<String, Value> = (0..100).map(|n| (format!("f{n}"), json!({}))).collect();
        let found = told(&json!({}), &json!({ "properties": many }));
        assert_eq!((found.len(), found[8].as_str()), (9, "and 92 more differences"));
        let hostile = json!({ "properties": { "a\u{202e}\n": {} } });
        assert_eq!(told(&json!({}), &hostile), ["`/a\\u{202e}\\n` is new"]);
    }
}
