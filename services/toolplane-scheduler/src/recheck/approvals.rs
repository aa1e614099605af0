//! Answers to parked questions, brought from the permission service to the invocations that wait for them.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tonic::Status;
use toolplane_lifecycle::{Command, Timer};
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_records::approval::Approval;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::{ApprovalId, InvocationKey, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{ApprovalState, Behavior, InvocationStatus};
use toolplane_runtime::caller::EVERY_TENANT;
use toolplane_runtime::client::Peer;

use super::edit::{call_of, plain};
use super::rechecker::Rechecker;
use crate::calls::{Attached, Calls};
use crate::error::CallError;
use crate::result_questions::WaitingResults;
use crate::storage::RecordError;

/// How often waiting invocations are compared with their questions, beside the change stream.
const COMPARE: Duration = Duration::from_secs(30);

/// The permission service's approvals, seen from the scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Approvals {
    pub(super) client: PermissionServiceClient<Peer>,
    pub(super) calls: Calls,
    rechecker: Rechecker,
    /// What goes on with results that wait.
    results: Arc<dyn WaitingResults>,
}

impl Approvals {
    pub(crate) fn new(
        client: PermissionServiceClient<Peer>,
        calls: Calls,
        rechecker: Rechecker,
        results: Arc<dyn WaitingResults>,
    ) -> Self {
        Self { client, calls, rechecker, results }
    }

    /// Follows answers until `stop`, over every break of the stream.
    pub(crate) async fn follow(self, stop: CancellationToken) {
        loop {
            let ended = tokio::select! {
                () = stop.cancelled() => return,
                ended = self.follow_once() => ended,
            };
            if let Err(status) = ended {
                tracing::debug!(code = ?status.code(), "the approval stream broke; opening it again");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(Duration::from_millis(200)) => {}
            }
        }
    }

    async fn follow_once(&self) -> Result<(), Status> {
        // From the newest revision on; whatever was answered before is found by comparing, so that nothing falls
        // between the two.
        let newest = v1::WatchApprovalsRequest { from_revision: u64::MAX, tenant: EVERY_TENANT.to_owned() };
        let mut stream = self.client.clone().watch_approvals(newest).await?.into_inner();
        self.compare_all().await?;
        let mut compare = tokio::time::interval(COMPARE);
        compare.tick().await;
        loop {
            tokio::select! {
                message = stream.message() => match message? {
                    Some(message) => {
                        for change in message.changes {
                            self.take(change.approval).await;
                        }
                    }
                    None => return Ok(()),
                },
                _ = compare.tick() => self.compare_all().await?,
            }
        }
    }

    /// Looks whether the question of a call that was just parked has its answer already: a quick approver may have answered
    /// between the decision and the acceptance, when there was no invocation yet that the answer could reach.
    pub(crate) async fn look(&self, tenant: &TenantId, approval_id: &ApprovalId) {
        let request = v1::GetApprovalRequest { approval_id: approval_id.to_string(), ..Default::default() };
        if let Ok(answer) = self.client.clone().get_approval(Peer::for_tenant(tenant, request)).await {
            self.take(answer.into_inner().approval).await;
        }
    }

    /// Asks for the question of every waiting invocation.
    async fn compare_all(&self) -> Result<(), Status> {
        let waiting =
            self.calls.records().awaiting_approval().await.map_err(|error| Status::unavailable(error.to_string()))?;
        for id in waiting {
            let Ok(record) = self.calls.records().get(&id).await else { continue };
            let Some(approval_id) = &record.approval_request_ref else { continue };
            let request = v1::GetApprovalRequest { approval_id: approval_id.to_string(), ..Default::default() };
            match self.client.clone().get_approval(Peer::for_tenant(&record.tenant, request)).await {
                Ok(answer) => self.take(answer.into_inner().approval).await,
                Err(status) if status.code() == tonic::Code::NotFound => {
                    tracing::error!(invocation_id = %id, %approval_id, "a waiting call's approval does not exist");
                }
                Err(status) => return Err(status),
            }
        }
        let results = self.calls.records().waiting_for_hooks().await;
        for id in results.map_err(|error| Status::unavailable(error.to_string()))? {
            self.look_at_result(&id, None).await;
        }
        self.withdraw_strays().await
    }

    /// Goes on with a result that waits for the answer to `approval_id`, or to whatever question; says whether it waits for it.
    pub(crate) async fn look_at_result(&self, id: &InvocationKey, approval_id: Option<&ApprovalId>) -> bool {
        self.results.answered(id, approval_id).await.unwrap_or_else(|error| {
            tracing::warn!(invocation_id = %id, %error, "a result that waits for an answer could not be read; trying again later");
            false
        })
    }

    /// Applies an answer to its invocation, if it is one and the invocation still waits for it.
    async fn take(&self, approval: Option<v1::Approval>) {
        let Some(approval) = approval else { return };
        match Approval::try_from(approval) {
            Ok(approval) => self.apply(approval).await,
            Err(error) => tracing::error!(%error, "the permission service sent a damaged approval"),
        }
    }

    async fn apply(&self, approval: Approval) {
        let (Some(decision), true) = (approval.resolution.clone(), approval.state.is_final()) else { return };
        if self.look_at_result(&call_of(&approval), Some(&approval.approval_id)).await {
            return;
        }
        let id = &approval.invocation_id;
        let expired = approval.state == ApprovalState::Expired;
        let approved = approval.state == ApprovalState::Approved && decision.behavior == Behavior::Allow;
        let stored = match approved {
            true => self.approve(&approval, &decision).await,
            false => self.reject(&approval, &decision, expired).await,
        };
        match stored {
            Ok(()) | Err(CallError::Record(RecordError::NotFound)) => {}
            // The call has ended, or went on already: this answer was brought twice.
            Err(CallError::Record(RecordError::Refused { .. })) => {}
            Err(error) => tracing::warn!(invocation_id = %id, %error, "an answer could not be stored yet"),
        }
    }

    async fn approve(&self, approval: &Approval, decision: &PermissionDecision) -> Result<(), CallError> {
        let edited = decision.updated_input.as_ref().or(approval.updated_input.as_ref());
        let (attached, command) = match edited {
            // Looking first saves asking about an edit that is not waited for any more.
            Some(_) if !self.is_awaited(approval).await? => return Ok(()),
            Some(edited) => self.rechecker.edited(approval, decision, edited).await?,
            None => plain(approval, decision),
        };
        let again = match &command {
            Command::Approve { edit: Some(edit), .. } => {
                edit.again.as_ref().map(|(approval_id, _)| approval_id.clone())
            }
            _ => None,
        };
        let record = self.calls.command_with(&call_of(approval), attached, |_| command.clone()).await?;
        if let Some(approval_id) = again {
            // Policy has a question of its own, which may have been answered before it could be waited for.
            Box::pin(self.look(&record.tenant, &approval_id)).await;
        }
        Ok(())
    }

    async fn is_awaited(&self, approval: &Approval) -> Result<bool, CallError> {
        let record = self.calls.records().get(&call_of(approval)).await?;
        let waits = record.status == InvocationStatus::AwaitingApproval;
        Ok(waits && record.approval_request_ref.as_ref() == Some(&approval.approval_id))
    }

    async fn reject(&self, approval: &Approval, decision: &PermissionDecision, expired: bool) -> Result<(), CallError> {
        let command = |record: &Invocation| {
            // A question that ended with the caller's own deadline is a timeout, independent of who notices it first.
            let timed_out = expired && record.deadline_at.is_some_and(|deadline| deadline <= approval.expires_at);
            match timed_out {
                true => Command::Fire(Timer::Deadline),
                false => {
                    Command::Reject { approval_id: approval.approval_id.clone(), decision: decision.clone(), expired }
                }
            }
        };
        let attached = Attached { decisions: vec![decision.clone()], ..Attached::default() };
        self.calls.command_with(&call_of(approval), attached, command).await?;
        Ok(())
    }

    /// Takes a question back whose call has ended. Best effort: an unanswered question expires by itself.
    pub(crate) async fn withdraw(&self, tenant: &TenantId, approval_id: &ApprovalId, reason: &str) {
        let request = v1::WithdrawApprovalRequest { approval_id: approval_id.to_string(), reason: reason.to_owned() };
        if let Err(status) = self.client.clone().withdraw_approval(Peer::for_tenant(tenant, request)).await {
            tracing::debug!(%approval_id, code = ?status.code(), "a question could not be withdrawn");
        }
    }
}
