use proptest::prelude::*;
use serde_json::{Value, json};
use toolplane_records::payload::JsonPayload;

use toolplane_records::payload::REDACTED;

use super::{RestoreError, restore};

fn check(updated: &str, real: &str, sensitive: &[&str]) -> Result<String, RestoreError> {
    let sensitive: Vec<String> = sensitive.iter().map(|pointer| (*pointer).to_owned()).collect();
    let payload = |text: &str| JsonPayload::from_checked(text.to_owned());
    restore(&payload(updated), &payload(real), &sensitive).map(|value| value.text().to_owned())
}

#[test]
fn what_was_left_marked_is_put_back_and_nothing_else_changes() {
    let real = r#"{"path":"/a","token":"s3cret","n":123456789012345678901234567890,"deep":{"key":[1,2]}}"#;
    let restored = check(
        r#"{"n": 1.50,"token":"[redacted]","path":"/b","deep":{"key":"[redacted]"}}"#,
        real,
        &["/token", "/deep/key"],
    );
    assert_eq!(restored.unwrap(), r#"{"n":1.50,"token":"s3cret","path":"/b","deep":{"key":[1,2]}}"#);
    // Nothing to put back: exactly the same bytes.
    assert_eq!(check(r#"{ "n": 1 }"#, real, &["/token"]).unwrap(), r#"{ "n": 1 }"#);
    // A hook may replace or drop a secret it does not see.
    assert_eq!(check(r#"{"token":"new"}"#, real, &["/token"]).unwrap(), r#"{"token":"new"}"#);
    // A spelling of the mark is the mark.
    let spelled = check(r#"{"token":"\u005bredacted]"}"#, real, &["/token"]);
    assert_eq!(spelled.unwrap(), r#"{"token":"s3cret"}"#);
}

#[test]
fn a_mark_that_was_moved_or_copied_takes_nothing_with_it() {
    let real = r#"{"token":"s3cret","list":[{"k":"x"},{"k":"y"}],"plain":"[redacted]"}"#;
    let moved = |pointer: &str| Err(RestoreError::Moved { pointer: pointer.to_owned() });
    assert_eq!(check(r#"{"url":"[redacted]"}"#, real, &["/token"]), moved("/url"));
    assert_eq!(check(r#"{"a":{"b~/":["[redacted]"]}}"#, real, &["/token"]), moved("/a/b~0~1/0"));
    assert_eq!(check(r#"{"list":[{"k":"[redacted]"}]}"#, real, &["/list/*/k"]), moved("/list/0/k"));
    assert_eq!(check(r#"{"other":"[redacted]"}"#, real, &["/other"]), moved("/other"));
    // A text that always was so is no secret.
    assert_eq!(check(r#"{"plain":"[redacted]"}"#, real, &["/token"]).unwrap(), r#"{"plain":"[redacted]"}"#);
    let both = check(r#"{"list":[{"k":"[redacted]","n":1},{"k":"[redacted]"}]}"#, real, &["/list/*/k"]);
    assert_eq!(both.unwrap(), r#"{"list":[{"k":"x","n":1},{"k":"y"}]}"#);
    assert_eq!(check(r#""[redacted]""#, r#"{"a":1}"#, &["/a"]), moved(""));
    assert_eq!(check(r#""[redacted]""#, r#"{"a":1}"#, &[""]).unwrap(), r#"{"a":1}"#, "the whole input is sensitive");
}

/// The value with everything at `pointers` (without wildcards) marked.
fn redacted(value: &Value, pointers: &[String]) -> Value {
    let mut copy = value.clone();
    for pointer in pointers {
        if let Some(place) = copy.pointer_mut(pointer) {
            *place = json!(REDACTED);
        }
    }
    copy
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<i64>().prop_map(|n| json!(n)), "[a-z]{0,4}".prop_map(|s| json!(s))];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[abc/~]{1,2}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Every pointer of a value but its root.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (segment, value) in below {
        let pointer = format!("{at}/{segment}");
        pointers(value, &pointer, into);
        into.push(pointer);
    }
}

proptest! {
    #[test]
    fn a_hook_that_changes_nothing_changes_nothing(value in values(), chosen in any::<prop::sample::Index>()) {
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        prop_assume!(!all.is_empty());
        let sensitive = vec![all[chosen.index(all.len())].clone()];
        let seen = redacted(&value, &sensitive);
        let restored = restore(&JsonPayload::of(&seen), &JsonPayload::of(&value), &sensitive).unwrap();
        prop_assert_eq!(restored.to_value(), value);
    }
}
