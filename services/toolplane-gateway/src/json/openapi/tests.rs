use std::collections::BTreeSet;

use super::*;

fn served() -> Value {
    serde_json::from_str(DOCUMENT).unwrap()
}

/// The checked-in document is exactly what the protos give today.
#[test]
fn the_document_is_fresh() {
    let described = toolplane_codegen::generate::described(&toolplane_codegen::layout::proto_root()).unwrap();
    assert!(describe(&described).unwrap() == DOCUMENT, "schemas/openapi.json is stale: run `cargo xtask gen`");
}

#[test]
fn every_path_is_answered_and_described() {
    let document = served();
    let paths: BTreeSet<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(paths, methods::all().iter().map(|method| method.route.as_str()).collect());
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["post"];
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{path}");
        assert!(operation["description"].as_str().unwrap().contains("Needs the role"), "{path}");
    }
    let call = &document["paths"]["/v1/call"]["post"];
    assert_eq!(
        call["summary"],
        "Accepts a call, waits for its end and answers with the one result: the cheapest way to make a call"
    );
}

#[test]
fn every_reference_leads_somewhere_and_nothing_is_left_over() {
    let document = served();
    let mut named = BTreeSet::new();
    references(&document, &mut named);
    for reference in &named {
        assert!(document.pointer(&reference[1..]).is_some_and(Value::is_object), "{reference}");
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(named.contains(&format!("#/components/schemas/{name}")), "`{name}` is of no use");
    }
    let payload = &document["components"]["schemas"]["InvocationSpec"]["properties"]["model_input"];
    assert_eq!(payload.get("type"), None, "any value: {payload}");
}

fn references(value: &Value, named: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            named.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| references(value, named));
        }
        Value::Array(elements) => elements.iter().for_each(|value| references(value, named)),
        _ => {}
    }
}
