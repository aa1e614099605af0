//! Each version of JSON Schema in its own spelling: what fits, what does not, and that a keyword means what its version says.

use serde_json::{Value, json};
use toolplane_catalog::schema::Dialect;
use toolplane_catalog::schema::Dialect::{Draft04, Draft06, Draft07, Draft201909, Draft202012};
use toolplane_catalog::{CatalogLimits, InputValidator, Registration, validate};
use toolplane_records::payload::JsonPayload;

fn registration(schema: &Value) -> Registration {
    serde_json::from_value(json!({ "declaration": {
        "tool_id": "t", "namespace": "n", "name": "t", "description": "d", "lifecycle": "available", "tool_kind": "function",
        "input_contract": { "model_input_schema": schema },
    } }))
    .unwrap()
}

/// A tool whose one field `v` is described by `inner`, with `beside` at the root.
fn tool(dialect: Dialect, inner: &Value, beside: &Value) -> InputValidator {
    let mut schema = json!({ "$schema": dialect.uri(), "type": "object", "properties": { "v": inner } });
    schema.as_object_mut().unwrap().extend(beside.as_object().cloned().unwrap_or_default());
    let checked = validate(&registration(&schema), &CatalogLimits::default());
    checked.unwrap_or_else(|found| panic!("{dialect:?} {schema}: {found:?}"));
    InputValidator::for_registration(&registration(&schema), &CatalogLimits::default()).unwrap()
}

fn check_with(dialects: &[Dialect], inner: Value, beside: Value, fits: &[Value], misfits: &[Value]) {
    for dialect in dialects {
        let tool = tool(*dialect, &inner, &beside);
        let verdict = |value: &Value| tool.validate(&JsonPayload::of(&json!({ "v": value })));
        for value in fits {
            assert_eq!(verdict(value), Ok(()), "{dialect:?} {inner} takes {value}");
        }
        for value in misfits {
            assert!(verdict(value).is_err(), "{dialect:?} {inner} refuses {value}");
        }
    }
}

fn check(dialects: &[Dialect], inner: Value, fits: &[Value], misfits: &[Value]) {
    check_with(dialects, inner, json!({}), fits, misfits);
}

/// What a schema that is wrong in its version is refused with.
fn refused(dialect: Dialect, inner: Value) -> String {
    let schema = json!({ "$schema": dialect.uri(), "type": "object", "properties": { "v": inner } });
    match validate(&registration(&schema), &CatalogLimits::default()) {
        Err(found) => format!("{} {}", found[0].field, found[0].description),
        Ok(_) => panic!("{dialect:?} accepts {schema}"),
    }
}

const UP_TO_07: &[Dialect] = &[Draft04, Draft06, Draft07];
const UP_TO_2019: &[Dialect] = &[Draft04, Draft06, Draft07, Draft201909];
const FROM_06: &[Dialect] = &[Draft06, Draft07, Draft201909, Draft202012];
const FROM_07: &[Dialect] = &[Draft07, Draft201909, Draft202012];
const FROM_2019: &[Dialect] = &[Draft201909, Draft202012];

#[test]
fn exclusive_bounds_are_booleans_in_draft_04_and_numbers_after_it() {
    let old = json!({ "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false });
    check(&[Draft04], old.clone(), &[json!(2), json!(9)], &[json!(1), json!(10)]);
    let new = json!({ "exclusiveMinimum": 1, "exclusiveMaximum": 9 });
    check(FROM_06, new.clone(), &[json!(2)], &[json!(1), json!(9)]);
    for dialect in FROM_06 {
        assert!(refused(*dialect, old.clone()).contains("/properties/v/exclusiveM"), "{dialect:?}");
    }
    assert!(refused(Draft04, new).contains("/properties/v/exclusiveM"));
}

#[test]
fn whole_numbers_written_as_fractions_are_integers_from_draft_06() {
    check(&[Draft04], json!({ "type": "integer" }), &[json!(1)], &[json!(1.0), json!(1.5)]);
    check(FROM_06, json!({ "type": "integer" }), &[json!(1), json!(1.0)], &[json!(1.5)]);
}

#[test]
fn tuples_are_spelled_as_their_version_says() {
    let pair = json!({ "items": [{ "type": "string" }, { "type": "integer" }], "additionalItems": false });
    check(UP_TO_2019, pair.clone(), &[json!(["a", 1]), json!(["a"])], &[json!([1]), json!(["a", 1, 2])]);
    assert!(refused(Draft202012, pair).contains("/properties/v/items"));
    let open = json!({ "items": [{ "type": "string" }], "additionalItems": { "type": "integer" } });
    check(UP_TO_2019, open, &[json!(["a", 1, 2])], &[json!(["a", "b"])]);
    let new = json!({ "prefixItems": [{ "type": "string" }], "items": { "type": "integer" } });
    check(&[Draft202012], new, &[json!(["a", 1, 2])], &[json!([1]), json!(["a", "b"])]);
    // Before it had a meaning it has none.
    check(&[Draft07, Draft201909], json!({ "prefixItems": [{ "type": "string" }] }), &[json!([1])], &[]);
}

#[test]
fn definitions_are_found_wherever_they_stand() {
    for place in ["definitions", "$defs"] {
        let beside = json!({ place: { "word": { "type": "string", "minLength": 2 } } });
        let inner = json!({ "$ref": format!("#/{place}/word") });
        check_with(&Dialect::ALL, inner, beside, &[json!("ab")], &[json!("a"), json!(1)]);
    }
}

#[test]
fn what_stands_beside_a_reference_counts_from_2019_09() {
    let beside = json!({ "definitions": { "word": { "type": "string" } } });
    let inner = json!({ "$ref": "#/definitions/word", "minLength": 2 });
    check_with(UP_TO_07, inner.clone(), beside.clone(), &[json!("ab"), json!("a")], &[json!(1)]);
    check_with(FROM_2019, inner, beside, &[json!("ab")], &[json!("a"), json!(1)]);
}

#[test]
fn parts_are_named_as_their_version_says() {
    let named = |keyword: &str, name: &str| json!({ "definitions": { "w": { keyword: name, "type": "string" } } });
    let inner = json!({ "$ref": "#word" });
    check_with(&[Draft04], inner.clone(), named("id", "#word"), &[json!("a")], &[json!(1)]);
    check_with(&[Draft06, Draft07], inner.clone(), named("$id", "#word"), &[json!("a")], &[json!(1)]);
    let anchored = json!({ "$defs": { "w": { "$anchor": "word", "type": "string" } } });
    check_with(FROM_2019, inner, anchored, &[json!("a")], &[json!(1)]);
}

#[test]
fn recursion_is_spelled_as_its_version_says() {
    let list = |way: Value| {
        json!({ "anyOf": [{ "type": "null" }, { "type": "object", "properties": { "v": way }, "required": ["v"],
            "additionalProperties": false }] })
    };
    let (fits, misfits) = ([json!(null), json!({ "v": { "v": null } })], [json!({ "v": 1 }), json!({})]);
    check(&Dialect::ALL, list(json!({ "$ref": "#/properties/v" })), &fits, &misfits);
    check(
        &[Draft201909],
        list(json!({ "$recursiveRef": "#" })),
        &[json!({ "v": { "v": null } })],
        &[json!({ "v": 1 })],
    );
    let dynamic = json!({ "$defs": { "any": { "$dynamicAnchor": "any", "type": ["null", "string"] } } });
    check_with(&[Draft202012], json!({ "$dynamicRef": "#any" }), dynamic, &[json!(null), json!("a")], &[json!(1)]);
}

#[test]
fn dependencies_hold_in_every_spelling() {
    let names = json!({ "dependencies": { "a": ["b"] } });
    check(&Dialect::ALL, names, &[json!({ "a": 1, "b": 1 }), json!({ "b": 1 })], &[json!({ "a": 1 })]);
    let schema = json!({ "dependencies": { "a": { "properties": { "b": { "type": "string" } } } } });
    check(&Dialect::ALL, schema, &[json!({ "a": 1, "b": "x" }), json!({ "b": 1 })], &[json!({ "a": 1, "b": 1 })]);
    let new = json!({ "dependentRequired": { "a": ["b"] }, "dependentSchemas": { "c": { "required": ["d"] } } });
    check(FROM_2019, new, &[json!({ "a": 1, "b": 1 })], &[json!({ "a": 1 }), json!({ "c": 1 })]);
}

#[test]
fn keywords_count_from_the_version_that_brought_them() {
    check(FROM_06, json!({ "const": 1 }), &[json!(1)], &[json!(2)]);
    check(&[Draft04], json!({ "const": 1 }), &[json!(1), json!(2)], &[]);
    check(FROM_06, json!({ "contains": { "const": 1 } }), &[json!([0, 1])], &[json!([0])]);
    check(FROM_06, json!({ "propertyNames": { "maxLength": 1 } }), &[json!({ "a": 1 })], &[json!({ "ab": 1 })]);
    check(FROM_06, json!({ "items": false }), &[json!([])], &[json!([1])]);
    assert!(refused(Draft04, json!({ "items": false })).contains("/properties/v/items"));
    let either = json!({ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 2 } });
    check(FROM_07, either.clone(), &[json!("ab"), json!(2)], &[json!("a"), json!(1)]);
    check(&[Draft04, Draft06], either, &[json!("a"), json!(1)], &[]);
    let closed = json!({ "allOf": [{ "properties": { "a": {} } }], "unevaluatedProperties": false });
    check(FROM_2019, closed.clone(), &[json!({ "a": 1 })], &[json!({ "b": 1 })]);
    check(UP_TO_07, closed, &[json!({ "b": 1 })], &[]);
    check(FROM_2019, json!({ "contains": { "const": 1 }, "minContains": 2 }), &[json!([1, 1])], &[json!([1])]);
}

#[test]
fn what_all_versions_share_means_the_same() {
    check(&Dialect::ALL, json!({ "enum": ["a", 1] }), &[json!("a"), json!(1)], &[json!("b")]);
    check(&Dialect::ALL, json!({ "pattern": "^a+$" }), &[json!("aa")], &[json!("ab")]);
    check(&Dialect::ALL, json!({ "format": "date-time" }), &[json!("2020-01-02T03:04:05Z")], &[json!("yesterday")]);
    check(&Dialect::ALL, json!({ "multipleOf": 0.5 }), &[json!(1.5)], &[json!(1.2)]);
    check(&Dialect::ALL, json!({ "oneOf": [{ "minimum": 5 }, { "maximum": 7 }] }), &[json!(1)], &[json!(6)]);
    check(&Dialect::ALL, json!({ "uniqueItems": true }), &[json!([1, 2])], &[json!([1, 1])]);
}

#[test]
fn a_version_may_be_named_with_https_and_without_its_hash() {
    for dialect in Dialect::ALL {
        let uri = dialect.uri().trim_end_matches('#');
        for named in [uri.replace("https:", "http:"), uri.replace("http:", "https:"), format!("{uri}#")] {
            assert_eq!(Dialect::named(&json!(named)), Ok(dialect), "{named}");
        }
    }
}

/// Sensitive fields, internal fields, examples and the list of parameters are found through every spelling.
#[test]
fn fields_are_seen_through_old_references() {
    let schema = json!({
        "$schema": Draft07.uri(), "type": "object", "allOf": [{ "$ref": "#/definitions/login" }],
        "definitions": { "login": { "properties": { "user": { "type": "string" }, "key": { "type": "string" } } } },
    });
    let mut tool = serde_json::to_value(registration(&schema)).unwrap();
    tool["declaration"]["input_contract"]["sensitive_fields"] = json!(["/key"]);
    tool["declaration"]["input_contract"]["examples"] = json!([{ "user": "ann" }]);
    let tool = serde_json::from_value(tool).unwrap();
    let checked = validate(&tool, &CatalogLimits::default()).unwrap();
    assert_eq!(checked.parameters(), ["user", "key"]);
    let input = InputValidator::for_registration(&tool, &CatalogLimits::default()).unwrap();
    let found = input.validate(&JsonPayload::of(&json!({ "user": 1, "key": 2 }))).unwrap_err();
    let told: Vec<String> = found.iter().map(|one| format!("{} {}", one.field, one.description)).collect();
    assert_eq!(told, ["/user must be of type `string`; is 1", "/key must be of type `string`"]);
}
