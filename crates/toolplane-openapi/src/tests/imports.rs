//! What becomes of one operation: its name, its words, its facts, its fields.

use std::collections::BTreeMap;

use serde_json::json;
use toolplane_records::vocabulary::RiskLevel;

use super::{ask, body, document, import, of_version, only, url};
use crate::{Facts, ImportOptions, Overrides, Selection};

fn names(paths: serde_json::Value) -> Vec<String> {
    import(&document(paths, json!({}))).operations.into_iter().map(|one| one.name).collect()
}

#[test]
fn names_are_never_merged_and_never_too_long() {
    let id = |id: &str| json!({ "operationId": id });
    assert_eq!(
        names(json!({ "/a": { "get": id("repos/get"), "put": id("issues.list"), "post": id("9lives") } })),
        ["repos_get", "issues_list", "_9lives"]
    );
    // Of three that would be called alike none keeps the plain name.
    let alike = names(json!({ "/a": { "get": id("a/b"), "put": id("a.b"), "post": id("a_b"), "patch": id("a-b") } }));
    assert!(alike[..3].iter().all(|name| name.starts_with("a_b_") && name.len() == 12), "{alike:?}");
    assert_eq!(alike[3], "a-b");
    let long = "very_".repeat(30);
    let cut = names(json!({ "/a": { "get": id(&format!("{long}1")), "put": id(&format!("{long}2")) } }));
    assert!(cut.iter().all(|name| name.len() == 56) && cut[0] != cut[1], "{cut:?}");
    assert_eq!(
        names(json!({ "/a/b": { "get": {} }, "/a-b/": { "get": {} }, "/a_b": { "post": {} } })),
        ["get_a_b", "get_a-b", "post_a_b"]
    );
    // An id that two have is the id of neither.
    let twice = import(&document(json!({ "/a": { "get": id("same") }, "/b": { "get": id("same") } }), json!({})));
    let ids: Vec<&str> = twice.operations.iter().map(|one| one.native_id.as_str()).collect();
    assert_eq!(ids, ["GET /a", "GET /b"]);
    assert_eq!(twice.operations[0].id_part(), "GET+20/a");
}

#[test]
fn facts_follow_the_method() {
    let paths = json!({ "/x": { "get": {}, "head": {}, "post": {}, "put": {}, "patch": {}, "delete": {},
        "query": {}, "additionalOperations": { "COPY": {} } } });
    let import = import(&of_version("3.2.0", paths, json!({})));
    let found: Vec<_> = import
        .operations
        .iter()
        .map(|one| {
            (one.binding.method.as_str(), one.facts.read_only, one.facts.idempotent, one.facts.destructive, one.risk)
        })
        .collect();
    use RiskLevel::{High, Low, Medium};
    assert_eq!(
        found,
        [
            ("GET", true, true, false, Low),
            ("HEAD", true, true, false, Low),
            ("POST", false, false, false, Medium),
            ("PUT", false, true, false, Medium),
            ("PATCH", false, false, false, Medium),
            ("DELETE", false, true, true, High),
            ("QUERY", true, true, false, Low),
            ("COPY", false, false, false, Medium),
        ]
    );
    assert!(import.operations.iter().all(|one| one.facts.open_world));
}

#[test]
fn a_document_that_is_not_trusted_may_only_be_stricter() {
    let said =
        json!({ "name": "drop_it", "read_only": true, "destructive": false, "risk": "low", "idempotent": false });
    let document = document(json!({ "/x": { "delete": { "operationId": "d", "x-agenttool": said } } }), json!({}));
    let with =
        |options: ImportOptions| document.operations(&Selection::default(), &options).unwrap().operations.remove(0);
    let careful = with(ImportOptions::default());
    assert_eq!(careful.name, "drop_it");
    assert_eq!(
        (careful.facts, careful.risk),
        (Facts { idempotent: false, ..Facts::of_method("DELETE") }, RiskLevel::High)
    );
    let trusted = with(ImportOptions { trusted: true, ..ImportOptions::default() });
    assert_eq!((trusted.facts.read_only, trusted.facts.destructive, trusted.risk), (true, false, RiskLevel::Low));
    let operator = Overrides { risk: Some(RiskLevel::Medium), name: Some("mine".to_owned()), ..Overrides::default() };
    let overridden =
        with(ImportOptions { overrides: BTreeMap::from([("d".to_owned(), operator)]), ..ImportOptions::default() });
    assert_eq!((overridden.name.as_str(), overridden.risk), ("mine", RiskLevel::Medium));
    let nobody = ImportOptions {
        overrides: BTreeMap::from([("e".to_owned(), Overrides::default())]),
        ..ImportOptions::default()
    };
    assert!(document.operations(&Selection::default(), &nobody).is_err());
}

#[test]
fn what_is_said_of_a_tool_is_read_strictly() {
    let refusals = |said: serde_json::Value| {
        let import = import(&document(json!({ "/x": { "get": { "x-agenttool": said } } }), json!({})));
        (import.excluded, import.refused.into_iter().map(|one| one.rule).collect::<Vec<_>>())
    };
    for (said, told) in [
        (json!({ "readonly": true }), "unknown field `readonly`"),
        (json!({ "risk": "huge" }), "`huge` is not one of"),
        (json!({ "name": "a b" }), "letters, digits"),
        (json!([]), "cannot be used"),
        (json!({ "read_only": true, "destructive": true }), "contradicts"),
    ] {
        let (_, rules) = refusals(said);
        assert!(rules.len() == 1 && rules[0].contains(told), "{rules:?}");
    }
    assert_eq!(refusals(json!({ "exclude": true })), (1, vec![]));
    assert_eq!(refusals(json!({ "include": false })), (1, vec![]));
    let twins = json!({ "/x": { "get": { "x-agenttool": { "name": "one" } }, "put": { "operationId": "one" } } });
    assert_eq!(import(&document(twins, json!({}))).refused.len(), 2);
}

#[test]
fn fields_are_flat_unless_two_would_have_one_name() {
    let media = json!({ "application/json": { "schema": { "type": "object", "required": ["name"], "properties": {
        "name": {}, "id": {} } } } });
    let operation = |parameters: serde_json::Value| {
        let body = json!({ "required": true, "content": media.clone() });
        only(&document(json!({ "/x/{id}": { "put": { "parameters": parameters, "requestBody": body } } }), json!({})))
    };
    let clash = operation(json!([{ "name": "id", "in": "path", "required": true }, { "name": "q", "in": "query" }]));
    let input = r#"{"path":{"id":"7"},"query":{"q":"x"},"body":{"id":8,"name":"n"}}"#;
    assert_eq!(url(&clash, input), "https://api.test/v1/x/7?q=x");
    assert_eq!(body(&clash, input), r#"{"id":8,"name":"n"}"#);
    let schema = clash.input_schema.to_value();
    assert_eq!(schema["required"], json!(["path", "body"]));
    assert_eq!(schema["properties"]["path"]["required"], json!(["id"]));
    assert!(ask(&clash, r#"{"path":{},"body":{}}"#).unwrap_err().contains("path.id"));

    let one = json!([{ "name": "id", "in": "path", "required": true }]);
    let whole = json!({ "required": true, "content": { "application/json": { "schema": { "type": "array" } } } });
    let whole =
        only(&document(json!({ "/x/{id}": { "put": { "parameters": one, "requestBody": whole } } }), json!({})));
    assert_eq!(body(&whole, r#"{"id":1,"body":[1.0]}"#), "[1.0]");

    let odd = json!([{ "name": "filter[a]", "in": "query" }, { "name": "filter(a)", "in": "query" }, {
        "name": "$top", "in": "query" }]);
    let odd = super::get("/x", odd);
    let asked = url(&odd, r#"{"filter_a":1,"filter_a_2":2,"_top":3}"#);
    assert_eq!(asked, "https://api.test/v1/x?filter%5Ba%5D=1&filter%28a%29=2&%24top=3");
}

#[test]
fn words_are_bounded_and_say_what_was_cut() {
    let long = "word ".repeat(2_000);
    let get = json!({ "operationId": "l", "summary": "List things", "description": long, "deprecated": true,
        "tags": ["Things"],
        "parameters": [{ "name": "page", "in": "query", "description": long }],
        "responses": { "200": { "description": "", "headers": { "link": {} } } } });
    let operation = only(&document(json!({ "/things": { "get": get } }), json!({})));
    assert_eq!((operation.title.as_str(), operation.search_hint.as_str()), ("List things", "Things List"));
    for part in [
        "List things",
        "(cut; 10012 characters in the document)",
        "GET /things at https://api.test/v1",
        "Deprecated",
        "ask for others with `page`",
    ] {
        assert!(operation.description.contains(part), "{part}: {}", operation.description);
    }
    assert!(operation.description.chars().count() < 4_400);
    assert!(operation.input_schema.size() < 1_000);
}

#[test]
fn what_documents_often_forget_is_no_refusal() {
    let forgotten = only(&document(json!({ "/x/{id}": { "get": {} } }), json!({})));
    assert_eq!(url(&forgotten, r#"{"id":"a/b"}"#), "https://api.test/v1/x/a%2Fb");
    assert_eq!(forgotten.notes, ["the document does not describe `id` of the path"]);
    // Operations told apart by what no request holds.
    let paths = json!({ "/#A": { "post": {} }, "/#B": { "post": {} } });
    let import = import(&document(paths, json!({})));
    let names: Vec<&str> = import.operations.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["post_A", "post_B"]);
    assert_eq!(url(&import.operations[0], "{}"), "https://api.test/v1/");
}

#[test]
fn a_query_in_the_path_is_asked_for() {
    let paths = json!({
        "/rest?method=a.b&x": { "get": { "parameters": [
            { "name": "method", "in": "query", "required": true }, { "name": "q", "in": "query" }] } },
        "/export/{id}?filename={file}&since={since}&to={to}#one": { "get": { "parameters": [
            { "name": "id", "in": "path" }, { "name": "file", "in": "path" }, { "name": "since", "in": "query" }] } }
    });
    let import = import(&document(paths, json!({})));
    assert_eq!(import.refused, []);
    let [fixed, given] = &import.operations[..] else { panic!("{import:?}") };
    assert_eq!(url(fixed, r#"{"q":"1&method=c"}"#), "https://api.test/v1/rest?method=a.b&x&q=1%26method%3Dc");
    assert_eq!(url(fixed, "{}"), "https://api.test/v1/rest?method=a.b&x");
    assert_eq!(fixed.input_schema.to_value()["properties"], json!({ "q": {} }));
    assert_eq!(url(given, r#"{"id":1,"filename":"a/b","to":2}"#), "https://api.test/v1/export/1?filename=a%2Fb&to=2");
    assert_eq!(given.input_schema.to_value()["required"], json!(["id", "filename"]));
    assert_eq!(given.notes, ["the document does not describe `to` of the query"]);
    for wrong in ["/x?{a}=1", "/x?a={b}{c}", "/x?a=b{c}", "/x?=a", "x?a=b"] {
        let import = super::import(&document(json!({ wrong: { "get": {} } }), json!({})));
        assert_eq!((import.operations.len(), import.refused.len()), (0, 1), "{wrong}");
    }
}
