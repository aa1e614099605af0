//! Phase 7: the permission service's word about one exact call.

use toolplane_catalog::SafetyEvaluation;
use toolplane_lifecycle::Preparation;
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_records::approval::Approval;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::invocation::DispatchFacts;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ErrorClass, ReasonType, Recoverability};

use super::spec::CallSpec;
use super::tool::CallableTool;
use crate::error::CallError;
use toolplane_runtime::client::{Backoff, Peer, retry};

/// The permission service.
#[derive(Clone, Debug)]
pub struct PermissionPeer {
    client: PermissionServiceClient<Peer>,
}

impl PermissionPeer {
    /// The permission service behind `peer`.
    pub fn new(peer: Peer) -> Self {
        Self { client: PermissionServiceClient::new(peer) }
    }

    /// A client for other calls to the same service.
    pub(crate) fn client(&self) -> PermissionServiceClient<Peer> {
        self.client.clone()
    }

    /// Asks for a decision and says what the lifecycle makes of it. Anything unclear is an error, never an allow.
    pub(crate) async fn decide(
        &self,
        spec: &CallSpec,
        tool: &CallableTool,
        input: &JsonPayload,
        evaluation: &SafetyEvaluation,
        deadline_at: Option<Timestamp>,
        dispatch: DispatchFacts,
    ) -> Result<(PermissionDecision, Preparation), CallError> {
        let request = request(spec, tool, input, evaluation, deadline_at);
        // Asked again, the same question finds the decision that was made about this very call.
        let ask = || {
            let (mut client, request) = (self.client.clone(), request.clone());
            async move { client.decide(request).await }
        };
        let answer = retry(Backoff::BRIEF, ask).await.map_err(CallError::peer("permission"))?.into_inner();
        let damaged = |what: &str| CallError::Internal(format!("the permission service sent {what}"));
        let decision: PermissionDecision = answer
            .decision
            .ok_or_else(|| damaged("no decision"))?
            .try_into()
            .map_err(|error: toolplane_proto::convert::ConvertError| damaged(&error.to_string()))?;
        if decision.invocation_id != spec.invocation_id {
            return Err(damaged("a decision about another call"));
        }
        let preparation = match decision.behavior {
            Behavior::Allow => Preparation::Ready { decision: decision.clone(), dispatch },
            Behavior::Ask => {
                let approval: Approval = answer
                    .approval
                    .ok_or_else(|| damaged("a question without its approval record"))?
                    .try_into()
                    .map_err(|error: toolplane_proto::convert::ConvertError| damaged(&error.to_string()))?;
                Preparation::Asked {
                    decision: decision.clone(),
                    approval_id: approval.approval_id,
                    expires_at: approval.expires_at,
                    dispatch,
                }
            }
            // Nobody is left to delegate to.
            Behavior::Deny | Behavior::Passthrough => {
                Preparation::Denied { error: denial(&decision), decision: decision.clone() }
            }
        };
        Ok((decision, preparation))
    }
}

fn request(
    spec: &CallSpec,
    tool: &CallableTool,
    input: &JsonPayload,
    evaluation: &SafetyEvaluation,
    deadline_at: Option<Timestamp>,
) -> v1::DecideRequest {
    let declaration = &tool.registration.declaration;
    v1::DecideRequest {
        invocation_id: spec.invocation_id.to_string(),
        tenant: spec.tenant.to_string(),
        actor_ref: spec.actor_ref.clone().unwrap_or_default(),
        tool_id: declaration.tool_id.to_string(),
        tool_name: declaration.full_name(),
        namespace: declaration.namespace.clone(),
        tool_kind: declaration.tool_kind.as_str().to_owned(),
        tool_kind_code: v1::ToolKind::from(declaration.tool_kind).into(),
        declaration_digest: tool.digest.to_string(),
        surface_id: spec.surface_id.to_string(),
        permission_input: Some(input.into()),
        permission_profile: tool.registration.permission_profile.as_ref().map(Into::into),
        safety: Some((&evaluation.safety).into()),
        unknown_facts: evaluation.unknown.iter().map(ToString::to_string).collect(),
        trusted_facts: Vec::new(),
        can_ask: spec.can_ask,
        mode: spec.permission_mode.clone().unwrap_or_default(),
        request_time: None,
        deadline_at: deadline_at.and_then(toolplane_proto::convert::field::instant),
    }
}

/// A denial as the terminal error it becomes.
fn denial(decision: &PermissionDecision) -> ToolError {
    let reason = decision.reason.as_ref();
    let message = reason.map_or_else(|| "the call is not permitted".to_owned(), |reason| reason.message.clone());
    let (code, class) = match reason.map(|reason| reason.reason_type) {
        Some(ReasonType::Policy) => ("permission.policy", ErrorClass::PolicyBlocked),
        Some(ReasonType::AsyncAgent) => ("permission.nobody_to_ask", ErrorClass::PermissionDenied),
        _ => ("permission.denied", ErrorClass::PermissionDenied),
    };
    let mut error = ToolError::new(code, class, Recoverability::ChangeArgumentsOrPolicy, message);
    error.side_effects = Some("none".to_owned());
    error.policy_refs.clone_from(&decision.policy_refs);
    error.blocked_path.clone_from(&decision.blocked_path);
    error
}
