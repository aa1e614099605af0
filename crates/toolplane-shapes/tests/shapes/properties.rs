//! What holds of any tools: aliases lead to one tool each, the same tools give the same bytes, and every call comes back.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolplane_records::alias;
use toolplane_records::payload::JsonPayload;
use toolplane_shapes::{Arguments, Options, Shape, Tool, calls, export, given};

use crate::published::check;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,2}(\\.|__|_|-)[a-c]{1,2}((\\.|__)[a-c])?",
        "[0-9-][a-z.]{0,4}",
        "[a-z]{60,70}\\.[a-z]{1,9}",
        Just("tool_search".to_owned()),
        "\\PC{0,8}",
    ]
}

/// Names of parameters, some of which not every vendor takes.
fn parameter() -> impl Strategy<Value = String> {
    prop_oneof!["[a-d]{1,2}", "[a-b][-. ][a-b]", "[0-9]", "[a-b]{65,70}"]
}

/// A schema, and a value of it without anything that is optional and absent.
fn schema(depth: u32) -> BoxedStrategy<(Value, Value)> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(|value| (json!({ "type": "boolean" }), json!(value))),
        any::<i32>().prop_map(|value| (json!({ "type": "integer", "minimum": i32::MIN }), json!(value))),
        "[a-z]{0,5}".prop_map(|value| (json!({ "type": "string", "maxLength": 9 }), json!(value))),
        Just((json!({ "enum": ["x", 2, null] }), json!(2))),
        Just((json!({ "type": ["string", "null"] }), Value::Null)),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = schema(depth - 1);
    prop_oneof![
        2 => leaf,
        1 => prop::collection::vec(inner.clone(), 1..3).prop_map(|all| {
            let (branches, values): (Vec<Value>, Vec<Value>) = all.into_iter().unzip();
            (json!({ "type": "array", "items": { "anyOf": branches } }), json!(values))
        }),
        1 => inner.prop_map(|(one, value)| (json!({ "oneOf": [one, { "const": "other" }] }), value)),
        2 => object(depth - 1),
    ]
    .boxed()
}

fn may_be_null(schema: &Value) -> bool {
    let has = |keyword: &str, null: &Value| schema[keyword].as_array().is_some_and(|all| all.contains(null));
    has("enum", &Value::Null)
        || has("type", &json!("null"))
        || schema["oneOf"].as_array().is_some_and(|all| all.iter().any(may_be_null))
}

/// An object: its members, those that are required, and those that are given.
fn object(depth: u32) -> BoxedStrategy<(Value, Value)> {
    let member = (schema(depth), any::<bool>(), any::<bool>());
    prop::collection::btree_map(parameter(), member, 0..4)
        .prop_map(|members| {
            let (mut properties, mut required, mut value) = (Map::new(), Vec::new(), Map::new());
            for (name, ((schema, example), is_required, is_given)) in members {
                if is_required {
                    required.push(name.clone());
                }
                // Of what may be `null` anyway, nobody can tell whether it was left out.
                if is_required || is_given || may_be_null(&schema) {
                    value.insert(name.clone(), example);
                }
                properties.insert(name, schema);
            }
            (json!({ "type": "object", "properties": properties, "required": required }), Value::Object(value))
        })
        .boxed()
}

/// The call a model makes of a tool: what the exported schema asks for, filled with the value that is meant.
fn as_the_model_says(exported: &Value, own: &Value, value: &Value) -> Value {
    match (value, exported.get("properties")) {
        (Value::Object(given), Some(Value::Object(properties))) => {
            let declared = own["properties"].as_object().cloned().unwrap_or_default();
            let mut said = Map::new();
            // Members are in the same order on both sides.
            for ((name, schema), (own_name, own_schema)) in properties.iter().zip(&declared) {
                match given.get(own_name) {
                    Some(value) => {
                        said.insert(name.clone(), as_the_model_says(schema, own_schema, value));
                    }
                    None if exported["required"].as_array().is_some_and(|all| all.contains(&json!(name))) => {
                        said.insert(name.clone(), Value::Null);
                    }
                    None => {}
                }
            }
            said.into()
        }
        _ => value.clone(),
    }
}

fn tools(names: &[String], schema: &Value) -> Vec<Tool> {
    let ids: Vec<String> = (0..names.len()).map(|index| format!("tool_{index}")).collect();
    let aliases = alias::of_all(names.iter().zip(&ids).map(|(name, id)| (name.as_str(), id.as_str())));
    let make = |((name, tool_id), alias): ((&String, String), String)| Tool {
        tool_id,
        full_name: name.clone(),
        alias,
        description: "Does it.".to_owned(),
        input_schema: Some(JsonPayload::of(schema)),
        ..Tool::default()
    };
    names.iter().zip(ids).zip(aliases).map(make).collect()
}

/// A call of an alias, in the shape in which its vendor says it.
fn said(shape: Shape, alias: &str, arguments: &Value) -> String {
    let text = arguments.to_string();
    match shape {
        Shape::OpenAiResponses => json!({ "type": "function_call", "call_id": "c", "name": alias, "arguments": text }),
        Shape::OpenAiChat => json!({ "id": "c", "type": "function", "function": { "name": alias, "arguments": text } }),
        Shape::Anthropic => json!({ "type": "tool_use", "id": "c", "name": alias, "input": arguments }),
        Shape::Gemini | Shape::GeminiOpenApi => json!({ "functionCall": { "id": "c", "name": alias, "args": arguments } }),
        Shape::Mcp | Shape::JsonSchema => {
            json!({ "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": { "name": alias, "arguments": arguments } })
        }
    }
    .to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Every tool has one alias and every alias one tool, whatever the names, in any order; and an alias stays when others come and go,
    /// unless it would be that of another tool.
    #[test]
    fn aliases_are_a_bijection(names in prop::collection::vec(name(), 0..12), gone in any::<prop::sample::Index>()) {
        let all = tools(&names, &json!({}));
        let by_alias: HashMap<&str, &str> = all.iter().map(|tool| (tool.alias.as_str(), tool.tool_id.as_str())).collect();
        prop_assert_eq!(by_alias.len(), all.len());
        let mut turned: Vec<(&str, &str)> = all.iter().map(|tool| (tool.full_name.as_str(), tool.tool_id.as_str())).rev().collect();
        let aliases = alias::of_all(turned.iter().copied());
        for ((_, id), alias) in turned.iter().zip(&aliases) {
            prop_assert_eq!(by_alias.get(alias.as_str()), Some(id));
        }
        if !turned.is_empty() {
            let (_, id) = turned.remove(gone.index(turned.len()));
            for ((name, of), alias) in turned.iter().zip(alias::of_all(turned.iter().copied())) {
                let alone = alias::of(name, of);
                prop_assert!(alias == alone || by_alias.get(alias.as_str()) == Some(of), "{} without {}", alias, id);
            }
        }
    }

    /// The same tools give the same bytes, of a kind the vendor takes; and the call of a model comes back as it was meant.
    #[test]
    fn every_call_comes_back((schema, value) in object(2), strict in any::<bool>()) {
        let tools = tools(&["a.b".to_owned(), "a.b_c".to_owned()], &schema);
        for shape in Shape::ALL {
            let options = Options { shape, strict };
            let out = export(&tools, options);
            prop_assert_eq!(&out, &export(&tools.clone(), options));
            check(&tools, shape, strict);
            let array: Value = serde_json::from_str(out.exported[0].definition.as_str()).unwrap();
            let function = array.get("function").unwrap_or(&array);
            let keywords = ["parameters", "input_schema", "parametersJsonSchema", "inputSchema"];
            let exported = keywords.iter().find_map(|keyword| function.get(*keyword)).cloned().unwrap_or_default();
            let meant = as_the_model_says(&exported, &schema, &value);
            let [call] = <[_; 1]>::try_from(calls(&said(shape, &tools[0].alias, &meant)).unwrap()).unwrap();
            prop_assert_eq!((call.alias.as_str(), call.call_id.as_str()), (tools[0].alias.as_str(), "c"));
            let back = given(&call.arguments, tools[0].input_schema.as_ref(), call.shape, out.exported[0].strict).unwrap();
            prop_assert_eq!(back.arguments.to_value(), value.clone(), "{} {}", shape, exported);
        }
    }
}

#[test]
fn nothing_given_is_an_empty_object() {
    let back = given(&Arguments::Nothing, None, Shape::Anthropic, true).unwrap();
    assert_eq!(back.arguments.text(), "{}");
}
