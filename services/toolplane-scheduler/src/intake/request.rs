//! What the permission service is asked about a call: the same of one that is new and of one that was accepted before.

use std::sync::Arc;

use toolplane_catalog::SafetyEvaluation;
use toolplane_lifecycle::Acceptance;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::decision_request::{
    CallSignals, CalledTool, CallerContext, DecidedInput, DecisionRequest, SafetyClaims,
};
use toolplane_records::ids::{InvocationId, SurfaceId};
use toolplane_records::invocation::Invocation;
use toolplane_records::mode::Mode;
use toolplane_records::time::Timestamp;
use toolplane_runtime::Caller;
use toolplane_runtime::caller::Role;

use super::asker::{Asker, actor};
use super::inputs::Inputs;
use super::tool::CallableTool;
use crate::error::CallError;

/// What the record of a call says that a decision about it is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordedCall<'a> {
    invocation_id: &'a InvocationId,
    actor_ref: Option<&'a str>,
    session_ref: Option<&'a str>,
    surface_id: Option<&'a SurfaceId>,
    mode: Option<&'a str>,
    assurance: Option<&'a CallAssurance>,
    deadline_at: Option<Timestamp>,
}

impl<'a> From<&'a Acceptance> for RecordedCall<'a> {
    fn from(call: &'a Acceptance) -> Self {
        Self {
            invocation_id: &call.invocation_id,
            actor_ref: call.actor_ref.as_deref(),
            session_ref: call.session_ref.as_deref(),
            surface_id: call.surface_id.as_ref(),
            mode: call.permission_mode.as_deref(),
            assurance: call.assurance.as_ref(),
            deadline_at: call.deadline_at,
        }
    }
}

impl<'a> From<&'a Invocation> for RecordedCall<'a> {
    fn from(call: &'a Invocation) -> Self {
        Self {
            invocation_id: &call.invocation_id,
            actor_ref: call.actor_ref.as_deref(),
            session_ref: call.session_ref.as_deref(),
            surface_id: call.surface_id.as_ref(),
            mode: call.permission_mode.as_deref(),
            assurance: call.assurance.as_ref(),
            deadline_at: call.deadline_at,
        }
    }
}

/// The question whether `caller` may make the call of `tool` with `inputs`, of which `evaluation` says what they do. Fails with
/// [`CallError::Internal`] when the record has a mode this program does not know: another mode might allow more.
pub(crate) fn decision_request(
    call: RecordedCall<'_>,
    (caller, asker): (&Caller, &Asker),
    tool: &CallableTool,
    inputs: &Inputs,
    evaluation: &SafetyEvaluation,
) -> Result<DecisionRequest, CallError> {
    let (shown, redacted) = inputs.permission(tool.sensitive());
    Ok(DecisionRequest {
        invocation_id: call.invocation_id.clone(),
        caller: caller_context(call, caller, asker)?,
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
        },
        asked_at: None,
        deadline_at: call.deadline_at,
        approval_ref: None,
        dry_run: false,
    })
}

fn caller_context(call: RecordedCall<'_>, caller: &Caller, asker: &Asker) -> Result<CallerContext, CallError> {
    let roles = Role::ALL.into_iter().filter(|role| caller.is(*role));
    let known =
        |mode| Mode::parse(mode).ok_or_else(|| CallError::Internal(format!("no such permission mode: {mode:?}")));
    Ok(CallerContext {
        tenant: caller.tenant.clone(),
        actor_ref: actor(caller, call.actor_ref).to_owned(),
        caller_ref: caller.caller_ref.clone(),
        roles: roles.map(|role| role.as_str().to_owned()).collect(),
        session_ref: call.session_ref.unwrap_or_default().to_owned(),
        surface_id: call.surface_id.cloned(),
        mode: call.mode.filter(|mode| !mode.is_empty()).map(known).transpose()?,
        can_ask: asker.can_ask,
    })
}
