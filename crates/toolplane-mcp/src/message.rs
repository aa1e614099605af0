//! JSON-RPC messages: what comes is taken apart without copying, what goes is written around exact JSON.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolplane_records::payload::JsonPayload;

use crate::failure::RpcError;

/// Most bytes of an error's text that are kept.
const ERROR_TEXT: usize = 4096;
/// Longest name of a method, and longest id of a request, that a server may use.
const NAME: usize = 256;

/// The method exists, and this client does not answer it.
pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;
/// The request cannot be carried out, whatever was meant.
pub(crate) const INVALID_REQUEST: i64 = -32_600;

/// One message of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    /// An answer to one of our requests: its number and the exact result.
    Answer { id: u64, outcome: Result<Bytes, RpcError> },
    /// An answer with an id that this client never gives.
    Stray { error: Option<RpcError> },
    /// A request of the server; its id as it was written.
    Request { id: Bytes, method: String, params: Bytes },
    /// A notification.
    Notification { method: String, params: Bytes },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorBody<'a> {
    code: i64,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// Reads one message. `None` when the bytes are not one.
pub(crate) fn read(bytes: &Bytes) -> Option<Incoming> {
    let text = std::str::from_utf8(bytes).ok()?;
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    let part = |raw: &RawValue| bytes.slice_ref(raw.get().as_bytes());
    let params = envelope.params.map_or_else(|| Bytes::from_static(b"{}"), part);
    match (envelope.method, envelope.id) {
        (Some(method), _) if method.len() > NAME => None,
        (Some(method), Some(id)) => {
            (id.get().len() <= NAME).then(|| Incoming::Request { id: part(id), method: method.into_owned(), params })
        }
        (Some(method), None) => Some(Incoming::Notification { method: method.into_owned(), params }),
        (None, id) => {
            let error = envelope.error.map(|error| read_error(error.get()));
            if id.is_none() && error.is_none() {
                return None;
            }
            let Some(id) = id.and_then(|id| number(id.get())) else { return Some(Incoming::Stray { error }) };
            // A result of `null` reads like none.
            let result = || envelope.result.map_or_else(|| Bytes::from_static(b"null"), part);
            Some(Incoming::Answer { id, outcome: error.map_or_else(|| Ok(result()), Err) })
        }
    }
}

fn read_error(text: &str) -> RpcError {
    let Ok(body) = serde_json::from_str::<ErrorBody<'_>>(text) else {
        return RpcError { code: 0, message: "the server sent an error without a code".to_owned(), data: None };
    };
    let end = (0..=ERROR_TEXT.min(body.message.len())).rev().find(|end| body.message.is_char_boundary(*end));
    let data = body.data.filter(|data| data.get().len() <= ERROR_TEXT);
    RpcError {
        code: body.code,
        message: body.message[..end.unwrap_or_default()].to_owned(),
        data: data.map(|data| JsonPayload::from_checked(Bytes::copy_from_slice(data.get().as_bytes()))),
    }
}

/// The number of one of our requests. Some servers give `1` back as `1.0`.
fn number(text: &str) -> Option<u64> {
    let whole = text.strip_suffix(".0").unwrap_or(text);
    whole.parse().ok()
}

/// A request, a notification, or an answer of this client.
#[derive(Serialize)]
struct Outgoing<'a, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: P,
}

#[derive(Serialize)]
struct OutgoingAnswer<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<OutgoingError<'a>>,
}

#[derive(Serialize)]
struct OutgoingError<'a> {
    code: i64,
    message: &'a str,
}

/// A request with a number, or a notification without one.
pub(crate) fn write<P: Serialize>(id: Option<u64>, method: &str, params: P) -> Bytes {
    Bytes::from(serde_json::to_vec(&Outgoing { jsonrpc: "2.0", id, method, params }).unwrap_or_default())
}

/// The answer to a request of the server; `id` and `result` are one JSON value each.
pub(crate) fn write_result(id: &Bytes, result: &str) -> Bytes {
    let result = serde_json::from_str(result).ok();
    write_answer(id, result, None)
}

/// An error for a request of the server.
pub(crate) fn write_error(id: &Bytes, code: i64, message: &str) -> Bytes {
    write_answer(id, None, Some(OutgoingError { code, message }))
}

fn write_answer(id: &Bytes, result: Option<&RawValue>, error: Option<OutgoingError<'_>>) -> Bytes {
    let id = serde_json::from_slice(id).unwrap_or(RawValue::NULL);
    Bytes::from(serde_json::to_vec(&OutgoingAnswer { jsonrpc: "2.0", id, result, error }).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Incoming> {
        read(&Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn what_a_server_may_say_is_told_apart() {
        let Some(Incoming::Answer { id: 7, outcome: Ok(result) }) =
            of(r#"{"id":7,"result":{"a": 1.0}, "jsonrpc":"2.0"}"#)
        else {
            panic!("an answer")
        };
        assert_eq!(result, Bytes::from_static(br#"{"a": 1.0}"#));
        let Some(Incoming::Answer { id: 7, outcome: Err(error) }) =
            of(r#"{"id":7.0,"error":{"code":-32602,"message":"no","data":{"x":1e5}}}"#)
        else {
            panic!("an error")
        };
        assert_eq!((error.code, error.data.as_ref().unwrap().text()), (-32_602, r#"{"x":1e5}"#));
        assert!(matches!(of(r#"{"id":"7","result":{}}"#), Some(Incoming::Stray { .. })));
        assert!(matches!(of(r#"{"id":null,"error":{"code":1}}"#), Some(Incoming::Stray { error: Some(_) })));
        assert!(matches!(of(r#"{"id":"7","method":"ping"}"#), Some(Incoming::Request { .. })));
        assert!(matches!(of(r#"{"method":"x","params":[]}"#), Some(Incoming::Notification { .. })));
        for not_one in ["", "[]", "{}", "starting", r#"{"id":1,"id":2,"result":1}"#, r#"{"result":1}"#, "{\"id\":1}x"] {
            assert_eq!(of(not_one), None, "{not_one}");
        }
    }

    #[test]
    fn what_is_sent_keeps_what_it_was_given() {
        let arguments: &RawValue = serde_json::from_str(r#"{"b": 1e2, "a":12345678901234567890123}"#).unwrap();
        let bytes = write(Some(3), "tools/call", arguments);
        assert_eq!(
            std::str::from_utf8(&bytes).unwrap(),
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"b": 1e2, "a":12345678901234567890123}}"#
        );
        let answer = write_result(&Bytes::from_static(b"\"x\""), "{}");
        assert_eq!(std::str::from_utf8(&answer).unwrap(), r#"{"jsonrpc":"2.0","id":"x","result":{}}"#);
        let answer = write_error(&Bytes::from_static(b"4"), METHOD_NOT_FOUND, "no");
        assert_eq!(
            std::str::from_utf8(&answer).unwrap(),
            r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}"#
        );
    }
}
