//! Which calls a rule is about.

use std::fmt;
use std::str::FromStr;

use toolplane_records::vocabulary::Behavior;

use crate::facts::{Certainty, FactName, Facts};

/// How well a rule fits a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// The rule is about other calls.
    No,
    /// Nobody can tell: a fact the rule asks for is unknown.
    Unknown,
    /// The rule is about this call.
    Yes,
}

/// The conditions of one rule; all of them must hold. Further kinds of condition (parsed commands, paths, URLs) stand beside
/// these when there are any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matcher {
    /// Which tools.
    pub tool: ToolPattern,
    /// Which facts.
    pub facts: Vec<FactCondition>,
}

/// Which tools a rule is about. Written `*`, `files.read_file`, `files.*` or `namespace:files`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolPattern {
    /// Every tool.
    Any,
    /// The tool of that name or id.
    Named(String),
    /// Tools whose name or id begins so.
    Beginning(String),
    /// Tools of that namespace or one below it.
    Namespace(String),
}

/// A fact that must hold, or with `!` in front must not. Written `read_only` or `!open_world`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactCondition {
    /// The fact.
    pub name: FactName,
    /// Whether it must be so.
    pub holds: bool,
}

/// A text that is not a matcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidMatcher(String);

impl fmt::Display for InvalidMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidMatcher {}

// === impl Matcher ===

impl Matcher {
    /// How well the matcher fits a call under a rule of that behaviour.
    ///
    /// An allow rule knows a tool by its id and full name only; the other behaviours also by every alias, so that no
    /// second name is a way around them.
    pub fn fit(&self, behavior: Behavior, facts: &Facts) -> Fit {
        if !self.tool.fits(behavior, facts) {
            return Fit::No;
        }
        self.facts.iter().map(|condition| condition.fit(facts)).min().unwrap_or(Fit::Yes)
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tool)?;
        self.facts.iter().try_for_each(|condition| write!(f, " {condition}"))
    }
}

// === impl ToolPattern ===

impl ToolPattern {
    fn fits(&self, behavior: Behavior, facts: &Facts) -> bool {
        let any_name = |fits: &dyn Fn(&str) -> bool| {
            let own = fits(facts.tool_id.as_str()) || fits(&facts.full_name);
            own || (behavior != Behavior::Allow && facts.other_names.iter().any(|name| fits(name)))
        };
        match self {
            Self::Any => true,
            Self::Named(wanted) => any_name(&|name| name == wanted),
            Self::Beginning(prefix) => any_name(&|name| name.starts_with(prefix.as_str())),
            Self::Namespace(wanted) => {
                let rest = facts.namespace.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
        }
    }
}

impl FromStr for ToolPattern {
    type Err = InvalidMatcher;

    fn from_str(text: &str) -> Result<Self, InvalidMatcher> {
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(namespace) = text.strip_prefix("namespace:") {
            return check_name(namespace).map(|()| Self::Namespace(namespace.to_owned()));
        }
        match text.strip_suffix('*') {
            Some(prefix) => check_name(prefix).map(|()| Self::Beginning(prefix.to_owned())),
            None => check_name(text).map(|()| Self::Named(text.to_owned())),
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Named(name) => f.write_str(name),
            Self::Beginning(prefix) => write!(f, "{prefix}*"),
            Self::Namespace(namespace) => write!(f, "namespace:{namespace}"),
        }
    }
}

/// Names and ids are made of these characters; anything else in a pattern could never match and is a mistake.
fn check_name(name: &str) -> Result<(), InvalidMatcher> {
    if name.contains('*') {
        return Err(InvalidMatcher("may have a `*` only at the end".to_owned()));
    }
    toolplane_records::ids::check_id(name).map_err(|rule| InvalidMatcher(rule.to_string()))
}

// === impl FactCondition ===

impl FactCondition {
    fn fit(self, facts: &Facts) -> Fit {
        let known = facts.certainty(self.name);
        match if self.holds { known } else { known.negated() } {
            Certainty::No => Fit::No,
            Certainty::Unknown => Fit::Unknown,
            Certainty::Yes => Fit::Yes,
        }
    }
}

impl FromStr for FactCondition {
    type Err = InvalidMatcher;

    fn from_str(text: &str) -> Result<Self, InvalidMatcher> {
        let (name, holds) = text.strip_prefix('!').map_or((text, true), |name| (name, false));
        let known = || FactName::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        let shown: String = name.chars().take(64).collect();
        let name = name.parse().map_err(|()| InvalidMatcher(format!("`{shown}` is not one of: {}", known())))?;
        Ok(Self { name, holds })
    }
}

impl fmt::Display for FactCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.holds { "" } else { "!" }, self.name)
    }
}
