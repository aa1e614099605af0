//! OpenAI: a result as the item that answers a function call.
//!
//! Neither API has a flag for failures: the text says it.

use toolplane_records::result::ToolResult;

use crate::media::{self, Medium};
use crate::object::Object;
use crate::story::Story;
use crate::words::told;

/// Longest output the Responses API takes, in characters; bytes are never fewer.
const LONGEST: usize = 10_485_760;

/// An input item of the Responses API: text, or parts where there is something to look at.
pub(crate) fn responses(story: &Story<'_>, result: &ToolResult) -> Object {
    let item = Object::typed("function_call_output").with("call_id", story.call_id());
    let media = media::all(result, story.kept);
    let text = cut(told(result));
    if media.is_empty() {
        return item.with("output", &text);
    }
    let words = Some(text).filter(|text| !text.is_empty());
    let words = words.map(|text| Object::typed("input_text").with("text", &text));
    let parts: Vec<Object> = words.into_iter().chain(media.iter().map(part)).collect();
    item.list("output", &parts)
}

fn part(medium: &Medium<'_>) -> Object {
    match medium.is_picture {
        true => Object::typed("input_image").with("image_url", &medium.data_url()),
        false => Object::typed("input_file").with("filename", "document.pdf").with("file_data", &medium.data_url()),
    }
}

/// A message of the Chat Completions API, whose answers are text alone.
pub(crate) fn chat(story: &Story<'_>, result: &ToolResult) -> Object {
    Object::new().with("role", "tool").with("tool_call_id", story.call_id()).with("content", &told(result))
}

fn cut(mut text: String) -> String {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
