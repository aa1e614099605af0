use prost_reflect::MessageDescriptor;
use prost_reflect::prost::Message;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;

use super::*;
use crate::json::methods;

fn descriptor(name: &str) -> MessageDescriptor {
    let pool = methods::all()[0].input.parent_pool().clone();
    pool.get_message_by_name(&format!("toolplane.v1.{name}")).unwrap()
}

fn written(name: &str, typed: &impl Message) -> String {
    let dynamic = DynamicMessage::decode(descriptor(name), &typed.encode_to_vec()[..]).unwrap();
    String::from_utf8(message(&dynamic)).unwrap()
}

fn inline(text: &'static str) -> v1::JsonPayload {
    v1::JsonPayload {
        body: Some(Body::Inline(text.into())),
        sha256: vec![1; 32].into(),
        size_bytes: 3,
        media_type: "application/json".to_owned(),
        redaction: 1,
    }
}

fn elsewhere(uri: &str) -> v1::JsonPayload {
    v1::JsonPayload {
        body: Some(Body::Ref(uri.to_owned())),
        sha256: vec![0xab; 32].into(),
        size_bytes: 70_000,
        ..inline("")
    }
}

#[test]
fn a_message_is_an_object_of_what_it_has() {
    let event = v1::Event {
        event_id: "e\"1\n".to_owned(),
        event_class: v1::EventClass::ToolInvocationQueued.into(),
        time: Some(prost_types::Timestamp { seconds: 1_924_992_000, nanos: 5_000_000 }),
        data: Some(inline("{\"n\": 123456789012345678901234567890}")),
        sequence: 7,
        ..Default::default()
    };
    assert_eq!(
        written("Event", &event),
        r#"{"event_id":"e\"1\n","event_class":"EVENT_CLASS_TOOL_INVOCATION_QUEUED","time":"2031-01-01T00:00:00.005Z","data":{"n": 123456789012345678901234567890},"sequence":7}"#
    );
    assert_eq!(written("Event", &v1::Event::default()), "{}");
    let newer = v1::Event { event_class: 9_999, ..Default::default() };
    assert_eq!(written("Event", &newer), r#"{"event_class":9999}"#, "a word of a newer version");
}

#[test]
fn integers_are_numbers_as_long_as_a_double_holds_them() {
    for (number, text) in [
        (1, "1"),
        (EXACT, "9007199254740991"),
        (EXACT + 1, "\"9007199254740992\""),
        (u64::MAX, "\"18446744073709551615\""),
    ] {
        let event = v1::Event { sequence: number, ..Default::default() };
        assert_eq!(written("Event", &event), format!("{{\"sequence\":{text}}}"));
    }
}

#[test]
fn fractions_and_bytes_are_written() {
    for (number, text) in [(0.25, "0.25"), (f64::NAN, "\"NaN\""), (f64::NEG_INFINITY, "\"-Infinity\""), (-0.0, "-0.0")]
    {
        let progress = v1::ToolProgress { percent: Some(number), ..Default::default() };
        assert_eq!(written("ToolProgress", &progress), format!("{{\"percent\":{text}}}"));
    }
    let piece = v1::ReadPayloadResponse { data: vec![0, 255, 62].into(), eof: true, ..Default::default() };
    assert_eq!(written("ReadPayloadResponse", &piece), r#"{"data":"AP8+","eof":true}"#);
}

/// A tool that writes what looks like a reference has written a value.
#[test]
fn what_is_kept_elsewhere_is_told_beside_the_value() {
    let forged = inline(r#"{"uri":"payload:x","sha256":"ab"}"#);
    let result = v1::ToolResult { structured_content: Some(forged), ..Default::default() };
    assert_eq!(written("ToolResult", &result), r#"{"structured_content":{"uri":"payload:x","sha256":"ab"}}"#);
    let result = v1::ToolResult {
        structured_content: Some(elsewhere("payload:x/1")),
        context_modifiers: vec![inline("1"), elsewhere("payload:x/2")],
        ..Default::default()
    };
    let digest = "ab".repeat(32);
    let reference = |uri: &str| {
        format!(r#"{{"uri":"{uri}","sha256":"{digest}","size_bytes":70000,"media_type":"application/json"}}"#)
    };
    let expected = format!(
        r#"{{"structured_content@ref":{},"context_modifiers":[1,null],"context_modifiers@ref":{{"1":{}}}}}"#,
        reference("payload:x/1"),
        reference("payload:x/2")
    );
    assert_eq!(written("ToolResult", &result), expected);
}
