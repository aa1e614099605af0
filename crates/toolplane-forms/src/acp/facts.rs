//! What the protocol calls a tool and its state.

use serde::Deserialize;
use toolplane_records::result::ContentBlock;
use toolplane_records::visible;
use toolplane_records::vocabulary::{InvocationStatus, ToolKind};

use crate::object::Object;
use crate::story::Story;

/// Most characters of a title.
const TITLE: usize = 200;

/// The fields of inputs that say what a call is about, as far as they have common names.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct About {
    command: Option<Text>,
    path: Option<Text>,
    file_path: Option<Text>,
    url: Option<Text>,
    query: Option<Text>,
    method: Option<Text>,
}

/// A text, or something else that says nothing here.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Said(String),
    Other(serde::de::IgnoredAny),
}

fn said(text: Option<Text>) -> Option<String> {
    match text {
        Some(Text::Said(text)) if !text.is_empty() => Some(text),
        Some(Text::Said(_) | Text::Other(_)) | None => None,
    }
}

fn about(story: &Story<'_>) -> About {
    story.input.and_then(|input| input.parse().ok()).unwrap_or_default()
}

/// A line for people: the command, or the tool and what it is about.
pub(super) fn title(story: &Story<'_>) -> String {
    let about = about(story);
    let name = story.call.tool_name.as_str();
    let line = match said(about.command).filter(|_| runs_in_terminal(story)) {
        Some(command) => command,
        None => {
            let what = [about.path, about.file_path, about.url, about.query].into_iter().find_map(said);
            what.map_or_else(|| name.to_owned(), |what| format!("{name} {what}"))
        }
    };
    visible::line(&visible::excerpt(&line, TITLE)).into_owned()
}

/// Whether it runs programs whose output is shown as it comes.
pub(super) fn runs_in_terminal(story: &Story<'_>) -> bool {
    matches!(story.tool.kind, Some(ToolKind::ShellCommand | ToolKind::CodeExecution))
}

/// Kind of tool, in the protocol's words.
pub(super) fn kind(story: &Story<'_>) -> &'static str {
    let (safety, name) = (&story.call.safety, story.call.tool_name.to_ascii_lowercase());
    let named = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match story.tool.kind {
        Some(ToolKind::FileOperation | ToolKind::ArtifactOperation) => match safety.is_read_only {
            true if named(&["search", "find", "grep", "glob"]) => "search",
            true => "read",
            false if named(&["delete", "remove"]) => "delete",
            false if named(&["move", "rename"]) => "move",
            false => "edit",
        },
        Some(ToolKind::ShellCommand | ToolKind::CodeExecution) => "execute",
        Some(ToolKind::WebSearch | ToolKind::Retrieval) => "search",
        Some(ToolKind::OpenapiOperation) => match said(about(story).method).as_deref() {
            Some("DELETE" | "delete") => "delete",
            _ if safety.is_read_only => "fetch",
            _ if safety.is_destructive && named(&["delete", "remove"]) => "delete",
            _ => "edit",
        },
        Some(ToolKind::BrowserAction) => {
            if safety.is_read_only {
                "fetch"
            } else {
                "execute"
            }
        }
        Some(ToolKind::McpTool) => match (safety.is_read_only, safety.is_open_world, safety.is_destructive) {
            (true, true, _) => "fetch",
            (true, false, _) => "read",
            (false, _, true) => "edit",
            (false, ..) => "other",
        },
        Some(ToolKind::ModelTask | ToolKind::PolicyCheck) => "think",
        _ => "other",
    }
}

/// State of a call, in the protocol's words: it has no word for a call that was canceled.
pub(super) const fn status(status: InvocationStatus) -> &'static str {
    match status {
        InvocationStatus::Planned
        | InvocationStatus::Selected
        | InvocationStatus::ArgumentsReady
        | InvocationStatus::PreHooksRunning
        | InvocationStatus::AwaitingApproval
        | InvocationStatus::Approved
        | InvocationStatus::Queued => "pending",
        InvocationStatus::Running
        | InvocationStatus::NeedsInput
        | InvocationStatus::PartialResult
        | InvocationStatus::PostHooksRunning
        | InvocationStatus::Yielded => "in_progress",
        InvocationStatus::Succeeded => "completed",
        InvocationStatus::SchemaParseFailed
        | InvocationStatus::ValidationFailed
        | InvocationStatus::Denied
        | InvocationStatus::Failed
        | InvocationStatus::Canceled
        | InvocationStatus::TimedOut
        | InvocationStatus::Blocked => "failed",
    }
}

/// The files it is about: those that were changed, with the lines, else the one its input names.
pub(super) fn locations(story: &Story<'_>) -> Vec<Object> {
    let mut found = Vec::new();
    for block in story.result.iter().flat_map(|result| &result.content) {
        let ContentBlock::Diff { path, lines, .. } = block else { continue };
        if path.is_empty() {
            continue;
        }
        let place = || Object::new().with("path", &story.absolute(path));
        match lines.is_empty() {
            true => found.push(place()),
            false => found.extend(lines.iter().map(|line| place().with("line", line))),
        }
    }
    let is_file = matches!(story.tool.kind, Some(ToolKind::FileOperation | ToolKind::ArtifactOperation));
    if found.is_empty() && is_file {
        let about = about(story);
        let path = [about.path, about.file_path].into_iter().find_map(said);
        found.extend(path.map(|path| Object::new().with("path", &story.absolute(&path))));
    }
    found
}
