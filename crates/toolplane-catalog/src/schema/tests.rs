//! Schemas: what is accepted, what is refused and at which place; the path count against naive expansion.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolplane_records::payload::JsonPayload;

use super::cost::{TooCostly, path_count};
use super::graph::{SchemaGraph, SchemaStep};
use super::*;
use crate::limits::CatalogLimits;

fn check_accepted(schema: Value) -> CompiledSchema {
    compile(&JsonPayload::of(&schema), &CatalogLimits::default()).unwrap_or_else(|found| panic!("{schema}: {found:?}"))
}

fn check_refused(schema: Value, field: &str, rule: &str) {
    check_text_refused(&schema.to_string(), field, rule);
}

fn check_text_refused(schema: &str, field: &str, rule: &str) {
    let found = compile(&JsonPayload::from_checked(schema.to_owned()), &CatalogLimits::default()).unwrap_err();
    let fits = found.iter().any(|violation| violation.field == field && violation.description.contains(rule));
    assert!(fits, "{}\nwanted {field}: {rule}\nfound {found:?}", &schema[..schema.len().min(300)]);
}

#[test]
fn ordinary_schemas_compile() {
    check_accepted(json!({ "type": "object" }));
    check_accepted(
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/x" }),
    );
    check_accepted(json!({ "$ref": "#/definitions/a", "definitions": { "a": { "type": "object" } } }));
    check_accepted(json!({ "$ref": "#a", "$defs": { "x": { "$anchor": "a", "type": "object" } } }));
    check_accepted(json!({ "$ref": "#/$defs/a%20b~1c", "$defs": { "a b/c": true } }));
    // Data that looks like a schema is data.
    check_accepted(
        json!({ "const": { "$ref": "http://elsewhere/" }, "default": { "$id": 1 }, "examples": [{ "$ref": "#/no" }] }),
    );
    check_accepted(json!({ "properties": { "$ref": { "type": "string" }, "$id": {} } }));
}

#[test]
fn recursion_that_consumes_input_is_fine() {
    let node = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "left": { "$ref": "#" }, "right": { "$ref": "#" },
                        "children": { "type": "array", "items": { "$ref": "#" } } },
    });
    let compiled = check_accepted(node);
    // Each place is evaluated a constant number of times, however deep: the cost grows with the instance only.
    assert_eq!(compiled.cost().of(&[0, 0, 1]), compiled.cost().of(&[&[0; 40][..], &[1]].concat()));
}

#[test]
fn loops_that_consume_nothing_are_refused() {
    let rule = "refers back to itself";
    check_refused(json!({ "$ref": "#" }), "", rule);
    check_refused(json!({ "not": { "$ref": "#" } }), "", rule);
    check_refused(json!({ "anyOf": [{ "type": "string" }, { "allOf": [{ "$ref": "#" }] }] }), "", rule);
    let ring = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
    let found = compile(&JsonPayload::of(&ring), &CatalogLimits::default()).unwrap_err();
    assert!(found[0].field.starts_with("/$defs/"), "{found:?}");
}

#[test]
fn references_must_stay_inside() {
    let rule = "leaves the schema";
    check_refused(json!({ "$ref": "http://127.0.0.1:18999/schema.json" }), "/$ref", rule);
    check_refused(json!({ "$ref": "file:///etc/hostname" }), "/$ref", rule);
    check_refused(json!({ "$ref": "other.json#/a" }), "/$ref", rule);
    check_refused(json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }), "/$ref", rule);
    // Also where nothing evaluates them.
    check_refused(json!({ "$defs": { "a": { "items": { "$ref": "http://x/" } } } }), "/$defs/a/items/$ref", rule);
    check_refused(json!({ "$ref": "#/$defs/none" }), "/$ref", "does not exist");
    check_refused(json!({ "$ref": "#nowhere" }), "/$ref", "does not exist");
    check_refused(json!({ "$dynamicRef": "#a" }), "/$dynamicRef", "does not exist");
    check_refused(json!({ "$recursiveRef": "#" }), "/$recursiveRef", "not supported in JSON Schema 2020-12");
    // By its own name a schema refers to itself, by any other it leaves itself.
    let named = |to: &str| json!({ "$id": "https://example.org/a", "properties": { "x": { "$ref": to } }, "$defs": { "y": {} } });
    check_accepted(named("https://example.org/a#/$defs/y"));
    check_refused(named("https://example.org/b#"), "/properties/x/$ref", rule);
    check_refused(
        json!({ "properties": { "a": { "$id": "http://x/" } } }),
        "/properties/a/$id",
        "only supported at the root",
    );
}

#[test]
fn unknown_dialects_and_wrong_schemas_are_refused() {
    let unknown = |named: Value| json!({ "$schema": named, "type": "object" });
    for named in [json!("https://json-schema.org/draft/2099-01/schema"), json!("draft-07"), json!(""), json!(7)] {
        check_refused(unknown(named.clone()), "/$schema", &named.to_string());
        check_refused(unknown(named), "/$schema", "`http://json-schema.org/draft-04/schema#`");
    }
    check_refused(json!(true), "", "must be an object");
    check_refused(json!({ "type": "text" }), "/type", "is not valid in JSON Schema 2020-12");
    check_refused(json!({ "type": "text" }), "/type", r#"is "text""#);
    check_refused(json!({ "type": "text" }), "/type", r#""array""#);
    check_refused(
        json!({ "properties": { "a": { "minLength": -1 } } }),
        "/properties/a/minLength",
        "at least 0; is -1",
    );
    check_text_refused(r#"{"type":"object","type":"string"}"#, "", "the key `type` twice");
    check_text_refused(r#"{"maximum":18446744073709551617}"#, "/maximum", "cannot hold exactly");
}

#[test]
fn a_schema_in_the_words_of_another_dialect_is_told_which() {
    let old = json!({ "type": "number", "minimum": 1, "exclusiveMinimum": true });
    check_refused(old, "/$schema", "for draft-04 it has to say `http://json-schema.org/draft-04/schema#`");
    let tuple = json!({ "type": "array", "items": [{ "type": "string" }] });
    check_refused(tuple, "/$schema", "for 2019-09 it has to say");
    let nowhere = compile(&JsonPayload::of(&json!({ "type": "text" })), &CatalogLimits::default()).unwrap_err();
    assert!(nowhere.iter().all(|violation| violation.field != "/$schema"), "no version knows that: {nowhere:?}");
}

#[test]
fn a_part_cannot_change_the_dialect() {
    let draft_07 = Dialect::Draft07.uri();
    let with = |inner: &str| json!({ "$schema": draft_07, "properties": { "a": { "$schema": inner } } });
    check_accepted(with("https://json-schema.org/draft-07/schema"));
    check_refused(with(Dialect::Draft202012.uri()), "/properties/a/$schema", "like the root's");
    check_refused(
        json!({ "properties": { "a": { "$schema": draft_07 } } }),
        "/properties/a/$schema",
        "like the root's",
    );
}

/// The bounds hold in the spelling of every dialect.
#[test]
fn old_spellings_are_bounded_too() {
    let in_dialect = |dialect: Dialect, mut schema: Value| {
        schema["$schema"] = json!(dialect.uri());
        schema
    };
    for dialect in Dialect::ALL {
        check_refused(in_dialect(dialect, json!({ "allOf": [{ "$ref": "#" }] })), "", "refers back to itself");
        check_refused(in_dialect(dialect, json!({ "not": { "$ref": "http://x/" } })), "/not/$ref", "leaves the schema");
        let dependent = json!({ "dependencies": { "a": { "$ref": "#" } } });
        check_refused(in_dialect(dialect, dependent), "", "refers back to itself");
        let mut definitions: serde_json::Map<String, Value> = (0..14)
            .map(|i| {
                let next = json!({ "$ref": format!("#/definitions/d{}", i + 1) });
                (format!("d{i}"), json!({ "allOf": [next.clone(), next] }))
            })
            .collect();
        definitions.insert("d14".to_owned(), json!({ "type": "integer" }));
        let doubling = json!({ "allOf": [{ "$ref": "#/definitions/d0" }], "definitions": definitions });
        let found = compile(&JsonPayload::of(&in_dialect(dialect, doubling)), &CatalogLimits::default()).unwrap_err();
        assert!(found[0].description.contains("evaluation paths"), "{dialect:?} {found:?}");
    }
    let ring = json!({ "anyOf": [{ "$recursiveRef": "#" }] });
    check_refused(in_dialect(Dialect::Draft201909, ring), "", "refers back to itself");
    let ring = json!({ "$dynamicAnchor": "a", "anyOf": [{ "$dynamicRef": "#a" }] });
    check_refused(ring, "", "refers back to itself");
    let ring = json!({ "$id": "#a", "anyOf": [{ "$ref": "#a" }] });
    check_refused(in_dialect(Dialect::Draft07, ring), "", "refers back to itself");
    let twice = json!({ "$defs": { "x": { "$anchor": "a" }, "y": { "$anchor": "a", "anyOf": [{ "$ref": "#a" }] } } });
    check_refused(twice, "/$defs/y/$anchor", "given twice");
}

#[test]
fn regular_expressions_run_in_linear_time_or_are_refused() {
    check_accepted(json!({ "pattern": "^(a+)+$" }));
    check_refused(json!({ "pattern": "(?<=x)y" }), "/pattern", "cannot be used");
    check_refused(json!({ "pattern": "(a)\\1" }), "/pattern", "cannot be used");
    check_refused(json!({ "pattern": "(a{1,1000}){1,1000}" }), "/pattern", "cannot be used");
    let many: serde_json::Map<String, Value> = (0..101).map(|i| (format!("a{i}"), json!(true))).collect();
    check_refused(json!({ "patternProperties": many }), "", "101 regular expressions");
}

#[test]
fn size_and_depth_are_bounded() {
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(5000), "}".repeat(5000));
    check_text_refused(&deep, "", "nested deeper");
    let wide: Vec<Value> = (0..5001).map(|i| json!(i)).collect();
    check_refused(json!({ "enum": wide }), "", "holds more than 5000 values");
    check_refused(json!({ "description": "x".repeat(300_000) }), "", "bytes");
    let chain: serde_json::Map<String, Value> =
        (0..40).map(|i| (format!("d{i}"), json!({ "$ref": format!("#/$defs/d{}", i + 1) }))).collect();
    let mut chain = json!({ "$ref": "#/$defs/d0", "$defs": chain });
    chain["$defs"]["d40"] = json!({ "type": "integer" });
    check_refused(chain, "/$defs/d8", "too many schemas in a row");
}

/// `d(i) = keyword of [d(i+1), d(i+1)]`: each level doubles.
fn doubling(levels: usize, two: impl Fn(Value) -> Value) -> Value {
    let mut defs: serde_json::Map<String, Value> =
        (0..levels).map(|i| (format!("d{i}"), two(json!({ "$ref": format!("#/$defs/d{}", i + 1) })))).collect();
    defs.insert(format!("d{levels}"), json!({ "type": "integer" }));
    json!({ "$ref": "#/$defs/d0", "$defs": defs })
}

#[test]
fn references_that_multiply_are_refused() {
    let found = |schema: &Value| compile(&JsonPayload::of(schema), &CatalogLimits::default()).unwrap_err();
    let all_of = doubling(14, |next| json!({ "allOf": [next.clone(), next] }));
    assert!(found(&all_of)[0].description.contains("evaluation paths"));
    let members = doubling(40, |next| json!({ "properties": { "a": next, "b": next } }));
    assert!(found(&members)[0].description.contains("evaluation paths"));
    check_accepted(doubling(8, |next| json!({ "allOf": [next.clone(), next] })));
}

#[test]
fn unevaluated_keywords_count_what_they_look_at_again() {
    let mut nested = json!({ "type": "object" });
    for _ in 0..12 {
        nested = json!({ "allOf": [nested], "unevaluatedProperties": false });
    }
    let found = compile(&JsonPayload::of(&nested), &CatalogLimits::default()).unwrap_err();
    assert!(found[0].description.contains("evaluation paths"), "{found:?}");
}

#[test]
fn recursion_that_doubles_per_level_shows_in_the_cost() {
    // Both alternatives go down through the same members, as expression trees of tools do.
    let branch = |op: &str| json!({ "type": "object", "properties": { "op": { "const": op }, "args": { "type": "array", "items": { "$ref": "#" } } } });
    let compiled = check_accepted(json!({ "type": "object", "oneOf": [branch("and"), branch("or")] }));
    let at = |depth: usize| compiled.cost().of(&[&vec![0; depth][..], &[1]].concat());
    assert_eq!(at(22) / at(20), 2);
    assert!(at(4) < 200);
    assert!(at(60) > 1_000_000_000);
}

#[test]
fn root_members_are_seen_through_in_place_parts() {
    let schema = json!({
        "type": "object",
        "properties": { "a": {} },
        "allOf": [{ "$ref": "#/$defs/more" }],
        "anyOf": [{ "properties": { "c": { "properties": { "inner": {} } } } }],
        "$defs": { "more": { "properties": { "b": {} } }, "other": { "properties": { "z": {} } } },
    });
    let mut members = check_accepted(schema).root_members().to_vec();
    members.sort();
    assert_eq!(members, ["a", "b", "c"]);
}

// --- the path count against expanding the schema by hand ---

/// Counts the ways by walking them all; a step back into a part's own recursion counts as one way.
fn expand(graph: &SchemaGraph, id: usize) -> u64 {
    let part = &graph.parts[id];
    let ways = part.edges.iter().map(|edge| {
        let times = if part.looks_again && edge.step == SchemaStep::InPlace { 3 } else { 1 };
        let recursion = edge.step != SchemaStep::InPlace && reaches(graph, edge.to, id);
        times * if recursion { 1 } else { expand(graph, edge.to) }
    });
    1 + ways.sum::<u64>()
}

fn reaches(graph: &SchemaGraph, from: usize, to: usize) -> bool {
    let mut open = vec![from];
    let mut seen = vec![false; graph.parts.len()];
    while let Some(id) = open.pop() {
        if id == to {
            return true;
        }
        if !std::mem::replace(&mut seen[id], true) {
            open.extend(graph.parts[id].edges.iter().map(|edge| edge.to));
        }
    }
    false
}

/// Whether some part leads back to itself in place, by trying all parts.
fn has_loop(graph: &SchemaGraph) -> bool {
    (0..graph.parts.len()).any(|start| {
        let in_place = |id: usize| {
            graph.parts[id]
                .edges
                .iter()
                .filter(|edge| edge.step == SchemaStep::InPlace)
                .map(|edge| edge.to)
                .collect::<Vec<_>>()
        };
        let (mut open, mut seen) = (in_place(start), vec![false; graph.parts.len()]);
        while let Some(id) = open.pop() {
            if id == start {
                return true;
            }
            if !std::mem::replace(&mut seen[id], true) {
                open.extend(in_place(id));
            }
        }
        false
    })
}

/// Small schemas of up to five definitions that refer to each other at random.
fn any_schema() -> impl Strategy<Value = Value> {
    let keyword =
        prop::sample::select(vec!["$ref", "allOf", "anyOf", "not", "a", "b", "items", "additional", "unevaluated"]);
    let part = prop::collection::vec((keyword, 0usize..5), 0..4);
    prop::collection::vec(part, 5).prop_map(|parts| {
        let mut defs = serde_json::Map::new();
        for (index, edges) in parts.into_iter().enumerate() {
            let mut part = json!({});
            for (keyword, to) in edges {
                let target = json!({ "$ref": format!("#/$defs/d{to}") });
                match keyword {
                    "$ref" => part["$ref"] = target["$ref"].clone(),
                    "allOf" | "anyOf" => part[keyword] = json!([target.clone(), target]),
                    "a" | "b" => part["properties"][keyword] = target,
                    "additional" => part["additionalProperties"] = target,
                    "unevaluated" => part["unevaluatedProperties"] = json!(false),
                    other => part[other] = target,
                }
            }
            defs.insert(format!("d{index}"), part);
        }
        json!({ "$ref": "#/$defs/d0", "$defs": defs })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_path_count_is_the_number_of_ways(schema in any_schema()) {
        let graph = SchemaGraph::build(&schema, Dialect::DEFAULT).unwrap();
        match path_count(&graph) {
            Err(TooCostly::Loop(_)) => prop_assert!(has_loop(&graph)),
            Err(other) => prop_assert!(false, "{:?}", other),
            Ok(paths) => {
                prop_assert!(!has_loop(&graph));
                for (id, counted) in paths.iter().enumerate().filter(|(_, counted)| **counted < 20_000) {
                    prop_assert_eq!(*counted, expand(&graph, id), "part {}", &graph.parts[id].pointer);
                }
            }
        }
    }
}
