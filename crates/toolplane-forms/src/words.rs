//! What a model is told of a result, as text. The packages for Python and TypeScript tell it in the same words.

use toolplane_records::error::{FieldViolation, ToolError};
use toolplane_records::result::{ContentBlock, ToolResult};

/// The text for a model: the failure first, where it is one.
pub(crate) fn told(result: &ToolResult) -> String {
    match result.error.as_ref().filter(|_| result.is_error) {
        Some(error) => failure(error, &content(result)),
        None => content(result),
    }
}

/// What the server made for models, else the content.
pub(crate) fn content(result: &ToolResult) -> String {
    let facing = &result.model_facing_content;
    let blocks = if facing.is_empty() { &result.content } else { facing };
    let told = blocks.iter().filter(|block| **block != ContentBlock::Empty).map(block);
    told.collect::<Vec<_>>().join("\n")
}

fn block(block: &ContentBlock) -> String {
    let named = |kind: &str, uri: &str, media_type: &str| match media_type {
        "" => format!("[{kind} {uri}]"),
        media_type => format!("[{kind} {uri} {media_type}]"),
    };
    let kept = |kind| block.payload().map_or_else(String::new, |kept| named(kind, &kept.uri, &kept.media_type));
    match block {
        ContentBlock::Text { text } | ContentBlock::Log { text, .. } | ContentBlock::Diff { text, .. } => text.clone(),
        ContentBlock::EmbeddedResource { text: Some(text), .. } => text.clone(),
        ContentBlock::EmbeddedResource { uri, media_type, .. } => named("embedded_resource", uri, media_type),
        ContentBlock::ResourceLink { resource } => named("resource_link", &resource.uri, &resource.media_type),
        ContentBlock::ArtifactRef { artifact } => named("artifact_ref", &artifact.uri, &artifact.media_type),
        ContentBlock::HandoffRef { handoff } => named("handoff_ref", &handoff.uri, ""),
        ContentBlock::Image { .. } => kept("image"),
        ContentBlock::Audio { .. } => kept("audio"),
        ContentBlock::Video { .. } => kept("video"),
        ContentBlock::File { .. } => kept("file"),
        ContentBlock::PersistedOutputRef { .. } => kept("persisted_output_ref"),
        ContentBlock::Empty => String::new(),
    }
}

/// What went wrong, and what the tool had given before. The content of a failure begins with the error, which is said once.
fn failure(error: &ToolError, content: &str) -> String {
    let code = if error.error_code.is_empty() { error.error_class.as_str() } else { &error.error_code };
    let mut said = format!("{} [{code}]", error.message);
    let more = content.strip_prefix(&said).or_else(|| content.strip_prefix(&error.message)).unwrap_or(content);
    for FieldViolation { field, description } in &error.field_violations {
        let one = format!("`{field}` {description}");
        // A message that names its only field says it already.
        if !error.message.contains(&one) {
            said.push_str("\n  ");
            said.push_str(&one);
        }
    }
    format!("{said}\n{}", more.trim()).trim().to_owned()
}
