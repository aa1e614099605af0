//! Tools that have whatever a shape may not hold.

use serde_json::{Value, json};
use toolplane_records::alias;
use toolplane_records::payload::JsonPayload;
use toolplane_shapes::{Hints, Tool};

pub(crate) fn tool(full_name: &str, description: &str, schema: Option<&Value>) -> Tool {
    let tool_id = format!("tool:{full_name}");
    Tool {
        alias: alias::of(full_name, &tool_id),
        tool_id,
        full_name: full_name.to_owned(),
        description: description.to_owned(),
        input_schema: schema.map(JsonPayload::of),
        ..Tool::default()
    }
}

/// One sample for each thing that is hard for somebody.
pub(crate) fn all() -> Vec<Tool> {
    let long = "Says a lot. ".repeat(200);
    let mut samples = vec![
        tool("plain.none", "Takes nothing.", None),
        tool(
            "files.read.text",
            "Reads a file. Then it says what it read.",
            Some(&json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "path": { "type": "string", "minLength": 1, "description": "Where it is." },
                    "offset": { "type": "integer", "minimum": 0, "default": 0 },
                    "mode": { "enum": ["text", "bytes"] },
                    "at": { "type": "string", "format": "date-time" },
                    "link": { "type": "string", "format": "uri" },
                },
                "required": ["path"],
                "additionalProperties": false,
            })),
        ),
        tool(
            "search.any",
            "Finds things.",
            Some(&json!({
                "oneOf": [{ "$ref": "#/$defs/by_id" }, { "$ref": "#/$defs/by_text" }],
                "$defs": {
                    "by_id": { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] },
                    "by_text": {
                        "type": "object",
                        "properties": { "id": { "type": "string" }, "text": { "type": ["string", "null"] } },
                        "required": ["id"],
                    },
                },
            })),
        ),
        tool(
            "tree.grow",
            "Grows a tree.",
            Some(&json!({
                "type": "object",
                "properties": { "root": { "$ref": "#/$defs/node" } },
                "required": ["root"],
                "$defs": {
                    "node": {
                        "type": "object",
                        "properties": {
                            "name": { "type": "string" },
                            "left": { "$ref": "#/$defs/node" },
                            "more": { "type": "array", "items": { "$ref": "#/$defs/node" } },
                        },
                        "required": ["name"],
                    },
                },
            })),
        ),
        tool(&format!("company.{}", "very_long_name_".repeat(6)), &long, Some(&json!({ "type": "object" }))),
    ];
    let last = samples.pop();
    samples.extend(hard().into_iter().chain(last));
    samples[1].output_schema = Some(JsonPayload::of(&json!({ "type": "object" })));
    samples[1].title = "Read".to_owned();
    samples[1].hints = Hints { read_only: Some(true), destructive: Some(false), ..Hints::default() };
    samples
}

/// Schemas that few vendors hold.
fn hard() -> Vec<Tool> {
    vec![
        tool(
            "shop.order",
            "Orders.",
            Some(&json!({
                "type": "object",
                "properties": {
                    "user-id": { "type": "integer", "exclusiveMinimum": 0 },
                    "pay": {
                        "oneOf": [
                            { "properties": { "kind": { "const": "card" }, "no": { "type": "string" } }, "required": ["kind"] },
                            { "properties": { "kind": { "const": "cash" } }, "required": ["kind"] },
                        ],
                        "type": "object",
                    },
                    "where": {
                        "allOf": [
                            { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] },
                            { "properties": { "zip": { "type": "string", "pattern": "^[0-9]{5}$" } } },
                        ],
                    },
                    "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }], "minItems": 2 },
                    "level": { "enum": [1, 2, 3] },
                    "maybe": { "type": ["object", "null"], "properties": { "x": { "type": "boolean" } } },
                },
                "required": ["user-id", "pay"],
                "not": { "required": ["pair", "level"] },
            })),
        ),
        tool(
            "map.put",
            "Puts.",
            Some(&json!({
                "type": "object",
                "properties": {
                    "labels": { "type": "object", "additionalProperties": { "type": "string" } },
                    "by_pattern": { "type": "object", "patternProperties": { "^x-": { "type": "string" } } },
                    "any": {},
                    "anything": true,
                },
            })),
        ),
    ]
}
