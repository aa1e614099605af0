//! What comes out keeps the rules the vendors publish. The rules are written here once more, on their own: as a reader of the vendors'
//! pages would check a schema, and not as it is made.

use serde_json::Value;
use toolplane_shapes::{Options, Shape, Tool, export};

use crate::samples::all;

/// Holds what every vendor says of names, and what the one of this shape says of schemas.
pub(crate) fn check(tools: &[Tool], shape: Shape, strict: bool) {
    let out = export(tools, Options { shape, strict });
    let array: Value = serde_json::from_str(out.tools.text()).unwrap();
    let mut definitions: Vec<Value> = array.as_array().unwrap().clone();
    if matches!(shape, Shape::Gemini | Shape::GeminiOpenApi) {
        definitions =
            definitions.iter().flat_map(|one| one["functionDeclarations"].as_array().unwrap().clone()).collect();
    }
    assert_eq!(definitions.len(), tools.len());
    for (definition, one) in definitions.iter().zip(&out.exported) {
        let function = definition.get("function").unwrap_or(definition);
        let name = function["name"].as_str().unwrap();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!((1..=64).contains(&name.len()) && name.chars().all(is_name), "{name}");
        assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{name}");
        let keyword = match shape {
            Shape::OpenAiResponses | Shape::OpenAiChat | Shape::GeminiOpenApi => "parameters",
            Shape::Anthropic | Shape::JsonSchema => "input_schema",
            Shape::Gemini => "parametersJsonSchema",
            Shape::Mcp => "inputSchema",
        };
        let Some(schema) = function.get(keyword) else {
            assert_eq!(shape, Shape::GeminiOpenApi);
            continue;
        };
        if shape != Shape::JsonSchema {
            assert_eq!(schema["type"], "object", "{definition}");
        }
        match shape {
            Shape::OpenAiResponses | Shape::OpenAiChat => {
                assert_eq!(function["strict"], one.strict);
                assert!(function["description"].as_str().unwrap_or_default().chars().count() <= 1024);
                no_choice_at_the_top(schema);
                if one.strict {
                    openai_strict(schema, 1);
                }
            }
            Shape::Anthropic => {
                no_choice_at_the_top(schema);
                names(schema, &|name| (1..=64).contains(&name.len()) && name.chars().all(|c| is_name(c) || c == '.'));
                if one.strict {
                    anthropic_strict(schema);
                }
            }
            Shape::Gemini | Shape::GeminiOpenApi => {
                names(schema, &|name| {
                    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                    name.len() <= 64 && name.chars().all(word) && !name.starts_with(|c: char| c.is_ascii_digit())
                });
                if shape == Shape::GeminiOpenApi {
                    gemini_subset(schema);
                }
            }
            Shape::Mcp | Shape::JsonSchema => {}
        }
    }
}

fn no_choice_at_the_top(schema: &Value) {
    for keyword in ["oneOf", "anyOf", "allOf", "enum", "const", "not", "$ref"] {
        assert!(schema.get(keyword).is_none(), "`{keyword}` at the top of {schema}");
    }
    assert!(schema["properties"].is_object(), "{schema}");
}

/// The schemas inside a lowered one.
fn inside(schema: &Value) -> Vec<&Value> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.values());
    let branches = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let rest = ["items", "additionalProperties"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword))
        .filter(|one| one.is_object());
    properties.chain(branches).chain(rest).collect()
}

fn names(schema: &Value, is_allowed: &dyn Fn(&str) -> bool) {
    for name in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys()) {
        assert!(is_allowed(name), "`{name}` in {schema}");
    }
    inside(schema).into_iter().for_each(|part| names(part, is_allowed));
}

fn only(schema: &Value, known: &[&str]) {
    for keyword in schema.as_object().unwrap().keys() {
        assert!(known.contains(&keyword.as_str()), "`{keyword}` in {schema}");
    }
}

fn openai_strict(schema: &Value, depth: usize) {
    assert!(depth <= 10);
    only(
        schema,
        &[
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "enum",
            "description",
            "pattern",
            "format",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minItems",
            "maxItems",
        ],
    );
    assert!(schema.get("type").is_some() || schema.get("anyOf").is_some(), "any value in {schema}");
    if let Some(Value::Object(properties)) = schema.get("properties") {
        assert_eq!(schema["additionalProperties"], false);
        let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(required, properties.keys().map(String::as_str).collect::<Vec<_>>());
    }
    inside(schema).into_iter().for_each(|part| openai_strict(part, depth + 1));
}

fn anthropic_strict(schema: &Value) {
    only(
        schema,
        &[
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "enum",
            "description",
            "format",
            "minItems",
        ],
    );
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{schema}");
    }
    assert!(schema.get("minItems").is_none_or(|least| least.as_u64().unwrap() < 2));
    inside(schema).into_iter().for_each(anthropic_strict);
}

fn gemini_subset(schema: &Value) {
    only(
        schema,
        &[
            "type",
            "format",
            "description",
            "nullable",
            "enum",
            "items",
            "properties",
            "required",
            "anyOf",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "minProperties",
            "maxProperties",
            "pattern",
            "default",
        ],
    );
    assert!(schema.get("type").is_none_or(Value::is_string), "{schema}");
    assert_ne!(schema["type"], "null");
    assert!(schema.get("enum").is_none_or(|values| values.as_array().unwrap().iter().all(Value::is_string)));
    let members: Vec<&String> =
        schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys()).collect();
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        assert!(members.iter().any(|member| *member == name.as_str().unwrap()), "{name} in {schema}");
    }
    inside(schema).into_iter().for_each(gemini_subset);
}

#[test]
fn every_sample_keeps_the_rules_of_its_vendor() {
    for shape in Shape::ALL {
        for strict in [false, true] {
            check(&all(), shape, strict);
        }
    }
}
