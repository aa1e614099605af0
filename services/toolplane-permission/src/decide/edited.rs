//! Whether an input is the one a person put in place.

use serde_json::Value;
use toolplane_records::payload::JsonPayload;
use toolplane_records::payload::REDACTED;

/// Whether `now`, with the values at `redacted` hidden, is what a person wrote as `edited`.
///
/// Defaults may have been filled in since, so an object may have members the person did not write. What the person left
/// hidden was put back unseen, so any value there is right.
pub(super) fn is_what_was_edited(edited: &JsonPayload, now: &JsonPayload, redacted: &[String]) -> bool {
    let Ok(now) = now.parse::<Value>() else { return false };
    let Ok(edited) = edited.parse::<Value>() else { return false };
    let hidden: Vec<Vec<String>> = redacted.iter().map(|pointer| segments(pointer)).collect();
    covers(&edited, &now, &hidden)
}

fn segments(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect()
}

fn covers(edited: &Value, now: &Value, hidden: &[Vec<String>]) -> bool {
    if edited == REDACTED || (now == REDACTED && hidden.iter().any(Vec::is_empty)) {
        return true;
    }
    match (edited, now) {
        (Value::Object(edited), Value::Object(now)) => edited
            .iter()
            .all(|(name, edited)| now.get(name).is_some_and(|now| covers(edited, now, &below(hidden, name)))),
        (Value::Array(edited), Value::Array(now)) => {
            let places = edited.iter().zip(now).enumerate();
            edited.len() == now.len()
                && places
                    .into_iter()
                    .all(|(index, (edited, now))| covers(edited, now, &below(hidden, &index.to_string())))
        }
        _ => edited == now,
    }
}

/// The hidden places beneath one member.
fn below(hidden: &[Vec<String>], name: &str) -> Vec<Vec<String>> {
    let inside = |place: &Vec<String>| place.first().is_some_and(|first| first == name || first == "*");
    hidden.iter().filter(|place| inside(place)).map(|place| place[1..].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::{JsonPayload, is_what_was_edited};

    #[test]
    fn an_edit_is_recognised_through_defaults_and_hidden_values() {
        let check = |edited: &str, now: &str, redacted: &[&str], expected: bool| {
            let redacted: Vec<String> = redacted.iter().map(ToString::to_string).collect();
            let (edited, now) =
                (JsonPayload::from_checked(edited.to_owned()), JsonPayload::from_checked(now.to_owned()));
            assert_eq!(is_what_was_edited(&edited, &now, &redacted), expected, "{edited:?} {now:?}");
        };
        check(r#"{"a":1}"#, r#"{ "a": 1 }"#, &[], true);
        check(r#"{"a":1}"#, r#"{"a":1,"limit":10}"#, &[], true);
        check(r#"{"a":1}"#, r#"{"a":2}"#, &[], false);
        check(r#"{"a":1,"b":2}"#, r#"{"a":1}"#, &[], false);
        check(r#"{"a":[1,2]}"#, r#"{"a":[1,2,3]}"#, &[], false);
        check(r#"{"key":"[redacted]"}"#, r#"{"key":"[redacted]"}"#, &["/key"], true);
        check(r#"{"key":"mine"}"#, r#"{"key":"[redacted]"}"#, &["/key"], true);
        check(r#"{"key":"mine"}"#, r#"{"key":"[redacted]"}"#, &["/other"], false);
        check(r#"{"l":[{"k":"mine"}]}"#, r#"{"l":[{"k":"[redacted]"}]}"#, &["/l/*/k"], true);
        check(r#"{"a":1}"#, "not json", &[], false);
    }
}
