//! Who a credential is for.

use toolplane_matching::{Fit, ToolFacts, ToolPattern};
use toolplane_records::vocabulary::Behavior;

use crate::broker::Request;
use crate::config::CredentialConfig;

/// Who a credential is for: everything that is said must fit. What is not known of a call never helps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    providers: Names,
    tools: Option<Vec<ToolPattern>>,
    tenants: Names,
    actors: Names,
}

/// Names, of which one is to fit. Any when none are given.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names(Option<Vec<String>>);

/// What of a call a credential is not for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfScope {
    /// The provider of the tool, or that it has none.
    Provider,
    /// The tool.
    Tool,
    /// The tenant.
    Tenant,
    /// The actor, or that nobody is named.
    Actor,
}

impl Scope {
    /// Reads the scope; says what is wrong with a tool pattern.
    pub(crate) fn new(config: &CredentialConfig) -> Result<Self, String> {
        let patterns =
            config.tools.as_ref().map(|tools| tools.iter().map(|tool| pattern(tool)).collect()).transpose()?;
        Ok(Self {
            providers: Names(config.providers.clone()),
            tools: patterns,
            tenants: Names(config.tenants.clone()),
            actors: Names(config.actors.clone()),
        })
    }

    /// Whether a request is within it; if not, what of it is not.
    pub(crate) fn check(&self, request: &Request<'_>) -> Result<(), OutOfScope> {
        if !self.providers.fit(request.provider) {
            return Err(OutOfScope::Provider);
        }
        if !self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| is_for(tool, request.tool))) {
            return Err(OutOfScope::Tool);
        }
        if !self.tenants.fit(Some(request.tenant)) {
            return Err(OutOfScope::Tenant);
        }
        if self.actors.fit(request.actor) { Ok(()) } else { Err(OutOfScope::Actor) }
    }
}

impl Names {
    fn fit(&self, name: Option<&str>) -> bool {
        let Some(names) = &self.0 else { return true };
        names.iter().any(|known| known == "*" || name == Some(known))
    }
}

/// A credential is given as an allow is: only to tools of which it is sure that they are meant, and under no alias.
fn is_for(pattern: &ToolPattern, tool: &ToolFacts) -> bool {
    pattern.fit(Behavior::Allow, tool) == Fit::Yes
}

fn pattern(text: &str) -> Result<ToolPattern, String> {
    let pattern: ToolPattern = text.parse().map_err(|rule| format!("`{text}` {rule}"))?;
    pattern.check_word().map_err(|rule| rule.to_string())?;
    pattern.check(Behavior::Allow).map_err(|rule| format!("`{text}` {rule}"))?;
    Ok(pattern)
}

impl OutOfScope {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Tool => "tool",
            Self::Tenant => "tenant",
            Self::Actor => "actor",
        }
    }
}
