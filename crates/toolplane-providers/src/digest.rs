//! The digest by which a definition is approved.
//!
//! It is over the whole registration: what the model is told, what the schemas say, what the tool may touch, and where its calls go. It
//! is of the canonical form of JSON (`toolplane_records::json::canonical`), so another order of keys, other white space and another
//! spelling of the same number are no change; every other difference is one, also in the order of a list.
//!
//! A registration must therefore hold nothing that differs from one connection to the next (versions of servers, times, session ids),
//! or its tool would wait again after each. A version of Toolplane that makes registrations in another way changes digests as
//! well: what nobody has looked at in its new form waits.

use toolplane_catalog::Registration;
use toolplane_records::json::canonical;
use toolplane_records::payload::{Digest, JsonPayload};

/// What stands before the canonical form, and before the exact bytes of what has none: neither is ever taken for the other.
const CANONICAL: &str = "toolplane definition\n";
const EXACT: &str = "toolplane definition as it is written\n";

/// The canonical digest of a registration.
pub fn definition_digest(registration: &Registration) -> Digest {
    json_digest(JsonPayload::of(registration).text())
}

/// The canonical digest of a definition as JSON. Text that is no JSON has one, too: that of its bytes.
pub fn json_digest(text: &str) -> Digest {
    match canonical(text) {
        Some(form) => Digest::of(format!("{CANONICAL}{form}").as_bytes()),
        None => Digest::of(format!("{EXACT}{text}").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::fixtures::{registration, with_schema};

    #[test]
    fn spelling_is_no_change_and_everything_else_is() {
        let schema = r#"{"type":"object","properties":{"n":{"maximum":10,"type":"integer"}}}"#;
        let same =
            "{ \"properties\" : {\"n\": {\"type\":\"integer\", \"maximum\": 1.0e1}}, \"typ\\u0065\":\"object\" }";
        let first = definition_digest(&with_schema("search", schema));
        assert_eq!(first, definition_digest(&with_schema("search", same)));
        assert_ne!(with_schema("search", schema).digest(), with_schema("search", same).digest(), "not of exact bytes");
        for other in [
            r#"{"type":"object","properties":{"n":{"maximum":11,"type":"integer"}}}"#,
            r#"{"type":"object","properties":{"n":{"maximum":"10","type":"integer"}}}"#,
            r#"{"type":"object","properties":{"n":{"maximum":10,"type":"integer","description":""}}}"#,
        ] {
            assert_ne!(first, definition_digest(&with_schema("search", other)), "{other}");
        }
        let mut elsewhere = with_schema("search", schema);
        elsewhere.declaration.description.push(' ');
        assert_ne!(first, definition_digest(&elsewhere), "one space more for the model");
        assert_ne!(definition_digest(&registration("a", "x")), definition_digest(&registration("a", "y")));
    }

    #[test]
    fn integers_of_any_size_count() {
        let of = |n: &str| json_digest(&format!(r#"{{"maximum":{n}}}"#));
        assert_ne!(of("18446744073709551617"), of("18446744073709551618"));
        assert_eq!(of("18446744073709551617"), of("1.8446744073709551617e19"));
    }

    #[test]
    fn what_is_no_json_is_its_bytes() {
        assert_ne!(json_digest("{"), json_digest("{ "));
        assert_ne!(json_digest("{}"), json_digest("{"));
    }

    fn shuffled(value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                members.iter().rev().map(|(name, value)| (name.clone(), shuffled(value))).collect::<Map<_, _>>().into()
            }
            Value::Array(elements) => elements.iter().map(shuffled).collect(),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn neither_order_nor_space_matters_and_content_does(
            fields in prop::collection::btree_map("[a-z]{1,6}", ("\\PC{0,12}", any::<i64>()), 0..6),
            added in "\\PC{1,8}",
        ) {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(name, (text, n))| (name, json!({"description": text, "maximum": n}))).collect();
            let schema = json!({"type": "object", "properties": fields});
            let one = definition_digest(&with_schema("t", &schema.to_string()));
            let pretty = serde_json::to_string_pretty(&shuffled(&schema)).unwrap();
            prop_assert_eq!(one, definition_digest(&with_schema("t", &pretty)));
            let mut other = schema;
            other["description"] = added.into();
            prop_assert_ne!(one, definition_digest(&with_schema("t", &other.to_string())));
        }
    }
}
