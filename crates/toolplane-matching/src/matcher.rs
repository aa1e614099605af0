//! The text of a rule, `Tool` or `Tool(pattern)`, and several of them as a hook takes them.

use std::fmt;
use std::str::FromStr;

use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::Behavior;

use crate::fit::Fit;
use crate::pattern::{CommandPattern, InvalidPattern, PathPattern, UrlPattern};
use crate::subject::SubjectKind;
use crate::target::{MatchTarget, by_command};
use crate::tool::ToolMatching as _;
use crate::tools::{InvalidToolPattern, ToolPattern};

/// Which tools a rule is about, and which of their commands, paths or URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matcher {
    /// Which tools.
    pub tools: ToolPattern,
    /// Which of their subjects; all of them when absent.
    pub pattern: Option<SubjectPattern>,
}

/// Most matchers of one text.
const MAX_ALTERNATIVES: usize = 64;
/// Most characters of a matcher that an error shows.
const SHOWN: usize = 64;

/// One or several matchers with `|` between them. Each means what the same text means in a rule that denies: names, aliases and
/// families are the same, and what may fit fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matchers {
    text: String,
    all: Vec<Matcher>,
}

/// A text that is no list of matchers: the matcher, and the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{matcher}` {rule}")]
pub struct InvalidMatchers {
    /// The matcher, cut.
    pub matcher: String,
    /// The rule.
    pub rule: String,
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
    ///
    /// # Errors
    ///
    /// [`InvalidToolPattern`] when [`ToolPattern::check`] refuses the tools, and when the rule allows commands
    /// (`Bash(...)`) and [`CommandPattern::check_allow`] refuses the pattern.
    pub fn check(&self, behavior: Behavior) -> Result<(), InvalidToolPattern> {
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
    pub fn kind(&self) -> Option<SubjectKind> {
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

// === impl Matchers ===

impl Default for Matchers {
    /// Every tool.
    fn default() -> Self {
        Self { text: "*".to_owned(), all: vec![Matcher { tools: ToolPattern::Any, pattern: None }] }
    }
}

impl Matchers {
    /// Whether one of them fits the call, or may.
    pub fn fit(&self, target: &MatchTarget<'_>) -> bool {
        self.all.iter().any(|matcher| target.reach(matcher, Behavior::Deny).fit != Fit::No)
    }

    /// Whether there may be a call of `tool` that one of them fits.
    pub fn may_fit(&self, tool: &ToolFacts) -> bool {
        let fits = |matcher: &Matcher| {
            matcher.tools.fit(Behavior::Deny, tool) != Fit::No
                || by_command(&matcher.tools, tool.subject_kind()).is_some()
        };
        self.all.iter().any(fits)
    }
}

impl FromStr for Matchers {
    type Err = InvalidMatchers;

    /// Reads the text; nothing stands for every tool. Fails where one of the matchers is none, or a rule that denies would refuse it,
    /// or almost names a family.
    fn from_str(text: &str) -> Result<Self, InvalidMatchers> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let refuse =
            |matcher: &str, rule: String| InvalidMatchers { matcher: matcher.chars().take(SHOWN).collect(), rule };
        let read = |text: &str| {
            let matcher: Matcher = text.parse()?;
            matcher.check(Behavior::Deny)?;
            matcher.tools.check_word()?;
            Ok(matcher)
        };
        let texts = alternatives(text);
        if texts.len() > MAX_ALTERNATIVES {
            return Err(refuse(text, format!("holds more than {MAX_ALTERNATIVES} patterns")));
        }
        let read = |text: &&str| read(text).map_err(|fault: InvalidToolPattern| refuse(text, fault.to_string()));
        Ok(Self { text: text.to_owned(), all: texts.iter().map(read).collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for Matchers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The texts between the `|` that are outside brackets. Brackets end where a `|` or nothing follows them.
fn alternatives(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut from, mut inside) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' => inside = true,
            ')' => inside = !matches!(text[at + 1..].trim_start().chars().next(), None | Some('|')),
            '|' if !inside => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[from..].trim());
    found
}

// === impl SubjectPattern ===

impl SubjectPattern {
    /// Reads a pattern of that kind, or of every kind it may be when none is given. It must be at least one.
    ///
    /// # Errors
    ///
    /// [`InvalidToolPattern`] when the text is empty or only blanks, has control characters, or cannot be read as a
    /// pattern of any of these kinds, e.g. because it is longer than 4096 bytes. The error then says why it is not one
    /// of the first kind.
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
    pub fn names_protected(&self) -> bool {
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
    !literal.is_empty() && toolplane_records::workspace::protection(literal).is_some()
}
