//! Conditions on facts of a call: `read_only`, `!open_world`, `risk>=high`, `access:file_write`, `taint:web`, `surface_policy:strict`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use toolplane_records::decision_request::CallSignals;
use toolplane_records::taint;
use toolplane_records::vocabulary::{AccessKind, RiskLevel, ToolKind, WriteEffect};

use super::InvalidCondition;
use crate::call::{CallFacts, FactName};
use toolplane_matching::ToolMatching as _;
use toolplane_matching::fit::{Certainty, Fit};

/// Longest label, in bytes.
const MAX_LABEL: usize = 128;

/// A fact that must hold or, with `!` in front, must not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactTest {
    holds: bool,
    fact: Fact,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    Safety(FactName),
    Untrusted,
    Risk(&'static str, RiskLevel),
    Access(AccessKind),
    Effect(WriteEffect),
    Kind(ToolKind),
    Network(String),
    Taint(String),
    SurfacePolicy(String),
}

impl FactTest {
    /// How well it fits a call; `untrusted` says whether the tool's author is not trusted.
    pub fn fit(&self, call: &CallFacts, untrusted: bool) -> Fit {
        let known = self.fact.certainty(call, untrusted);
        Fit::from(if self.holds { known } else { known.negated() })
    }

    /// Whether it is about a taint that the call is known to have.
    pub(crate) fn finds_taint(&self, call: &CallFacts) -> bool {
        matches!(&self.fact, Fact::Taint(label) if taint::has(call.signals.found_taints(), label))
    }

    /// Whether it is about the surface of a call.
    pub(crate) fn is_about_surface(&self) -> bool {
        matches!(self.fact, Fact::SurfacePolicy(_))
    }

    /// Whether both are about the same fact, whatever they ask of it.
    pub(crate) fn is_about_the_same(&self, other: &Self) -> bool {
        self.fact == other.fact
    }
}

impl Fact {
    fn certainty(&self, call: &CallFacts, untrusted: bool) -> Certainty {
        // What an untrusted author leaves out is as unknown as what is not said at all.
        let claimed = |said: Certainty| if untrusted && said == Certainty::No { Certainty::Unknown } else { said };
        match self {
            Self::Safety(name) => call.safety.believed(*name, untrusted),
            Self::Untrusted => untrusted.into(),
            Self::Risk(operator, level) => {
                let Some(risk) = call.tool.risk() else { return Certainty::Unknown };
                // An untrusted tool may be riskier than it says, never less risky.
                let may_be_more = untrusted && risk < RiskLevel::Critical;
                risk_fits(operator, risk, *level, may_be_more)
            }
            Self::Access(kind) => claimed(call.tool.has_access(*kind)),
            Self::Effect(WriteEffect::None) => match call.tool.has_effect(WriteEffect::None) {
                Certainty::Yes if untrusted => Certainty::Unknown,
                said => said,
            },
            Self::Effect(effect) => claimed(call.tool.has_effect(*effect)),
            Self::Kind(kind) => call.tool.kind.map(|own| own == *kind).into(),
            Self::Network(scope) => {
                let own = call.tool.profile.as_ref().and_then(|profile| profile.network_scope.as_ref());
                if untrusted { Certainty::Unknown } else { own.map(|own| own == scope).into() }
            }
            // Silence about taints is no promise that there are none.
            Self::Taint(label) => tainted(&call.signals, label),
            // The platform keeps surfaces itself, so it always knows.
            Self::SurfacePolicy(name) => call.caller.surface_policies.contains(name).into(),
        }
    }
}

/// What is known of one taint, by the agent's word and by what its session was given. Of its own labels the platform knows it itself, and an
/// agent that is silent about them is not asked; of other labels only the agent knows.
fn tainted(signals: &CallSignals, label: &str) -> Certainty {
    let said = signals.assurance.as_ref().map(|assurance| assurance.taints.iter().any(|said| said == label));
    let found = signals.taints.as_deref().filter(|_| taint::is_followed(label)).map(|known| taint::has(known, label));
    match (said, found) {
        (Some(true), _) | (_, Some(true)) => Certainty::Yes,
        (said, found) => found.or(said).into(),
    }
}

fn risk_fits(operator: &str, risk: RiskLevel, level: RiskLevel, may_be_more: bool) -> Certainty {
    let fits = |risk: RiskLevel| match operator {
        ">=" => risk >= level,
        "<=" => risk <= level,
        ">" => risk > level,
        "<" => risk < level,
        _ => risk.cmp(&level) == Ordering::Equal,
    };
    let possible = |other: &&RiskLevel| **other == risk || (may_be_more && **other > risk);
    let mut answers = RiskLevel::ALL.iter().filter(possible).map(|risk| fits(*risk));
    let first = answers.next();
    if answers.any(|answer| Some(answer) != first) { Certainty::Unknown } else { first.into() }
}

impl FromStr for FactTest {
    type Err = InvalidCondition;

    fn from_str(text: &str) -> Result<Self, InvalidCondition> {
        let (rest, holds) = text.strip_prefix('!').map_or((text, true), |rest| (rest, false));
        Ok(Self { holds, fact: rest.parse()? })
    }
}

impl FromStr for Fact {
    type Err = InvalidCondition;

    fn from_str(text: &str) -> Result<Self, InvalidCondition> {
        fn word<T: FromStr>(text: &str) -> Result<T, InvalidCondition>
        where
            T::Err: fmt::Display,
        {
            text.parse().map_err(|error: T::Err| InvalidCondition(error.to_string()))
        }
        if let Some(rest) = text.strip_prefix("risk") {
            for operator in [">=", "<=", ":", "=", ">", "<"] {
                if let Some(level) = rest.strip_prefix(operator) {
                    let operator = if operator == ":" { "=" } else { operator };
                    return Ok(Self::Risk(operator, word(level)?));
                }
            }
        }
        match text.split_once(':') {
            Some(("access", kind)) => Ok(Self::Access(word(kind)?)),
            Some(("effect", effect)) => Ok(Self::Effect(word(effect)?)),
            Some(("kind", kind)) => Ok(Self::Kind(word(kind)?)),
            Some(("network", scope)) => label(scope).map(Self::Network),
            Some(("taint", taint)) => label(taint).map(Self::Taint),
            Some(("surface_policy", name)) => label(name).map(Self::SurfacePolicy),
            None if text == "untrusted" => Ok(Self::Untrusted),
            // Only the short spelling: one fact has one name in rules.
            None if !text.starts_with("is_") && text.parse::<FactName>().is_ok() => {
                text.parse().map(Self::Safety).map_err(|()| unknown(text))
            }
            _ => Err(unknown(text)),
        }
    }
}

fn unknown(text: &str) -> InvalidCondition {
    let names: Vec<&str> = FactName::ALL.iter().map(|name| name.as_str()).collect();
    let shown: String = text.chars().take(64).collect();
    InvalidCondition(format!(
        "`{shown}` is not one of: {}, untrusted, risk:<level>, access:<kind>, effect:<effect>, network:<scope>, \
         taint:<label>, surface_policy:<name>, kind:<tool kind>",
        names.join(", ")
    ))
}

fn label(text: &str) -> Result<String, InvalidCondition> {
    if text.is_empty() || text.len() > MAX_LABEL || text.chars().any(char::is_control) {
        return Err(InvalidCondition(format!("a label must have 1 to {MAX_LABEL} bytes without control characters")));
    }
    Ok(text.to_owned())
}

impl fmt::Display for FactTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.holds { "" } else { "!" })?;
        match &self.fact {
            Fact::Safety(name) => write!(f, "{name}"),
            Fact::Untrusted => f.write_str("untrusted"),
            Fact::Risk("=", level) => write!(f, "risk:{level}"),
            Fact::Risk(operator, level) => write!(f, "risk{operator}{level}"),
            Fact::Access(kind) => write!(f, "access:{kind}"),
            Fact::Effect(effect) => write!(f, "effect:{effect}"),
            Fact::Kind(kind) => write!(f, "kind:{kind}"),
            Fact::Network(scope) => write!(f, "network:{scope}"),
            Fact::Taint(label) => write!(f, "taint:{label}"),
            Fact::SurfacePolicy(name) => write!(f, "surface_policy:{name}"),
        }
    }
}
