//! What a decision is made from beside rules, and how it came about, for people.

use serde::{Deserialize, Serialize};

use crate::assurance::Confidence;
use crate::vocabulary::{Behavior, ClassifierAuthority, RuleFit};

/// A permission hint of a hook about one call (contracts/hooks-and-input-mutation, "Permission hook invariant").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookVerdict {
    /// The hook.
    pub hook_id: String,
    /// What it would do.
    pub behavior: Behavior,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The operator lets this hook allow what no rule decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub authoritative: bool,
}

impl HookVerdict {
    /// How names begin under which the cluster itself asks; no hook may have one.
    pub const RESERVED: &str = "toolplane:";

    /// The name under which the cleaning of results asks whether one is given out as it is. It asks in the way of a hook and is none.
    pub const OF_RESULT: &str = "toolplane:result";

    /// Whether the question is about the result of the call, and not about the call.
    pub fn is_about_result(&self) -> bool {
        self.hook_id == Self::OF_RESULT && self.behavior == Behavior::Ask
    }
}

/// What a safety classifier says of one call (contracts/permission-decision, "Classifier state").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassifierCheck {
    /// The classifier.
    pub classifier_ref: String,
    /// It has not answered yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// How sure it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Why.
    #[serde(default, rename = "classifier_reason", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What it would do; absent while pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behavior: Option<Behavior>,
    /// What the operator lets it decide.
    pub authority: ClassifierAuthority,
}

/// The outcome of one rule in one decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleExplanation {
    /// The rule.
    pub rule_id: String,
    /// Where it comes from.
    pub source: String,
    /// What it says.
    pub behavior: Behavior,
    /// What it matches, as it was written.
    pub matcher: String,
    /// How well it fits.
    pub fit: RuleFit,
    /// It is the one that decided.
    pub decided: bool,
    /// It is only watched.
    pub shadow: bool,
    /// Why it fits, or may fit.
    pub why: String,
}

/// The outcome for one part of a call: a simple command, a path, a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartExplanation {
    /// The part.
    pub text: String,
    /// What would be decided about it alone.
    pub behavior: Behavior,
    /// The rule that decides about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule_ref: String,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// How a decision came about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionExplanation {
    /// The rules that fit or may fit, in the order they are looked at.
    pub rules: Vec<RuleExplanation>,
    /// The parts of the call.
    pub parts: Vec<PartExplanation>,
    /// What else counted.
    pub notes: Vec<String>,
    /// Digest of the rule set.
    pub policy_digest: String,
}
