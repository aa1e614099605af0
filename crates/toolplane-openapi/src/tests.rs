//! The crate from outside: documents in, requests and answers out.

mod answers;
mod documents;
mod imports;
mod properties;
mod requests;
mod schemas;
mod styles;
mod swagger;

use serde_json::{Value, json};
use toolplane_records::payload::JsonPayload;
use url::Url;

use crate::{Document, DocumentLimits, HttpRequest, Import, ImportOptions, Operation, Selection, request};

/// Three documents of the examples of the OpenAPI Specification (Apache-2.0).
pub(crate) const DOCUMENTS: [&str; 3] = [
    include_str!("../documents/petstore-expanded.yaml"),
    include_str!("../documents/uspto.yaml"),
    include_str!("../documents/link-example.yaml"),
];

pub(crate) fn read(text: &str) -> Document {
    Document::read(text.as_bytes(), &DocumentLimits::default()).unwrap()
}

/// A document of version 3.1 with these paths and components.
pub(crate) fn document(paths: Value, components: Value) -> Document {
    of_version("3.1.0", paths, components)
}

pub(crate) fn of_version(version: &str, paths: Value, components: Value) -> Document {
    let root = json!({
        "openapi": version, "info": { "title": "t", "version": "1" }, "servers": [{ "url": "https://api.test/v1" }],
        "paths": paths, "components": components
    });
    read(&root.to_string())
}

pub(crate) fn import(document: &Document) -> Import {
    let options = ImportOptions { document_url: Url::parse("https://docs.test/").ok(), ..ImportOptions::default() };
    document.operations(&Selection::default(), &options).unwrap()
}

/// The only operation of a document, which has to be imported.
pub(crate) fn only(document: &Document) -> Operation {
    let import = import(document);
    assert_eq!(import.refused, []);
    assert_eq!(import.operations.len(), 1);
    import.operations.into_iter().next().unwrap()
}

/// `GET /x` (or the path that is given) with these parameters.
pub(crate) fn get(path: &str, parameters: Value) -> Operation {
    only(&document(json!({ path: { "get": { "parameters": parameters } } }), json!({})))
}

/// `POST /x` with a body of one media type.
pub(crate) fn post(kind: &str, media: Value) -> Operation {
    let body = json!({ "required": true, "content": { kind: media } });
    only(&document(json!({ "/x": { "post": { "requestBody": body } } }), json!({})))
}

/// The request of an input, with everything that is wrong with it as one text.
pub(crate) fn ask(operation: &Operation, input: &str) -> Result<HttpRequest, String> {
    let input = JsonPayload::from_checked(input.to_owned().into_bytes());
    request(&operation.binding, &input, "BOUNDARY").map_err(|error| error.message)
}

pub(crate) fn url(operation: &Operation, input: &str) -> String {
    ask(operation, input).unwrap().url.into()
}

pub(crate) fn body(operation: &Operation, input: &str) -> String {
    String::from_utf8(ask(operation, input).unwrap().body.unwrap().to_vec()).unwrap()
}

pub(crate) fn header(request: &HttpRequest, name: &str) -> Option<String> {
    request.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
}
