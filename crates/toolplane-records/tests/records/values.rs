//! The values records are made of: strict JSON, digests, identifiers and instants.

use toolplane_records::ids::{InvalidId, MAX_ID_LEN, ToolId};
use toolplane_records::json::{self, JsonLimits};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::result::ToolResult;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::InvocationStatus;

fn check(text: &[u8], expected: Result<(), &str>) {
    let limits = JsonLimits { max_bytes: 64, max_depth: 3, max_nodes: 5 };
    let actual = json::check(text, &limits).map_err(|refusal| refusal.code());
    assert_eq!(actual, expected, "{}", String::from_utf8_lossy(text));
}

#[test]
fn json_is_strict() {
    check(b"{\"a\":[1,-0.5e3,true,null]}", Ok(()));
    check(b" \"x\" ", Ok(()));
    check(b"123456789012345678901234567890", Ok(()));
    check(b"[[[1]]]", Ok(()));
    check(b"[[[[1]]]]", Err("JSON_TOO_DEEP"));
    check(b"[1,2,3,4,5]", Ok(()));
    check(b"[1,2,3,4,5,6]", Err("JSON_TOO_MANY_VALUES"));
    check(b"{\"a\":1,\"a\":2}", Err("JSON_DUPLICATE_KEY"));
    check(b"{\"a\":1,\"\\u0061\":2}", Err("JSON_DUPLICATE_KEY"));
    check(b"[{\"a\":1},{\"a\":2}]", Ok(()));
    check(b"\"\xff\"", Err("JSON_NOT_UTF8"));
    check(&[b' '; 65], Err("JSON_TOO_LARGE"));
    for wrong in ["", "{", "[1,]", "{'a':1}", "NaN", "01", "1 2", "\"\\ud800\"", "// x\n1", "\u{feff}1", "\"\n\""] {
        check(wrong.as_bytes(), Err("JSON_SYNTAX"));
    }
}

/// Nesting far beyond every limit is refused, not a crash.
#[test]
fn deep_json_is_refused() {
    let bomb = "[".repeat(900_000);
    let refusal = json::check(bomb.as_bytes(), &JsonLimits::default()).unwrap_err();
    assert_eq!(refusal.code(), "JSON_TOO_DEEP");
}

/// A value of `null` is a value; only a missing field is none.
#[test]
fn null_is_a_value() {
    let text = r#"{"result_id":"r","invocation_id":"i","status":"succeeded","created_at":"2026-05-17T06:40:00Z"}"#;
    let mut result: ToolResult = serde_json::from_str(text).unwrap();
    assert_eq!(result.structured_content, None);
    result.structured_content = Some(JsonPayload::from_checked("null"));
    let read: ToolResult = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
    assert_eq!(read, result);
}

#[test]
fn payloads_do_not_show_their_content() {
    let payload = JsonPayload::of("hunter2");
    assert_eq!(payload.text(), "\"hunter2\"");
    assert!(!format!("{payload:?}").contains("hunter2"));
}

#[test]
fn digests_print_and_parse() {
    let digest = Digest::of(b"");
    let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest.to_string(), text);
    assert_eq!(text.parse(), Ok(digest));
    assert_eq!(digest.hex().parse(), Ok(digest));
    assert!(text[..70].parse::<Digest>().is_err());
    assert!("sha512:00".parse::<Digest>().is_err());
}

#[test]
fn identifiers_are_printable_and_bounded() {
    let parse = |text: &str| ToolId::parse(text).map(|id| id.to_string());
    assert_eq!(parse("a.B_0:/@+-"), Ok("a.B_0:/@+-".to_owned()));
    assert_eq!(parse(""), Err(InvalidId::Empty));
    assert_eq!(parse("a b"), Err(InvalidId::Character(' ')));
    assert_eq!(parse("\u{e9}"), Err(InvalidId::Character('\u{e9}')));
    assert!(parse(&"x".repeat(MAX_ID_LEN)).is_ok());
    assert_eq!(parse(&"x".repeat(MAX_ID_LEN + 1)), Err(InvalidId::TooLong(MAX_ID_LEN + 1)));
}

#[test]
fn instants_are_utc_milliseconds() {
    let at: Timestamp = "2026-05-17T08:40:00.1239+02:00".parse().unwrap();
    assert_eq!(at.to_string(), "2026-05-17T06:40:00.123Z");
    for millis in [i64::MIN, i64::MAX, 0, -1] {
        let at = Timestamp::from_millis(millis);
        assert_eq!(at.to_string().parse(), Ok(at), "{millis}");
    }
    assert!("yesterday".parse::<Timestamp>().is_err());
}

#[test]
fn eight_states_are_terminal() {
    let terminal: Vec<&str> =
        InvocationStatus::ALL.iter().filter(|status| status.is_terminal()).map(|status| status.as_str()).collect();
    let expected = [
        "schema_parse_failed",
        "validation_failed",
        "denied",
        "succeeded",
        "failed",
        "canceled",
        "timed_out",
        "blocked",
    ];
    assert_eq!(terminal, expected);
}
