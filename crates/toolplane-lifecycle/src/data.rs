//! The data of a log entry: written as JSON when it is told, without a tree in between.

use serde::Serialize;
use toolplane_records::payload::JsonPayload;

/// The data of one log entry, an object; none when nothing was added.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventData {
    /// The object without its last brace.
    text: Vec<u8>,
}

/// What a log entry usually takes.
const USUAL_BYTES: usize = 128;

impl EventData {
    /// A record of ours as the data: it must be an object with at least one field.
    pub(crate) fn of(record: &impl Serialize) -> Self {
        let mut text = serde_json::to_vec(record).unwrap_or_default();
        text.pop();
        Self { text }
    }

    /// Adds a field. Values that cannot be JSON become `null`, as in [`JsonPayload::of`].
    pub(crate) fn add(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) {
        if self.text.is_empty() {
            self.text.reserve(USUAL_BYTES);
            self.text.extend_from_slice(b"{\"");
        } else {
            self.text.extend_from_slice(b",\"");
        }
        // Keys are words of ours, without anything that is written in another way.
        self.text.extend_from_slice(key.as_bytes());
        self.text.extend_from_slice(b"\":");
        let before = self.text.len();
        if serde_json::to_writer(&mut self.text, value).is_err() {
            self.text.truncate(before);
            self.text.extend_from_slice(b"null");
        }
    }

    /// As the log keeps it.
    pub(crate) fn payload(mut self) -> Option<JsonPayload> {
        if self.text.is_empty() {
            return None;
        }
        self.text.push(b'}');
        Some(JsonPayload::from_checked(self.text))
    }
}

/// The data of a log entry from its fields: `data! { "reason": reason, "attempt": attempt }`.
macro_rules! data {
    ($($key:literal: $value:expr),* $(,)?) => {{
        let mut data = $crate::data::EventData::default();
        $(data.add($key, &$value);)*
        data
    }};
}

pub(crate) use data;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_what_a_tree_would_be_written_as() {
        let (text, none) = ("a \"quoted\" line\n", None::<u32>);
        let written = data! { "text": text, "none": none, "list": [1, 2], "data": data! { "x": 1.5 }.payload() };
        let tree = json!({ "text": text, "none": none, "list": [1, 2], "data": { "x": 1.5 } });
        assert_eq!(written.payload(), Some(JsonPayload::of(&tree)));
        assert_eq!(EventData::of(&json!({ "a": 1 })).payload(), Some(JsonPayload::of(&json!({ "a": 1 }))));
    }

    #[test]
    fn no_field_is_no_data_and_what_cannot_be_written_is_null() {
        assert_eq!(EventData::default().payload(), None);
        let no_json = BTreeMap::from([((1, 2), 3)]);
        assert_eq!(data! { "a": no_json, "b": 1 }.payload(), Some(JsonPayload::of(&json!({ "a": null, "b": 1 }))));
    }
}
