//! Decisions and questions as records.

use toolplane_cleaning::sent;
use toolplane_policy::{SuggestedUpdate, suggestions};
use toolplane_records::SmolStr;
use toolplane_records::approval::{Approval, DefinitionChange};
use toolplane_records::decision::{DecisionReason, PermissionDecision};
use toolplane_records::decision_request::DecisionRequest;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior, ReasonType};

use super::Deciding;
use crate::approvals::{Binding, options};

/// The decision that follows. The same call, input, rules and approval get a decision of the same id.
pub(super) fn decision(deciding: &Deciding, decided_at: Timestamp) -> PermissionDecision {
    let (request, verdict) = (&deciding.request, &deciding.verdict);
    let asked = verdict.behavior == Behavior::Ask;
    let of_tool = request.tool.facts.profile.iter().flat_map(|profile| profile.policy_refs.iter().map(SmolStr::from));
    let of_surface = request.caller.surface_policies.iter().cloned();
    let mut policy_refs: Vec<SmolStr> = verdict.policy_refs.iter().map(SmolStr::from).collect();
    for policy in of_tool.chain(of_surface) {
        if !policy_refs.contains(&policy) {
            policy_refs.push(policy);
        }
    }
    PermissionDecision {
        schema_version: toolplane_records::schema_version(),
        decision_id: id(deciding, verdict.behavior, verdict.source),
        invocation_id: request.invocation_id.clone(),
        behavior: verdict.behavior,
        mode: Some(SmolStr::new_static(deciding.facts.caller.mode.as_str())),
        suggested_updates: if asked { suggested(deciding) } else { Vec::new() },
        source: Some(SmolStr::new_static(verdict.source)),
        reason: Some(told(&verdict.reason)),
        rule_refs: verdict.matched.clone(),
        policy_refs,
        updated_input: None,
        updated_input_ref: None,
        user_modified: None,
        pending_classifier_check: deciding.facts.signals.classifier.as_ref().map(JsonPayload::of),
        blocked_path: verdict.blocked_path.as_deref().map(|path| sent::shown_text(path).into_owned()),
        content_blocks: Vec::new(),
        accept_feedback: None,
        decided_at,
        expires_at: earliest([request.deadline_at, deciding.active.expiry_of(&verdict.matched)]),
        approval_request_ref: asked.then(|| binding_id(deciding)),
        policy_digest: deciding.active.digest().into(),
        denied_paths: verdict.denied_paths.clone(),
        reused_from: None,
    }
}

/// The decision that an approval stands for. It holds no longer than the approval does.
pub(super) fn approved(deciding: &Deciding, approval: &Approval, decided_at: Timestamp) -> PermissionDecision {
    let answer = approval.resolution.as_ref();
    let who = if approval.resolved_by.is_empty() { "a person" } else { approval.resolved_by.as_str() };
    let message = format!("approved by {who}; the approval stands").into();
    PermissionDecision {
        decision_id: id(deciding, Behavior::Allow, approval.approval_id.as_str()),
        behavior: Behavior::Allow,
        source: Some(SmolStr::new_static("approval")),
        reason: Some(DecisionReason { reason_type: ReasonType::PermissionPromptTool, rule_ref: None, message }),
        suggested_updates: Vec::new(),
        user_modified: approval.updated_input.as_ref().map(|_| true),
        accept_feedback: answer.and_then(|answer| answer.accept_feedback.clone()),
        content_blocks: answer.map(|answer| answer.content_blocks.clone()).unwrap_or_default(),
        blocked_path: None,
        expires_at: earliest([
            deciding.request.deadline_at,
            deciding.active.expiry_of(&deciding.verdict.matched),
            answer.and_then(|answer| answer.expires_at),
        ]),
        approval_request_ref: Some(approval.approval_id.clone()),
        ..decision(deciding, decided_at)
    }
}

/// The pending question that a decision to ask becomes.
pub(super) fn park(deciding: &Deciding, decision: PermissionDecision, ttl_ms: u64) -> Approval {
    let DecisionRequest { caller, tool, input, deadline_at, .. } = &deciding.request;
    let latest = deciding.now.plus_millis(i64::try_from(ttl_ms).unwrap_or(i64::MAX));
    let expires_at = deadline_at.map_or(latest, |deadline| deadline.min(latest));
    let request = PermissionDecision { expires_at: Some(expires_at), ..decision };
    let session = Some(caller.session_ref.as_str()).filter(|session| !session.is_empty());
    let risk_level = tool.facts.risk();
    let tool_registration = tool.registration();
    // What people are shown; what runs is known by its digest.
    let permission_input = sent::shown(&input.shown);
    let (outdated_rule, definition_changes) = changes(deciding, tool_registration.as_ref());
    Approval {
        schema_version: toolplane_records::schema_version(),
        approval_id: binding_id(deciding),
        tenant: caller.tenant.clone(),
        invocation_id: deciding.request.invocation_id.clone(),
        tool_id: tool.facts.tool_id.clone(),
        tool_name: tool.facts.full_name.clone(),
        declaration_digest: tool.declaration_digest,
        input_digest: permission_input.digest(),
        permission_input,
        actor_ref: caller.actor_ref.to_string(),
        options: options(&request, session, &caller.actor_ref, risk_level),
        request,
        state: ApprovalState::Pending,
        resolution: None,
        resolved_by: String::new(),
        feedback: String::new(),
        created_at: deciding.now,
        expires_at,
        resolved_at: None,
        call_input_digest: Some(input.call_digest),
        queue: deciding.verdict.queue.to_owned(),
        session_ref: session.map(str::to_owned),
        surface_id: caller.surface_id.clone(),
        caller_ref: caller.caller_ref.to_string(),
        risk_level,
        chosen_option: None,
        updated_input: None,
        tool_registration,
        outdated_rule,
        definition_changes,
    }
}

/// The rule that allowed the tool as it was declared before, and what has changed since.
fn changes(deciding: &Deciding, now: Option<&JsonPayload>) -> (String, Vec<DefinitionChange>) {
    let rules = &deciding.active.policy().rules;
    let outdated = deciding.verdict.outdated.iter().filter_map(|rule_id| rules.get(rule_id));
    // The newest: what was seen last is what people remember.
    let Some(rule) = outdated.max_by_key(|rule| rule.record().created_at) else { return Default::default() };
    let before = rule.record().pin.as_ref().and_then(|pin| pin.registration.as_ref());
    let changes = before.zip(now).map(|(before, now)| toolplane_catalog::difference(before, now)).unwrap_or_default();
    (rule.id().to_owned(), changes)
}

fn suggested(deciding: &Deciding) -> Vec<JsonPayload> {
    let found = suggestions(deciding.active.policy(), &deciding.facts, &deciding.verdict, deciding.now);
    // A rule that has a credential in it would be kept with it, and is none without.
    let plain = |update: &JsonPayload| sent::shown(update) == *update;
    found.iter().map(SuggestedUpdate::payload).filter(plain).collect()
}

/// A reason may quote the call.
fn told(reason: &DecisionReason) -> DecisionReason {
    DecisionReason { message: sent::shown_text(&reason.message).into(), ..reason.clone() }
}

fn binding_id(deciding: &Deciding) -> toolplane_records::ids::ApprovalId {
    Binding::of(&deciding.request, deciding.active.digest()).approval_id()
}

fn id(deciding: &Deciding, behavior: Behavior, voice: &str) -> toolplane_records::ids::DecisionId {
    deciding.request.decision_id(deciding.active.digest(), behavior, voice)
}

fn earliest<const N: usize>(moments: [Option<Timestamp>; N]) -> Option<Timestamp> {
    moments.into_iter().flatten().min()
}
