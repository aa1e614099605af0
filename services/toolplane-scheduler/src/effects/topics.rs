//! What schedulers that share a store tell each other. Every hint may be lost: a scheduler that waits for something
//! also looks.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_lifecycle::{Terminal, Transition};
use toolplane_records::event::LogEvent;
use toolplane_records::stored;
use toolplane_store::Hint;

/// Topic: something is ready in a pool, and the scheduler that said so cannot take it. The body is the name of the
/// queue.
pub(super) const READY: &str = "ready/";
/// Topic: an invocation changed. The body is the change, or empty when it is large.
pub(super) const UPDATE: &str = "update/";
/// Topic: a message to a worker, for the scheduler it is connected to.
pub(super) const WORKER: &str = "worker/";
/// Topic: a place in a counted index was given back, and calls wait for one.
pub(super) const PLACE: &str = "place/";
/// Topic: a key came under quarantine. The body is until when, in milliseconds.
pub(super) const QUARANTINE: &str = "quarantine/";

/// Largest update that is carried by a hint, in bytes; larger ones are read from the store.
const MAX_UPDATE_BYTES: usize = 4 * 1024;

#[derive(Serialize)]
struct UpdateBody<'a> {
    events: &'a [LogEvent],
    #[serde(skip_serializing_if = "Option::is_none")]
    terminal: Option<&'a Terminal>,
}

/// What changed of an invocation, as a hint carries it.
#[derive(Deserialize)]
pub(super) struct UpdateRead {
    pub(super) events: Vec<LogEvent>,
    #[serde(default)]
    pub(super) terminal: Option<Terminal>,
}

pub(super) fn hint(topic: &str, about: &str, body: Bytes) -> Hint {
    Hint { topic: format!("{topic}{about}"), body }
}

/// What changed, or nothing when it is too large for a hint.
pub(super) fn update_body(transition: &Transition) -> Bytes {
    let body = UpdateBody { events: &transition.events, terminal: transition.terminal.as_ref() };
    let mut bytes = Vec::new();
    match stored::write(&body, &mut bytes) {
        Ok(()) if bytes.len() <= MAX_UPDATE_BYTES => bytes.into(),
        _ => Bytes::new(),
    }
}
