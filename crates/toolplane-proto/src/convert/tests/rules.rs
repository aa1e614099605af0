use bytes::Bytes;
use proptest::prelude::*;
use toolplane_records as records;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;

use crate::convert::{field, payload, registration};
use crate::v1;
use crate::v1::json_payload::Body;

fn inline(bytes: &'static [u8]) -> v1::JsonPayload {
    v1::JsonPayload { body: Some(Body::Inline(Bytes::from_static(bytes))), ..Default::default() }
}

fn refused(message: v1::JsonPayload) -> String {
    payload::ingest(message, &JsonLimits::default()).unwrap_err().to_string()
}

/// Size and digest may be left out; given, they must be right.
#[test]
fn json_payloads_are_checked() {
    let good = inline(br#"{"a": 1.0}"#);
    let digest = Bytes::copy_from_slice(Digest::of(br#"{"a": 1.0}"#).as_bytes());
    let read = payload::ingest(good.clone(), &JsonLimits::default()).unwrap();
    assert_eq!(&read.bytes()[..], br#"{"a": 1.0}"#);
    let proved = v1::JsonPayload { sha256: digest.clone(), size_bytes: 10, ..good.clone() };
    assert_eq!(payload::ingest(proved.clone(), &JsonLimits::default()).unwrap(), read);

    let wrong = v1::JsonPayload { sha256: digest.slice(..31), ..good.clone() };
    assert_eq!(refused(wrong), "`sha256` does not match the bytes");
    let wrong = v1::JsonPayload { size_bytes: 11, ..proved };
    assert_eq!(refused(wrong), "`size_bytes` says 11 but the value has 10 bytes");
    let wrong = v1::JsonPayload { media_type: "text/plain".to_owned(), ..good };
    assert_eq!(refused(wrong), "`media_type` must be `application/json` or `application/schema+json`");
    let by_ref = v1::JsonPayload { body: Some(Body::Ref("payload:x".to_owned())), ..Default::default() };
    assert_eq!(refused(by_ref), "`ref` is not accepted here: give the bytes inline");
    assert_eq!(refused(v1::JsonPayload::default()), "`inline` is required");
    assert_eq!(refused(inline(br#"{"a":1,"\u0061":2}"#)), "`` has the key `a` twice in one object");
    assert_eq!(refused(inline(b"\"\xff\"")), "`` is not valid UTF-8 at byte 1");
    let tight = JsonLimits { max_bytes: 3, ..JsonLimits::default() };
    let error = payload::ingest(inline(b"1234"), &tight).unwrap_err();
    assert_eq!(error.rule, "is 4 bytes; at most 3 are allowed");
}

fn declaration() -> v1::ToolDeclaration {
    v1::ToolDeclaration {
        tool_id: "t-1".to_owned(),
        namespace: "files".to_owned(),
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        lifecycle: v1::ToolLifecycle::Available.into(),
        tool_kind: "function".to_owned(),
        ..Default::default()
    }
}

fn wrong_fields(message: v1::ToolRegistration) -> Vec<(String, String)> {
    let wrong = registration::parts(message).unwrap_err();
    wrong.into_iter().map(|error| (error.field, error.rule)).collect()
}

/// Errors name the field by its whole path, and each record of a registration is looked at.
#[test]
fn registrations_name_every_wrong_record() {
    let contract = v1::InputContract { model_input_schema: Some(inline(b"{")), ..Default::default() };
    let message = v1::ToolRegistration {
        declaration: Some(v1::ToolDeclaration { input_contract: Some(contract), ..declaration() }),
        interface: Some(v1::ToolInterface { interface_id: "if 1".to_owned(), ..Default::default() }),
        execution_profile: Some(v1::ExecutionProfile {
            execution_profile_id: "p".to_owned(),
            execution_kind: "http_api".to_owned(),
            binding: Some(v1::ExecutionBinding {
                binding: Some(v1::execution_binding::Binding::Http(v1::HttpBinding {
                    allowed_ports: vec![80, 70_000],
                    ..Default::default()
                })),
            }),
            ..Default::default()
        }),
        permission_profile: Some(v1::PermissionProfile {
            permission_profile_id: "p".to_owned(),
            risk_level: 77,
            ..Default::default()
        }),
    };
    let wrong = wrong_fields(message);
    let fields: Vec<&str> = wrong.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "declaration.input_contract.model_input_schema",
            "interface.interface_id",
            "execution_profile.binding.http.allowed_ports[1]",
            "permission_profile.risk_level",
        ]
    );
    assert_eq!(wrong[3].1, "has the unknown value 77");
    assert_eq!(wrong_fields(v1::ToolRegistration::default())[0].1, "is required");
}

#[test]
fn registrations_read_and_write() {
    let message = v1::ToolRegistration { declaration: Some(declaration()), ..Default::default() };
    let parts = registration::parts(message).unwrap();
    assert_eq!(parts.declaration.schema_version, records::SCHEMA_VERSION);
    assert_eq!(parts.declaration.full_name(), "files.read");
    let again = registration::parts(v1::ToolRegistration::from(&parts)).unwrap();
    assert_eq!(again, parts);
}

#[test]
fn bindings_to_servers_read_and_write() {
    for binding in [
        r#"{"provider_id":"p","server":{"transport":"stdio","argv":["a"],"env_names":["A"],"credentials":{"B":"c"},"sandbox":{"allowed_hosts":["h"],"allowed_ports":[8443],"workspace":"write","read_paths":["/opt"]}},"tool":"t","sharing":"session"}"#,
        r#"{"provider_id":"p","server":{"transport":"http","url":"https://h/","headers":{"a":"b"}}}"#,
    ] {
        let record: records::mcp::McpBinding = serde_json::from_str(binding).unwrap();
        let again = records::mcp::McpBinding::try_from(v1::McpBinding::from(&record)).unwrap();
        assert_eq!(again, record);
        assert_eq!(v1::McpBinding::from(&record).tool.is_empty(), record.tool.is_none());
    }
}

#[test]
fn oneofs_without_a_choice_are_refused() {
    let fact = v1::SafetyFact { fact: None };
    assert!(records::interface::SafetyFact::try_from(fact).is_err());
    assert!(records::profile::ExecutionBinding::try_from(v1::ExecutionBinding { binding: None }).is_err());
    assert!(records::result::ContentBlock::try_from(v1::ContentBlock { block: None }).is_err());
}

/// The type of an event is free, but it may not contradict the enum beside it.
#[test]
fn event_types_stay_open() {
    let event = |event_type: &str, class: v1::EventClass| v1::Event {
        event_id: "e".to_owned(),
        event_type: event_type.to_owned(),
        event_class: class.into(),
        source: "/x".to_owned(),
        time: field::instant(Timestamp::from_millis(0)),
        ..Default::default()
    };
    let read = |event: v1::Event| records::event::ToolEvent::try_from(event).map(|event| event.event_type);
    assert_eq!(read(event("vendor.custom", v1::EventClass::Unspecified)).unwrap(), "vendor.custom");
    assert_eq!(read(event("", v1::EventClass::ToolDeclared)).unwrap(), "tool.declared");
    assert_eq!(read(event("tool.declared", v1::EventClass::ToolResultCreated)).unwrap_err().field, "event_type");
    assert_eq!(read(event("", v1::EventClass::Unspecified)).unwrap_err().rule, "is required");
}

/// What is secret does not show when a message is printed.
#[test]
fn debug_shows_no_secrets() {
    let lease = v1::LeaseRef { invocation_id: "inv-1".to_owned(), lease_no: 2, lease_id: "hunter2".to_owned() };
    let block = |text: &str| v1::content_block::Block::Text(v1::TextBlock { text: text.to_owned() });
    let outcome = v1::ExecutionOutcome {
        content: vec![v1::ContentBlock { block: Some(block("hunter2")) }],
        structured_content: Some(inline(br#"{"password":"hunter2"}"#)),
        ..Default::default()
    };
    let done = v1::ExecutionDone { lease: Some(lease), outcome: Some(Box::new(outcome)) };
    let text = format!("{done:?} {:?}", v1::LogBlock { text: "hunter2".to_owned(), stream: "stderr".to_owned() });
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("inv-1#2"), "{text}");
}

#[test]
fn instants_outside_the_calendar_are_refused() {
    let wrong = |seconds: i64, nanos: i32| field::time("at", Some(prost_types::Timestamp { seconds, nanos })).is_err();
    assert!(wrong(i64::MAX, 0));
    assert!(wrong(i64::MIN, 0));
    assert!(wrong(0, -1));
    assert!(wrong(0, 1_000_000_000));
    assert!(!wrong(-62_135_596_800, 999_999_999));
    assert_eq!(field::time("at", None).unwrap_err().to_string(), "`at` is required");
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<u128>().prop_map(|value| value.to_string()),
        "-?[1-9][0-9]{0,30}\\.[0-9]{1,20}",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let members = prop::collection::btree_map("[a-z]{1,4}", inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[ {} ]", items.join(" ,"))),
            members.prop_map(|members| {
                let pairs: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", pairs.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn json_bytes_survive(text in any_json()) {
        let record = JsonPayload::ingest(text.clone(), &JsonLimits::default()).unwrap();
        let back = JsonPayload::try_from(v1::JsonPayload::from(&record)).unwrap();
        prop_assert_eq!(back.text(), text.as_str());
        prop_assert_eq!(back.digest(), record.digest());
    }

    #[test]
    fn instants_survive(millis in any::<i64>()) {
        let at = Timestamp::from_millis(millis);
        prop_assert_eq!(field::time("at", field::instant(at)).unwrap(), at);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let message = v1::JsonPayload { body: Some(Body::Inline(bytes.clone().into())), ..Default::default() };
        if let Ok(read) = payload::ingest(message, &JsonLimits::default()) {
            prop_assert_eq!(&read.bytes()[..], &bytes[..]);
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
        }
    }
}
