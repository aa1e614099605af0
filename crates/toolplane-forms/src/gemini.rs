//! Gemini: a result as the part that answers a function call.

use toolplane_records::alias;
use toolplane_records::result::ToolResult;

use crate::media;
use crate::object::Object;
use crate::story::Story;
use crate::words::told;

/// A part of a content: `output` is the structured content where there is one, else text; a failure is an `error`.
pub(crate) fn part(story: &Story<'_>, result: &ToolResult) -> Object {
    let structured = result.structured_content.as_ref().filter(|value| value.text().trim() != "null");
    let response = match structured.filter(|_| !result.is_error) {
        Some(value) => Object::new().with("output", value),
        None => Object::new().with(if result.is_error { "error" } else { "output" }, &told(result)),
    };
    let media: Vec<Object> = media::all(result, story.kept)
        .iter()
        .map(|medium| {
            let blob = Object::new().with("mimeType", medium.media_type).with("data", &medium.data);
            Object::new().object("inlineData", &blob)
        })
        .collect();
    let answer = Object::new()
        .text("id", story.reader.call.or(story.call.native_call_id.as_deref()).unwrap_or_default())
        .with("name", &alias::of(&story.call.tool_name, story.call.tool_id.as_str()))
        .object("response", &response);
    let answer = if media.is_empty() { answer } else { answer.list("parts", &media) };
    Object::new().object("functionResponse", &answer)
}
