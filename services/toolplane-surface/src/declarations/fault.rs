//! Where in a registration's text the value stands that no record takes.

use serde_json::Value;
use toolplane_catalog::Registration;

use super::left_out::{Step, told};

/// Most fields or elements of one value that are tried.
const MOST: usize = 1_000;
/// Members that say what an object is: without theirs it cannot be read at all.
const TAGS: [&str; 5] = ["type", "transport", "kind", "in", "from"];

/// The place of the first value at fault in `text`, such as `execution_profile.binding.type`; empty where it is the whole, or cannot be told.
pub(crate) fn place(text: &str) -> String {
    let Ok(given) = serde_json::from_str::<Value>(text) else { return String::new() };
    let Some(fault) = fault_of(given.clone()) else { return String::new() };
    if let Some(field) = fault.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        return lacking(&given, field, &fault).map(|place| told(&place)).unwrap_or_default();
    }
    let mut place = Vec::new();
    while let Some(step) = inward(&given, &place, &fault) {
        place.push(step);
    }
    told(&place)
}

fn fault_of(value: Value) -> Option<String> {
    serde_json::from_value::<Registration>(value).err().map(|error| error.to_string())
}

/// The object that lacks a field: were it there, something else would be said, or nothing.
fn lacking(given: &Value, field: &str, fault: &str) -> Option<Vec<Step>> {
    let mut open: Vec<Vec<Step>> = vec![Vec::new()];
    for _ in 0..MOST {
        let place = open.pop()?;
        let value = at(given, &place)?;
        if value.is_object() {
            let mut other = given.clone();
            if let Value::Object(members) = at_mut(&mut other, &place)? {
                members.insert(field.to_owned(), Value::Null);
            }
            if fault_of(other).as_deref() != Some(fault) {
                return Some(place);
            }
        }
        let inner = steps_of(value).into_iter().map(|step| [place.as_slice(), &[step]].concat());
        open.extend(inner.rev());
    }
    None
}

fn steps_of(value: &Value) -> Vec<Step> {
    match value {
        Value::Object(members) if members.len() <= MOST => members.keys().cloned().map(Step::Field).collect(),
        Value::Array(elements) if elements.len() <= MOST => (0..elements.len()).map(Step::Element).collect(),
        _ => Vec::new(),
    }
}

/// The step from `place` to what is at fault: what was wrong is no longer said without it. Of what has to be there something else is said
/// then, so it comes second, and last what says which kind of object it is, without which nothing of it is looked at.
fn inward(given: &Value, place: &[Step], fault: &str) -> Option<Step> {
    let value = at(given, place)?;
    let blamed = steps_of(value).into_iter().filter_map(|step| {
        let without = fault_of(without(given, place, &step)?);
        if without.as_deref() == Some(fault) {
            return None;
        }
        let rank = match &step {
            Step::Field(name) if without.is_some_and(|other| other.contains(&format!("missing field `{name}`"))) => {
                match TAGS.contains(&name.as_str()) {
                    true if !names(fault, value.get(name)) => return None,
                    true => 2,
                    false => 1,
                }
            }
            _ => 0,
        };
        Some((rank, step))
    });
    blamed.min_by_key(|(rank, _)| *rank).map(|(_, step)| step)
}

/// Whether the fault speaks of this value: without a tag another fault is said of each object, so that alone blames none.
fn names(fault: &str, value: Option<&Value>) -> bool {
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => return false,
    };
    fault.contains(&format!("`{text}`"))
}

fn at<'v>(value: &'v Value, place: &[Step]) -> Option<&'v Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Element(index) => value.get(index),
    })
}

fn at_mut<'v>(value: &'v mut Value, place: &[Step]) -> Option<&'v mut Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Element(index) => value.get_mut(index),
    })
}

fn without(given: &Value, place: &[Step], step: &Step) -> Option<Value> {
    let mut rest = given.clone();
    let inner = at_mut(&mut rest, place)?;
    match (step, inner) {
        (Step::Field(name), Value::Object(members)) => drop(members.shift_remove(name)),
        (Step::Element(index), Value::Array(elements)) if *index < elements.len() => drop(elements.remove(*index)),
        _ => return None,
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::place;

    fn check(pointer: &str, wrong: Value, expected: &str) {
        let mut text = json!({
            "declaration": {
                "tool_id": "t", "namespace": "n", "name": "x", "description": "d",
                "lifecycle": "available", "tool_kind": "native_tool", "aliases": ["a", "b"],
            },
            "execution_profile": {
                "execution_profile_id": "e", "execution_kind": "mcp_server",
                "binding": {
                    "type": "mcp", "provider_id": "p",
                    "server": { "transport": "stdio", "argv": ["a"], "placed_credentials": [
                        { "credential": "c", "placement": { "in": "env", "name": "A" } },
                        { "credential": "c", "placement": { "in": "file", "name": "b" } },
                    ] },
                },
            },
        });
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = text.pointer_mut(parent).unwrap();
        match (wrong, name.parse::<usize>()) {
            (wrong, Ok(index)) => parent[index] = wrong,
            (Value::Null, Err(_)) => drop(parent.as_object_mut().unwrap().remove(name)),
            (wrong, Err(_)) => parent[name] = wrong,
        }
        assert_eq!(place(&text.to_string()), expected, "{text}");
    }

    #[test]
    fn what_cannot_be_taken_is_told_where_it_stands() {
        let binding = "/execution_profile/binding";
        check(&format!("{binding}/type"), json!("mpc"), "execution_profile.binding.type");
        check(&format!("{binding}/server/transport"), json!("pipe"), "execution_profile.binding.server.transport");
        check(&format!("{binding}/server/argv"), json!("a"), "execution_profile.binding.server.argv");
        check(&format!("{binding}/server/argv/0"), json!(7), "execution_profile.binding.server.argv[0]");
        check(
            &format!("{binding}/server/placed_credentials/1/placement/in"),
            json!("flie"),
            "execution_profile.binding.server.placed_credentials[1].placement.in",
        );
        check("/declaration/lifecycle", json!("there"), "declaration.lifecycle");
        check("/declaration/aliases/1", json!({}), "declaration.aliases[1]");
        check("/execution_profile/execution_kind", json!([]), "execution_profile.execution_kind");
    }

    #[test]
    fn what_is_missing_is_told_by_the_object_that_lacks_it() {
        check("/execution_profile/binding/server/argv", Value::Null, "execution_profile.binding.server");
        check("/declaration/name", Value::Null, "declaration");
        assert_eq!(place("{}"), "");
    }
}
