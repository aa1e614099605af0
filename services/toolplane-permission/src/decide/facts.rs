//! What rules and hooks see of a request.

use std::sync::Arc;

use toolplane_hooks::HookInput;
use toolplane_matching::Certainty;
use toolplane_policy::{CallFacts, CallerFacts, SafetyFacts};
use toolplane_records::decision_request::{CallerContext, DecisionRequest};
use toolplane_records::mode::Mode;

/// Everything rules look at. A call that names no mode has `default_mode`.
pub(super) fn call_facts(request: &DecisionRequest, default_mode: Mode) -> CallFacts {
    let DecisionRequest { caller, tool, input, signals, .. } = request;
    let mut facts = CallFacts::new(Arc::clone(&tool.facts), input.shown.clone());
    facts.caller = CallerFacts {
        tenant: caller.tenant.to_string(),
        actor: caller.actor_ref.to_string(),
        roles: caller.roles.clone(),
        session: caller.session_ref.to_string(),
        surface: caller.surface_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        surface_policies: caller.surface_policies.iter().map(ToString::to_string).collect(),
        mode: caller.mode.unwrap_or(default_mode),
        can_ask: caller.can_ask,
    };
    facts.declaration = Some(tool.declaration_digest);
    facts.safety = safety_facts(request);
    facts.redacted.clone_from(&input.redacted);
    facts.signals.clone_from(signals);
    facts
}

fn safety_facts(request: &DecisionRequest) -> SafetyFacts {
    let claims = &request.safety;
    let unknown = claims.unknown.iter().map(String::as_str);
    let mut facts = claims.facts.as_ref().map(|safety| SafetyFacts::of(safety, unknown)).unwrap_or_default();
    if let Some(profile) = &request.tool.facts.profile {
        facts.sensitive_sink = Certainty::from(profile.sensitive_sink);
        facts.approval_required = Certainty::from(profile.approval_required);
    }
    facts.trusted = claims.trusted.iter().filter_map(|name| name.parse().ok()).collect();
    facts
}

/// What hooks are told of it, in the mode in force.
pub(super) fn hook_input(request: &DecisionRequest, mode: Mode) -> HookInput {
    let caller = CallerContext { mode: Some(mode), ..request.caller.clone() };
    let (tool, shown) = (Arc::clone(&request.tool.facts), request.input.shown.clone());
    HookInput::new(request.invocation_id.clone(), caller, tool, shown)
}
