//! Swagger 2.0.

use serde_json::json;
use toolplane_records::credential::CredentialPlacement;
use toolplane_records::operation::TokenSource;

use super::{body, header, import, read};
use crate::{Operation, Version};

fn operations() -> Vec<Operation> {
    let root = json!({
        "swagger": "2.0", "info": { "title": "t", "version": "1" }, "host": "api.test", "basePath": "/v1",
            "schemes": ["http", "https"],
        "consumes": ["application/json"], "produces": ["application/json"],
        "securityDefinitions": {
            "basic": { "type": "basic" },
            "app": { "type": "oauth2", "flow": "application", "tokenUrl": "https://t.test/token", "scopes": {
                "read": "" } }
        },
        "security": [{ "basic": [] }],
        "parameters": { "limit": { "name": "limit", "in": "query", "type": "integer", "maximum": 5 },
            "thing": { "name": "thing", "in": "body", "schema": { "$ref": "#/definitions/Thing" }, "required": true } },
        "definitions": { "Thing": { "type": "object", "required": ["name"], "properties": { "name": {
            "type": "string" }, "parent": { "$ref": "#/definitions/Thing" } } } },
        "responses": { "Things": { "description": "", "schema": { "type": "array", "items": {
            "$ref": "#/definitions/Thing" } } } },
        "paths": {
            "/things": {
                "parameters": [{ "$ref": "#/parameters/limit" }],
                "get": { "operationId": "list", "parameters": [
                    { "name": "ids", "in": "query", "type": "array", "items": { "type": "string" },
                        "collectionFormat": "pipes" },
                    { "name": "tags", "in": "query", "type": "array", "items": { "type": "string" },
                        "collectionFormat": "multi" },
                    { "name": "csv", "in": "query", "type": "array", "items": { "type": "string" } }
                ], "responses": { "200": { "$ref": "#/responses/Things" } } },
                "post": { "operationId": "add", "security": [{ "app": ["read"] }], "parameters": [{
                    "$ref": "#/parameters/thing" }], "responses": {} }
            },
            "/upload": { "post": { "operationId": "upload", "consumes": ["multipart/form-data"], "parameters": [
                { "name": "file", "in": "formData", "type": "file", "required": true, "description": "The file" },
                { "name": "note", "in": "formData", "type": "string" } ], "responses": {} } },
            "/form": { "post": { "operationId": "form", "parameters": [
                { "name": "a", "in": "formData", "type": "array", "items": { "type": "string" },
                    "collectionFormat": "multi" } ], "responses": {} } }
        }
    });
    let document = read(&root.to_string());
    assert_eq!(document.version(), Version::Swagger20);
    let import = import(&document);
    assert_eq!(import.refused, []);
    import.operations
}

#[test]
fn a_document_of_2_0_is_read_as_one_of_3_0() {
    let all = operations();
    let list = &all[0];
    assert_eq!(list.binding.server, "https://api.test/v1");
    assert_eq!(list.binding.credentials[0][0].placement, CredentialPlacement::authorization());
    let url = super::url(list, r#"{"limit":3,"ids":["a","b"],"tags":["c","d"],"csv":["e","f"]}"#);
    assert_eq!(url, "https://api.test/v1/things?limit=3&ids=a%7Cb&tags=c&tags=d&csv=e,f");
    assert_eq!(list.input_schema.to_value()["properties"]["limit"], json!({ "type": "integer", "maximum": 5 }));
    let answer = list.output_schema.as_ref().unwrap().to_value();
    assert_eq!(answer["items"], json!({ "$ref": "#/$defs/Thing" }));

    let add = &all[1];
    assert_eq!(body(add, r#"{"limit":1,"name":"x","parent":{"name":"y"}}"#), r#"{"name":"x","parent":{"name":"y"}}"#);
    let source = add.binding.credentials[0][0].source.clone();
    assert_eq!(source, Some(TokenSource::ClientCredentials { token_url: "https://t.test/token".to_owned() }));

    let upload = super::ask(&all[2], r#"{"file":{"text":"x"},"note":"n"}"#).unwrap();
    assert_eq!(header(&upload, "content-type").as_deref(), Some("multipart/form-data; boundary=BOUNDARY"));
    assert_eq!(all[2].input_schema.to_value()["required"], json!(["file"]));
    assert_eq!(body(&all[3], r#"{"a":["1","2"]}"#), "a=1&a=2");
}
