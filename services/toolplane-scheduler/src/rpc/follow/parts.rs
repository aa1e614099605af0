//! What is told at once, in as many messages as it takes: each stays below what clients take.

use prost::Message;
use toolplane_proto::v1;
use toolplane_runtime::page::{FULL_BYTES, split};

/// Events, and the result that ends them.
pub(super) type Part = (Vec<v1::Event>, Option<v1::ToolResult>);

/// `events` and then `result`, in order: what one message each holds. Never nothing.
pub(super) fn parts(events: Vec<v1::Event>, result: Option<v1::ToolResult>) -> Vec<Part> {
    let mut parts: Vec<Part> = split(events, Message::encoded_len).into_iter().map(|events| (events, None)).collect();
    let room = |(events, _): &Part| {
        let told: usize = events.iter().map(Message::encoded_len).sum();
        told + result.as_ref().map_or(0, Message::encoded_len) <= FULL_BYTES
    };
    match parts.last_mut().filter(|last| room(last)) {
        Some(last) => last.1 = result,
        None => parts.push((Vec::new(), result)),
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(sequence: u64, bytes: usize) -> v1::Event {
        v1::Event { sequence, subject: "x".repeat(bytes), ..v1::Event::default() }
    }

    fn result(bytes: usize) -> v1::ToolResult {
        v1::ToolResult { ui_facing_summary: "x".repeat(bytes), ..v1::ToolResult::default() }
    }

    #[test]
    fn a_long_log_is_told_in_messages_that_clients_take() {
        let log: Vec<_> = (1..=256).map(|sequence| event(sequence, 64 * 1024)).collect();
        // One that fits beside the last event, and one that does not.
        for (bytes, messages) in [(900 * 1024, 18), (1_000 * 1024, 19)] {
            let parts = parts(log.clone(), Some(result(bytes)));
            assert_eq!(parts.len(), messages);
            for (events, result) in &parts {
                let bytes: usize = events.iter().map(Message::encoded_len).sum();
                assert!(bytes + result.as_ref().map_or(0, Message::encoded_len) <= FULL_BYTES);
            }
            let told = parts.iter().flat_map(|(events, _)| events.iter().map(|event| event.sequence));
            assert!(told.eq(1..=256), "without gap or repetition");
            let ends = parts.iter().map(|(_, result)| result.is_some());
            assert!(ends.eq((1..=messages).map(|part| part == messages)), "the result is last");
        }
    }

    #[test]
    fn what_is_small_is_told_together() {
        assert_eq!(parts(vec![event(1, 10), event(2, 10)], Some(result(10))).len(), 1);
        assert_eq!(parts(Vec::new(), None), [(Vec::new(), None)]);
        assert_eq!(parts(Vec::new(), Some(result(10))).len(), 1);
    }
}
