//! Documents as a whole: versions, bounds, selections, servers, credentials.

use std::collections::BTreeMap;

use serde_json::json;
use toolplane_records::credential::CredentialPlacement;
use toolplane_records::operation::TokenSource;
use url::Url;

use super::{DOCUMENTS, document, import, only, read};
use crate::{Document, DocumentLimits, ImportOptions, Selection, Version, bind_credentials};

fn refused(text: &str) -> String {
    Document::read(text.as_bytes(), &DocumentLimits::default()).unwrap_err().to_string()
}

#[test]
fn what_is_no_document_is_refused_with_place_and_rule() {
    for (text, told) in [
        ("[1]", "`` must be an object"),
        ("{}", "neither `openapi` nor `swagger`"),
        (r#"{"openapi":"4.0.0","paths":{}}"#, "version `4.0.0`"),
        (r#"{"openapi":"3.0.0"}"#, "`/paths` is missing"),
        (r#"{"openapi":"3.1.0","paths":[]}"#, "`/paths` must be an object"),
        (r#"{"openapi":"3.1.0","openapi":"3.1.0"}"#, "key `openapi` twice"),
        (r#"{"openapi":"#, "not valid JSON"),
        ("swagger: 1.2\npaths: {}\n", "version `1.2`"),
        ("a: [", "not valid YAML"),
    ] {
        assert!(refused(text).contains(told), "{text}: {}", refused(text));
    }
    let limits = DocumentLimits { max_operations: 1, max_bytes: 200, ..DocumentLimits::default() };
    let two = r#"{"openapi":"3.1.0","paths":{"/a":{"get":{},"put":{}}}}"#;
    let error = Document::read(two.as_bytes(), &limits).unwrap_err();
    assert_eq!(error.to_string(), "`/paths` has 2 operations; at most 1 are allowed");
    assert_eq!(error.to_tool_error().error_code, "openapi.document_refused");
    assert!(Document::read(&[b' '; 201], &limits).is_err());
}

#[test]
fn versions_are_told_in_json_and_yaml() {
    for (text, version) in [
        (r#"{"openapi":"3.2.0"}"#, Version::V32),
        ("openapi: 3.1\n", Version::V31),
        ("\u{feff}openapi: 3.0.4\npaths: {}\n", Version::V30),
        ("swagger: 2.0\npaths: {}\n", Version::Swagger20),
    ] {
        assert_eq!(read(text).version(), version);
    }
}

#[test]
fn the_examples_of_the_specification_are_imported_whole() {
    for (text, count) in DOCUMENTS.into_iter().zip([4, 3, 6]) {
        let import = import(&read(text));
        assert_eq!((import.operations.len(), import.refused.len()), (count, 0));
    }
}

#[test]
fn a_selection_names_what_is_there() {
    let operation = |id: &str, tag: &str| json!({ "operationId": id, "tags": [tag] });
    let paths = json!({
        "/pets": { "get": operation("list", "pets"), "post": operation("add", "pets") },
        "/pets/{id}": { "parameters": [{ "name": "id", "in": "path", "required": true }],
            "delete": operation("drop", "admin") }
    });
    let document = document(paths, json!({}));
    let select = |selection: Selection| {
        let import = document.operations(&selection, &ImportOptions::default());
        import.map(|import| import.operations.into_iter().map(|one| one.name).collect::<Vec<_>>())
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let none = Selection::default;
    assert_eq!(select(none()).unwrap(), ["list", "add", "drop"]);
    assert_eq!(select(Selection { tags: texts(&["pets"]), ..none() }).unwrap(), ["list", "add"]);
    let both = Selection { tags: texts(&["pets"]), methods: texts(&["get", "delete"]), ..none() };
    assert_eq!(select(both).unwrap(), ["list"]);
    assert_eq!(select(Selection { paths: texts(&["/pets/*"]), ..none() }).unwrap(), ["drop"]);
    assert_eq!(
        select(Selection { operations: texts(&["add", "DELETE /pets/{id}"]), ..none() }).unwrap(),
        ["add", "drop"]
    );
    for (selection, what) in [
        (Selection { tags: texts(&["pet"]), ..none() }, "tag `pet`"),
        (Selection { paths: texts(&["/cats/**"]), ..none() }, "path `/cats/**`"),
        (Selection { operations: texts(&["list", "lst"]), ..none() }, "operation `lst`"),
        (Selection { methods: texts(&["PATCH"]), ..none() }, "method `PATCH`"),
    ] {
        assert_eq!(select(selection).unwrap_err().to_string(), format!("the document has no {what}"));
    }
}

#[test]
fn one_bad_operation_is_not_the_end_of_the_others() {
    let paths = json!({
        "/good": { "get": {} },
        "/lost/{}": { "get": {} },
        "/out": { "get": { "parameters": [{ "$ref": "other.yaml#/x" }] } },
        "/loop": { "get": { "parameters": [{ "$ref": "#/components/parameters/a" }] } },
        "/schema": { "post": { "requestBody": { "content": { "application/json": { "schema": {
            "$ref": "#/components/schemas/No" } } } } } },
        "/stream": { "post": { "requestBody": { "content": { "multipart/mixed": {} } } } },
        "/trace": { "trace": {} },
        "/bad": 7,
        "/null": { "get": null },
        "/scheme": { "get": { "security": [{ "nothing": [] }] } }
    });
    let components = json!({ "parameters": { "a": { "$ref": "#/components/parameters/a" } } });
    let import = import(&document(paths, components));
    assert_eq!(import.operations.len(), 1);
    let told: Vec<String> = import.refused.iter().map(ToString::to_string).collect();
    for (operation, rule) in [
        ("/bad", "must be an object"),
        ("GET /null", "must be an object"),
        ("GET /lost/{}", "has a parameter without a name"),
        ("GET /out", "only references inside the document"),
        ("GET /loop", "refers back to itself"),
        ("POST /schema", "which does not exist"),
        ("POST /stream", "media types that are not supported: multipart/mixed"),
        ("TRACE /trace", "which no tool may use"),
        ("GET /scheme", "security scheme `nothing`, which does not exist"),
    ] {
        assert!(
            told.iter().any(|one| one.contains(&format!("`{operation}`")) && one.contains(rule)),
            "{operation}: {told:#?}"
        );
    }
    assert_eq!(told.len(), 9);
}

fn server(servers: serde_json::Value, options: &ImportOptions) -> Result<(String, String, u16), String> {
    let root = json!({ "openapi": "3.1.0", "servers": servers, "paths": { "/x": { "get": {} } } });
    let import = read(&root.to_string()).operations(&Selection::default(), options).unwrap();
    match import.operations.into_iter().next() {
        Some(one) => Ok((one.binding.server, one.binding.allowed_host, one.binding.allowed_port)),
        None => Err(import.refused[0].rule.clone()),
    }
}

#[test]
fn servers_are_pinned_when_the_document_is_imported() {
    let plain = ImportOptions::default();
    let known = |server: &str, host: &str, port: u16| Ok((server.to_owned(), host.to_owned(), port));
    assert_eq!(server(json!([{ "url": "https://a.test/v1/" }]), &plain), known("https://a.test/v1", "a.test", 443));
    assert!(server(json!([{ "url": "/v1" }]), &plain).unwrap_err().contains("is relative"));
    assert!(server(json!(null), &plain).unwrap_err().contains("is relative"));
    let fetched =
        ImportOptions { document_url: Url::parse("http://docs.test:8080/api/openapi.json").ok(), ..plain.clone() };
    assert_eq!(server(json!([{ "url": "../v1" }]), &fetched), known("http://docs.test:8080/v1", "docs.test", 8080));
    assert_eq!(server(json!([]), &fetched), known("http://docs.test:8080", "docs.test", 8080));
    let templated = json!([{ "url": "https://{region}.test/{base}", "variables": {
        "region": { "default": "eu", "enum": ["eu", "us"] }, "base": { "default": "v2" } } }]);
    assert_eq!(server(templated.clone(), &plain), known("https://eu.test/v2", "eu.test", 443));
    let given = |value: &str| ImportOptions {
        server_variables: BTreeMap::from([("region".to_owned(), value.to_owned())]),
        ..plain.clone()
    };
    assert_eq!(server(templated.clone(), &given("us")), known("https://us.test/v2", "us.test", 443));
    assert!(server(templated, &given("evil.test/")).unwrap_err().contains("does not allow"));
    let own = ImportOptions { server: Some("http://127.0.0.1:9000/x".to_owned()), ..plain.clone() };
    assert_eq!(server(json!([{ "url": "https://a.test" }]), &own), known("http://127.0.0.1:9000/x", "127.0.0.1", 9000));
    for wrong in
        ["ftp://a.test", "https://u:p@a.test", "https://a.test/?x=1", "https://{no}.test", "https://{open.test"]
    {
        assert!(server(json!([{ "url": wrong }]), &plain).is_err(), "{wrong}");
    }
    let second = json!([{ "url": "ws://a.test" }, { "url": "https://b.test" }]);
    assert_eq!(server(second, &plain), known("https://b.test", "b.test", 443));
}

#[test]
fn credentials_are_requirements_and_no_fields() {
    let schemes = json!({ "securitySchemes": {
        "key": { "type": "apiKey", "in": "query", "name": "api_key" },
        "head": { "type": "apiKey", "in": "header", "name": "X-Key" },
        "machine": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "https://t.test/token",
            "scopes": {} } } },
        "person": { "type": "openIdConnect", "openIdConnectUrl": "https://t.test/.well-known" },
        "tls": { "type": "mutualTLS" },
        "place": { "type": "apiKey", "in": "header", "name": "Host" }
    } });
    let parameters = json!([{ "name": "api_key", "in": "query", "required": true }, { "name": "x-key",
        "in": "header" }, { "name": "q", "in": "query" }]);
    let security =
        json!([{ "tls": [] }, { "place": [] }, { "key": [], "head": [] }, { "machine": ["read"] }, { "person": [] }]);
    let paths = json!({ "/x": { "get": { "parameters": parameters, "security": security } } });
    let operation = only(&document(paths, schemes));
    assert_eq!(
        operation.input_schema.text(),
        r#"{"type":"object","properties":{"q":{}},"additionalProperties":false}"#
    );
    let ways = &operation.binding.credentials;
    assert_eq!(ways.len(), 3, "what cannot be done here is left out");
    assert_eq!(ways[0][0].placement, CredentialPlacement::Query { name: "api_key".to_owned() });
    assert_eq!(
        ways[1][0].source,
        Some(TokenSource::ClientCredentials { token_url: "https://t.test/token".to_owned() })
    );
    assert_eq!(ways[1][0].scopes, ["read"]);

    let mut binding = operation.binding.clone();
    let named = |names: &[(&str, &str)]| names.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let missing = bind_credentials(&mut binding, &named(&[("key", "tmdb")])).unwrap_err();
    assert_eq!(missing.to_string(), "the operation `GET /x` needs a credential for: head, machine, person");
    assert_eq!(binding, operation.binding);
    assert_eq!(bind_credentials(&mut binding, &named(&[("machine", "m"), ("key", "tmdb")])).unwrap(), ["m"]);
    assert_eq!(binding.credentials.len(), 1);
    assert_eq!(binding.credentials[0][0].credential.as_deref(), Some("m"));
}

#[test]
fn a_binding_is_a_record_that_survives_storage() {
    for text in DOCUMENTS {
        for operation in import(&read(text)).operations {
            let written = serde_json::to_string(&operation.binding).unwrap();
            assert_eq!(
                serde_json::from_str::<toolplane_records::operation::OperationBinding>(&written).unwrap(),
                operation.binding
            );
        }
    }
}
