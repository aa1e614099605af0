//! Which schemas look at numbers so closely that a stand-in could be judged otherwise.

use serde_json::Value;

/// Whether `schema` gives the same verdict for every integer beyond 64 bits of one sign. Looks at every place a keyword could be at;
/// a schema that is thought to look closer than it does costs a refusal, never a wrong verdict.
pub(super) fn is_blind_to_large(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().all(|(name, value)| keyword(name, value) && is_blind_to_large(value)),
        Value::Array(elements) => elements.iter().all(is_blind_to_large),
        _ => true,
    }
}

fn keyword(name: &str, value: &Value) -> bool {
    match (name, value) {
        ("multipleOf", Value::Number(number)) => number.as_u64() == Some(1),
        // Two that differ could have the same stand-in.
        ("uniqueItems", Value::Bool(unique)) => !unique,
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) | ("const" | "enum", _) => {
            is_small(value)
        }
        _ => true,
    }
}

/// Whether every number in `value` lies within 63 bits, so that all integers beyond 64 are on one side of it.
fn is_small(value: &Value) -> bool {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer > i64::MIN,
            None => number.as_f64().is_some_and(|double| double.abs() < 9.2e18),
        },
        Value::Array(elements) => elements.iter().all(is_small),
        Value::Object(members) => members.values().all(is_small),
        _ => true,
    }
}
