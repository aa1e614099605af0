//! How a result is shown to people and found by them: one rule each, for results of tools and of the scheduler alike
//! (contracts/result-persistence-and-rendering).

use serde::Serialize;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::{ContentBlock, ToolResult};

/// Most characters of a text that a search finds.
pub(crate) const MAX_SEARCH_CHARS: usize = 2_000;

/// What an interface is told: which view fits, what stands above it, and the tool's own hints.
#[derive(Debug, Serialize)]
struct Rendering<'a> {
    kind: &'static str,
    title: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hints: Option<&'a JsonPayload>,
}

/// The `ui_facing_rendering` of `result`: hints for a view and no output of their own. `title` is the name its caller used, `hints` what
/// the tool declares (`interface.rendering`).
pub(crate) fn rendering(result: &ToolResult, title: &str, hints: Option<&JsonPayload>) -> JsonPayload {
    let kind = kind(result);
    let summary = match kind {
        // What is shown is the summary already.
        "text" | "empty" => "",
        _ => &result.ui_facing_summary,
    };
    JsonPayload::of(&Rendering { kind, title, summary, hints })
}

/// The view that fits: of several blocks the one that cannot be read as text.
fn kind(result: &ToolResult) -> &'static str {
    if result.is_error {
        return "error";
    }
    let told = result.content.iter().map(|block| match block {
        ContentBlock::Diff { .. } => (0, "diff"),
        ContentBlock::Image { .. } | ContentBlock::Audio { .. } | ContentBlock::Video { .. } => (1, "media"),
        ContentBlock::ArtifactRef { .. } => (2, "artifact"),
        ContentBlock::Log { .. } => (3, "terminal"),
        ContentBlock::Text { .. } => (4, "text"),
        ContentBlock::File { .. } | ContentBlock::PersistedOutputRef { .. } => (5, "file"),
        ContentBlock::ResourceLink { .. } | ContentBlock::EmbeddedResource { .. } | ContentBlock::HandoffRef { .. } => {
            (6, "link")
        }
        ContentBlock::Empty => (9, "empty"),
    });
    let structured = result.structured_content.is_some().then_some((8, "json"));
    told.chain(structured).min().map_or("empty", |(_, kind)| kind)
}

/// The `transcript_search_text` of `result`: its texts in order, the reason of a failure first, and names of what is no text. Nothing that
/// is not shown anyway.
pub(crate) fn search_text(result: &ToolResult) -> String {
    let failure = result.error.as_ref().map(|error| error.message.as_str());
    let named = result.content.iter().filter_map(|block| match block {
        ContentBlock::Diff { path, .. } if !path.is_empty() => Some(path.as_str()),
        ContentBlock::Image { description, .. }
        | ContentBlock::Audio { description, .. }
        | ContentBlock::Video { description, .. } => Some(description),
        ContentBlock::ArtifactRef { artifact } => Some(&artifact.artifact_id),
        ContentBlock::EmbeddedResource { uri, text: None, .. } => Some(uri),
        block => block.text(),
    });
    let structured = result.structured_content.as_ref().map(JsonPayload::text);
    // A failure is often its own content, with its code.
    let named = named.filter(|text| failure.is_none_or(|failure| !text.starts_with(failure)));
    let texts: Vec<&str> = failure.into_iter().chain(named).filter(|text| !text.trim().is_empty()).collect();
    let texts = if texts.is_empty() { structured.into_iter().collect() } else { texts };
    let mut found = String::new();
    let mut left = MAX_SEARCH_CHARS;
    for text in texts {
        if left == 0 {
            break;
        }
        if !found.is_empty() {
            found.push('\n');
        }
        let end = text.char_indices().nth(left).map_or(text.len(), |(at, _)| at);
        found.push_str(&text[..end]);
        left = left.saturating_sub(text[..end].chars().count() + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use toolplane_records::codes;
    use toolplane_records::error::ToolError;
    use toolplane_records::time::Timestamp;
    use toolplane_records::vocabulary::ResultStatus;

    use super::*;
    use crate::synthetic;
    use crate::tests::fixtures::ready;

    fn result(content: Vec<ContentBlock>) -> ToolResult {
        let error = ToolError::of(codes::UNSPECIFIED, "it broke");
        let mut result =
            synthetic::failure(&ready(true, true).invocation, ResultStatus::Failed, error, Timestamp::from_millis(0));
        (result.content, result.is_error, result.error) = (content, false, None);
        result
    }

    fn text(text: &str) -> ContentBlock {
        ContentBlock::Text { text: text.to_owned() }
    }

    #[test]
    fn the_view_is_that_of_what_is_no_plain_text() {
        let log = ContentBlock::Log { text: "warning".into(), stream: "stderr".into() };
        for (content, kind) in [
            (vec![text("a")], "text"),
            (vec![text("a"), ContentBlock::diff("+a".into())], "diff"),
            (vec![text("a"), log], "terminal"),
            (vec![ContentBlock::Empty], "empty"),
            (vec![], "empty"),
        ] {
            let told = rendering(&result(content), "demo.x", None);
            assert!(told.text().contains(&format!(r#""kind":"{kind}","title":"demo.x""#)), "{kind}: {}", told.text());
        }
        let mut json = result(Vec::new());
        json.structured_content = Some(JsonPayload::of(&serde_json::json!({ "a": 1 })));
        let hints = JsonPayload::of(&serde_json::json!({ "view": "table" }));
        let told = rendering(&json, "demo.x", Some(&hints));
        assert!(told.text().contains(r#""kind":"json""#) && told.text().contains(r#""hints":{"view":"table"}"#));
        assert_eq!(search_text(&json), r#"{"a":1}"#, "what has no text is found by its values");
    }

    #[test]
    fn a_search_finds_failures_and_texts_and_no_more_than_its_bound() {
        let error = ToolError::of(codes::UNSPECIFIED, "it broke");
        let failed =
            synthetic::failure(&ready(true, true).invocation, ResultStatus::Failed, error, Timestamp::from_millis(0));
        assert_eq!(search_text(&failed), "it broke");
        assert!(rendering(&failed, "demo.x", None).text().contains(r#""kind":"error""#));
        let long = "ä".repeat(MAX_SEARCH_CHARS * 2);
        let found = search_text(&result(vec![text("first"), text(&long)]));
        assert!(
            found.starts_with("first\nää") && found.chars().count() <= MAX_SEARCH_CHARS,
            "{}",
            found.chars().count()
        );
    }
}
