//! JSON-RPC messages, as servers and clients send them: what comes is taken apart without copying, what goes is written around exact JSON.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolplane_records::payload::JsonPayload;

use crate::failure::RpcError;

/// Most bytes of an error's text that are kept.
const ERROR_TEXT: usize = 4096;
/// Longest name of a method in bytes.
const METHOD: usize = 256;
/// Longest id in bytes. Ids of ours that say what they are about have to fit.
const ID: usize = 1024;

/// The method exists, and the receiver does not answer it.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The request cannot be carried out, whatever was meant.
pub const INVALID_REQUEST: i64 = -32_600;

/// One message, whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A request.
    Request {
        /// Its id, as it was written: one JSON value.
        id: Bytes,
        /// What is asked for.
        method: String,
        /// The parameters, as they were written; `{}` without any.
        params: Bytes,
    },
    /// A notification.
    Notification {
        /// What is told.
        method: String,
        /// The parameters, as they were written; `{}` without any.
        params: Bytes,
    },
    /// An answer.
    Answer {
        /// The id of the request, as it was written; none where it could not be told.
        id: Option<Bytes>,
        /// The exact result, or the error.
        outcome: Result<Bytes, RpcError>,
    },
}

/// One message of a server, as a client with numbers for ids reads it.
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

impl Incoming {
    /// Reads one message. `None` when the bytes are not one.
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        Some(match read(bytes)? {
            Message::Request { id, method, params } => Self::Request { id, method, params },
            Message::Notification { method, params } => Self::Notification { method, params },
            Message::Answer { id, outcome } => {
                let id = id.and_then(|id| number(std::str::from_utf8(&id).ok()?));
                match id {
                    Some(id) => Self::Answer { id, outcome },
                    None => Self::Stray { error: outcome.err() },
                }
            }
        })
    }
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

/// Reads one message. `None` when the bytes are not one, or when its method or id is longer than anybody needs.
pub fn read(bytes: &Bytes) -> Option<Message> {
    let text = std::str::from_utf8(bytes).ok()?;
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    let part = |raw: &RawValue| bytes.slice_ref(raw.get().as_bytes());
    let params = envelope.params.map_or_else(|| Bytes::from_static(b"{}"), part);
    if envelope.id.is_some_and(|id| id.get().len() > ID) {
        return None;
    }
    match (envelope.method, envelope.id) {
        (Some(method), _) if method.len() > METHOD => None,
        (Some(method), Some(id)) => Some(Message::Request { id: part(id), method: method.into_owned(), params }),
        (Some(method), None) => Some(Message::Notification { method: method.into_owned(), params }),
        (None, id) => {
            let error = envelope.error.map(|error| read_error(error.get()));
            if id.is_none() && error.is_none() {
                return None;
            }
            // A result of `null` reads like none.
            let result = || envelope.result.map_or_else(|| Bytes::from_static(b"null"), part);
            Some(Message::Answer { id: id.map(part), outcome: error.map_or_else(|| Ok(result()), Err) })
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

/// A request or a notification.
#[derive(Serialize)]
struct Outgoing<'a, I: Serialize, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<I>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
}

/// A request with a number, or a notification without one.
pub(crate) fn write<P: Serialize>(id: Option<u64>, method: &str, params: P) -> Bytes {
    Bytes::from(serde_json::to_vec(&Outgoing { jsonrpc: "2.0", id, method, params }).unwrap_or_default())
}

/// The answer to a request; `id` and `result` are one JSON value each.
pub fn write_result(id: &Bytes, result: &str) -> Bytes {
    let result = serde_json::from_str(result).ok();
    write_answer(id, result, None)
}

/// An error for a request.
pub fn write_error(id: &Bytes, code: i64, message: &str) -> Bytes {
    write_failure(id, code, message, None)
}

/// The same with what is to be known about it beside the text: one JSON value.
pub fn write_failure(id: &Bytes, code: i64, message: &str, data: Option<&str>) -> Bytes {
    let data = data.and_then(|data| serde_json::from_str(data).ok());
    write_answer(id, None, Some(OutgoingError { code, message, data }))
}

/// A request with an id that is a text, or a notification without one; `params` is one JSON value.
pub fn write_message(id: Option<&str>, method: &str, params: &str) -> Bytes {
    let params: &RawValue = serde_json::from_str(params).unwrap_or(RawValue::NULL);
    Bytes::from(serde_json::to_vec(&Outgoing { jsonrpc: "2.0", id, method, params }).unwrap_or_default())
}

fn write_answer(id: &Bytes, result: Option<&RawValue>, error: Option<OutgoingError<'_>>) -> Bytes {
    let id = serde_json::from_slice(id).unwrap_or(RawValue::NULL);
    Bytes::from(serde_json::to_vec(&OutgoingAnswer { jsonrpc: "2.0", id, result, error }).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Incoming> {
        Incoming::read(&Bytes::copy_from_slice(text.as_bytes()))
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
