//! A decision in the record of a call.

use crate::data::{EventData, data};
use crate::draft::Draft;
use crate::permit;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::vocabulary::EventClass;

/// Records that the permission service was asked and what it said.
pub(crate) fn decided(draft: &mut Draft, decision: &PermissionDecision) {
    draft.event(
        EventClass::PermissionRequested,
        data! { "permission_input_digest": draft.invocation.inputs.permission.as_ref().map(|input| input.digest) },
    );
    permit::note(draft, decision);
    for policy in &decision.policy_refs {
        if !draft.invocation.policy_refs.contains(policy) {
            draft.invocation.policy_refs.push(policy.clone());
        }
    }
}

/// What the log says about a decision.
pub(crate) fn decision_data(decision: &PermissionDecision) -> EventData {
    data! { "decision_id": decision.decision_id,
    "behavior": decision.behavior,
    "source": decision.source,
    "reason": decision.reason,
    "rule_refs": decision.rule_refs, }
}
