//! Records of real calls, taken from a store as JSON, in the form they are stored in.

use std::sync::LazyLock;

use bytes::{Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolplane_lifecycle::Terminal;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::invocation::Invocation;
use toolplane_records::stored;

/// The call of a sample; `{id}` in its JSON. As long as the id of any call.
const CALL: &str = "inv_ffffffffffffffffffffffffffffffff";

/// What is stored of one call.
pub(super) static SAMPLES: LazyLock<Samples> = LazyLock::new(|| Samples {
    running: Sample::of::<Invocation>(include_str!("json/running.json")),
    ended: Sample::of::<Invocation>(include_str!("json/ended.json")),
    result: Sample::of::<Terminal>(include_str!("json/result.json")),
    decision: Sample::of::<PermissionDecision>(include_str!("json/decision.json")),
    events: include_str!("json/events.jsonl").lines().map(Sample::of::<LogEvent>).collect(),
});

/// What is stored of one call.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) running: Sample,
    pub(super) ended: Sample,
    pub(super) result: Sample,
    pub(super) decision: Sample,
    /// In their order.
    pub(super) events: Vec<Sample>,
}

/// A stored record, and where the id of its call is in it.
#[derive(Debug)]
pub(super) struct Sample {
    bytes: Bytes,
    places: Vec<usize>,
}

impl Sample {
    #[expect(clippy::expect_used, reason = "the samples are part of the program, and a test reads them all")]
    fn of<T: Serialize + DeserializeOwned>(json: &str) -> Self {
        let record: T = serde_json::from_str(&json.replace("{id}", CALL)).expect("a sample is a record");
        let mut bytes = Vec::new();
        stored::write(&record, &mut bytes).expect("a record can be stored");
        let is_call = |(_, part): &(usize, &[u8])| *part == CALL.as_bytes();
        let places = bytes.windows(CALL.len()).enumerate().filter(is_call).map(|(place, _)| place).collect();
        Self { bytes: bytes.into(), places }
    }

    /// The record of the call `id`.
    pub(super) fn with(&self, id: &str) -> Bytes {
        debug_assert_eq!(id.len(), CALL.len(), "the id of a call");
        let mut bytes = BytesMut::from(&self.bytes[..]);
        for place in &self.places {
            bytes[*place..place + CALL.len()].copy_from_slice(id.as_bytes());
        }
        bytes.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_record_of_any_call() {
        let id = CALL.replace('f', "a");
        let ended: Invocation = stored::read(&SAMPLES.ended.with(&id)).unwrap();
        assert_eq!(ended.invocation_id.as_str(), id);
        let terminal: Terminal = stored::read(&SAMPLES.result.with(&id)).unwrap();
        assert_eq!(terminal.result.invocation_id.as_str(), id);
        for (at, event) in SAMPLES.events.iter().enumerate() {
            assert_eq!(stored::read::<LogEvent>(&event.with(&id)).unwrap().seq, at as u64 + 1);
        }
    }
}
