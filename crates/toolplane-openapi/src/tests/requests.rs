//! From inputs to requests: what goes where, and what never does.

use serde_json::json;

use super::{ask, body, document, get, header, only, post, url};

#[test]
fn numbers_keep_their_spelling() {
    let operation = get("/x", json!([{ "name": "n", "in": "query" }]));
    for number in ["1.0", "1e3", "12345678901234567890123", "-0", "0.10"] {
        assert_eq!(url(&operation, &format!(r#"{{"n":{number}}}"#)), format!("https://api.test/v1/x?n={number}"));
    }
    let json = post("application/json", json!({ "schema": { "type": "object", "properties": { "n": {}, "m": {} } } }));
    assert_eq!(body(&json, r#"{ "n" : 1.00, "m":{"k": 1e400 } }"#), r#"{"n":1.00,"m":{"k": 1e400 }}"#);
    let whole = post("application/json", json!({ "schema": {} }));
    assert_eq!(body(&whole, r#"{"body": [1.0,  2]}"#), "[1.0,  2]");
}

#[test]
fn a_path_parameter_is_one_segment() {
    let operation = get("/a/{id}/b", json!([{ "name": "id", "in": "path", "required": true }]));
    for (value, path) in [
        ("x/../y", "x%2F..%2Fy"),
        ("%2e%2e", "%252e%252e"),
        ("a?b#c", "a%3Fb%23c"),
        ("a\\\\b", "a%5Cb"),
        ("...", "..."),
        ("é", "%C3%A9"),
        (" ", "%20"),
        ("\\u0000", "%00"),
    ] {
        assert_eq!(url(&operation, &format!(r#"{{"id":"{value}"}}"#)), format!("https://api.test/v1/a/{path}/b"));
    }
    for value in [r#""..""#, r#"".""#, r#""""#, "null", "[]", "{}", r#"[["x"]]"#] {
        assert!(ask(&operation, &format!(r#"{{"id":{value}}}"#)).is_err(), "{value}");
    }
    assert!(ask(&operation, "{}").unwrap_err().contains("missing"));
    // Two expressions may share a segment, and together make `..`.
    let both =
        json!([{ "name": "a", "in": "path", "required": true }, { "name": "b", "in": "path", "required": true }]);
    let operation = get("/{a}{b}/c", both);
    assert!(ask(&operation, r#"{"a":".","b":"."}"#).is_err());
    let dots = ask(&operation, r#"{"a":"%2e","b":"%2e"}"#).unwrap();
    assert_eq!(dots.url.path(), "/v1/%252e%252e/c");
    let label = json!([{ "name": "a", "in": "path", "required": true, "style": "label" }]);
    assert!(ask(&get("/{a}/c", label), r#"{"a":"."}"#).is_err());
}

#[test]
fn headers_are_never_more_than_a_header() {
    let parameters = json!([
        { "name": "X-Tag", "in": "header" }, { "name": "Host", "in": "header", "required": true },
        { "name": "Authorization", "in": "header" }, { "name": "X-Forwarded-For", "in": "header" },
        { "name": "Idempotency-Key", "in": "header", "required": true }, { "name": "Cookie", "in": "header" }
    ]);
    let operation = get("/x", parameters);
    let names: Vec<&str> = operation.binding.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(names, ["X-Tag"]);
    assert_eq!(operation.notes.len(), 5);
    for wrong in ["a\\r\\nHost: b", "a\\nb", "a\\u0000", "é"] {
        assert!(ask(&operation, &format!(r#"{{"X-Tag":"{wrong}"}}"#)).is_err(), "{wrong}");
    }
    // A binding that was not made here is held to the same.
    let mut forged = operation;
    forged.binding.parameters[0].name = "Host".to_owned();
    assert!(ask(&forged, r#"{"X-Tag":"evil.test"}"#).unwrap_err().contains("not a header"));
    forged.binding.parameters.clear();
    forged.binding.allowed_host = "other.test".to_owned();
    assert!(ask(&forged, "{}").unwrap_err().contains("leads elsewhere"));
}

#[test]
fn forms_are_encoded_as_forms() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "type": "string" }, "list": { "type": "array" }, "deep": { "type": "object" }, "joined": {
            "type": "array" },
        "json": { "type": "object" }
    } });
    let encoding =
        json!({ "deep": { "style": "deepObject", "explode": true }, "joined": { "style": "form", "explode": false } });
    let operation = post("application/x-www-form-urlencoded", json!({ "schema": schema, "encoding": encoding }));
    let input = r#"{"a":"x y&z=é","list":[1,2.0],"deep":{"k":{"l":"v"}},"joined":["a","b,c"],"json":{"n":1.0}}"#;
    let expected = "a=x+y%26z%3D%C3%A9&list=1&list=2.0&deep%5Bk%5D%5Bl%5D=v&joined=a,b%2Cc&json=%7B%22n%22%3A1.0%7D";
    assert_eq!(body(&operation, input), expected);
    let asked = ask(&operation, input).unwrap();
    assert_eq!(header(&asked, "content-type").as_deref(), Some("application/x-www-form-urlencoded"));
    assert_eq!(body(&operation, "{}"), "", "a body that has to be there may be empty");
}

#[test]
fn files_are_parts_with_exact_bytes() {
    let schema = json!({ "type": "object", "required": ["file"], "properties": {
        "file": { "type": "string", "format": "binary" }, "note": { "type": "string" }, "meta": { "type": "object" },
        "more": { "type": "array", "items": { "type": "string", "format": "binary" } }
    } });
    let operation = post(
        "multipart/form-data",
        json!({ "schema": schema, "encoding": { "note": { "contentType": "text/markdown" } } }),
    );
    let input = r#"{"file":{"base64":"AP8NCg==","filename":"a\"\r\nb.bin","media_type":"image/png"},
        "note":"hi","meta":{"k":1.0},
        "more":[{"text":"one"},{"text":"two","filename":"t"}]}"#;
    let asked = ask(&operation, input).unwrap();
    assert_eq!(header(&asked, "content-type").as_deref(), Some("multipart/form-data; boundary=BOUNDARY"));
    let mut expected = b"--BOUNDARY\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a%22%0D%0Ab.bin\"\r\n\
        content-type: image/png\r\n\r\n\x00\xff\r\n\r\n"
        .to_vec();
    expected.extend_from_slice(
        b"--BOUNDARY\r\ncontent-disposition: form-data; name=\"note\"\r\ncontent-type: text/markdown\r\n\r\nhi\r\n\
        --BOUNDARY\r\ncontent-disposition: form-data; name=\"meta\"\r\n\
        content-type: application/json\r\n\r\n{\"k\":1.0}\r\n\
        --BOUNDARY\r\ncontent-disposition: form-data; name=\"more\"; filename=\"file\"\r\n\
        content-type: application/octet-stream\r\n\r\none\r\n\
        --BOUNDARY\r\ncontent-disposition: form-data; name=\"more\"; filename=\"t\"\r\n\
        content-type: application/octet-stream\r\n\r\ntwo\r\n--BOUNDARY--\r\n",
    );
    assert_eq!(asked.body.unwrap().to_vec(), expected);
    for wrong in [
        r#"{"file":{"base64":"%%"}}"#,
        r#"{"file":{}}"#,
        r#"{"file":{"text":"a","base64":""}}"#,
        r#"{"file":"text"}"#,
        r#"{"file":{"text":"a","media_type":"image/png\r\nx: y"}}"#,
        r#"{"file":{"text":"holds the BOUNDARY"}}"#,
        r#"{"file":{"text":"a","path":"/etc/passwd"}}"#,
    ] {
        assert!(ask(&operation, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn texts_and_bytes_are_sent_as_they_are() {
    let text = post("text/markdown", json!({ "schema": { "type": "string" } }));
    assert_eq!(body(&text, r##"{"body":"# é\n"}"##), "# é\n");
    let bytes = post("application/octet-stream", json!({}));
    let asked = ask(&bytes, r#"{"body":{"base64":"_-8"}}"#).unwrap();
    assert_eq!(asked.body.unwrap().to_vec(), [0xff, 0xef]);
    assert_eq!(body(&bytes, r#"{"body":{"text":"plain"}}"#), "plain");
    assert!(ask(&text, "{}").unwrap_err().contains("`body` is missing"));
}

#[test]
fn a_body_that_may_be_left_out_is() {
    let schema = json!({ "type": "object", "properties": { "a": {} } });
    let content = json!({ "application/json": { "schema": schema } });
    let operation = only(&document(json!({ "/x": { "post": { "requestBody": { "content": content } } } }), json!({})));
    assert_eq!(ask(&operation, "{}").unwrap().body, None);
    assert_eq!(body(&operation, r#"{"a":null}"#), r#"{"a":null}"#);
}

#[test]
fn a_printed_request_shows_no_values() {
    let operation = get("/x", json!([{ "name": "key", "in": "query" }, { "name": "X-Key", "in": "header" }]));
    let asked = ask(&operation, r#"{"key":"s3cret","X-Key":"s3cret"}"#).unwrap();
    assert!(!format!("{asked:?}").contains("s3cret") && asked.url.query() == Some("key=s3cret"));
}
