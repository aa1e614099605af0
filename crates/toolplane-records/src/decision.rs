//! Permission decisions (contracts/permission-decision).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{ApprovalId, DecisionId, InvocationId};
use crate::payload::{Digest, JsonPayload};
use crate::time::Timestamp;
use crate::vocabulary::{Behavior, ReasonType, RuleSource};

/// What decided, in words and by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionReason {
    /// Kind of reason.
    #[serde(rename = "type")]
    pub reason_type: ReasonType,
    /// The rule that decided, when one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_ref: Option<SmolStr>,
    /// For people.
    pub message: SmolStr,
}

/// Where a decision came from: a rule source of the standard, or a component such as `default` or `approval`.
pub type DecisionSource = SmolStr;

/// Paths that rules keep from a call, as patterns of rules: what the tool opens by itself must not lead to them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeniedPaths {
    /// Neither read nor written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
}

impl DeniedPaths {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }
}

/// The outcome of one permission check of one invocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionDecision {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the decision.
    pub decision_id: DecisionId,
    /// The call.
    pub invocation_id: InvocationId,
    /// Allow, ask, deny or passthrough.
    pub behavior: Behavior,
    /// Permission mode in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<SmolStr>,
    /// Where the decision came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<DecisionSource>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<DecisionReason>,
    /// Every rule that matched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_refs: Vec<SmolStr>,
    /// Adjacent policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<SmolStr>,
    /// Replacement input.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<JsonPayload>,
    /// Replacement input, by reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input_ref: Option<String>,
    /// A person changed the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_modified: Option<bool>,
    /// Rule changes that would answer the question next time; objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::Object>"))]
    pub suggested_updates: Vec<JsonPayload>,
    /// A classifier still at work; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub pending_classifier_check: Option<JsonPayload>,
    /// The path that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// Content a person added; objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::Object>"))]
    pub content_blocks: Vec<JsonPayload>,
    /// What a person said with an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_feedback: Option<String>,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// Until when it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The parked question, when the behaviour is `ask` (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_request_ref: Option<ApprovalId>,
    /// Digest of the rule set that decided (ours).
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub policy_digest: SmolStr,
    /// Paths the call must not reach, whatever it does (ours).
    #[serde(default, skip_serializing_if = "DeniedPaths::is_empty")]
    pub denied_paths: DeniedPaths,
    /// The decision about an earlier call that stands for this one, when it was not made anew (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<DecisionId>,
}

impl PermissionDecision {
    /// A decision that says nothing but its behaviour.
    pub fn new(
        decision_id: DecisionId,
        invocation_id: InvocationId,
        behavior: Behavior,
        decided_at: Timestamp,
    ) -> Self {
        Self {
            schema_version: crate::schema_version(),
            decision_id,
            invocation_id,
            behavior,
            mode: None,
            source: None,
            reason: None,
            rule_refs: Vec::new(),
            policy_refs: Vec::new(),
            updated_input: None,
            updated_input_ref: None,
            user_modified: None,
            suggested_updates: Vec::new(),
            pending_classifier_check: None,
            blocked_path: None,
            content_blocks: Vec::new(),
            accept_feedback: None,
            decided_at,
            expires_at: None,
            approval_request_ref: None,
            policy_digest: SmolStr::default(),
            denied_paths: DeniedPaths::default(),
            reused_from: None,
        }
    }

    /// The source as a standard word, when it is one.
    pub fn rule_source(&self) -> Option<RuleSource> {
        self.source.as_deref().and_then(|source| source.parse().ok())
    }
}

/// Longest part of an invocation's id that its decisions carry, so that theirs stays an identifier.
const CARRIED: usize = 200;

/// The id of the decision that `facts` determine for an invocation: the same facts give the same id.
pub fn decision_id(invocation: &InvocationId, facts: &[&str]) -> DecisionId {
    // With its length in front of each, so that no two lists of facts look the same.
    let mut named = Vec::with_capacity(512);
    for fact in std::iter::once(&invocation.as_str()).chain(facts) {
        named.extend_from_slice(&(fact.len() as u64).to_le_bytes());
        named.extend_from_slice(fact.as_bytes());
    }
    let digest = Digest::of(&named).hex();
    let carried = &invocation.as_str()[..invocation.as_str().len().min(CARRIED)];
    DecisionId::from_trusted(format!("perm_{carried}_{}", &digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::{InvocationId, decision_id};

    #[test]
    fn the_same_facts_have_the_same_name_and_others_another() {
        let call = InvocationId::from_trusted("inv_1");
        let first = decision_id(&call, &["input", "policy"]);
        assert_eq!(first, decision_id(&call, &["input", "policy"]));
        assert_ne!(first, decision_id(&call, &["input2", "policy"]));
        assert_ne!(first, decision_id(&call, &["inputpolicy"]));
    }

    #[test]
    fn the_longest_invocation_still_gives_an_identifier() {
        let call = InvocationId::from_trusted("i".repeat(256));
        assert!(decision_id(&call, &["x"]).as_str().len() <= 256);
    }
}
