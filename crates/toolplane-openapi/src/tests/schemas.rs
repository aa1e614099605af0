//! Schemas: what the document's dialect says, in the words of JSON Schema, and always taken by the catalogue.

use serde_json::{Value, json};
use toolplane_catalog::{AnswerValidator, CatalogLimits, Registration, validate};
use toolplane_records::payload::JsonPayload;

use super::{DOCUMENTS, document, import, of_version, only, read};
use crate::Operation;

fn with_body(version: &str, schema: Value, schemas: Value) -> Operation {
    let body = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    only(&of_version(version, json!({ "/x": { "post": { "requestBody": body } } }), json!({ "schemas": schemas })))
}

fn takes(operation: &Operation, input: Value) -> bool {
    let validator = AnswerValidator::new(Some(&operation.input_schema), &CatalogLimits::default()).unwrap();
    validator.validate(&JsonPayload::of(&input)).is_ok()
}

#[test]
fn the_words_of_3_0_are_said_in_json_schema() {
    let schemas = json!({ "Named": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": {
        "n": { "type": "string", "nullable": true, "enum": ["a"] },
        "m": { "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false },
        "r": { "$ref": "#/components/schemas/Named", "nullable": true, "maxLength": 1 },
        "o": { "nullable": true, "allOf": [{ "$ref": "#/components/schemas/Named" }] },
        "e": { "type": "string", "example": "x", "required": true, "x-y": 1, "format": "byte" },
        "ro": { "type": "string", "readOnly": true },
        "f": { "type": "file" }
    }, "required": ["ro"] });
    let operation = with_body("3.0.3", schema, schemas);
    for (input, fits) in [
        (json!({ "n": null }), true),
        (json!({ "n": "b" }), false),
        (json!({ "m": 1 }), false),
        (json!({ "m": 5 }), true),
        (json!({ "r": null }), true),
        (json!({ "r": "long" }), true),
        (json!({ "r": 1 }), false),
        (json!({ "o": null }), true),
        (json!({ "o": 1 }), false),
        (json!({ "ro": "x" }), false),
        (json!({ "f": 1 }), true),
        (json!({}), true),
    ] {
        assert_eq!(takes(&operation, input.clone()), fits, "{input}");
    }
    let schema = operation.input_schema.to_value();
    assert_eq!(
        schema["properties"]["e"],
        json!({ "type": "string", "format": "byte", "examples": ["x"], "contentEncoding": "base64" })
    );
}

#[test]
fn the_words_of_3_1_are_kept() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "type": ["string", "null"], "const": "x" },
        "t": { "prefixItems": [{ "type": "integer" }], "items": false },
        "r": { "$ref": "#/components/schemas/Named", "maxLength": 1 },
        "x": { "exclusiveMinimum": 3 }
    }, "additionalProperties": false });
    let operation = with_body("3.1.0", schema, json!({ "Named": { "type": "string" } }));
    for (input, fits) in [
        (json!({ "a": null }), false),
        (json!({ "t": [1] }), true),
        (json!({ "t": [1, 2] }), false),
        (json!({ "r": "ab" }), false),
        (json!({ "x": 3 }), false),
    ] {
        assert_eq!(takes(&operation, input.clone()), fits, "{input}");
    }
}

#[test]
fn a_cycle_stays_a_cycle() {
    let node = json!({ "type": "object", "properties": { "children": { "type": "array", "items": {
        "$ref": "#/components/schemas/Node" } } } });
    for version in ["3.0.3", "3.1.0"] {
        let operation = with_body(version, json!({ "$ref": "#/components/schemas/Node" }), json!({ "Node": node }));
        assert_eq!(operation.input_schema.to_value()["$defs"].as_object().unwrap().len(), 1);
        assert!(takes(&operation, json!({ "children": [{ "children": [] }] })));
        assert!(!takes(&operation, json!({ "children": [{ "children": [1] }] })));
    }
}

#[test]
fn a_loop_that_says_nothing_is_opened() {
    // A parent that lists its children, each of which is all of its parent: how inheritance is often written.
    let schemas = json!({
        "Pet": { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } },
            "oneOf": [{ "$ref": "#/components/schemas/Cat" }, { "$ref": "#/components/schemas/Dog" }],
            "discriminator": { "propertyName": "kind" } },
        "Cat": { "allOf": [{ "$ref": "#/components/schemas/Pet" }] },
        "Dog": { "allOf": [{ "$ref": "#/components/schemas/Pet" }] }
    });
    let operation = with_body("3.0.3", json!({ "$ref": "#/components/schemas/Pet" }), schemas);
    assert!(operation.notes.iter().any(|note| note.contains("cannot be checked")));
    assert!(takes(&operation, json!({ "body": { "kind": "Cat" } })) && !takes(&operation, json!({ "body": {} })));
    let alone = with_body(
        "3.1.0",
        json!({ "$ref": "#/components/schemas/A" }),
        json!({ "A": { "$ref": "#/components/schemas/A" } }),
    );
    assert!(takes(&alone, json!({ "body": 1 })));
}

#[test]
fn a_discriminator_chooses_one_branch() {
    let schemas = json!({
        "Cat": { "type": "object", "properties": { "kind": { "type": "string" } } },
        "Dog": { "type": "object", "properties": { "kind": { "type": "string" } } }
    });
    let schema = json!({ "oneOf": [{ "$ref": "#/components/schemas/Cat" }, { "$ref": "#/components/schemas/Dog" }],
        "discriminator": { "propertyName": "kind", "mapping": { "meow": "#/components/schemas/Cat" } } });
    let operation = with_body("3.0.3", schema, schemas);
    for (kind, fits) in [("meow", true), ("Dog", true), ("Bird", false)] {
        assert_eq!(takes(&operation, json!({ "body": { "kind": kind } })), fits, "{kind}");
    }
}

#[test]
fn what_cannot_be_checked_is_left_open_and_told() {
    let schema = json!({ "type": "object", "properties": { "p": { "type": "string",
        "pattern": "^(?=a)(?!b).*\\1$" }, "q": { "type": "string", "pattern": "^a+$" } } });
    let operation = with_body("3.0.3", schema, json!({}));
    assert!(takes(&operation, json!({ "p": "zzz" })) && !takes(&operation, json!({ "q": "b" })));
    assert_eq!(operation.notes.len(), 1);
}

#[test]
fn what_is_left_open_in_one_place_forbids_nothing_in_another() {
    let open = json!({ "type": "string", "pattern": "(?=a)a" });
    for schema in [
        json!({ "not": open }),
        json!({ "oneOf": [open, { "type": "string", "maxLength": 1 }] }),
        json!({ "if": open, "then": { "type": "integer" } }),
        json!({ "if": { "type": "string" }, "then": { "not": open } }),
        json!({ "anyOf": [{ "type": "string" }, { "not": { "not": { "not": open } } }] }),
    ] {
        let operation = with_body("3.1.0", schema.clone(), json!({}));
        assert!(takes(&operation, json!({ "body": "b" })), "{schema}");
    }
    let members = json!({ "type": "object", "patternProperties": { "^(?!a)": {} }, "additionalProperties": false });
    assert!(takes(&with_body("3.1.0", members, json!({})), json!({ "body": { "b": 1 } })));
    let items = json!({ "type": "array", "contains": open, "maxContains": 1 });
    assert!(takes(&with_body("3.1.0", items, json!({})), json!({ "body": ["b", "c"] })));
}

/// Schemas that all refer to each other.
fn large() -> Value {
    let mut schemas = json!({});
    for level in 0..60 {
        let next: serde_json::Map<String, Value> = (0..60)
            .map(|field| {
                (
                    format!("f{field}"),
                    json!({ "oneOf": [{ "$ref": format!("#/components/schemas/L{}",
                (level + field + 1) % 60) }, { "type": "null" }] }),
                )
            })
            .collect();
        schemas[format!("L{level}")] = json!({ "type": "object", "properties": next });
    }
    schemas
}

#[test]
fn a_schema_that_is_too_large_is_cut_and_not_refused() {
    let operation = with_body("3.1.0", json!({ "$ref": "#/components/schemas/L0" }), large());
    assert!(operation.notes.iter().any(|note| note.contains("larger than the catalogue takes")));
    assert!(takes(&operation, json!({ "f0": { "f1": { "f2": null } } })));
}

#[test]
fn of_an_answer_that_is_too_large_the_outer_parts_are_checked() {
    let answer = json!({ "200": { "content": { "application/json": { "schema": {
        "$ref": "#/components/schemas/L0" } } } } });
    let paths = json!({ "/x": { "get": { "responses": answer } } });
    let operation = only(&document(paths, json!({ "schemas": large() })));
    assert!(operation.notes[0].contains("only its outer parts are checked"), "{:?}", operation.notes);
    let schema = operation.output_schema.unwrap();
    assert!(schema.size() < 20_000, "{}", schema.size());
    let validator = AnswerValidator::new(Some(&schema), &CatalogLimits::default()).unwrap();
    let fits = |value: Value| validator.validate(&JsonPayload::of(&value)).is_ok();
    assert!(fits(json!({ "f0": { "f1": { "f2": null } } })) && !fits(json!("text")));
}

#[test]
fn a_schema_of_answers_that_cannot_be_used_is_left_out_alone() {
    let responses = |schema: Value| {
        json!({ "/x": { "get": { "responses": { "200": { "content": {
        "application/json": { "schema": schema } } } } } } })
    };
    let operation = only(&document(responses(json!({ "$ref": "http://other.test/schema" })), json!({})));
    assert_eq!(operation.output_schema, None);
    assert!(operation.notes[0].contains("the schema of the answer is left out"));
    let operation = only(&document(
        responses(json!({ "type": "object", "required": ["w"], "properties": { "w": { "writeOnly": true } } })),
        json!({}),
    ));
    assert_eq!(operation.output_schema.unwrap().to_value()["required"], json!([]));
    assert_eq!(operation.binding.accept, ["application/json"]);
}

/// The operation as a tool of the namespace `api`.
fn registration(operation: &Operation) -> Registration {
    let declaration = json!({
        "tool_id": format!("openapi:api/{}", operation.id_part()), "namespace": "api", "name": operation.name,
        "title": operation.title, "description": operation.description, "search_hint": operation.search_hint,
        "lifecycle": "available", "tool_kind": operation.kind,
        "input_contract": { "model_input_schema": operation.input_schema.to_value() },
        "output_contract": { "structured_schema": operation.output_schema.as_ref().map(JsonPayload::to_value) }
    });
    serde_json::from_value(json!({ "declaration": declaration })).unwrap()
}

#[test]
fn every_operation_of_the_examples_is_a_tool_of_the_catalogue() {
    for text in DOCUMENTS {
        let mut aliases = Vec::new();
        for operation in import(&read(text)).operations {
            let checked = validate(&registration(&operation), &CatalogLimits::default()).unwrap();
            aliases.push(checked.registration().alias());
        }
        assert!(!aliases.is_empty() && aliases.iter().all(|alias| alias.len() <= 64), "{aliases:?}");
    }
}
