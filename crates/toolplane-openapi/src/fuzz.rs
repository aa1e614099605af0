//! Bytes of others: documents, inputs, and responses.

use bytes::Bytes;
use toolplane_catalog::CatalogLimits;
use toolplane_catalog::schema::compile;
use toolplane_fuzz::fuzz;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;

use crate::tests::DOCUMENTS;
use crate::{Document, DocumentLimits, ImportOptions, Operation, Selection, request, response};

const SMALL: [&str; 4] = [
    r##"{"openapi":"3.1.0","servers":[{"url":"http://a.test/{v}","variables":{"v":{"default":"1"}}}],
        "paths":{"/a/{b}":{"post":{
        "parameters":[{"name":"b","in":"path","required":true,"style":"matrix"},
        {"name":"c","in":"query","style":"deepObject"}],
        "requestBody":{"content":{"multipart/form-data":{"schema":{"$ref":"#/components/schemas/S"}}}},
        "security":[{"k":[]}],"x-agenttool":{"risk":"high"}}}},
        "components":{"schemas":{"S":{"type":"object","properties":{
        "f":{"type":"string","format":"binary"},"s":{"$ref":"#/components/schemas/S"}}}},
        "securitySchemes":{"k":{"type":"apiKey","in":"header","name":"K"}}}}"##,
    r##"{"swagger":"2.0","host":"a.test","paths":{"/a":{"put":{"parameters":[
        {"name":"x","in":"body","schema":{"$ref":"#/definitions/D"}},
        {"name":"y","in":"query","type":"array","collectionFormat":"pipes"}],
        "responses":{"200":{"schema":{"type":"file"}}}}}},
        "definitions":{"D":{"allOf":[{"$ref":"#/definitions/D"}],"nullable":true}}}"##,
    "openapi: 3.0.0\nservers: [{url: 'https://a.test'}]\npaths:\n  /a: &p\n    get: {operationId: x, responses: \
     {200: {content: {application/json: {schema: {oneOf: [{type: string, nullable: true}]}}}}}}\n  /b: *p\n",
    "a: &a [1, 2]\nb: {<<: {c: *a}}\nc: |\n  text\n",
];

fn limits() -> DocumentLimits {
    DocumentLimits { max_nodes: 5_000, max_depth: 40, max_operations: 20, ..DocumentLimits::default() }
}

/// A document is refused, or every tool of it is one the catalogue takes, under a name of its own.
#[test]
fn documents() {
    let corpus: Vec<&str> = SMALL.into_iter().chain(DOCUMENTS).collect();
    let corpus: [&str; 7] = corpus.try_into().unwrap();
    fuzz!("openapi documents", corpus, |bytes: &[u8]| {
        let Ok(document) = Document::read(bytes, &limits()) else { return };
        let import = document.operations(&Selection::default(), &ImportOptions::default()).unwrap();
        let mut names: Vec<&str> = import.operations.iter().map(|one| one.name.as_str()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for one in &import.operations {
            assert!(!one.name.is_empty() && one.name.len() <= 64 && one.id_part().len() <= 130, "{}", one.name);
            compile(&one.input_schema, &CatalogLimits::default()).unwrap();
        }
    });
}

fn operation() -> Operation {
    let document = Document::read(SMALL[0].as_bytes(), &limits()).unwrap();
    document.operations(&Selection::default(), &ImportOptions::default()).unwrap().operations.remove(0)
}

/// An input makes a request below the server, or none.
#[test]
fn inputs() {
    let operation = operation();
    let corpus = [
        r#"{"b":"x","c":{"d":[1,{"e":null}]},"f":{"base64":"AAE=","filename":"n"},"s":{"f":1}}"#,
        r#"{"b":["a",".."],"c":"","f":{"text":"t","media_type":"a/b"}}"#,
        r#"{"b":{"a":1.0},"c":[]}"#,
    ];
    fuzz!("openapi inputs", corpus, |bytes: &[u8]| {
        let Ok(input) = JsonPayload::ingest(bytes.to_vec(), &JsonLimits::default()) else { return };
        let Ok(asked) = request(&operation.binding, &input, "B0undary") else { return };
        assert_eq!(asked.url.host_str(), Some("a.test"));
        assert!(asked.url.path().starts_with("/1/a/;b="), "{}", asked.url);
        assert_eq!(asked.url.path().matches('/').count(), 3, "{}", asked.url);
        assert!(asked.headers.iter().all(|(_, value)| !value.contains(['\r', '\n'])));
    });
}

/// Whatever a server says is read.
#[test]
fn responses() {
    let operation = operation();
    let corpus = [
        "200\napplication/json\n<http://a.test/?c=1>; rel=\"next\", <b>; rel=prev\n{\"next\":{\"href\":\"?c=2\"}}",
        "429\napplication/problem+json\nWed, 21 Oct 2015 07:28:00 GMT\n{\"title\":\"t\",\"errors\":[1]}",
        "503\ntext/plain\n120\nlater",
    ];
    fuzz!("openapi responses", corpus, |bytes: &[u8]| {
        let mut lines = bytes.splitn(4, |byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let status = String::from_utf8_lossy(line()).parse().unwrap_or(200);
        let kind = String::from_utf8_lossy(line()).into_owned();
        let other = String::from_utf8_lossy(line()).into_owned();
        let body = Bytes::copy_from_slice(line());
        let names = ["content-type", "link", "retry-after", "x-ratelimit-reset", "location"];
        let headers: Vec<(String, String)> = names
            .iter()
            .map(|name| ((*name).to_owned(), if *name == "content-type" { kind.clone() } else { other.clone() }))
            .collect();
        let answer = response(&operation.binding, status, &headers, &body, Timestamp::from_millis(0));
        assert_eq!(answer.status, status);
        assert!(answer.next.is_none_or(|next| next.hint().len() < 8_000));
    });
}
