//! Which tools a hook is about.
//!
//! A matcher is one or several patterns with `|` between them:
//!
//! | pattern | tools |
//! |---|---|
//! | nothing, `*` | every tool |
//! | `files.read_file` | the tool of that name, id or alias |
//! | `files.*`, `Notebook*`, `mcp__memory__.*` | tools whose name, id or alias begins so |
//! | `namespace:files` | tools of that namespace or one below it |
//! | `mcp__github` | every tool of that server |
//! | `Bash`, `Read`, `Glob`, `Grep`, `Edit`, `Write`, `WebFetch`, `WebSearch`, `Agent` | tools that do this, beside tools so named |
//!
//! Where nobody says what a tool touches, it may do all of it: a hook is asked once too often rather than not at all.

use std::fmt;
use std::str::FromStr;

use toolplane_records::vocabulary::{AccessKind, ExecutionKind, ToolKind};

use crate::input::HookTool;

/// Most patterns of one matcher.
const MAX_PATTERNS: usize = 64;

/// Which tools a hook is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolMatcher {
    text: String,
    patterns: Vec<Pattern>,
}

/// A text that is no matcher: the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` {rule}")]
pub struct InvalidMatcher {
    /// The pattern, cut.
    pub pattern: String,
    /// The rule.
    pub rule: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Any,
    Named(String),
    Beginning(String),
    Namespace(String),
    /// A family, and the name it was given.
    Family(Family, String),
}

/// What a tool does, by the names users of coding agents know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Runs command lines.
    Bash,
    /// Reads files.
    Read,
    /// Finds files by name.
    Glob,
    /// Finds text in files.
    Grep,
    /// Changes files.
    Edit,
    /// Writes files.
    Write,
    /// Fetches from the web.
    WebFetch,
    /// Searches the web.
    WebSearch,
    /// Hands work to another agent.
    Agent,
}

// === impl ToolMatcher ===

impl Default for ToolMatcher {
    /// Every tool.
    fn default() -> Self {
        Self { text: "*".to_owned(), patterns: vec![Pattern::Any] }
    }
}

impl ToolMatcher {
    /// Whether the hook is about this tool.
    pub fn fits(&self, tool: &HookTool) -> bool {
        self.patterns.iter().any(|pattern| pattern.fits(tool))
    }
}

impl fmt::Display for ToolMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for ToolMatcher {
    type Err = InvalidMatcher;

    fn from_str(text: &str) -> Result<Self, InvalidMatcher> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let patterns: Vec<_> = text.split('|').map(|pattern| pattern.trim().parse()).collect::<Result<_, _>>()?;
        if patterns.len() > MAX_PATTERNS {
            return Err(InvalidMatcher { pattern: crate::bounds::cut(text, 64), rule: "holds more than 64 patterns" });
        }
        Ok(Self { text: text.to_owned(), patterns })
    }
}

// === impl Pattern ===

impl FromStr for Pattern {
    type Err = InvalidMatcher;

    fn from_str(text: &str) -> Result<Self, InvalidMatcher> {
        let refuse = |rule| Err(InvalidMatcher { pattern: crate::bounds::cut(text, 64), rule });
        if matches!(text, "*" | ".*") {
            return Ok(Self::Any);
        }
        if let Some(family) = Family::named(text) {
            return Ok(Self::Family(family, text.to_owned()));
        }
        if text.contains('(') {
            return refuse("names more than tools; a hook decides about arguments itself");
        }
        if let Some(namespace) = text.strip_prefix("namespace:") {
            return if is_name(namespace) { Ok(Self::Namespace(namespace.to_owned())) } else { refuse(NOT_A_NAME) };
        }
        let is_mcp = text.starts_with("mcp__");
        // `mcp__memory__.*` is how users write `mcp__memory__*`; elsewhere a dot is part of a name.
        let prefix = if is_mcp { text.strip_suffix(".*") } else { None }.or_else(|| text.strip_suffix('*'));
        match prefix {
            Some(prefix) if is_name(prefix) => Ok(Self::Beginning(prefix.to_owned())),
            None if is_name(text) && is_mcp && !text["mcp__".len()..].contains("__") => {
                Ok(Self::Beginning(format!("{text}__")))
            }
            None if is_name(text) => Ok(Self::Named(text.to_owned())),
            _ => refuse(NOT_A_NAME),
        }
    }
}

const NOT_A_NAME: &str = "is no tool name; a `*` may stand at the end";

fn is_name(text: &str) -> bool {
    toolplane_records::ids::check_id(text).is_ok() && !text.contains('*')
}

impl Pattern {
    fn fits(&self, tool: &HookTool) -> bool {
        let any_name = |fits: &dyn Fn(&str) -> bool| {
            fits(tool.tool_id.as_str()) || fits(&tool.name) || tool.aliases.iter().any(|name| fits(name))
        };
        match self {
            Self::Any => true,
            Self::Named(wanted) => any_name(&|name| name == wanted),
            Self::Beginning(prefix) => any_name(&|name| name.starts_with(prefix.as_str())),
            Self::Namespace(wanted) => any_name(&|name| {
                let rest = name.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| rest.starts_with('.'))
            }),
            Self::Family(family, given) => any_name(&|name| name == given) || family.holds(tool),
        }
    }
}

// === impl Family ===

impl Family {
    /// Every family.
    pub const ALL: &'static [Self] = &[
        Self::Bash,
        Self::Read,
        Self::Glob,
        Self::Grep,
        Self::Edit,
        Self::Write,
        Self::WebFetch,
        Self::WebSearch,
        Self::Agent,
    ];

    /// The name users know.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bash => "Bash",
            Self::Read => "Read",
            Self::Glob => "Glob",
            Self::Grep => "Grep",
            Self::Edit => "Edit",
            Self::Write => "Write",
            Self::WebFetch => "WebFetch",
            Self::WebSearch => "WebSearch",
            Self::Agent => "Agent",
        }
    }

    fn named(text: &str) -> Option<Self> {
        let known = match text {
            "Task" => "Agent",
            "MultiEdit" | "NotebookEdit" => "Edit",
            text => text,
        };
        Self::ALL.iter().copied().find(|family| family.as_str() == known)
    }

    /// Whether a tool may belong here.
    pub fn holds(self, tool: &HookTool) -> bool {
        let touches = |access| tool.access_kinds.is_empty() || tool.access_kinds.contains(&access);
        let is_file = tool.kind == Some(ToolKind::FileOperation);
        match self {
            Self::Bash => {
                tool.kind == Some(ToolKind::ShellCommand) || tool.execution_kind == Some(ExecutionKind::Shell)
            }
            Self::Read | Self::Glob | Self::Grep => is_file && touches(AccessKind::FileRead),
            Self::Edit | Self::Write => is_file && touches(AccessKind::FileWrite),
            Self::WebFetch => {
                let is_web = matches!(tool.kind, Some(ToolKind::OpenapiOperation | ToolKind::BrowserAction))
                    || tool.execution_kind == Some(ExecutionKind::HttpApi);
                is_web && touches(AccessKind::Network)
            }
            Self::WebSearch => tool.kind == Some(ToolKind::WebSearch),
            Self::Agent => tool.kind == Some(ToolKind::PeerAgentTool),
        }
    }
}

#[cfg(test)]
mod tests;
