//! An output a hook puts in the place of the tool's.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;

use crate::failure::HookFailure;

/// What is put in the place of an output.
///
/// A text becomes one block of text. An object whose `content` is a list of blocks (`text`, `log`, `diff`), with
/// `structured_content` or `structuredContent` beside it or not, is taken as both. Anything else becomes the structured
/// content, with its JSON as the text for those that read only that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The value as the hook gave it.
    pub given: JsonPayload,
    /// The new content blocks.
    pub content: Vec<ContentBlock>,
    /// The new structured content.
    pub structured_content: Option<JsonPayload>,
}

#[derive(Deserialize)]
struct Envelope {
    content: Vec<ContentBlock>,
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
    #[serde(default, rename = "structuredContent")]
    structured_too: Option<Box<RawValue>>,
}

impl Replacement {
    /// Reads what a hook gave. Blocks that refer to bytes kept elsewhere are refused: a hook has none to refer to.
    pub fn of(given: JsonPayload) -> Result<Self, HookFailure> {
        if let Ok(text) = given.parse::<String>() {
            return Ok(Self { given, content: vec![text_block(text)], structured_content: None });
        }
        let value = given.to_value();
        if !value.get("content").is_some_and(serde_json::Value::is_array) {
            let content = vec![text_block(given.text().to_owned())];
            return Ok(Self { content, structured_content: Some(given.clone()), given });
        }
        let envelope: Envelope = given
            .parse()
            .map_err(|_| HookFailure::bad("`updated_output.content` must be a list of blocks of a known type"))?;
        let shown = |block: &ContentBlock| {
            use ContentBlock::{Diff, Empty, Log, Text};
            matches!(block, Text { .. } | Log { .. } | Diff { .. } | Empty)
        };
        if !envelope.content.iter().all(shown) {
            return Err(HookFailure::bad("`updated_output.content` must hold only `text`, `log` and `diff`"));
        }
        let structured = envelope.structured_content.or(envelope.structured_too);
        let structured_content = structured.map(|value| JsonPayload::from_checked(value.get().to_owned()));
        Ok(Self { content: envelope.content, structured_content, given })
    }
}

fn text_block(text: String) -> ContentBlock {
    if text.is_empty() { ContentBlock::Empty } else { ContentBlock::Text { text } }
}

#[cfg(test)]
mod tests {
    use toolplane_records::payload::JsonPayload;
    use toolplane_records::result::ContentBlock;

    use super::{HookFailure, Replacement};

    fn read(json: &str) -> Result<Replacement, HookFailure> {
        Replacement::of(JsonPayload::from_checked(json.to_owned()))
    }

    fn text(text: &str) -> ContentBlock {
        ContentBlock::Text { text: text.to_owned() }
    }

    #[test]
    fn a_text_an_envelope_and_any_other_value() {
        assert_eq!(read("\"new\"").unwrap().content, [text("new")]);
        assert_eq!(read("\"\"").unwrap().content, [ContentBlock::Empty]);
        let value = read(r#"{"exit":0,"big":123456789012345678901}"#).unwrap();
        assert_eq!(value.content, [text(r#"{"exit":0,"big":123456789012345678901}"#)]);
        assert_eq!(value.structured_content.unwrap().text(), r#"{"exit":0,"big":123456789012345678901}"#);
        for key in ["structured_content", "structuredContent"] {
            let json = format!(r#"{{"content":[{{"type":"text","text":"a"}}],"{key}":{{"n":1}},"isError":false}}"#);
            let both = read(&json).unwrap();
            assert_eq!((both.content, both.structured_content.unwrap().text()), (vec![text("a")], r#"{"n":1}"#));
        }
        // An object with a text named `content` is a value like any other.
        assert!(read(r#"{"content":"x"}"#).unwrap().structured_content.is_some());
    }

    #[test]
    fn what_refers_elsewhere_or_is_no_block_is_refused() {
        for bad in [
            r#"{"content":[{"type":"image","data":""}]}"#,
            r#"{"content":["a"]}"#,
            r#"{"content":[{"type":"persisted_output_ref","payload":{"uri":"toolplane://x","media_type":"a/b",
                "digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000","size_bytes":1}}]}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
