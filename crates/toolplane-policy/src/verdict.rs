//! What follows from a policy for one call, and why.

use toolplane_records::SmolStr;
use toolplane_records::decision::{DecisionReason, DeniedPaths};
use toolplane_records::explanation::PartExplanation;
use toolplane_records::vocabulary::{Behavior, RuleFit};

/// The outcome of evaluating one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Allow, ask or deny.
    pub behavior: Behavior,
    /// Where the decision comes from: the deciding rule's source, or one of [`source`](mod@source).
    pub source: &'static str,
    /// The kind of reason, the rule and a text for people.
    pub reason: DecisionReason,
    /// Ids of the rules that fit the call or may fit it, shadow rules aside: denies, asks, allows, each in the order of the
    /// set; at most 1000.
    pub matched: Vec<SmolStr>,
    /// Id of the rule that decided, when one did.
    pub deciding: Option<SmolStr>,
    /// The organisation's policies that determined what they said.
    pub policy_refs: Vec<String>,
    /// The path that is the reason, when one is.
    pub blocked_path: Option<String>,
    /// What would be decided about each part, when the call has more than one.
    pub parts: Vec<PartExplanation>,
    /// Who should look at a question: `approvals`, or `review` when the agent itself is not sure.
    pub queue: &'static str,
    /// Allow rules about this call that no longer hold because the tool has been declared in another way; at most 1000.
    pub outdated: Vec<String>,
    /// It is a question that an allow rule would have answered.
    pub answerable: bool,
    /// A classifier that may decide has not answered yet.
    pub classifier_pending: bool,
    /// Paths that rules keep from the call, whatever it does.
    pub denied_paths: DeniedPaths,
    /// Rules that only watch, and would have had a say.
    pub shadow: Vec<ShadowHit>,
}

/// A rule that only watches and fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowHit {
    /// The rule.
    pub rule_id: String,
    /// What it says.
    pub behavior: Behavior,
    /// How well it fits.
    pub fit: RuleFit,
}

/// Sources of decisions that are no rules.
pub mod source {
    /// What a person must see, whatever the rules allow.
    pub const SAFETY_FLOOR: &str = "safety_floor";
    /// The organisation's policies.
    pub const POLICY_SETTINGS: &str = "policy_settings";
    /// A hook.
    pub const HOOK: &str = "hook";
    /// The cleaning of results, which asks whether one is given out as it is.
    pub const RESULT: &str = toolplane_records::approval::OF_RESULT;
    /// A classifier.
    pub const CLASSIFIER: &str = "classifier";
    /// The permission mode.
    pub const MODE: &str = "mode";
    /// A part of the input that nothing may name.
    pub const SAFETY_CHECK: &str = "safety_check";
    /// Nothing is about the call.
    pub const DEFAULT: &str = "default";
    /// A person would have to decide and there is no person to ask.
    pub const NO_APPROVER: &str = "no_approver";
}
