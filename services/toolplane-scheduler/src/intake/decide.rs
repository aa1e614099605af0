//! Phase 7: the permission service's decision about one exact call.

use std::sync::Arc;

use toolplane_catalog::SafetyEvaluation;
use toolplane_proto::convert::ConvertError;
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_records::approval::Approval;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::explanation::DecisionExplanation;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::{ApprovalId, InvocationId, SurfaceId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ErrorClass, ReasonType, Recoverability};
use toolplane_runtime::Caller;
use toolplane_runtime::caller::Role;
use toolplane_runtime::client::{Backoff, Peer, retry};

use super::asker::{Asker, actor};
use super::tool::CallableTool;
use crate::error::CallError;

/// One call as the permission service is asked about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecisionRequest<'a> {
    pub(crate) invocation_id: &'a InvocationId,
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) asker: &'a Asker,
    pub(crate) actor_ref: Option<&'a str>,
    pub(crate) session_ref: Option<&'a str>,
    pub(crate) surface_id: Option<&'a SurfaceId>,
    pub(crate) tool: &'a CallableTool,
    /// What rules may see of the input.
    pub(crate) input: &'a JsonPayload,
    /// What of it is hidden.
    pub(crate) redacted: &'a [String],
    /// Digest of what the executor would get.
    pub(crate) call_digest: Digest,
    pub(crate) evaluation: &'a SafetyEvaluation,
    pub(crate) mode: Option<&'a str>,
    pub(crate) assurance: Option<&'a CallAssurance>,
    pub(crate) deadline_at: Option<Timestamp>,
    /// The call has this approval already.
    pub(crate) approval_ref: Option<&'a ApprovalId>,
    /// Leave nothing behind, and explain.
    pub(crate) dry_run: bool,
}

/// What the permission service said.
#[derive(Clone, Debug)]
pub(crate) struct PermissionAnswer {
    pub(crate) decision: PermissionDecision,
    /// The question put to people; there is one exactly when the decision asks.
    pub(crate) approval: Option<Approval>,
    pub(crate) explanation: Option<DecisionExplanation>,
    /// What the hooks of the permission service did.
    pub(crate) hooks: Vec<ToolHook>,
}

/// The permission service.
#[derive(Clone, Debug)]
pub(crate) struct PermissionPeer {
    client: PermissionServiceClient<Peer>,
}

impl PermissionPeer {
    /// The permission service behind `peer`.
    pub(crate) fn new(peer: Peer) -> Self {
        Self { client: PermissionServiceClient::new(peer) }
    }

    /// A client for other calls to the same service.
    pub(crate) fn client(&self) -> PermissionServiceClient<Peer> {
        self.client.clone()
    }

    /// Asks for a decision. Anything unclear is an error, never an allow.
    pub(crate) async fn decide(&self, question: DecisionRequest<'_>) -> Result<PermissionAnswer, CallError> {
        let request = request(&question);
        // Asked again, the same question finds the decision that was made about this very call.
        let ask = || {
            let (mut client, request) = (self.client.clone(), Peer::on_behalf(question.caller, request.clone()));
            async move { client.decide(request).await }
        };
        let answer = retry(Backoff::BRIEF, ask).await.map_err(CallError::peer("permission"))?.into_inner();
        let decision: PermissionDecision = answer.decision.ok_or_else(|| damaged("no decision"))?.try_into()?;
        let approval: Option<Approval> = answer.approval.map(TryInto::try_into).transpose()?;
        let explanation: Option<DecisionExplanation> = answer.explanation.map(TryInto::try_into).transpose()?;
        let hooks: Vec<ToolHook> = answer.hooks.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?;
        let other = |id: &InvocationId| id != question.invocation_id;
        if other(&decision.invocation_id) || approval.as_ref().is_some_and(|approval| other(&approval.invocation_id)) {
            return Err(damaged("a decision about another call"));
        }
        if decision.behavior == Behavior::Ask && approval.is_none() {
            return Err(damaged("a question without its approval record"));
        }
        Ok(PermissionAnswer { decision, approval, explanation, hooks })
    }
}

impl From<ConvertError> for CallError {
    fn from(error: ConvertError) -> Self {
        damaged(&error.to_string())
    }
}

fn damaged(what: &str) -> CallError {
    CallError::Internal(format!("the permission service sent {what}"))
}

fn request(question: &DecisionRequest<'_>) -> v1::DecideRequest {
    let (tool, asker, caller) = (question.tool, question.asker, question.caller);
    let declaration = &tool.registration.declaration;
    let roles = Role::ALL.into_iter().filter(|role| caller.is(*role));
    v1::DecideRequest {
        invocation_id: question.invocation_id.to_string(),
        tenant: caller.tenant.to_string(),
        actor_ref: actor(caller, question.actor_ref).to_owned(),
        tool_id: declaration.tool_id.to_string(),
        tool_name: declaration.full_name(),
        namespace: declaration.namespace.clone(),
        tool_kind: declaration.tool_kind.as_str().to_owned(),
        tool_kind_code: v1::ToolKind::from(declaration.tool_kind).into(),
        declaration_digest: tool.digest.to_string(),
        surface_id: question.surface_id.map(ToString::to_string).unwrap_or_default(),
        permission_input: Some(question.input.into()),
        permission_profile: tool.registration.permission_profile.as_ref().map(Into::into),
        safety: Some((&question.evaluation.safety).into()),
        unknown_facts: question.evaluation.unknown.iter().map(ToString::to_string).collect(),
        trusted_facts: Vec::new(),
        can_ask: asker.can_ask,
        mode: question.mode.unwrap_or_default().to_owned(),
        request_time: None,
        deadline_at: question.deadline_at.and_then(toolplane_proto::convert::field::instant),
        aliases: tool.facts.aliases.clone(),
        permission_matcher: tool.permission_matcher().to_owned(),
        call_input_digest: question.call_digest.to_string(),
        caller_roles: roles.map(|role| role.as_str().to_owned()).collect(),
        session_ref: question.session_ref.unwrap_or_default().to_owned(),
        caller_ref: caller.caller_ref.clone(),
        hook_verdicts: asker.verdicts.iter().map(Into::into).collect(),
        classifier: asker.classifier.as_ref().map(Into::into),
        assurance: question.assurance.map(Into::into),
        redacted_fields: question.redacted.to_vec(),
        dry_run: question.dry_run,
        approval_ref: question.approval_ref.map(ToString::to_string).unwrap_or_default(),
        tool_registration: tool.told.as_ref().map(Into::into),
    }
}

/// A denial as the terminal error it becomes.
pub(crate) fn denial(decision: &PermissionDecision) -> ToolError {
    let reason = decision.reason.as_ref();
    let message = reason.map_or_else(|| "the call is not permitted".to_owned(), |reason| reason.message.clone());
    let (code, class) = match reason.map(|reason| reason.reason_type) {
        Some(ReasonType::Policy) => (codes::PERMISSION_POLICY, ErrorClass::PolicyBlocked),
        Some(ReasonType::Hook) => (codes::HOOKS_DENIED, ErrorClass::HookBlocked),
        Some(ReasonType::AsyncAgent) => (codes::PERMISSION_NOBODY_TO_ASK, ErrorClass::PermissionDenied),
        _ => (codes::PERMISSION_DENIED_BY_RULE, ErrorClass::PermissionDenied),
    };
    let mut error = ToolError::new(code, class, Recoverability::ChangeArgumentsOrPolicy, message);
    error.side_effects = Some("none".to_owned());
    error.policy_refs.clone_from(&decision.policy_refs);
    error.blocked_path.clone_from(&decision.blocked_path);
    error
}
