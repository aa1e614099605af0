//! What a client sends, read as the protocol says it: what is no message is refused with the rule that it breaks.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolplane_mcp::message::{self, Message};

use crate::mcp::fault::Fault;

/// The id of an answer to something whose own id cannot be told.
const UNKNOWN: Bytes = Bytes::from_static(b"null");

/// Longest id that is given back with a refusal, in bytes.
const LONGEST: usize = 1024;

/// Something a client sent that is no message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unfit {
    /// The id of the request, as far as it can be told.
    pub(crate) id: Bytes,
    pub(crate) fault: Fault,
}

/// What every message says of itself. A member that is `null` is there, and is not what it has to be.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, deserialize_with = "there")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "there")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "there")]
    method: Option<&'a RawValue>,
}

fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one message of a client.
pub(crate) fn read(bytes: &Bytes) -> Result<Message, Box<Unfit>> {
    let unfit = |fault| Box::new(Unfit { id: UNKNOWN, fault });
    if serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err() {
        return Err(unfit(Fault::unreadable()));
    }
    let refused = |rule: &str| unfit(Fault::no_message(rule));
    match bytes.trim_ascii_start().first() {
        Some(b'{') => {}
        Some(b'[') => {
            return Err(refused(
                "several messages at once (a JSON array) are not taken: the revision 2025-03-26 of the protocol had them, \
                 and later ones have not; send each message alone",
            ));
        }
        _ => return Err(refused("a message is one JSON object")),
    }
    let Ok(head) = serde_json::from_slice::<Head<'_>>(bytes) else {
        return Err(refused("a message has `jsonrpc`, `id` and `method` once each"));
    };
    let is_id = |id: &RawValue| id.get().starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    let good_id = head.id.filter(|id| is_id(id) && id.get().len() <= LONGEST);
    let good_id = good_id.map_or(UNKNOWN, |id| bytes.slice_ref(id.get().as_bytes()));
    let refused = |rule: &str| Box::new(Unfit { id: good_id.clone(), fault: Fault::no_message(rule) });
    let version = head.jsonrpc.and_then(|version| serde_json::from_str::<Cow<'_, str>>(version.get()).ok());
    if version.as_deref() != Some("2.0") {
        return Err(refused("`jsonrpc` must be \"2.0\""));
    }
    if head.method.is_some() && head.id.is_some_and(|id| !is_id(id)) {
        return Err(refused("`id` must be a text or a number; a notification has no `id` at all"));
    }
    message::read(bytes).ok_or_else(|| {
        refused("neither a request, a notification nor an answer; or its `method` or `id` is longer than anybody needs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::fault::PARSE_ERROR;

    fn of(text: &str) -> Result<Message, Box<Unfit>> {
        read(&Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn messages_are_told_apart() {
        assert!(matches!(of(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Ok(Message::Request { .. })));
        assert!(matches!(of(r#" {"jsonrpc":"2.0","id":"a","method":"ping"}"#), Ok(Message::Request { .. })));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","method":"x"}"#), Ok(Message::Notification { .. })));
        assert!(matches!(of(r#"{"jsonrpc":"2.0","id":"q","result":{}}"#), Ok(Message::Answer { .. })));
        // An error about something whose id could not be told.
        assert!(matches!(of(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#), Ok(Message::Answer { .. })));
    }

    #[test]
    fn what_is_no_message_is_refused_by_its_rule() {
        for (text, code, id, said) in [
            ("{", PARSE_ERROR, "null", "no JSON"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, message::INVALID_REQUEST, "null", "2025-03-26"),
            ("[]", message::INVALID_REQUEST, "null", "send each message alone"),
            ("7", message::INVALID_REQUEST, "null", "one JSON object"),
            (r#"{"id":1,"method":"ping"}"#, message::INVALID_REQUEST, "1", "`jsonrpc`"),
            (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, message::INVALID_REQUEST, "\"a\"", "`jsonrpc`"),
            (r#"{"jsonrpc":2.0,"method":"ping"}"#, message::INVALID_REQUEST, "null", "`jsonrpc`"),
            (r#"{"jsonrpc":null,"id":1,"method":"ping"}"#, message::INVALID_REQUEST, "1", "`jsonrpc`"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, message::INVALID_REQUEST, "null", "`id`"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, message::INVALID_REQUEST, "null", "`id`"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, message::INVALID_REQUEST, "null", "`id`"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, message::INVALID_REQUEST, "null", "once"),
            (r#"{"jsonrpc":"2.0","method":{}}"#, message::INVALID_REQUEST, "null", "neither"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, message::INVALID_REQUEST, "1", "neither"),
        ] {
            match of(text) {
                Err(unfit) => {
                    assert_eq!((unfit.fault.code, unfit.id.as_ref()), (code, id.as_bytes()), "{text}");
                    assert!(unfit.fault.message.contains(said), "{text}: {}", unfit.fault.message);
                }
                Ok(read) => panic!("{text} is taken: {read:?}"),
            }
        }
    }
}
