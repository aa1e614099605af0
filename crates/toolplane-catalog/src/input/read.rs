//! Reading a value that is checked against a schema, without letting any number become another one.

use serde_json::Value;
use toolplane_records::error::FieldViolation;
use toolplane_records::json;
use toolplane_records::payload::JsonPayload;

use super::numbers::{inexact_numbers, is_beyond_64_bits, with_stand_ins};
use super::sensitive::SensitiveFields;
use crate::limits::CatalogLimits;
use crate::violations::Violations;

/// A value to be checked against a schema.
pub(super) struct SchemaInstance {
    pub(super) value: Value,
    /// It has no stand-ins: what is wrong with it may be told with its values.
    pub(super) is_exact: bool,
}

/// The value of `payload`, for checking alone: integers beyond 64 bits have stand-ins, which schemas that are `blind` to them judge
/// alike. What cannot be judged is refused: other numbers that are not held exactly, and such integers where a schema looks at their
/// digits.
pub(super) fn read(
    payload: &JsonPayload,
    blind: bool,
    sensitive: &SensitiveFields,
    limits: &CatalogLimits,
) -> Result<SchemaInstance, Vec<FieldViolation>> {
    let mut faults = Violations::default();
    if let Err(refusal) = json::check(payload.bytes(), &limits.input.json) {
        faults.add("", refusal);
        return Err(faults.into_vec());
    }
    let inexact = inexact_numbers(payload.text(), usize::MAX);
    let undecided = inexact.iter().filter(|(_, literal)| !(blind && is_beyond_64_bits(literal)));
    for (pointer, literal) in undecided.take(limits.input.max_violations) {
        let pointer = sensitive.covering(pointer).unwrap_or_else(|| pointer.clone());
        let rule = if is_beyond_64_bits(literal) {
            "is an integer beyond 64 bits, and the schema compares numbers in a way that cannot be decided for it; give it as a string"
        } else {
            "is a number that cannot be held exactly; give it as a string or with fewer digits"
        };
        faults.add(pointer, rule);
    }
    faults.into_result()?;
    if inexact.is_empty() {
        return Ok(SchemaInstance { value: payload.to_value(), is_exact: true });
    }
    let value = serde_json::from_str(&with_stand_ins(payload.text())).unwrap_or(Value::Null);
    Ok(SchemaInstance { value, is_exact: false })
}
