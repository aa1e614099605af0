//! From the facts of one call to its decision record. Nothing here is stored or waits.

#[cfg(test)]
mod tests;

use serde_json::json;
use toolplane_policy::{Certainty, Facts, RuleSet, Verdict, evaluate};
use toolplane_records::approval::Approval;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::{ApprovalId, InvocationId, SurfaceId, TenantId, ToolId};
use toolplane_records::invocation::InputSafety;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior, ReasonType};

use crate::approvals::Book;
use crate::decision::decision_id;

/// The mode of callers that name none.
const DEFAULT_MODE: &str = "default";

/// One call that wants to run.
#[derive(Clone, Debug)]
pub struct Question {
    /// The call.
    pub invocation_id: InvocationId,
    /// Its owner.
    pub tenant: TenantId,
    /// Who calls; may be empty.
    pub actor_ref: String,
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub tool_name: String,
    /// Its namespace.
    pub namespace: String,
    /// Digest of its registration.
    pub declaration_digest: Digest,
    /// The surface it is called in, when it is called in one.
    pub surface_id: Option<SurfaceId>,
    /// What people are shown of the input.
    pub shown_input: JsonPayload,
    /// Digest of the input itself.
    pub input_digest: Digest,
    /// Risk facts of the tool.
    pub profile: Option<PermissionProfile>,
    /// Safety facts of this input.
    pub safety: Option<InputSafety>,
    /// Safety facts that are only defaults.
    pub unknown_facts: Vec<String>,
    /// Somebody can answer a question.
    pub can_ask: bool,
    /// Permission mode in force; may be empty.
    pub mode: String,
    /// Until when an answer is of use.
    pub deadline_at: Option<Timestamp>,
}

impl Question {
    /// The id the parked question has, if there is to be one.
    pub fn approval_id(&self) -> ApprovalId {
        Book::id_of(&self.tenant, &self.invocation_id, &self.declaration_digest, &self.input_digest)
    }

    fn facts(&self) -> Facts {
        let known = |fact: Option<bool>| fact.map_or(Certainty::Unknown, Certainty::from);
        let mut facts = Facts::of_tool(self.tool_id.clone(), &self.tool_name, &self.namespace);
        facts.other_names = vec![self.tool_name.replace('.', "__")];
        // A call may name the tool without its namespace, so a rule may too.
        let short = self.tool_name.strip_prefix(&self.namespace).and_then(|rest| rest.strip_prefix('.'));
        facts.other_names.extend(short.filter(|name| !name.is_empty()).map(str::to_owned));
        facts.can_ask = self.can_ask;
        if let Some(profile) = &self.profile {
            facts.sensitive_sink = known(profile.sensitive_sink);
            facts.approval_required = known(profile.approval_required);
        }
        match &self.safety {
            Some(safety) => facts.with_safety(safety, self.unknown_facts.iter().map(String::as_str)),
            None => facts,
        }
    }
}

/// The rules in force, ready to decide.
#[derive(Clone, Debug)]
pub struct Decider {
    rules: RuleSet,
    policy_digest: String,
}

impl Decider {
    /// Decides by `rules`.
    pub fn new(rules: RuleSet) -> Self {
        let policy_digest = rules.digest().to_string();
        Self { rules, policy_digest }
    }

    /// The rules in force.
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// Digest of the rules in force.
    pub fn policy_digest(&self) -> &str {
        &self.policy_digest
    }

    /// The decision about one call. The same call, input and rules get a decision of the same id.
    pub fn decide(&self, question: &Question, now: Timestamp) -> PermissionDecision {
        let verdict = evaluate(&self.rules, &question.facts());
        let asked = verdict.behavior == Behavior::Ask;
        let input = question.input_digest.to_string();
        let declaration = question.declaration_digest.to_string();
        let facts = [input.as_str(), declaration.as_str(), self.policy_digest.as_str()];
        PermissionDecision {
            schema_version: toolplane_records::schema_version(),
            decision_id: decision_id(&question.invocation_id, &facts),
            invocation_id: question.invocation_id.clone(),
            behavior: verdict.behavior,
            mode: Some(if question.mode.is_empty() { DEFAULT_MODE.to_owned() } else { question.mode.clone() }),
            suggested_updates: suggestions(question, &verdict),
            source: Some(verdict.source),
            reason: Some(verdict.reason),
            rule_refs: verdict.matched,
            policy_refs: question.profile.as_ref().map(|profile| profile.policy_refs.clone()).unwrap_or_default(),
            updated_input: None,
            updated_input_ref: None,
            user_modified: None,
            pending_classifier_check: None,
            blocked_path: None,
            content_blocks: Vec::new(),
            accept_feedback: None,
            decided_at: now,
            expires_at: question.deadline_at,
            approval_request_ref: asked.then(|| question.approval_id()),
            policy_digest: self.policy_digest.clone(),
        }
    }

    /// The pending approval that an `ask` decision parks. It expires `ttl_ms` from `now`, or when the call itself does.
    pub fn park(question: Question, decision: PermissionDecision, now: Timestamp, ttl_ms: u64) -> Approval {
        let latest = now.plus_millis(i64::try_from(ttl_ms).unwrap_or(i64::MAX));
        let expires_at = question.deadline_at.map_or(latest, |deadline| deadline.min(latest));
        let decision = PermissionDecision { expires_at: Some(expires_at), ..decision };
        Approval {
            schema_version: toolplane_records::schema_version(),
            approval_id: question.approval_id(),
            tenant: question.tenant,
            invocation_id: question.invocation_id,
            tool_id: question.tool_id,
            tool_name: question.tool_name,
            declaration_digest: question.declaration_digest,
            input_digest: question.input_digest,
            permission_input: question.shown_input,
            actor_ref: question.actor_ref,
            request: decision,
            state: ApprovalState::Pending,
            resolution: None,
            resolved_by: String::new(),
            feedback: String::new(),
            created_at: now,
            expires_at,
            resolved_at: None,
        }
    }
}

/// The rule that would answer next time; only where a rule can: neither another rule nor the safety floor asks.
fn suggestions(question: &Question, verdict: &Verdict) -> Vec<JsonPayload> {
    let open = verdict.deciding.is_none() && verdict.reason.reason_type == ReasonType::Other;
    if verdict.behavior != Behavior::Ask || !open {
        return Vec::new();
    }
    vec![JsonPayload::of(&json!({
        "type": "add_rule",
        "rule": { "behavior": "allow", "tool": question.tool_name, "source": "project_settings" },
    }))]
}
