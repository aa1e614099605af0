//! Safety facts of one input, and who vouches for them.

use std::fmt;
use std::str::FromStr;

use toolplane_records::invocation::InputSafety;

use toolplane_matching::fit::Certainty;

/// A fact that is so, is not so, or is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactName {
    /// `read_only`: the call leaves no trace.
    ReadOnly,
    /// `destructive`: the call may destroy something.
    Destructive,
    /// `open_world`: the call touches the uncontrolled outside.
    OpenWorld,
    /// `sensitive_sink`: the call may carry sensitive data out.
    SensitiveSink,
    /// `approval_required`: the tool's permission profile wants a person to approve.
    ApprovalRequired,
}

/// What is known of the effects of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafetyFacts {
    /// The call leaves no trace.
    pub read_only: Certainty,
    /// The call may destroy something.
    pub destructive: Certainty,
    /// The call touches the uncontrolled outside.
    pub open_world: Certainty,
    /// The call may carry sensitive data out.
    pub sensitive_sink: Certainty,
    /// The tool's permission profile wants a person to approve.
    pub approval_required: Certainty,
    /// Facts found by the cluster itself; the others are claims of the tool's author.
    pub trusted: Vec<FactName>,
}

// === impl FactName ===

impl FactName {
    /// Every fact.
    pub const ALL: &'static [Self] =
        &[Self::ReadOnly, Self::Destructive, Self::OpenWorld, Self::SensitiveSink, Self::ApprovalRequired];

    /// The fact's name in rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Destructive => "destructive",
            Self::OpenWorld => "open_world",
            Self::SensitiveSink => "sensitive_sink",
            Self::ApprovalRequired => "approval_required",
        }
    }

    /// The value that speaks for a call.
    const fn harmless(self) -> Certainty {
        match self {
            Self::ReadOnly => Certainty::Yes,
            Self::Destructive | Self::OpenWorld | Self::SensitiveSink | Self::ApprovalRequired => Certainty::No,
        }
    }
}

impl fmt::Display for FactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for FactName {
    type Err = ();

    /// Reads the name, also as interfaces write it (`is_read_only`).
    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.strip_prefix("is_").unwrap_or(text);
        Self::ALL.iter().find(|name| name.as_str() == text).copied().ok_or(())
    }
}

// === impl SafetyFacts ===

impl SafetyFacts {
    /// The facts of an evaluated input. `unknown` names those that are only defaults, as interfaces write them
    /// (`is_read_only` ...).
    pub fn of<'a>(safety: &InputSafety, unknown: impl IntoIterator<Item = &'a str>) -> Self {
        let unknown: Vec<FactName> = unknown.into_iter().filter_map(|name| name.parse().ok()).collect();
        let known = |name: FactName, value: bool| {
            if unknown.contains(&name) { Certainty::Unknown } else { Certainty::from(value) }
        };
        Self {
            read_only: known(FactName::ReadOnly, safety.is_read_only),
            destructive: known(FactName::Destructive, safety.is_destructive),
            open_world: known(FactName::OpenWorld, safety.is_open_world),
            ..Self::default()
        }
    }

    /// What is said of `name`, by any source.
    pub fn certainty(&self, name: FactName) -> Certainty {
        match name {
            FactName::ReadOnly => self.read_only,
            FactName::Destructive => self.destructive,
            FactName::OpenWorld => self.open_world,
            FactName::SensitiveSink => self.sensitive_sink,
            FactName::ApprovalRequired => self.approval_required,
        }
    }

    /// What is trusted of `name`. What an untrusted author says counts only against the call.
    pub fn believed(&self, name: FactName, untrusted: bool) -> Certainty {
        let said = self.certainty(name);
        let only_claimed = untrusted && !self.trusted.contains(&name);
        if only_claimed && said == name.harmless() { Certainty::Unknown } else { said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_of_a_safety_evaluation_are_not_knowledge() {
        let safety = InputSafety { is_open_world: true, ..InputSafety::default() };
        let facts = SafetyFacts::of(&safety, ["is_read_only", "is_open_world"]);
        let found = (facts.read_only, facts.destructive, facts.open_world, facts.sensitive_sink);
        assert_eq!(found, (Certainty::Unknown, Certainty::No, Certainty::Unknown, Certainty::Unknown));
    }

    #[test]
    fn an_untrusted_word_counts_only_against_the_call() {
        let mut facts =
            SafetyFacts { read_only: Certainty::Yes, destructive: Certainty::Yes, ..SafetyFacts::default() };
        assert_eq!(facts.believed(FactName::ReadOnly, false), Certainty::Yes);
        assert_eq!(facts.believed(FactName::ReadOnly, true), Certainty::Unknown);
        assert_eq!(facts.believed(FactName::Destructive, true), Certainty::Yes);
        facts.trusted = vec![FactName::ReadOnly];
        assert_eq!(facts.believed(FactName::ReadOnly, true), Certainty::Yes);
    }
}
