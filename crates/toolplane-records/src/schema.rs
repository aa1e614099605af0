//! The JSON Schemas of the standard's records, made from the types: what they are when this program writes them.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::assurance::Confidence;
use crate::decision::PermissionDecision;
use crate::declaration::ToolDeclaration;
use crate::event::ToolEvent;
use crate::hook::ToolHook;
use crate::interface::ToolInterface;
use crate::invocation::invocation_schema;
use crate::mutation::InputMutation;
use crate::payload::{Digest, JsonPayload};
use crate::persistence::ResultPersistence;
use crate::profile::{ExecutionProfile, PermissionProfile};
use crate::progress::ToolProgress;
use crate::result::ToolResult;
use crate::scheduling::SchedulerPolicy;
use crate::surface::{DeferredToolRef, ToolSurface};
use crate::time::Timestamp;

/// A JSON object whose members are not known here: for fields that hold one as it is.
#[derive(Debug)]
pub struct Object;

/// Every record of the standard by its name there, each with its schema, pretty-printed.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("deferred-tool", of::<DeferredToolRef>("deferred-tool")),
        ("event", of::<ToolEvent>("event")),
        ("execution-profile", of::<ExecutionProfile>("execution-profile")),
        ("hook", of::<ToolHook>("hook")),
        ("input-mutation", of::<InputMutation>("input-mutation")),
        ("invocation", invocation_schema()),
        ("permission-decision", of::<PermissionDecision>("permission-decision")),
        ("permission-profile", of::<PermissionProfile>("permission-profile")),
        ("progress", of::<ToolProgress>("progress")),
        ("result-persistence", of::<ResultPersistence>("result-persistence")),
        ("result", of::<ToolResult>("result")),
        ("scheduler-policy", of::<SchedulerPolicy>("scheduler-policy")),
        ("tool-declaration", of::<ToolDeclaration>("tool-declaration")),
        ("tool-interface", of::<ToolInterface>("tool-interface")),
        ("tool-surface", of::<ToolSurface>("tool-surface")),
    ]
}

/// The schema of one record as it is written.
pub(crate) fn of<T: JsonSchema>(name: &str) -> String {
    let mut schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    tighten(schema.as_object_mut());
    schema.insert("$id".to_owned(), format!("https://toolplane.dev/schemas/records/{name}.schema.json").into());
    schema.insert("title".to_owned(), name.into());
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// Says what is written and no more: a field without a value is left out and never `null`; and how numbers are held here is nobody's
/// business.
fn tighten(schema: Option<&mut Map<String, Value>>) {
    let Some(schema) = schema else { return };
    // A field may be called `format` too: its schema is no text.
    if schema.get("format").and_then(Value::as_str).is_some_and(|format| format != "date-time") {
        schema.remove("format");
    }
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (_, property) in properties.iter_mut().filter(|(name, _)| !required.contains(name)) {
            without_null(property);
        }
    }
    for (_, inner) in schema.iter_mut() {
        match inner {
            Value::Object(inner) => tighten(Some(inner)),
            Value::Array(inner) => inner.iter_mut().for_each(|one| tighten(one.as_object_mut())),
            _ => {}
        }
    }
}

fn without_null(property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [one] = &kinds[..] {
            let one = one.clone();
            property.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(ways)) = property.get_mut("anyOf") {
        ways.retain(|way| way.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(one)] = &ways[..] {
            let one = one.clone();
            property.remove("anyOf");
            property.extend(one);
        }
    }
}

macro_rules! schemas {
    ($($name:ty: $title:literal = $schema:tt),* $(,)?) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $title.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

schemas! {
    Object: "Object" = { "type": "object" },
    Timestamp: "Timestamp" = { "type": "string", "format": "date-time" },
    Digest: "Digest" = { "type": "string", "pattern": "^sha256:[0-9a-f]{64}$" },
    Confidence: "Confidence" = { "type": "number", "minimum": 0, "maximum": 1 },
}

impl JsonSchema for JsonPayload {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "JsonPayload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}
