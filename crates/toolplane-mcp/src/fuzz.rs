//! What servers say: messages, events, tools, results and questions, mutated.

use bytes::Bytes;
use toolplane_fuzz::fuzz;

use crate::core::Core;
use crate::http::events::Events;
use crate::limits::Limits;
use crate::{content, definition, elicit, message};

const MESSAGES: [&str; 7] = [
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}],"isError":false}}"#,
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2026-07-28"]}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5,"total":1,"message":"half"}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#,
    "Listening on standard input",
];

#[test]
fn messages() {
    fuzz!("messages", MESSAGES, |bytes: &[u8]| {
        let core = Core::new(Limits::default());
        let (_, mailbox) = core.begin(true);
        mailbox.leave();
        let bytes = Bytes::copy_from_slice(bytes);
        if let Ok(Some(answer)) = core.incoming(&bytes, None) {
            assert!(message::read(&answer).is_some(), "what is answered is a message");
        }
    });
}

#[test]
fn events() {
    let corpus = [
        "event: message\nid: 4\nretry: 10\ndata: {\"a\":1}\n\n",
        ": comment\r\n\r\ndata: x\r\ndata: y\r\n\r\n",
        "\u{feff}data\n\ndata:\r\rid:\n\n",
    ];
    fuzz!("events", corpus, |bytes: &[u8]| {
        let whole = |chunk: usize| {
            let (mut events, mut found) = (Events::default(), Vec::new());
            for chunk in bytes.chunks(chunk.max(1)) {
                events.push(chunk);
                while let Ok(Some(event)) = events.next(1 << 20) {
                    found.push(event);
                }
            }
            found
        };
        assert_eq!(whole(bytes.len()), whole(1), "how a stream is cut changes nothing");
    });
}

#[test]
fn tools() {
    let corpus = [
        r#"{"name":"t","title":"T","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}"#,
        r#"{"name":"t","inputSchema":{"maximum":1.50e3},"outputSchema":true,"annotations":{"readOnlyHint":true},"icons":[]}"#,
    ];
    fuzz!("tools", corpus, |bytes: &[u8]| {
        let limits = Limits::default();
        if let Ok(tool) = definition::read(&Bytes::copy_from_slice(bytes), &limits) {
            assert!(!tool.name.is_empty());
        }
    });
}

#[test]
fn results() {
    let corpus = [
        r#"{"content":[{"type":"image","data":"AAEC","mimeType":"image/png"},{"type":"text","text":"x"}],"structuredContent":[1.0]}"#,
        r#"{"content":[{"type":"resource","resource":{"uri":"u","blob":"AA=="}}],"isError":true,"resultType":"complete"}"#,
        r#"{"content":[{"type":"resource_link","uri":"u","name":"n","size":1}]}"#,
    ];
    fuzz!("results", corpus, |bytes: &[u8]| {
        let bytes = Bytes::copy_from_slice(bytes);
        let _ = content::kind(&bytes);
        let _ = content::read(&bytes, &Limits::default());
    });
}

#[test]
fn questions() {
    let corpus = [
        r#"{"mode":"form","message":"who?","requestedSchema":{"type":"object","properties":{}}}"#,
        r#"{"mode":"url","message":"go","url":"https://example.org","elicitationId":"1"}"#,
    ];
    fuzz!("questions", corpus, |bytes: &[u8]| {
        let _ = elicit::read(&Bytes::copy_from_slice(bytes), &Limits::default());
    });
}
