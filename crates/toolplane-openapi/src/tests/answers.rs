//! From responses to what they mean.

use bytes::Bytes;
use serde_json::json;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};

use super::{document, get, only};
use crate::{Answer, Content, Meaning, Operation, response};

/// 2015-10-21T07:27:00Z
const NOW: i64 = 1_445_412_420_000;

fn answer(operation: &Operation, status: u16, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let headers: Vec<(String, String)> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    response(&operation.binding, status, &headers, &Bytes::copy_from_slice(body), Timestamp::from_millis(NOW))
}

fn simple(method: &str) -> Operation {
    only(&document(json!({ "/x": { method: {} } }), json!({})))
}

fn error(answer: &Answer) -> (ErrorClass, Recoverability, Option<u64>, bool) {
    let Meaning::Failure { error, retry_safe } = &answer.meaning else { panic!("{answer:?}") };
    (error.error_class, error.recoverability, error.retry_after_ms, *retry_safe)
}

#[test]
fn each_status_has_a_class_and_advice_that_does_no_harm() {
    use ErrorClass::{
        CredentialMissing, DependencyUnavailable, ExecutionFailed, InvalidArguments, PermissionDenied, RateLimited,
    };
    use Recoverability::{
        ChangeArguments, ChangeArgumentsOrPolicy, CompleteSetup, NotRetryable, RetryLater, VerifyBeforeRetry,
    };
    for (status, class, of_get, of_post) in [
        (400, InvalidArguments, ChangeArguments, ChangeArguments),
        (401, CredentialMissing, CompleteSetup, CompleteSetup),
        (403, PermissionDenied, ChangeArgumentsOrPolicy, ChangeArgumentsOrPolicy),
        (404, ExecutionFailed, ChangeArguments, ChangeArguments),
        (405, ExecutionFailed, NotRetryable, NotRetryable),
        (408, DependencyUnavailable, RetryLater, VerifyBeforeRetry),
        (409, ExecutionFailed, ChangeArguments, ChangeArguments),
        (422, InvalidArguments, ChangeArguments, ChangeArguments),
        (429, RateLimited, RetryLater, RetryLater),
        (500, ExecutionFailed, RetryLater, VerifyBeforeRetry),
        (503, DependencyUnavailable, RetryLater, VerifyBeforeRetry),
        (101, ExecutionFailed, NotRetryable, NotRetryable),
    ] {
        for (method, advice) in [("get", of_get), ("post", of_post)] {
            let (found, advised, _, safe) = error(&answer(&simple(method), status, &[], b""));
            assert_eq!((found, advised), (class, advice), "{method} {status}");
            assert_eq!(safe, advice == RetryLater, "{method} {status}");
        }
    }
}

#[test]
fn a_server_says_when_to_come_back() {
    let wait = |headers: &[(&str, &str)]| error(&answer(&simple("post"), 429, headers, b"")).2;
    assert_eq!(wait(&[("Retry-After", "120")]), Some(120_000));
    assert_eq!(wait(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), Some(60_000));
    assert_eq!(wait(&[("retry-after", "Wed, 21 Oct 2014 07:28:00 GMT")]), None, "that was a Tuesday");
    assert_eq!(wait(&[("retry-after", "Tue, 21 Oct 2014 07:28:00 GMT")]), Some(0));
    assert_eq!(wait(&[("retry-after", "99999999999999999999999")]), Some(u64::MAX));
    for nothing in ["", "-1", "soon", "1.5"] {
        assert_eq!(wait(&[("retry-after", nothing)]), None, "{nothing}");
    }
    let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1445412450")];
    let (class, advice, wait, safe) = error(&answer(&simple("post"), 403, &used_up, b""));
    assert_eq!((class, advice, wait, safe), (ErrorClass::RateLimited, Recoverability::RetryLater, Some(30_000), true));
}

#[test]
fn what_the_server_says_of_it_is_told_within_bounds() {
    let message = |kind: &str, body: &str| {
        let answer = answer(&simple("get"), 422, &[("content-type", kind)], body.as_bytes());
        let Meaning::Failure { error, .. } = answer.meaning else { panic!() };
        error.message
    };
    let start = "the server answered with status 422";
    assert_eq!(
        message("application/problem+json", r#"{"type":"x","title":"Out of stock","detail":"none left","status":422}"#),
        format!("{start}: Out of stock: none left")
    );
    let github = r#"{"message":"Validation Failed","errors":[{"field":"title","code":"missing"}]}"#;
    assert_eq!(
        message("application/json", github),
        format!("{start}: Validation Failed: [{{\"field\":\"title\",\"code\":\"missing\"}}]")
    );
    assert_eq!(message("application/json", r#"{"error":{"message":"no"}}"#), format!("{start}: no"));
    assert_eq!(message("text/plain", "bad\nthing"), format!("{start}: bad\\nthing"), "one line");
    assert_eq!(message("text/html", "<html>"), start);
    assert_eq!(message("application/json", "{broken"), format!("{start}: {{broken"));
    let long = format!(
        r#"{{"message":"{}","detail":"{}","title":"{}"}}"#,
        "a".repeat(9000),
        "b".repeat(9000),
        "c".repeat(9000)
    );
    assert!(message("application/json", &long).chars().count() < 700);
}

#[test]
fn content_is_exact() {
    let of = |headers: &[(&str, &str)], body: &[u8]| answer(&simple("get"), 200, headers, body).content;
    let json = of(&[("Content-Type", "application/hal+json; charset=utf-8")], b" {\"a\": 1.0}\n");
    let Content::Json(payload) = json else { panic!("{json:?}") };
    assert_eq!(payload.text(), r#"{"a": 1.0}"#);
    let bytes = |bytes: &'static [u8], media_type: &str| Content::Bytes {
        bytes: Bytes::from_static(bytes),
        media_type: media_type.to_owned(),
    };
    assert_eq!(of(&[("content-type", "image/png")], b"\x89PNG"), bytes(b"\x89PNG", "image/png"));
    assert_eq!(
        of(&[("content-type", "image/svg+xml")], b"<svg/>"),
        Content::Text { text: "<svg/>".into(), media_type: "image/svg+xml".into() }
    );
    assert_eq!(of(&[("content-type", "application/pdf")], b"%PDF-1"), bytes(b"%PDF-1", "application/pdf"));
    assert_eq!(of(&[("content-type", "text/plain")], b"\xff"), bytes(b"\xff", "text/plain"));
    assert_eq!(
        of(&[("content-type", "application/json"), ("content-encoding", "gzip")], b"{}"),
        bytes(b"{}", "application/gzip")
    );
    assert_eq!(of(&[], b"abc"), bytes(b"abc", "application/octet-stream"));
    assert_eq!(of(&[("content-type", "application/json")], b""), Content::Empty);
    assert_eq!(
        of(&[("content-type", "application/json")], b"{\"a\":1,\"a\":2}"),
        Content::Text { text: "{\"a\":1,\"a\":2}".into(), media_type: "application/json".into() }
    );
}

#[test]
fn an_answer_that_is_not_what_the_document_says_is_told() {
    let schema = json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } });
    let responses = json!({ "200": { "description": "", "content": { "application/json": { "schema": schema } } } });
    let operation = only(&document(json!({ "/x": { "get": { "responses": responses } } }), json!({})));
    let mismatch =
        |body: &str| match answer(&operation, 200, &[("content-type", "application/json")], body.as_bytes()).meaning {
            Meaning::Success { mismatch } => mismatch.into_iter().map(|violation| violation.field).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
    assert_eq!(mismatch(r#"{"id":1}"#), Vec::<String>::new());
    assert_eq!(mismatch(r#"{"id":"x"}"#), ["/id"]);
}

#[test]
fn redirects_are_not_followed_here() {
    let found = answer(&simple("get"), 302, &[("Location", "https://other.test/")], b"");
    assert_eq!(found.meaning, Meaning::Redirect { location: Some("https://other.test/".to_owned()) });
    assert_eq!(answer(&simple("get"), 304, &[], b"").meaning, Meaning::Success { mismatch: Vec::new() });
}

#[test]
fn the_next_page_is_told_in_fields_of_the_input() {
    let operation = get("/x", json!([{ "name": "page", "in": "query" }, { "name": "per[page]", "in": "query" }]));
    let next = |headers: &[(&str, &str)], body: &str| {
        let mut headers = headers.to_vec();
        headers.push(("content-type", "application/json"));
        answer(&operation, 200, &headers, body.as_bytes()).next.map(|next| next.hint())
    };
    let link = "<https://api.test/v1/x?page=1>; rel=\"prev\",
        <https://api.test/v1/x?page=3&per%5Bpage%5D=5>; rel=\"next\", \
                <https://api.test/v1/x?page=9>; rel=\"last\"";
    let told = "There is a next page: call again with `page` = `3`, `per_page` = `5`.";
    assert_eq!(next(&[("Link", link)], "[]").as_deref(), Some(told));
    assert_eq!(next(&[("Link", "<https://api.test/v1/x?page=1>; rel=\"prev\"")], "[]"), None);
    let elsewhere = next(&[("Link", "<https://evil.test/?page=3>; rel=next")], "[]").unwrap();
    assert!(elsewhere.contains("`Link`: `https://evil.test/?page=3`"), "{elsewhere}");
    for (body, told) in [
        (r#"{"next_cursor":"abc"}"#, Some("There is a next page (`next_cursor`: `abc`).")),
        (r#"{"links":{"next":{"href":"?page=4"}}}"#, Some("There is a next page: call again with `page` = `4`.")),
        (r#"{"meta":{"next_page":7}}"#, Some("There is a next page (`next_page`: `7`).")),
        (r#"{"next":null,"nextToken":""}"#, None),
    ] {
        assert_eq!(next(&[], body).as_deref(), told);
    }
}
