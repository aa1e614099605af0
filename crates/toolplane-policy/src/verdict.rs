//! What follows from the rules for one call, and why.

use toolplane_records::decision::DecisionReason;
use toolplane_records::vocabulary::Behavior;

/// The outcome of evaluating one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Allow, ask or deny.
    pub behavior: Behavior,
    /// Ids of every rule that fits the call or may fit it, in the order of the set.
    pub matched: Vec<String>,
    /// Id of the rule that decided, when a rule did.
    pub deciding: Option<String>,
    /// Where the decision comes from: the deciding rule's source, `safety_floor`, `default` or `no_approver`.
    pub source: String,
    /// The kind of reason, the rule and a text for people.
    pub reason: DecisionReason,
}
