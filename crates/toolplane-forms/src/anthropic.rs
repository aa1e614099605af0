//! Anthropic: a result as a `tool_result` block.

use toolplane_records::result::ToolResult;

use crate::media::{self, Medium};
use crate::object::Object;
use crate::story::Story;
use crate::words::told;

/// What is said where a tool said nothing: an empty text is refused.
const NOTHING: &str = "(no output)";

/// A content block of the Messages API: text, or blocks where there is something to look at.
pub(crate) fn tool_result(story: &Story<'_>, result: &ToolResult) -> Object {
    let block = Object::typed("tool_result").with("tool_use_id", story.call_id());
    let media = media::all(result, story.kept);
    let text = told(result);
    let block = match (media.is_empty(), text.is_empty()) {
        (true, true) => block.with("content", NOTHING),
        (true, false) => block.with("content", &text),
        (false, _) => {
            let words = Some(text).filter(|text| !text.is_empty());
            let words = words.map(|text| Object::typed("text").with("text", &text));
            let parts: Vec<Object> = words.into_iter().chain(media.iter().map(part)).collect();
            block.list("content", &parts)
        }
    };
    block.maybe("is_error", Some(true).filter(|_| result.is_error))
}

fn part(medium: &Medium<'_>) -> Object {
    let source = Object::typed("base64").with("media_type", medium.media_type).with("data", &medium.data);
    Object::typed(if medium.is_picture { "image" } else { "document" }).object("source", &source)
}
