//! What of a registration's text no record takes: misspelled fields, and those of later versions of the standard.

use serde_json::{Value, json};
use toolplane_catalog::Registration;

/// Most fields that are told.
const MOST: usize = 50;

/// Where fields stand in `text` that are in no record, such as `declaration.descripton`; up to 50 of them.
pub(super) fn left_out(text: &str, registration: &Registration) -> Vec<String> {
    // Numbers that no `Value` holds are in schemas, which are taken as they are.
    let (Ok(given), Ok(kept)) = (serde_json::from_str::<Value>(text), serde_json::to_value(registration)) else {
        return Vec::new();
    };
    let mut missing = Vec::new();
    compare(&given, &kept, &mut Vec::new(), &mut missing);
    let Ok(as_given) = serde_json::from_value::<Registration>(given.clone()) else { return Vec::new() };
    missing.retain(|place| is_ignored(&given, place, &as_given));
    missing.iter().take(MOST).map(|place| told(place)).collect()
}

/// A step to a field or to an element.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Field(String),
    Element(usize),
}

/// Fields of `given` that are not in `kept`.
fn compare(given: &Value, kept: &Value, place: &mut Vec<Step>, missing: &mut Vec<Vec<Step>>) {
    match (given, kept) {
        _ if given == kept => {}
        (Value::Object(given), Value::Object(kept)) => {
            for (name, value) in given {
                place.push(Step::Field(name.clone()));
                match kept.get(name) {
                    Some(kept) => compare(value, kept, place, missing),
                    None => missing.push(place.clone()),
                }
                place.pop();
            }
        }
        (Value::Array(given), Value::Array(kept)) if given.len() == kept.len() => {
            for (index, (given, kept)) in given.iter().zip(kept).enumerate() {
                place.push(Step::Element(index));
                compare(given, kept, place, missing);
                place.pop();
            }
        }
        _ => {}
    }
}

/// A field that is written nowhere may only have said what holds without it. It is ignored when the registration is the same with a
/// value there that no field has.
fn is_ignored(given: &Value, place: &[Step], registration: &Registration) -> bool {
    let mut changed = given.clone();
    let field = place.iter().try_fold(&mut changed, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Element(index) => value.get_mut(index),
    });
    let Some(field) = field else { return false };
    *field = json!([{ "": 0.5 }]);
    serde_json::from_value::<Registration>(changed).is_ok_and(|changed| changed == *registration)
}

pub(super) fn told(place: &[Step]) -> String {
    let mut told = String::new();
    for step in place {
        match step {
            Step::Field(name) if told.is_empty() => told.push_str(name),
            Step::Field(name) => told.extend([".", name]),
            Step::Element(index) => told.push_str(&format!("[{index}]")),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::left_out;

    #[test]
    fn what_no_record_has_is_told_where_it_stands() {
        let text = json!({
            "declaration": {
                "tool_id": "t", "namespace": "n", "name": "x", "descripton": "d", "description": "d", "title": "",
                "lifecycle": "available", "tool_kind": "native_tool", "aliases": [],
                "input_contract": { "model_schema": {}, "model_input_schema": { "type": "object", "x-own": 1 } },
                "external_mappings": [{ "source": "s", "native_id": "n", "nativ": 1 }],
            },
            "interfaces": {},
            "execution_profile": {
                "execution_profile_id": "e", "execution_kind": "local_process", "retry_on_timeout": false,
                "binding": { "type": "process", "argv": ["true"], "arg": ["false"] },
            },
        })
        .to_string();
        let registration = serde_json::from_str(&text).unwrap();
        let mut told = left_out(&text, &registration);
        told.sort();
        assert_eq!(
            told,
            [
                "declaration.descripton",
                "declaration.external_mappings[0].nativ",
                "declaration.input_contract.model_schema",
                "execution_profile.binding.arg",
                "interfaces",
            ]
        );
    }
}
