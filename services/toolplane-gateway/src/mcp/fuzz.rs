//! What clients say, mutated: messages, `_meta`, sessions, addresses, answers.

use bytes::Bytes;
use toolplane_fuzz::fuzz;
use toolplane_mcp::message::{self, Message};

use super::client::{Meta, Session};
use super::http::written;
use super::incoming;
use super::seal::{Purpose, Seals};
use super::version::Version;

const MESSAGES: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1.0},"_meta":{"progressToken":"p","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}"#,
    r#"{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"n","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"a":1}}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
];

/// Whatever comes is read or refused, and a refusal is a message that has the id of its request.
#[test]
fn messages() {
    fuzz!("messages", MESSAGES, |bytes: &[u8]| {
        let (id, params) = match incoming::read(&Bytes::copy_from_slice(bytes)) {
            Ok(Message::Request { id, params, .. }) => (id, params),
            Ok(_) => return,
            Err(unfit) => {
                let answer = message::read(&written(&unfit.id, &unfit.fault));
                assert!(matches!(answer, Some(Message::Answer { .. })), "an answer to whatever came");
                return;
            }
        };
        let refused = match Meta::of(&params) {
            Ok(meta) => meta.client(Version::V2026July).err(),
            Err(fault) => Some(fault),
        };
        if let Some(fault) = refused {
            let answer = message::read(&written(&id, &fault));
            assert!(
                matches!(answer, Some(Message::Answer { id: Some(told), .. }) if told == id),
                "an answer to its request"
            );
        }
        if let Ok(session) = Session::begin(&params, "n".to_owned(), 0) {
            let seals = Seals::of([b"key".as_slice()]);
            let sealed = seals.seal(Purpose::Session, "p", &session);
            assert!(http::HeaderValue::try_from(sealed.as_str()).is_ok(), "it is the value of a header");
            assert_eq!(seals.open::<Session>(Purpose::Session, "p", &sealed), Some(session));
        }
    });
}

/// Nothing that was not sealed here is opened.
#[test]
fn seals() {
    let corpus = ["AAAAAAAAAAAAAAAAAAAAAHsiaSI6ImEifQ", "", "x"];
    fuzz!("seals", corpus, |bytes: &[u8]| {
        let seals = Seals::of([b"key".as_slice()]);
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(seals.open::<serde_json::Value>(Purpose::Event, "p", &text), None);
    });
}
