//! Which tools a matcher is about, from their names.
//!
//! Written `*`, `files.read_file`, `files.*`, `namespace:files`, `Bash` and the other family names, `mcp__server`,
//! `mcp__server__*` (also `mcp__server__.*`), `mcp__server__tool`. A plain word that is almost the name of a family is a slip and
//! refused ([`ToolPattern::check_word`]).
//!
//! An allow rule knows a tool by its id, its full name and the end of it people call it by
//! ([`ToolMatching::called_name`](crate::ToolMatching::called_name)). The other behaviours also know every alias, so that no second name is a way around them.

mod family;
#[cfg(test)]
mod tests;
mod words;

pub use crate::spelling::{provider_spelling, within};
use std::fmt;
use std::str::FromStr;

pub use self::family::Family;

use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::Behavior;

use crate::fit::Fit;
use crate::glob;
use crate::tool::ToolMatching as _;

/// Which tools a rule is about.
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
    /// Tools that do what that family of tools does, and tools really named so.
    Family(Family, String),
    /// Tools of a provider: of the namespace `mcp.<server>`, with a `*` pattern for their names there.
    Mcp {
        /// The provider; may hold `*` in deny and ask rules.
        server: String,
        /// The tool; `*` for all of them.
        tool: String,
    },
}

/// A text that names no tools; says what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidToolPattern(pub(crate) String);

// === impl ToolPattern ===

impl ToolPattern {
    /// How well it fits a tool under a rule of that behaviour. Unknown where what the tool does is not declared.
    pub fn fit(&self, behavior: Behavior, tool: &ToolFacts) -> Fit {
        match self {
            Self::Any => Fit::Yes,
            Self::Named(wanted) => any_name(behavior, tool, |name| name == wanted).into(),
            Self::Beginning(prefix) => any_name(behavior, tool, |name| name.starts_with(prefix.as_str())).into(),
            Self::Namespace(wanted) => within(&tool.namespace, wanted).into(),
            Self::Family(family, name) => {
                let named = Fit::from(any_name(behavior, tool, |other| other == name));
                named.max(family.fit(behavior, tool))
            }
            Self::Mcp { server, tool: wanted } => mcp_fits(server, wanted, behavior, tool).into(),
        }
    }

    /// What must be true of the text under a rule of that behaviour, beside what [`FromStr`] checks: an allow for tools of
    /// providers must name the provider.
    ///
    /// # Errors
    ///
    /// [`InvalidToolPattern`] when the rule allows and the server of [`ToolPattern::Mcp`] has a `*`.
    pub fn check(&self, behavior: Behavior) -> Result<(), InvalidToolPattern> {
        match self {
            Self::Mcp { server, .. } if behavior == Behavior::Allow && server.contains('*') => Err(InvalidToolPattern(
                "must name the server after `mcp__` without `*` in a rule that allows".to_owned(),
            )),
            _ => Ok(()),
        }
    }
}

impl ToolPattern {
    /// Refuses a plain word that is no family, but almost one: a rule about `Bsh` would never be about anything.
    ///
    /// A tool of one's own that is really called so is named in full (`namespace.Bsh`) or by its beginning (`Bsh*`).
    ///
    /// # Errors
    ///
    /// [`InvalidToolPattern`] when the word has only letters, begins with a capital one, is not a known word, and is at
    /// most one slip away from one, or two slips when it has 8 letters or more. A slip is a letter that is inserted,
    /// left out, replaced or swapped with its neighbour; upper and lower case are the same. Known words are the names
    /// of the families and of some tools of coding agents.
    pub fn check_word(&self) -> Result<(), InvalidToolPattern> {
        let Self::Named(name) = self else { return Ok(()) };
        match words::meant(name) {
            None => Ok(()),
            Some(word) => Err(InvalidToolPattern(format!(
                "names no tool by `{name}`: was `{word}` meant? A tool of your own is named in full, `namespace.{name}`"
            ))),
        }
    }
}

fn any_name(behavior: Behavior, tool: &ToolFacts, fits: impl Fn(&str) -> bool) -> bool {
    let own = fits(tool.tool_id.as_str()) || fits(&tool.full_name) || tool.called_name().is_some_and(&fits);
    own || (behavior != Behavior::Allow && tool.aliases.iter().any(|name| fits(name)))
}

fn mcp_fits(server: &str, wanted: &str, behavior: Behavior, tool: &ToolFacts) -> bool {
    if behavior == Behavior::Allow {
        // Dots and `__` are not told apart in aliases, so only the namespace says whose tool it is.
        let Some(own) = tool.namespace.strip_prefix("mcp.") else { return false };
        return own == server && glob::matches(wanted, tool.short_name());
    }
    let pattern = provider_spelling(&format!("mcp.{server}.{wanted}"));
    any_name(behavior, tool, |name| name.starts_with("mcp") && glob::matches(&pattern, &provider_spelling(name)))
}

impl FromStr for ToolPattern {
    type Err = InvalidToolPattern;

    fn from_str(text: &str) -> Result<Self, InvalidToolPattern> {
        if matches!(text, "*" | ".*") {
            return Ok(Self::Any);
        }
        if let Some(namespace) = text.strip_prefix("namespace:") {
            return check_name(namespace).map(|()| Self::Namespace(namespace.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("mcp__") {
            return mcp(rest);
        }
        if let Some(family) = Family::of(text) {
            return Ok(Self::Family(family, text.to_owned()));
        }
        match text.strip_suffix('*') {
            Some(prefix) => check_name(prefix).map(|()| Self::Beginning(prefix.to_owned())),
            None => check_name(text).map(|()| Self::Named(text.to_owned())),
        }
    }
}

fn mcp(rest: &str) -> Result<ToolPattern, InvalidToolPattern> {
    let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
    // Users of coding agents also write regular expressions for all of a server's tools.
    let tool = if tool == ".*" { "*" } else { tool };
    for part in [server, tool] {
        let literal = part.replace('*', "");
        if !(literal.is_empty() && part.contains('*')) {
            check_name(&literal)?;
        }
    }
    Ok(ToolPattern::Mcp { server: server.to_owned(), tool: tool.to_owned() })
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Named(name) | Self::Family(_, name) => f.write_str(name),
            Self::Beginning(prefix) => write!(f, "{prefix}*"),
            Self::Namespace(namespace) => write!(f, "namespace:{namespace}"),
            Self::Mcp { server, tool } => write!(f, "mcp__{server}__{tool}"),
        }
    }
}

/// Names and ids are made of these characters; anything else in a pattern could never match and is a mistake.
fn check_name(name: &str) -> Result<(), InvalidToolPattern> {
    if name.contains('*') {
        return Err(InvalidToolPattern("may have a `*` only at the end".to_owned()));
    }
    toolplane_records::ids::check_id(name).map_err(|rule| InvalidToolPattern(rule.to_string()))
}
