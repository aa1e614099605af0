//! Hostile schemas and inputs, each judged through the public interface: never a panic, never a long wait, never a silent
//! change of what was sent. Cases are in `data/hostile.jsonl`; what a generated case means is spelled out here.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolplane_catalog::{CatalogLimits, InputValidator, Registration, validate};
use toolplane_records::payload::JsonPayload;

const CASES: &str = include_str!("data/hostile.jsonl");
/// Generous: the point is minutes against milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// The outcome of a case.
#[derive(Debug, PartialEq)]
enum Outcome {
    RefusedAtRegistration,
    RefusedAsInput,
    NotApplicable(&'static str),
}

fn registration(schema: &str, internal: &[&str]) -> Registration {
    let text = format!(
        r#"{{"declaration":{{"tool_id":"t","namespace":"n","name":"t","description":"d","lifecycle":"available",
            "tool_kind":"function","input_contract":{{"model_input_schema":{schema},"internal_only_fields":{}}}}}}}"#,
        json!(internal)
    );
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    serde::Deserialize::deserialize(&mut deserializer).unwrap_or_else(|error| panic!("{error}"))
}

fn register(schema: &str) -> Outcome {
    match validate(&registration(schema, &[]), &CatalogLimits::default()) {
        Err(found) if !found.is_empty() => Outcome::RefusedAtRegistration,
        other => panic!("accepted: {other:?}"),
    }
}

fn refuse_input(schema: &Value, input: impl Into<Vec<u8>>) -> Outcome {
    let tool =
        InputValidator::for_registration(&registration(&schema.to_string(), &[]), &CatalogLimits::default()).unwrap();
    match tool.validate(&JsonPayload::from_checked(input.into())) {
        Err(found) => {
            assert!(!found.is_empty() && found.len() <= 20);
            Outcome::RefusedAsInput
        }
        Ok(()) => panic!("accepted"),
    }
}

fn run(id: &str, case: &Value) -> Outcome {
    let open = json!({ "type": "object" });
    let text = |field: &str| case["input"][field].as_str().unwrap_or_default().to_owned();
    match id {
        "schema-004" | "schema-006" | "schema-007" => register(&case["input"]["schema"].to_string()),
        "schema-005" => {
            let doubled = |i: usize| {
                format!(r##""d{i}":{{"allOf":[{{"$ref":"#/$defs/d{n}"}},{{"$ref":"#/$defs/d{n}"}}]}}"##, n = i + 1)
            };
            let defs: Vec<String> = (0..40).map(doubled).collect();
            register(&format!(
                r##"{{"type":"object","$ref":"#/$defs/d0","$defs":{{{},"d40":{{"type":"integer"}}}}}}"##,
                defs.join(",")
            ))
        }
        // 127 levels are what the record's own reader takes; the rest is built by hand so that the schema check is met.
        "schema-008" => register(&format!("{}{{}}{}", r#"{"not":"#.repeat(100), "}".repeat(100))),
        "schema-010" => {
            let element = |i: usize| format!(r#"{{"a":1,"b":2,"c":3,"z":{i}}}"#);
            let elements: Vec<String> = (0..1_000_000).map(element).collect();
            let unique = json!({ "type": "object", "properties": { "all": { "uniqueItems": true } } });
            refuse_input(&unique, format!(r#"{{"all":[{}]}}"#, elements.join(",")))
        }
        "schema-011" => {
            let schema = case["input"]["schema"].to_string();
            let declared = registration(&schema, &["sandbox_override_ref"]);
            assert!(
                validate(&declared, &CatalogLimits::default()).is_err(),
                "an internal field in the model schema is refused"
            );
            let hidden =
                registration(&json!({ "type": "object", "x-internal": true }).to_string(), &["sandbox_override_ref"]);
            let tool = InputValidator::for_registration(&hidden, &CatalogLimits::default()).unwrap();
            let found = tool.validate(&JsonPayload::of(&case["input"]["args"])).unwrap_err();
            assert_eq!(found[0].field, "/sandbox_override_ref");
            Outcome::RefusedAsInput
        }
        "json-004" => {
            let whole = text("args_text");
            let alone = |name: &str| {
                let member = whole.split(',').find(|member| member.contains(&format!("\"{name}\""))).unwrap();
                format!("{{{}}}", member.trim_matches(['{', '}']))
            };
            let described =
                |name: &str, kind: &str| json!({ "type": "object", "properties": { name: { "type": kind } } });
            for name in ["n", "f"] {
                refuse_input(&described(name, "number"), alone(name));
            }
            // An integer of any size is kept as its text, so nothing is lost.
            let schema = described("i", "integer").to_string();
            let tool =
                InputValidator::for_registration(&registration(&schema, &[]), &CatalogLimits::default()).unwrap();
            assert_eq!(tool.validate(&JsonPayload::from_checked(alone("i").into_bytes())), Ok(()));
            refuse_input(&open, text("args_text"))
        }
        "json-006" => refuse_input(&open, hex(&text("args_bytes_hex"))),
        "json-007" => {
            Outcome::NotApplicable("paths are judged by the file tool; the schema of this crate sees a string")
        }
        "json-008" => refuse_input(&json!({ "type": "object", "additionalProperties": false }), text("args_text")),
        "json-009" => refuse_input(&open, format!(r#"{{"s":"{}"}}"#, "A".repeat(50_000_000))),
        "json-010" => {
            let keys: Vec<String> = (0..1_000_000).map(|i| format!(r#""k{i}":0"#)).collect();
            refuse_input(&open, format!("{{{}}}", keys.join(",")))
        }
        other => panic!("`{other}` has no test"),
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

#[test]
fn every_hostile_case_is_refused_in_time() {
    let mut outcomes = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap().to_owned();
        let started = Instant::now();
        let outcome = run(&id, &case);
        assert!(started.elapsed() < PATIENCE, "{id} took {:?}", started.elapsed());
        outcomes.push((id, outcome));
    }
    let refused = |wanted: Outcome| outcomes.iter().filter(|(_, outcome)| *outcome == wanted).count();
    assert_eq!(refused(Outcome::RefusedAtRegistration), 5, "{outcomes:?}");
    assert_eq!(refused(Outcome::RefusedAsInput), 7, "{outcomes:?}");
    assert_eq!(outcomes.len(), 13);
}

#[test]
fn a_schema_deeper_than_any_stack_is_refused_before_it_is_read() {
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(5000), "}".repeat(5000));
    let mut tool = registration("{}", &[]);
    let contract = tool.declaration.input_contract.as_mut().unwrap();
    contract.model_input_schema = Some(JsonPayload::from_checked(deep));
    let found = validate(&tool, &CatalogLimits::default()).unwrap_err();
    assert_eq!(found[0].field, "declaration.input_contract.model_input_schema");
    assert!(found[0].description.contains("nested deeper than 64"), "{found:?}");
}
