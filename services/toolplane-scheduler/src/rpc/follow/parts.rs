//! What is told at once, in as many messages as it takes: each stays below what clients take.

use prost::Message;
use toolplane_proto::v1;
use toolplane_runtime::page::{FULL_BYTES, split};

/// What one message holds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Part {
    pub(super) events: Vec<v1::Event>,
    /// The same in the form that was asked for.
    pub(super) formed: Vec<v1::Formed>,
    pub(super) result: Option<Box<v1::ToolResult>>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "lives while one step is split, and a box would be one more for each event"
)]
enum Told {
    Event(v1::Event),
    Formed(v1::Formed),
}

impl Told {
    fn encoded_len(&self) -> usize {
        match self {
            Self::Event(event) => event.encoded_len(),
            Self::Formed(formed) => formed.encoded_len(),
        }
    }
}

impl Part {
    fn of(told: Vec<Told>) -> Self {
        let mut part = Self::default();
        for told in told {
            match told {
                Told::Event(event) => part.events.push(event),
                Told::Formed(formed) => part.formed.push(formed),
            }
        }
        part
    }

    fn encoded_len(&self) -> usize {
        let events: usize = self.events.iter().map(Message::encoded_len).sum();
        events + self.formed.iter().map(Message::encoded_len).sum::<usize>()
    }
}

/// `formed`, the `events` it tells, and then `result`, in order: what one message each holds. Never nothing. A reader goes on after
/// the last event it has, so what it missed of a form is told again.
pub(super) fn parts(events: Vec<v1::Event>, formed: Vec<v1::Formed>, result: Option<Box<v1::ToolResult>>) -> Vec<Part> {
    let told = formed.into_iter().map(Told::Formed).chain(events.into_iter().map(Told::Event));
    let mut parts: Vec<Part> = split(told, Told::encoded_len).into_iter().map(Part::of).collect();
    let bytes = result.as_deref().map_or(0, Message::encoded_len);
    match parts.last_mut().filter(|last| last.encoded_len() + bytes <= FULL_BYTES) {
        Some(last) => last.result = result,
        None => parts.push(Part { result, ..Part::default() }),
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(sequence: u64, bytes: usize) -> v1::Event {
        v1::Event { sequence, subject: "x".repeat(bytes), ..v1::Event::default() }
    }

    fn result(bytes: usize) -> Box<v1::ToolResult> {
        Box::new(v1::ToolResult { ui_facing_summary: "x".repeat(bytes), ..v1::ToolResult::default() })
    }

    #[test]
    fn a_long_log_is_told_in_messages_that_clients_take() {
        let log: Vec<_> = (1..=256).map(|sequence| event(sequence, 64 * 1024)).collect();
        // One that fits beside the last event, and one that does not.
        for (bytes, messages) in [(900 * 1024, 18), (1_000 * 1024, 19)] {
            let parts = parts(log.clone(), Vec::new(), Some(result(bytes)));
            assert_eq!(parts.len(), messages);
            for part in &parts {
                assert!(part.encoded_len() + part.result.as_deref().map_or(0, Message::encoded_len) <= FULL_BYTES);
            }
            let told = parts.iter().flat_map(|part| part.events.iter().map(|event| event.sequence));
            assert!(told.eq(1..=256), "without gap or repetition");
            let ends = parts.iter().map(|part| part.result.is_some());
            assert!(ends.eq((1..=messages).map(|part| part == messages)), "the result is last");
        }
    }

    #[test]
    fn what_is_small_is_told_together() {
        assert_eq!(parts(vec![event(1, 10), event(2, 10)], Vec::new(), Some(result(10))).len(), 1);
        assert_eq!(parts(Vec::new(), Vec::new(), None), [Part::default()]);
        assert_eq!(parts(Vec::new(), Vec::new(), Some(result(10))).len(), 1);
    }

    #[test]
    fn a_form_comes_before_its_events_and_the_result_last() {
        let formed = |bytes: usize| v1::Formed { media_type: "x".repeat(bytes), body: None };
        let parts = parts(vec![event(1, 10)], vec![formed(10), formed(2 * FULL_BYTES)], Some(result(10)));
        let held = parts.iter().map(|part| (part.events.len(), part.formed.len(), part.result.is_some()));
        assert!(held.eq([(0, 1, false), (0, 1, false), (1, 0, true)]));
    }
}
