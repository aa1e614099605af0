//! Operations of a real API: what is sent, and what each answer means.

use std::sync::Arc;

use serde_json::{Value, json};
use toolplane_execution::{Call, Outcome, Toolbox, ToolboxOptions};
use toolplane_openapi::{Document, DocumentLimits, ImportOptions, Selection};
use toolplane_records::operation::OperationBinding;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::result::ContentBlock;

use crate::api::{Api, Reply};
use crate::http::Names;
use crate::support::{call, execute, failure, structured, toolbox_with};

/// The binding that an importer makes of one operation.
pub(crate) fn binding(server: &str, path: &str, method: &str, operation: Value) -> OperationBinding {
    binding_with(server, path, method, operation, json!({}))
}

pub(crate) fn binding_with(
    server: &str,
    path: &str,
    method: &str,
    operation: Value,
    components: Value,
) -> OperationBinding {
    let root = json!({ "openapi": "3.1.0", "info": { "title": "t", "version": "1" }, "servers": [{ "url": server }],
        "paths": { path: { method: operation } }, "components": components });
    let document = Document::read(root.to_string().as_bytes(), &DocumentLimits::default()).unwrap();
    let mut import = document.operations(&Selection::default(), &ImportOptions::default()).unwrap();
    assert_eq!(import.refused, []);
    import.operations.remove(0).binding
}

pub(crate) fn at(api: &Api) -> String {
    format!("http://{}/v1", api.address)
}

pub(crate) fn asking(binding: OperationBinding, input: &str) -> Call {
    let mut call = call(ExecutionBinding::Operation(binding), json!({}));
    call.input = JsonPayload::from_checked(input.to_owned());
    call
}

async fn toolbox() -> Toolbox {
    let workspace = tempfile::tempdir().unwrap();
    toolbox_with(ToolboxOptions::new(workspace.path()), Arc::new(Names)).await
}

pub(crate) async fn ask(binding: OperationBinding, input: &str) -> Outcome {
    execute(&toolbox().await, &asking(binding, input)).await
}

fn notes(outcome: &Outcome) -> Vec<&str> {
    fn note(block: &ContentBlock) -> Option<&str> {
        match block {
            ContentBlock::Log { text, stream } if stream == "note" => Some(text),
            _ => None,
        }
    }
    outcome.content.iter().filter_map(note).collect()
}

#[tokio::test]
async fn each_parameter_arrives_in_its_style() {
    let api = Api::echo().await;
    let parameter = |place: &str, name: &str, style: &str, explode: bool| {
        json!({ "in": place, "name": name, "style": style,
        "explode": explode, "required": place == "path", "schema": {} })
    };
    for (path, parameter, input, target) in [
        ("/a/{p}", parameter("path", "p", "simple", false), r#"{"p":["a b","c/d"]}"#, "/v1/a/a%20b,c%2Fd"),
        ("/a/{p}", parameter("path", "p", "label", true), r#"{"p":["a","b"]}"#, "/v1/a/.a.b"),
        ("/a/{p}", parameter("path", "p", "matrix", true), r#"{"p":{"k":1,"l":2}}"#, "/v1/a/;k=1;l=2"),
        ("/a", parameter("query", "p", "form", true), r#"{"p":["a","b&c"]}"#, "/v1/a?p=a&p=b%26c"),
        ("/a", parameter("query", "p", "form", false), r#"{"p":[1.0,2]}"#, "/v1/a?p=1.0,2"),
        ("/a", parameter("query", "p", "spaceDelimited", false), r#"{"p":["a","b"]}"#, "/v1/a?p=a%20b"),
        ("/a", parameter("query", "p", "pipeDelimited", false), r#"{"p":["a","b"]}"#, "/v1/a?p=a%7Cb"),
        ("/a", parameter("query", "p", "deepObject", true), r#"{"p":{"k":"v"}}"#, "/v1/a?p%5Bk%5D=v"),
    ] {
        let outcome = ask(binding(&at(&api), path, "get", json!({ "parameters": [parameter] })), input).await;
        assert!(outcome.is_success(), "{:?}", outcome.error);
        assert_eq!(api.last().target, target, "{input}");
    }
    let parameters = json!([parameter("header", "X-Tags", "simple", false), parameter("cookie", "sid", "form", false)]);
    ask(binding(&at(&api), "/a", "get", json!({ "parameters": parameters })), r#"{"X-Tags":["a","b"],"sid":"c1"}"#)
        .await;
    let asked = api.last();
    assert_eq!((asked.header("x-tags"), asked.header("cookie")), ("a,b", "sid=c1"));
    assert_eq!((asked.header("accept-encoding"), asked.header("idempotency-key")), ("identity", ""));
}

#[tokio::test]
async fn bodies_are_what_the_document_says() {
    let api = Api::echo().await;
    let post = |kind: &str, schema: Value| {
        let body = json!({ "required": true, "content": { kind: { "schema": schema } } });
        binding(&at(&api), "/b", "post", json!({ "requestBody": body }))
    };
    let fields = json!({ "type": "object", "properties": { "n": {}, "s": { "type": "string" } } });
    let outcome = ask(post("application/json", fields.clone()), r#"{"n":1.00,"s":"x"}"#).await;
    let asked = api.last();
    assert_eq!((asked.method.as_str(), &asked.body[..]), ("POST", &br#"{"n":1.00,"s":"x"}"#[..]));
    assert_eq!((asked.header("content-type"), asked.header("idempotency-key")), ("application/json", "key-1"));
    assert_eq!(structured(&outcome)["body"], r#"{"n":1.00,"s":"x"}"#, "JSON is the structured content");
    ask(post("application/x-www-form-urlencoded", fields), r#"{"n":2,"s":"x y"}"#).await;
    assert_eq!(api.last().body, b"n=2&s=x+y");
    let file = json!({ "type": "object", "properties": { "f": { "type": "string", "format": "binary" } } });
    ask(post("multipart/form-data", file), r#"{"f":{"base64":"AP8=","filename":"a.bin"}}"#).await;
    let asked = api.last();
    let boundary = asked.header("content-type").strip_prefix("multipart/form-data; boundary=").unwrap().to_owned();
    let start = format!("--{boundary}\r\ncontent-disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n");
    assert!(boundary.len() == 32 && asked.body.starts_with(start.as_bytes()));
    assert!(asked.body.windows(4).any(|window| window == b"\x00\xff\r\n"), "the bytes are exact");
}

#[tokio::test]
async fn each_status_is_its_error() {
    let api = Api::start(|asked, _| {
        let status = asked.target.rsplit('/').next().unwrap().to_owned();
        let problem = json!({ "title": "It did not work", "detail": "the reason" });
        let line = |line| {
            Reply(
                line,
                vec![("Content-Type", "application/problem+json".into()), ("Retry-After", "7".into())],
                problem.to_string().into_bytes(),
            )
        };
        match status.as_str() {
            "401" => line("401 Unauthorized"),
            "403" => Reply::json("403 Forbidden", &json!({})),
            "404" => line("404 Not Found"),
            "409" => line("409 Conflict"),
            "422" => line("422 Unprocessable"),
            "429" => line("429 Too Many"),
            "500" => line("500 Broken"),
            "503" => line("503 Busy"),
            "204" => Reply("204 No Content", Vec::new(), Vec::new()),
            _ => Reply("302 Found", Vec::new(), Vec::new()),
        }
    })
    .await;
    // (status, method), class, advice, whether something may have happened.
    for (status, method, class, advice, effects) in [
        ("401", "get", "credential_missing", "complete_setup", "none"),
        ("403", "get", "permission_denied", "change_arguments_or_policy", "none"),
        ("404", "get", "execution_failed", "change_arguments", "none"),
        ("409", "post", "execution_failed", "change_arguments", "none"),
        ("422", "post", "invalid_arguments", "change_arguments", "none"),
        ("429", "post", "rate_limited", "retry_later", "none"),
        ("500", "get", "execution_failed", "retry_later", "unknown"),
        ("500", "post", "execution_failed", "verify_before_retry", "unknown"),
        ("503", "post", "dependency_unavailable", "verify_before_retry", "unknown"),
        ("302", "post", "execution_failed", "not_retryable", "unknown"),
    ] {
        let outcome = ask(binding(&at(&api), &format!("/{status}"), method, json!({})), "{}").await;
        let error = outcome.error.as_ref().unwrap();
        assert_eq!((failure(&outcome), error.recoverability.as_str()), ((class, "http.status"), advice), "{status}");
        assert_eq!(error.side_effects.as_deref(), Some(effects), "{status}");
        if status == "429" {
            assert_eq!(error.retry_after_ms, Some(7000));
        }
        if status == "422" {
            assert!(error.message.contains("It did not work: the reason"), "{}", error.message);
            assert_eq!(structured(&outcome)["detail"], "the reason");
        }
    }
    let empty = ask(binding(&at(&api), "/204", "delete", json!({})), "{}").await;
    assert!(empty.is_success() && empty.content == [ContentBlock::Empty] && empty.structured_content.is_none());
    let evidence = empty.evidence.unwrap().to_value();
    assert_eq!((&evidence["status"], &evidence["operation"]), (&json!(204), &json!("DELETE /204")));
}

#[tokio::test]
async fn answers_are_held_to_the_document_and_pages_are_told() {
    let api = Api::start(|asked, _| match asked.target.as_str() {
        "/v1/list?page=2" => Reply::json("200 OK", &json!([{ "id": "not a number" }])),
        "/v1/list" => Reply(
            "200 OK",
            vec![("Content-Type", "application/json".into()), ("Link", "</v1/list?page=2>; rel=\"next\"".into())],
            b"[{\"id\": 1.0}]\n".to_vec(),
        ),
        _ => Reply("200 OK", vec![("Content-Type", "image/png".into())], vec![0x89, b'P', 0, 255]),
    })
    .await;
    let items = json!({ "type": "array", "items": { "type": "object", "properties": { "id": { "type": "number" } } } });
    let list = binding(
        &at(&api),
        "/list",
        "get",
        json!({
        "parameters": [{ "in": "query", "name": "page", "schema": { "type": "integer" } }],
        "responses": { "200": { "description": "", "content": { "application/json": { "schema": items } } } } }),
    );
    let first = ask(list.clone(), "{}").await;
    assert_eq!(first.structured_content.as_ref().unwrap().text(), "[{\"id\": 1.0}]", "exact");
    assert!(first.exact[0].is_text, "what is shown is all of it, with the white space around it");
    assert_eq!(notes(&first), ["There is a next page: call again with `page` = `2`."]);
    assert_eq!(first.evidence.as_ref().unwrap().to_value()["next"], json!([["page", "2"]]));
    let second = ask(list, r#"{"page":2}"#).await;
    assert!(second.is_success(), "the effect is done");
    assert!(notes(&second)[0].starts_with("The answer is not what its document says: "), "{:?}", notes(&second));
    let image = ask(binding(&at(&api), "/image", "get", json!({})), "{}").await;
    let exact = &image.exact[0];
    assert_eq!(
        (&exact.bytes[..], exact.media_type.as_str(), exact.is_text),
        (&[0x89, b'P', 0, 255][..], "image/png", false)
    );
}

#[tokio::test]
async fn nothing_leaves_the_one_place() {
    let other = Api::echo().await;
    let elsewhere = format!("http://{}/x", other.address);
    let api = Api::start(move |asked, _| match asked.target.as_str() {
        "/v1/out" => Reply("307 Away", vec![("Location", elsewhere.clone())], Vec::new()),
        "/v1/near" => Reply("307 Near", vec![("Location", "/v1/there".into())], Vec::new()),
        _ => Reply::json("200 OK", &json!(asked.target)),
    })
    .await;
    for (method, effects) in [("get", "none"), ("post", "unknown")] {
        let outcome = ask(binding(&at(&api), "/out", method, json!({})), "{}").await;
        assert_eq!(failure(&outcome), ("sandbox_violation", "http.egress_denied"));
        assert_eq!(outcome.error.unwrap().side_effects.as_deref(), Some(effects));
    }
    assert_eq!(other.asked().len(), 0);
    let near = ask(binding(&at(&api), "/near", "get", json!({})), "{}").await;
    assert_eq!(structured(&near), json!("/v1/there"));
    // A name that stands for loopback, and an input that is wrong, send nothing.
    let before = api.asked().len();
    let named = format!("http://rebound.test:{}", api.address.port());
    assert_eq!(failure(&ask(binding(&named, "/x", "get", json!({})), "{}").await).1, "http.egress_denied");
    let needed = json!({ "parameters": [{ "in": "query", "name": "q", "required": true, "schema": {} }] });
    let outcome = ask(binding(&at(&api), "/x", "get", needed), "{}").await;
    assert_eq!(failure(&outcome).0, "invalid_arguments");
    assert_eq!(outcome.error.unwrap().side_effects.as_deref(), Some("none"));
    assert_eq!(api.asked().len(), before);
    let gone = binding("http://127.0.0.1:1", "/x", "post", json!({}));
    let outcome = ask(gone, "{}").await;
    assert_eq!(failure(&outcome), ("dependency_unavailable", "http.unreachable"));
}
