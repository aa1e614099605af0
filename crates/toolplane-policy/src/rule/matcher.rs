//! The text of a rule: `Tool` or `Tool(pattern)`.

use std::fmt;
use std::str::FromStr;

use toolplane_records::vocabulary::Behavior;

use crate::path::protected;
use crate::pattern::{CommandPattern, InvalidPattern, PathPattern, UrlPattern};
use crate::subject::SubjectKind;
use crate::tools::{InvalidToolPattern, ToolPattern};

/// Which tools a rule is about, and which of their commands, paths or URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matcher {
    /// Which tools.
    pub tools: ToolPattern,
    /// Which of their subjects; all of them when absent.
    pub pattern: Option<SubjectPattern>,
}

/// The text in brackets, read as every kind of pattern it may be: which one counts is known once the tool is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectPattern {
    text: String,
    /// As a pattern of commands, if it is one.
    pub command: Option<CommandPattern>,
    /// As a pattern of paths, if it is one.
    pub path: Option<PathPattern>,
    /// As a pattern of URLs, if it is one.
    pub url: Option<UrlPattern>,
    names_protected: bool,
}

// === impl Matcher ===

impl Matcher {
    /// What must hold under a rule of that behaviour, beside what [`FromStr`] checks.
    pub(crate) fn check(&self, behavior: Behavior) -> Result<(), InvalidToolPattern> {
        self.tools.check(behavior)?;
        let command = self.pattern.as_ref().filter(|_| self.kind() == Some(SubjectKind::Command));
        match command.and_then(|pattern| pattern.command.as_ref()) {
            Some(command) if behavior == Behavior::Allow => {
                command.check_allow().map_err(|error| InvalidToolPattern(error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// The kind of its pattern, where the name of the tool says so.
    pub(crate) fn kind(&self) -> Option<SubjectKind> {
        match &self.tools {
            ToolPattern::Family(family, _) => family.subject(),
            _ => None,
        }
    }
}

impl FromStr for Matcher {
    type Err = InvalidToolPattern;

    fn from_str(text: &str) -> Result<Self, InvalidToolPattern> {
        let refuse = |why: &str| Err(InvalidToolPattern(why.to_owned()));
        let Some((tools, rest)) = text.split_once('(') else {
            return Ok(Self { tools: text.parse()?, pattern: None });
        };
        let Some(pattern) = rest.strip_suffix(')') else { return refuse("has a `(` without a `)` at its end") };
        let tools: ToolPattern = tools.parse()?;
        let kind = match &tools {
            ToolPattern::Any => return refuse("`*` takes no pattern in brackets"),
            ToolPattern::Family(family, name) => match family.subject() {
                None => return refuse(&format!("`{name}` takes no pattern in brackets")),
                kind => kind,
            },
            _ => None,
        };
        Ok(Self { tools, pattern: Some(SubjectPattern::parse(pattern, kind)?) })
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tools)?;
        self.pattern.iter().try_for_each(|pattern| write!(f, "({})", pattern.text))
    }
}

// === impl SubjectPattern ===

impl SubjectPattern {
    /// Reads a pattern of that kind, or of every kind it may be when none is given. It must be at least one.
    pub fn parse(text: &str, kind: Option<SubjectKind>) -> Result<Self, InvalidToolPattern> {
        if text.trim().is_empty() {
            return Err(InvalidToolPattern("has nothing in its brackets".to_owned()));
        }
        if text.chars().any(char::is_control) {
            return Err(InvalidToolPattern("must not contain control characters".to_owned()));
        }
        // A domain is nothing but a pattern of URLs.
        let only = if text.starts_with("domain:") { kind.or(Some(SubjectKind::Url)) } else { kind };
        let wanted = |own: SubjectKind| only.is_none_or(|only| only == own);
        let mut faults = Vec::new();
        let command = wanted(SubjectKind::Command).then(|| keep(CommandPattern::parse(text), &mut faults)).flatten();
        let path = wanted(SubjectKind::Path).then(|| keep(PathPattern::parse(text), &mut faults)).flatten();
        let url = wanted(SubjectKind::Url).then(|| keep(UrlPattern::parse(text), &mut faults)).flatten();
        if command.is_none() && path.is_none() && url.is_none() {
            return Err(InvalidToolPattern(faults.swap_remove(0)));
        }
        Ok(Self { names_protected: names_protected(text), text: text.to_owned(), command, path, url })
    }

    /// The text between the brackets.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it fits every subject of that kind: then it says no more than the tool alone.
    pub fn is_any(&self, kind: Option<SubjectKind>) -> bool {
        match kind {
            Some(SubjectKind::Command) => self.command.as_ref().is_some_and(CommandPattern::is_any),
            Some(SubjectKind::Path) => self.path.as_ref().is_some_and(PathPattern::is_any),
            Some(SubjectKind::Url) => self.url.as_ref().is_some_and(UrlPattern::is_any),
            None => self.text == "*",
        }
    }

    /// Whether a protected path is named in so many words, not only taken in by a wide pattern.
    pub(crate) fn names_protected(&self) -> bool {
        self.names_protected
    }
}

fn keep<T>(read: Result<T, InvalidPattern>, faults: &mut Vec<String>) -> Option<T> {
    read.map_err(|fault| faults.push(fault.to_string())).ok()
}

fn names_protected(text: &str) -> bool {
    let literal = &text[..text.find(['*', '?', '[', '{']).unwrap_or(text.len())];
    let literal = literal.strip_prefix("./").unwrap_or(literal);
    let literal = literal.trim_start_matches('/').trim_end_matches('/');
    !literal.is_empty() && protected::is_protected(literal)
}
