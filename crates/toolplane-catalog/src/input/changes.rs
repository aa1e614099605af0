//! What an edit of an input changed, as JSON pointers.

use serde_json::Value;
use toolplane_records::payload::JsonPayload;

use super::numbers::inexact_numbers;
use super::sensitive::SensitiveFields;
use crate::schema::pointer::escape;

/// Most pointers reported; beyond it only the top-level fields are named.
const MAX_CHANGES: usize = 64;

/// JSON pointers of what differs between two inputs, in order; nothing below a sensitive field is named, only the field.
///
/// Arrays of another length are one change. More than 64 changes are reported as the top-level fields they lie in.
pub fn changed_fields(from: &JsonPayload, to: &JsonPayload, sensitive: &SensitiveFields) -> Vec<String> {
    let mut changes = large_changes(from, to);
    compare(&from.to_value(), &to.to_value(), String::new(), &mut changes);
    for change in &mut changes {
        if let Some(field) = sensitive.covering(change) {
            *change = field;
        }
    }
    if changes.len() > MAX_CHANGES {
        for change in &mut changes {
            let end = change[1..].find('/').map_or(change.len(), |end| end + 1);
            change.truncate(end);
        }
    }
    changes.sort_unstable();
    changes.dedup();
    changes.truncate(MAX_CHANGES);
    changes
}

/// Pointers of numbers that differ only in digits a value read from JSON does not hold.
fn large_changes(from: &JsonPayload, to: &JsonPayload) -> Vec<String> {
    let [before, after] = [from, to].map(|input| inexact_numbers(input.text(), usize::MAX));
    after.into_iter().filter(|number| !before.contains(number)).map(|(pointer, _)| pointer).collect()
}

fn compare(from: &Value, to: &Value, place: String, changes: &mut Vec<String>) {
    match (from, to) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, inner) in before {
                let place = format!("{place}/{}", escape(name));
                match after.get(name) {
                    Some(other) => compare(inner, other, place, changes),
                    None => changes.push(place),
                }
            }
            let new = after.keys().filter(|name| !before.contains_key(*name));
            changes.extend(new.map(|name| format!("{place}/{}", escape(name))));
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (inner, other)) in before.iter().zip(after).enumerate() {
                compare(inner, other, format!("{place}/{index}"), changes);
            }
        }
        _ if from == to => {}
        _ => changes.push(place),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(from: Value, to: Value, sensitive: &[&str]) -> Vec<String> {
        let sensitive: Vec<String> = sensitive.iter().map(|pointer| (*pointer).to_owned()).collect();
        changed_fields(&JsonPayload::of(&from), &JsonPayload::of(&to), &SensitiveFields::new(&sensitive))
    }

    #[test]
    fn every_difference_is_named_where_it_is() {
        let from = json!({ "a": { "b": 1, "c": 2 }, "list": [1, 2], "same": [{}], "gone": 1 });
        let to = json!({ "a": { "b": 1, "c": 3 }, "list": [1, 5], "same": [{}], "x/y": 1 });
        assert_eq!(changes(from.clone(), to, &[]), ["/a/c", "/gone", "/list/1", "/x~1y"]);
        assert_eq!(changes(from.clone(), from.clone(), &[]), [""; 0]);
        let longer = json!({ "a": { "b": 1, "c": 2 }, "list": [1, 2, 3], "same": [{}], "gone": 1 });
        assert_eq!(changes(from, longer, &[]), ["/list"]);
    }

    #[test]
    fn names_inside_a_sensitive_field_are_not_told() {
        let (from, to) = (json!({ "env": { "TOKEN_A": 1 } }), json!({ "env": { "TOKEN_B": 1 } }));
        assert_eq!(changes(from, to, &["/env"]), ["/env"]);
    }

    #[test]
    fn very_many_changes_are_told_by_their_top_level_fields() {
        let list = |seed: i64| (0..200).map(|n| json!({ "n": n + seed })).collect::<Vec<_>>();
        assert_eq!(
            changes(json!({ "list": list(0), "b": 1 }), json!({ "list": list(1), "b": 2 }), &[]),
            ["/b", "/list"]
        );
    }
}
