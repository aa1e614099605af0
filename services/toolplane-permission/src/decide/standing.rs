//! Whether an approval that was given still stands for a call.

use toolplane_cleaning::sent;
use toolplane_policy::Verdict;
use toolplane_policy::verdict::source;
use toolplane_records::SmolStr;
use toolplane_records::approval::Approval;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::decision_request::DecisionRequest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior, ReasonType};

use super::edited::is_what_was_edited;

/// Whether `approval` is a yes to exactly this call, and still holds. One approval belongs to one call, so it can let no
/// other one through.
pub(super) fn is_about(approval: &Approval, request: &DecisionRequest, now: Timestamp) -> bool {
    let holds = approval.resolution.as_ref().is_some_and(|decision| {
        decision.behavior == Behavior::Allow && decision.expires_at.is_none_or(|end| now < end)
    });
    approval.state == ApprovalState::Approved
        && holds
        && is_same_call(approval, request)
        && has_its_input(approval, request)
}

/// Whether the question that waits is this very one.
pub(super) fn is_waiting_for(approval: &Approval, request: &DecisionRequest, policy_digest: &str) -> bool {
    approval.state == ApprovalState::Pending
        && is_same_call(approval, request)
        && approval.call_input_digest == Some(request.input.call_digest)
        && approval.request.policy_digest == policy_digest
}

/// Whether the question waits and was asked about this very call.
pub(super) fn is_obsolete(approval: &Approval, request: &DecisionRequest) -> bool {
    approval.state == ApprovalState::Pending
        && approval.tenant == request.caller.tenant
        && approval.invocation_id == request.invocation_id
}

fn is_same_call(approval: &Approval, request: &DecisionRequest) -> bool {
    approval.tenant == request.caller.tenant
        && approval.invocation_id == request.invocation_id
        && approval.caller_ref == request.caller.caller_ref
        && approval.tool_id == request.tool.facts.tool_id
        && approval.declaration_digest == request.tool.declaration_digest
}

fn has_its_input(approval: &Approval, request: &DecisionRequest) -> bool {
    match &approval.updated_input {
        None => approval.call_input_digest == Some(request.input.call_digest),
        // As both are shown: a person leaves a masked credential as it is, or writes another one.
        Some(edited) => {
            is_what_was_edited(&sent::shown(edited), &sent::shown(&request.input.shown), &request.input.redacted)
        }
    }
}

/// Whether `verdict` asks what `asked` asked, so that the answer to that is an answer to this. `is_new_objection` says
/// whether a rule that was not there then asks or denies.
pub(super) fn is_same_question(
    asked: &PermissionDecision,
    verdict: &Verdict,
    is_new_objection: impl Fn(&str) -> bool,
) -> bool {
    let Some(reason) = &asked.reason else { return false };
    // Of a call with one command and of one with several, the same rule says the same.
    let kind = |reason_type| if reason_type == ReasonType::SubcommandResults { ReasonType::Rule } else { reason_type };
    let same_voice = asked.source.as_deref() == Some(verdict.source)
        && reason.rule_ref == verdict.deciding
        && kind(reason.reason_type) == kind(verdict.reason.reason_type);
    // These voices have several things to say, and only the text tells which.
    let speaks_for_itself = [source::SAFETY_FLOOR, source::POLICY_SETTINGS, source::HOOK].contains(&verdict.source);
    let same_words = !speaks_for_itself || reason.message == verdict.reason.message;
    let heard = |rule: &SmolStr| asked.rule_refs.contains(rule);
    same_voice && same_words && verdict.matched.iter().all(|rule| heard(rule) || !is_new_objection(rule))
}
