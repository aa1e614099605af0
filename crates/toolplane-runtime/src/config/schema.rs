//! The JSON Schema of the configuration.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Config;

/// The schema as it is checked in at `schemas/config.schema.json`: pretty-printed, with a final line end.
pub fn json_schema() -> String {
    let schema = schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Config>();
    let mut text = format!("{:#}", sorted(schema.to_value()));
    text.push('\n');
    text
}

/// Keys in order, whatever map serde_json was built with.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<String, Value> =
                members.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
