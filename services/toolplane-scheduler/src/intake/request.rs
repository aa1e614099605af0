//! What the permission service is asked about a call: the same of one that is new and of one that was accepted before.

use std::sync::Arc;

use toolplane_catalog::SafetyEvaluation;
use toolplane_records::SmolStr;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::decision_request::{
    CallSignals, CalledTool, CallerContext, DecidedInput, DecisionRequest, SafetyClaims,
};
use toolplane_records::ids::{InvocationId, SurfaceId};
use toolplane_records::invocation::Invocation;
use toolplane_records::mode::Mode;
use toolplane_records::taint::Taint;
use toolplane_runtime::Caller;
use toolplane_runtime::caller::Role;

use super::asker::Asker;
use super::inputs::Inputs;
use super::resolve::Terms;
use super::spec::CallSpec;
use super::tool::CallableTool;
use crate::error::CallError;

/// A call that is decided about: one that is asked for now, or one that was accepted before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecidedCall<'a> {
    invocation_id: &'a InvocationId,
    actor_ref: Option<&'a str>,
    session_ref: Option<&'a str>,
    surface_id: Option<&'a SurfaceId>,
    mode: Option<&'a str>,
    assurance: Option<&'a CallAssurance>,
    taints: &'a [Taint],
    /// The policies its surface names.
    policies: &'a [SmolStr],
}

impl<'a> From<&'a CallSpec> for DecidedCall<'a> {
    fn from(call: &'a CallSpec) -> Self {
        let context = &call.context;
        Self {
            invocation_id: &call.invocation_id,
            actor_ref: context.actor_ref.as_deref(),
            session_ref: context.session_ref.as_deref(),
            surface_id: Some(&call.tool.surface_id),
            mode: context.permission_mode.as_deref(),
            assurance: context.assurance.as_ref(),
            taints: &[],
            policies: &[],
        }
    }
}

impl<'a> DecidedCall<'a> {
    /// A new call that carries these taints.
    pub(crate) fn new(call: &'a CallSpec, taints: &'a [Taint]) -> Self {
        Self { taints, ..call.into() }
    }
}

impl<'a> From<&'a Invocation> for DecidedCall<'a> {
    fn from(call: &'a Invocation) -> Self {
        Self {
            invocation_id: &call.invocation_id,
            actor_ref: call.actor_ref.as_deref(),
            session_ref: call.session_ref.as_deref(),
            surface_id: call.surface_id.as_ref(),
            mode: call.permission_mode.as_deref(),
            assurance: call.assurance.as_ref(),
            taints: &call.inherited_taints,
            policies: &[],
        }
    }
}

impl<'a> DecidedCall<'a> {
    /// The same call, on the terms of its surface.
    pub(crate) fn on(self, terms: &'a Terms) -> Self {
        Self { policies: &terms.policy_refs, ..self }
    }
}

impl DecidedCall<'_> {
    /// What is known to taint it: all, where its session is followed.
    fn known_taints(&self) -> Option<Vec<Taint>> {
        (self.session_ref.is_some() || !self.taints.is_empty()).then(|| self.taints.to_vec())
    }

    /// The mode it was called in; none when it names none, or one this program does not know.
    fn mode(&self) -> Option<Mode> {
        self.mode.filter(|mode| !mode.is_empty()).and_then(Mode::parse)
    }
}

/// The question whether `caller` may make the call of `tool` with `inputs`, of which `evaluation` says what they do. Fails with
/// [`CallError::Internal`] when the record has a mode this program does not know: another mode might allow more.
pub(crate) fn decision_request(
    call: DecidedCall<'_>,
    (caller, asker): (&Caller, &Asker),
    tool: &CallableTool,
    inputs: &Inputs,
    evaluation: &SafetyEvaluation,
) -> Result<DecisionRequest, CallError> {
    if let (Some(mode), None) = (call.mode.filter(|mode| !mode.is_empty()), call.mode()) {
        return Err(CallError::Internal(format!("no such permission mode: {mode:?}")));
    }
    let (shown, redacted) = inputs.permission(tool.sensitive());
    Ok(DecisionRequest {
        invocation_id: call.invocation_id.clone(),
        caller: caller_context(call, caller, asker.can_ask),
        tool: CalledTool {
            facts: Arc::clone(&tool.facts),
            declaration_digest: tool.digest,
            registration_json: tool.told.as_ref().map(|told| told.bytes().clone()),
        },
        input: DecidedInput { shown, redacted, call_digest: inputs.call().digest() },
        safety: SafetyClaims {
            facts: Some(evaluation.safety),
            unknown: evaluation.unknown.iter().map(ToString::to_string).collect(),
            trusted: Vec::new(),
        },
        signals: CallSignals {
            hooks: asker.verdicts.clone(),
            classifier: asker.classifier.clone(),
            assurance: call.assurance.cloned(),
            taints: call.known_taints(),
        },
        asked_at: None,
        deadline_at: None,
        approval_ref: None,
        dry_run: false,
    })
}

/// Who calls and from where, for decisions and hooks.
pub(crate) fn caller_context(call: DecidedCall<'_>, caller: &Caller, can_ask: bool) -> CallerContext {
    let roles = Role::ALL.into_iter().filter(|role| caller.is(*role));
    CallerContext {
        tenant: caller.tenant.clone(),
        actor_ref: actor(caller, call.actor_ref).into(),
        caller_ref: caller.caller_ref.as_str().into(),
        roles: roles.map(|role| role.as_str().to_owned()).collect(),
        session_ref: call.session_ref.unwrap_or_default().into(),
        surface_id: call.surface_id.cloned(),
        surface_policies: call.policies.to_vec(),
        mode: call.mode(),
        can_ask,
    }
}

/// Who calls. A proven caller has one identity, so what it says of itself counts for nothing.
pub(super) fn actor<'a>(caller: &'a Caller, said: Option<&'a str>) -> &'a str {
    let actor = if caller.authenticated { caller.actor.as_deref() } else { said };
    actor.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authenticated_caller_is_its_own_actor() {
        let mut caller = Caller::clone(&Caller::unauthenticated());
        assert_eq!(actor(&caller, Some("night-agent")), "night-agent");
        assert_eq!(actor(&caller, None), "");
        caller.authenticated = true;
        assert_eq!(actor(&caller, Some("night-agent")), "");
        caller.actor = Some("bot-1".to_owned());
        assert_eq!(actor(&caller, Some("night-agent")), "bot-1");
    }
}
