//! Rules that passed their checks.

use toolplane_records::error::FieldViolation;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::vocabulary::{Behavior, RuleSource};

use crate::config::PolicyConfig;
use crate::matcher::Matcher;

/// One permission rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the rule, unique in its set.
    pub id: String,
    /// Where it comes from.
    pub source: RuleSource,
    /// What it says: allow, ask or deny.
    pub behavior: Behavior,
    /// Which calls it is about.
    pub matcher: Matcher,
    /// Why it is there, for people.
    pub reason: String,
}

/// The rules in force, never changed in place: other rules are another set with another digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSet {
    rules: Vec<Rule>,
    digest: Digest,
}

impl RuleSet {
    /// The set of checked rules in the order given.
    pub fn new(rules: Vec<Rule>) -> Self {
        let lines: Vec<[String; 5]> = rules
            .iter()
            .map(|rule| {
                [
                    rule.id.clone(),
                    rule.source.to_string(),
                    rule.behavior.to_string(),
                    rule.matcher.to_string(),
                    rule.reason.clone(),
                ]
            })
            .collect();
        Self { digest: JsonPayload::of(&lines).digest(), rules }
    }

    /// The set a configuration describes; see [`PolicyConfig::rules`] for what is refused.
    pub fn from_config(config: &PolicyConfig) -> Result<Self, Vec<FieldViolation>> {
        config.rules().map(Self::new)
    }

    /// The rules, in order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// SHA-256 over everything the rules say: equal digests mean equal decisions for equal facts.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl Default for RuleSet {
    /// No rules: every call is asked about.
    fn default() -> Self {
        Self::new(Vec::new())
    }
}
