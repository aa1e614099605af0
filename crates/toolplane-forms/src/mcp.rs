//! The Model Context Protocol: a result as `CallToolResult`, and back.
//!
//! The server of a cluster (`/mcp`) answers with the same contents.

mod content;
mod read;
mod remedy;

pub use content::{ADDRESSES, address, contents, resource_contents};
pub(crate) use content::{content, enclosed};
pub use read::{GivenContent, GivenResult, read};

use toolplane_records::codes::cure_of;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ToolResult;

use crate::object::Object;
use crate::story::Kept;

/// What a result is told as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallToolResult {
    /// Its contents.
    pub content: Vec<Object>,
    /// Its structured content.
    pub structured: Option<JsonPayload>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Facts of the call, for `_meta`.
    pub facts: Vec<(&'static str, JsonPayload)>,
}

/// What a client is offered beside the tools themselves, when it is told what to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `tool_search` and `tool_load`: not every tool is listed.
    Finding,
    /// Neither of them: the list has every tool.
    Listing,
}

impl CallToolResult {
    /// A result, with the bytes that are at hand, for a client of such a door.
    pub fn of(result: &ToolResult, kept: &Kept, door: Door) -> Self {
        let mut content = contents(result, kept);
        let texts: Vec<&str> = result.content.iter().filter_map(|block| block.text()).collect();
        if let Some(error) = &result.error {
            let explained = explained(error, door, |what| texts.iter().any(|text| text.contains(what)));
            if !explained.is_empty() {
                content.push(Object::typed("text").with("text", &explained));
            }
        }
        let is_text = |one: &Object| one.json().starts_with(r#"{"type":"text""#);
        if let Some(structured) = &result.structured_content
            && !content.iter().any(is_text)
        {
            content.push(Object::typed("text").with("text", structured.text()));
        }
        let structured = result.structured_content.clone();
        Self { content, structured, is_error: result.is_error, facts: facts(result) }
    }

    /// As JSON.
    pub fn object(&self) -> Object {
        let meta = self.facts.iter().fold(Object::new(), |meta, (name, value)| meta.with(name, value));
        let object = Object::new().list("content", &self.content);
        object
            .maybe("structuredContent", self.structured.as_ref())
            .with("isError", &self.is_error)
            .object("_meta", &meta)
    }
}

/// Facts of the call beside its result.
fn facts(result: &ToolResult) -> Vec<(&'static str, JsonPayload)> {
    let mut facts = vec![
        ("toolplane/invocation_id", JsonPayload::of(&result.invocation_id)),
        ("toolplane/status", JsonPayload::of(&result.status)),
    ];
    if let Some(error) = &result.error {
        let told = Object::new()
            .with("code", &error.error_code)
            .with("class", &error.error_class)
            .with("recoverability", &error.recoverability)
            .maybe("retry_after_ms", error.retry_after_ms)
            .maybe("side_effects", error.side_effects.as_ref());
        facts.push(("toolplane/error", told.payload()));
    }
    if !result.policy_refs.is_empty() {
        facts.push(("toolplane/policy_refs", JsonPayload::of(&result.policy_refs)));
    }
    facts
}

/// What went wrong, in words a model can act on. What the contents have `said` already is not said again.
fn explained(error: &ToolError, door: Door, said: impl Fn(&str) -> bool) -> String {
    let code = Some(&error.error_code).filter(|code| !said(code) && !error.message.contains(code.as_str()));
    let message = Some(&error.message).filter(|message| !said(message));
    let first: Vec<&str> = [code, message].into_iter().flatten().map(String::as_str).collect();
    let mut lines = if first.is_empty() { Vec::new() } else { vec![first.join(": ")] };
    for violation in &error.field_violations {
        if !error.message.contains(&violation.description) {
            lines.push(format!("`{}` {}", violation.field, violation.description));
        }
    }
    // The tool's own words, where it has any, know more than the registry.
    let own =
        error.recovery_suggestion.as_deref().filter(|own| *own != cure_of(&error.error_code, error.recoverability));
    lines.extend(own.or(remedy::of(error, door)).map(|what| format!("What to do: {what}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use toolplane_records::codes;
    use toolplane_records::error::FieldViolation;

    use super::*;

    #[test]
    fn a_failure_says_what_to_do() {
        let mut error = ToolError::of(codes::SURFACE_UNKNOWN_TOOL, "no such tool");
        error.field_violations = vec![FieldViolation { field: "/a".to_owned(), description: "is required".to_owned() }];
        let text = explained(&error, Door::Finding, |_| false);
        assert!(text.starts_with("surface.unknown_tool: no such tool\n`/a` is required\nWhat to do: "), "{text}");
    }

    #[test]
    fn nothing_is_said_twice() {
        let error = |message: &str| ToolError::of(codes::EXEC_TIMEOUT, message);
        let first = |error: &ToolError, contents: &str| {
            let text = explained(error, Door::Finding, |what| contents.contains(what));
            text.lines().next().unwrap_or_default().to_owned()
        };
        // The contents of a failure that has no others are its message and its code.
        assert!(first(&error("no page"), "no page [exec.timeout]").starts_with("What to do: "));
        assert_eq!(first(&error("no page"), "no page, and what the tool wrote"), "exec.timeout");
        assert_eq!(first(&error("no page"), "something else"), "exec.timeout: no page");
        assert_eq!(first(&error("no page [exec.timeout]"), ""), "no page [exec.timeout]");
    }
}
