use std::sync::Arc;

use prost_reflect::prost::Message as _;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;

use super::*;
use crate::json::methods::{self, Method};

fn method(route: &str) -> Arc<Method> {
    let found = methods::all().iter().find(|method| method.route == route);
    Arc::clone(found.unwrap_or_else(|| panic!("no method `{route}`")))
}

fn read(route: &str, text: &str) -> Result<DynamicMessage, String> {
    message(text.as_bytes(), &method(route).input).map_err(|error| error.to_string())
}

fn call(text: &str) -> v1::CallRequest {
    let message = read("/v1/call", text).unwrap();
    v1::CallRequest::decode(&message.encode_to_vec()[..]).unwrap()
}

#[test]
fn a_call_is_read_as_its_message() {
    let request = call(
        r#"{"spec": {"tool_name": "a.b", "nativeCallId": "n", "model_input": {"x": 1}, "timeout_ms": "18446744073709551615",
            "runtime_refs": ["r", "s"], "no_approver": true, "session_ref": null,
            "resource_locks": [{"key": "file:a"}, {}], "assurance": {"confidence": 0.25}}, "waitMs": 5e3}"#,
    );
    let spec = request.spec.unwrap();
    assert_eq!((spec.tool_name.as_str(), spec.native_call_id.as_str(), spec.session_ref.as_str()), ("a.b", "n", ""));
    assert_eq!((spec.timeout_ms, request.wait_ms, spec.no_approver), (u64::MAX, 5000, true));
    assert_eq!((spec.runtime_refs, spec.resource_locks.len()), (vec!["r".to_owned(), "s".to_owned()], 2));
    assert_eq!(spec.assurance.unwrap().confidence, Some(0.25));
}

#[test]
fn a_json_value_is_taken_as_the_bytes_it_is() {
    let exact = "{ \"b\" : 123456789012345678901234567890.10,\n \"a\":[1e400, \"\\u00e9\"] , \"b2\": -0}";
    for value in [exact, "null", "7", "\"text\"", "[]"] {
        let spec = call(&format!("{{\"spec\":{{\"model_input\": {value} }}}}")).spec.unwrap();
        assert_eq!(spec.model_input.unwrap().body, Some(Body::Inline(value.to_owned().into())), "{value}");
    }
    assert_eq!(call(r#"{"spec":{}}"#).spec.unwrap().model_input, None, "left out");
    let rules = read("/v1/add-rules", r#"{"rules":[{"match":["git diff",{"tool":"x"}]}]}"#).unwrap();
    let rules = v1::AddRulesRequest::decode(&rules.encode_to_vec()[..]).unwrap();
    let found: Vec<_> = rules.rules[0].r#match.iter().map(|one| one.body.clone().unwrap()).collect();
    assert_eq!(found, [r#""git diff""#, r#"{"tool":"x"}"#].map(|text| Body::Inline(text.into())));
}

#[test]
fn times_maps_and_words_are_read() {
    let text = r#"{"created_after": "2031-01-01T01:00:00.250+01:00", "createdBefore": "1969-12-31T23:59:59.5Z",
                   "status_code": "INVOCATION_STATUS_RUNNING", "queue_state": 1, "page_size": -3}"#;
    let list = read("/v1/list-invocations", text).unwrap();
    let list = v1::ListInvocationsRequest::decode(&list.encode_to_vec()[..]).unwrap();
    let time = |seconds, nanos| Some(prost_types::Timestamp { seconds, nanos });
    assert_eq!(list.created_after, time(1_924_992_000, 250_000_000));
    assert_eq!(list.created_before, time(-1, 500_000_000));
    assert_eq!((list.status_code(), list.page_size), (v1::InvocationStatus::Running, -3));
    let text = r#"{"provider":{"mcp_stdio":{"argv":["a"],"env":{"B":"2","A":"1"}}}}"#;
    let put = read("/v1/put-provider", text);
    assert!(put.is_ok() || put.clone().unwrap_err().contains("is no field of"), "{put:?}");
}

#[test]
fn nothing_is_a_message_without_fields() {
    for text in ["", " \n", "{}"] {
        assert_eq!(read("/v1/list-tools", text).unwrap(), DynamicMessage::new(method("/v1/list-tools").input.clone()));
    }
}

/// What is wrong is told by its place and by the rule.
#[test]
fn what_is_wrong_is_named() {
    let refused = |text: &str| read("/v1/call", text).unwrap_err();
    for (text, said) in [
        (r#"{"spek":{}}"#, "`spek` is no field of `CallRequest`"),
        (r#"{"spec":{"tool":"x"}}"#, "`spec.tool` is no field of `InvocationSpec`"),
        (r#"{"spec":{"resource_locks":[{},{"kay":1}]}}"#, "`spec.resource_locks[1].kay` is no field of `ResourceLock`"),
        (r#"{"spec":{"tool_name":1}}"#, "`spec.tool_name` must be a text, and is another number"),
        (r#"{"spec":{"tool_name":"a","toolName":"b"}}"#, "`spec.tool_name` is given twice"),
        (r#"{"spec":{"tool_name":null,"tool_name":"b"}}"#, "`spec.tool_name` is given twice"),
        (r#"{"spec":{"runtime_refs":"x"}}"#, "`spec.runtime_refs` must be a list"),
        (r#"{"spec":{"runtime_refs":["x",null]}}"#, "`spec.runtime_refs[1]` must be a text, and is null"),
        (r#"{"spec":[]}"#, "`spec` must be an object and is a list"),
        (r#"{"wait_ms":-1}"#, "`wait_ms` must be an integer of 32 bits, not negative, and is another number"),
        (
            r#"{"wait_ms":1.5}"#,
            "`wait_ms` must be an integer of 32 bits, not negative, and is a number that is none of those",
        ),
        (r#"{"spec":{"timeout_ms":18446744073709551616}}"#, "`spec.timeout_ms` must be an integer of 64 bits"),
        (r#"{"spec":{"timeout_ms":"1e3"}}"#, "`spec.timeout_ms` must be an integer of 64 bits"),
        (r#"{"spec":{"no_approver":"true"}}"#, "`spec.no_approver` must be true or false, and is a text"),
        ("[]", "`body` must be an object and is a list"),
        ("null", "`body` must be an object and is null"),
        (
            r#"{"spec":{"model_input":{"a":}}}"#,
            "`spec.model_input` is not valid JSON: expected value at line 1 column 29",
        ),
        ("{} x", "`body` is not valid JSON: trailing characters at line 1 column 4"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(said), "{text}\n  {found}\n  {said}");
    }
    let not_text = message(b"{\"spec\":\"\xff\"}", &method("/v1/call").input).unwrap_err().to_string();
    assert_eq!(not_text, "`body` is not valid UTF-8 at byte 9");
    let word = read("/v1/list-invocations", r#"{"queue_state":"READY"}"#).unwrap_err();
    assert!(
        word.starts_with("`queue_state` must be one of `QUEUE_STATE_UNSPECIFIED`") && word.ends_with("and is `READY`"),
        "{word}"
    );
    let time = read("/v1/list-invocations", r#"{"created_after":"yesterday"}"#).unwrap_err();
    assert!(time.starts_with("`created_after` is not an RFC 3339 time"), "{time}");
    let both = read("/v1/read-payload", r#"{"uri":"a","digest":"b"}"#).unwrap_err();
    assert_eq!(both, "`digest` cannot be given beside `uri`");
}

/// What a surface or a call was to be held to is not dropped in silence.
#[test]
fn an_empty_parent_or_moment_is_refused() {
    let empty = "is empty: leave it out, or give a value";
    for name in ["parent_surface_id", "parentSurfaceId"] {
        let refused = read("/v1/create-surface", &format!(r#"{{"{name}":""}}"#)).unwrap_err();
        assert_eq!(refused, format!("`parent_surface_id` {empty}"));
    }
    let refused = read("/v1/call", r#"{"spec":{"surface_moment":""}}"#).unwrap_err();
    assert_eq!(refused, format!("`spec.surface_moment` {empty}"));
    let refused =
        read("/v1/submit-batch", r#"{"spec":{"calls":[{"spec":{}},{"spec":{"surface_moment":""}}]}}"#).unwrap_err();
    assert_eq!(refused, format!("`spec.calls[1].spec.surface_moment` {empty}"));
    for left_out in ["{}", r#"{"parent_surface_id":null}"#, r#"{"parent_surface_id":"surf_1"}"#, r#"{"producer":""}"#] {
        assert!(read("/v1/create-surface", left_out).is_ok(), "{left_out}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = format!("{{\"spec\":{{\"model_input\":{}1{}}}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read("/v1/call", &deep).is_ok(), "the role that takes it says how deep a value may be");
    let deep = "{\"spec\":".repeat(100_000);
    assert!(read("/v1/call", &deep).is_err());
}

/// The mapping knows every type that the contract uses.
#[test]
fn no_other_well_known_type_is_used() {
    let pool = method("/v1/call").input.parent_pool().clone();
    let known: Vec<String> = pool
        .all_messages()
        .filter(|message| message.package_name().starts_with("google."))
        .map(|message| message.full_name().to_owned())
        .collect();
    assert_eq!(known, ["google.protobuf.Timestamp"]);
}
