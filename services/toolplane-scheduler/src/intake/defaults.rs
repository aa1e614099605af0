//! Declared defaults, added to a copy of the input without touching what the caller wrote.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toolplane_catalog::Registration;
use toolplane_records::payload::JsonPayload;

/// The input with the declared defaults for top-level fields the caller left out, and JSON pointers of those fields;
/// `None` when nothing is missing.
///
/// Members the caller gave keep their exact bytes, so that no number or spelling changes on the way.
pub(crate) fn apply(registration: &Registration, input: &JsonPayload) -> Option<(JsonPayload, Vec<String>)> {
    let defaults = registration.contract()?.defaults.as_ref()?;
    let defaults: BTreeMap<String, Box<RawValue>> = defaults.parse().ok()?;
    let given: BTreeMap<String, &RawValue> = input.parse().ok()?;
    let missing: Vec<_> = defaults.iter().filter(|(name, _)| !given.contains_key(*name)).collect();
    if missing.is_empty() {
        return None;
    }
    let mut text = input.text().trim_end().strip_suffix('}')?.trim_end().to_owned();
    let mut separator = if given.is_empty() { "" } else { "," };
    let mut added = Vec::new();
    for (name, value) in missing {
        text.push_str(separator);
        text.push_str(&serde_json::to_string(name).ok()?);
        text.push(':');
        text.push_str(value.get());
        separator = ",";
        added.push(format!("/{}", name.replace('~', "~0").replace('/', "~1")));
    }
    text.push('}');
    Some((JsonPayload::from_checked(text.into_bytes()), added))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(defaults: &str, input: &str, expected: Option<&str>) {
        let registration: Registration = serde_json::from_str(&format!(
            r#"{{"declaration":{{"tool_id":"t","namespace":"n","name":"t","description":"d","lifecycle":"available",
            "tool_kind":"function","input_contract":{{"defaults":{defaults}}}}}}}"#
        ))
        .unwrap();
        let input = JsonPayload::from_checked(input.to_owned().into_bytes());
        let completed = apply(&registration, &input).map(|(completed, _)| completed);
        assert_eq!(completed.as_ref().map(JsonPayload::text), expected);
    }

    #[test]
    fn missing_fields_are_added_and_given_bytes_kept() {
        check(r#"{"a":1}"#, r#"{ "b": 18446744073709551617 }"#, Some(r#"{ "b": 18446744073709551617,"a":1}"#));
        check(r#"{"a":1}"#, "{}", Some(r#"{"a":1}"#));
        check(r#"{"a":1}"#, r#"{"a":null}"#, None);
        check("{}", "{}", None);
    }
}
