//! What clients of other protocols send back.

use toolplane_fuzz::fuzz;

use crate::{a2a, acp, cloudevents, in_toto, mcp};

const ANSWERS: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}"#,
    r#"{"outcome":"cancelled","optionId":null,"_meta":{}}"#,
    r#"{"content":[{"type":"text","text":"a"},{"type":"resource","resource":{"uri":"x","blob":"/w=="}}],"structuredContent":1e999,"isError":true}"#,
    r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[{"data":{"n":1.50}}]}]}"#,
    r#"{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{"event_id":"e","event_type":"x","source":"/s","time":"2026-05-17T06:40:00Z","sequence":1}}"#,
    r#"{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"a","digest":{"sha256":"00"}}],"predicateType":"x","predicate":{}}"#,
];

/// Whatever is sent, it is read or refused; and an outcome that says nothing of `selected` selects nothing.
#[test]
fn answers() {
    fuzz!("answers", ANSWERS, |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(acp::Outcome::Selected(option)) = acp::Outcome::read(&text) {
            assert!(text.contains("selected") || text.contains("\\u"), "{option} in {text}");
        }
        let _ = (mcp::read(&text), a2a::read(&text), cloudevents::read_json(&text), in_toto::read(&text));
        let _ = (cloudevents::read_protobuf(bytes), cloudevents::read_protobuf_batch(bytes));
    });
}
