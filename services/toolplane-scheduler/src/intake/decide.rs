//! Phase 7: the permission service's decision about one exact call.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use tonic::{Request, Status, Streaming};
use toolplane_proto::convert::ConvertError;
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_records::approval::Approval;
use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::decision_request::DecisionRequest;
use toolplane_records::error::ToolError;
use toolplane_records::explanation::DecisionExplanation;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::{ApprovalId, InvocationId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ReasonType};
use toolplane_runtime::Caller;
use toolplane_runtime::client::{Backoff, Peer, retry};
use toolplane_runtime::typed::{self, Ask};

use super::reuse::{KnownRules, Reach, ReusableDecisions};
use crate::error::CallError;
use crate::keeping::Questions;

/// The digest of the rules in force at the moment it is asked for; nothing when it cannot be told.
pub(crate) type RulesNow = Ask<Option<String>>;

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
    /// The service is in this process.
    inside: bool,
    reusable: Arc<ReusableDecisions>,
}

impl PermissionPeer {
    /// The permission service behind `peer`. Decisions that stand for other calls too are reused while `rules` stay.
    pub(crate) fn new(peer: Peer, rules: Arc<dyn KnownRules>) -> Self {
        let (inside, reusable) = (peer.is_inside(), Arc::new(ReusableDecisions::new(rules)));
        Self { client: PermissionServiceClient::new(peer), inside, reusable }
    }

    /// A client for other calls to the same service.
    pub(crate) fn client(&self) -> PermissionServiceClient<Peer> {
        self.client.clone()
    }

    /// Follows which rules are in force: the changes as they come and, of a service of this process, which they are at any moment.
    pub(crate) async fn watch_policy(&self) -> Result<(Streaming<v1::WatchPolicyResponse>, Option<RulesNow>), Status> {
        let mut request = Request::new(v1::WatchPolicyRequest::default());
        let offered = self.inside.then(|| typed::offer::<(), RulesNow, _>(&mut request, Box::pin(stream::empty())));
        let changes = self.client.clone().watch_policy(request).await?.into_inner();
        let now = match offered {
            Some(offered) => offered.said().await,
            None => None,
        };
        let now = match now {
            Some(mut now) => now.next().await.transpose()?,
            None => None,
        };
        Ok((changes, now))
    }

    /// The decision about a new call of `caller` at `now`: made from an earlier one where that stands for it, else asked for.
    pub(crate) async fn decide_new(
        &self,
        caller: &Arc<Caller>,
        request: &DecisionRequest,
        now: Timestamp,
    ) -> Result<PermissionAnswer, CallError> {
        if let Some(decision) = self.reusable.find(request, now).await {
            return Ok(PermissionAnswer { decision, approval: None, explanation: None, hooks: Vec::new() });
        }
        let rules = self.reusable.rules().await;
        // In a box: few calls get here, and the future of a request is some 15 KB.
        let (answer, reach) = Box::pin(self.ask(caller, request)).await?;
        if answer.hooks.is_empty() && answer.approval.is_none() {
            self.reusable.keep(request, rules, reach, &answer.decision).await;
        }
        Ok(answer)
    }

    /// Asks for a decision about a call of `caller`. Anything unclear is an error, never an allow.
    pub(crate) async fn decide(
        &self,
        caller: &Arc<Caller>,
        request: &DecisionRequest,
    ) -> Result<PermissionAnswer, CallError> {
        self.ask(caller, request).await.map(|(answer, _)| answer)
    }

    /// Asks for a decision, and for which other calls it stands too.
    async fn ask(
        &self,
        caller: &Arc<Caller>,
        request: &DecisionRequest,
    ) -> Result<(PermissionAnswer, Option<Reach>), CallError> {
        // Asked again, the same question finds the decision that was made about this very call.
        let ask = || {
            let (mut client, request) = (self.client.clone(), Peer::on_behalf(caller, request.into()));
            async move { client.decide(request).await }
        };
        let answer = retry(Backoff::BRIEF, ask).await.map_err(CallError::peer("permission"))?.into_inner();
        let decision: PermissionDecision = answer.decision.ok_or_else(|| damaged("no decision"))?.try_into()?;
        let approval: Option<Approval> = answer.approval.map(TryInto::try_into).transpose()?;
        let explanation: Option<DecisionExplanation> = answer.explanation.map(TryInto::try_into).transpose()?;
        let hooks: Vec<ToolHook> = answer.hooks.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?;
        let other = |id: &InvocationId| *id != request.invocation_id;
        if other(&decision.invocation_id) || approval.as_ref().is_some_and(|approval| other(&approval.invocation_id)) {
            return Err(damaged("a decision about another call"));
        }
        if decision.behavior == Behavior::Ask && approval.is_none() {
            return Err(damaged("a question without its approval record"));
        }
        let reach = answer.reach.map(|v1::DecisionReach { input, session, surface }| Reach { input, session, surface });
        Ok((PermissionAnswer { decision, approval, explanation, hooks }, reach))
    }
}

/// Most further approvals that one request removes.
const MOST_FORGOTTEN: usize = 1000;

impl Questions for PermissionPeer {
    fn forget<'a>(
        &'a self,
        tenant: &'a TenantId,
        call: &'a InvocationId,
        approvals: &'a [ApprovalId],
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let mut calls = vec![call.to_string()];
            for part in approvals.chunks(MOST_FORGOTTEN) {
                let request = v1::DeleteApprovalsRequest {
                    invocation_ids: std::mem::take(&mut calls),
                    approval_ids: part.iter().map(ToString::to_string).collect(),
                };
                let asked = self.client.clone().delete_approvals(Peer::for_tenant(tenant, request)).await;
                asked.map_err(|status| format!("the permission service: {}", status.message()))?;
            }
            Ok(())
        })
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

/// A denial as the terminal error it becomes.
pub(crate) fn denial(decision: &PermissionDecision) -> ToolError {
    let reason = decision.reason.as_ref();
    let message = reason.map_or_else(|| "the call is not permitted".to_owned(), |reason| reason.message.to_string());
    let code = match reason.map(|reason| reason.reason_type) {
        Some(ReasonType::Policy) => codes::PERMISSION_POLICY,
        Some(ReasonType::Hook) => codes::HOOKS_DENIED,
        Some(ReasonType::AsyncAgent) => codes::PERMISSION_NOBODY_TO_ASK,
        _ => codes::PERMISSION_DENIED_BY_RULE,
    };
    let mut error = ToolError::of(code, message);
    error.side_effects = Some("none".to_owned());
    error.policy_refs = decision.policy_refs.iter().map(ToString::to_string).collect();
    error.blocked_path.clone_from(&decision.blocked_path);
    error
}
