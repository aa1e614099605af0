//! Bodies nobody meant to send.

use super::{methods, read, write};

/// What is read is written again, and then says the same.
#[test]
fn bodies_of_requests() {
    let corpus = [
        r#"{"spec":{"tool_name":"text.word_count","model_input":{"path":"words.txt"},"timeout_ms":"5000"},"wait_ms":0}"#,
        r#"{"spec":{"resourceLocks":[{"key":"a","mode":"LOCK_MODE_SHARED"}],"assurance":{"confidence":0.5},"model_input":null}}"#,
        r#"{"created_after":"2031-01-01T00:00:00.5Z","status_code":"INVOCATION_STATUS_RUNNING","page_size":1e2}"#,
        r#"{"provider":{"id":"x","mcp_stdio":{"argv":["a"],"env":{"A":"b"}}},"dry_run":true}"#,
        r#"{"from":[{"index":1,"from_seq":18446744073709551615}],"after_yield_seq":"7"}"#,
    ];
    toolplane_fuzz::fuzz!("json_bodies", corpus, |bytes: &[u8]| {
        for method in methods::all() {
            let Ok(message) = read::message(bytes, &method.input) else { continue };
            let written = write::message(&message);
            let again = read::message(&written, &method.input).expect("what is written can be read");
            let again = String::from_utf8(write::message(&again)).unwrap();
            assert_eq!(again, String::from_utf8(written).unwrap(), "{}", method.name);
        }
    });
}
