//! Asking a call to stop.

use toolplane_lifecycle::{Command, Refusal};
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{AbortReason, InvocationStatus};
use toolplane_runtime::Caller;

use super::find;
use crate::calls::{Calls, is_race};
use crate::error::CallError;
use crate::recheck::Approvals;
use crate::storage::RecordError;

/// The handler that asks calls to stop.
#[derive(Clone, Debug)]
pub(super) struct Canceling {
    pub(super) calls: Calls,
    pub(super) approvals: Approvals,
}

impl Canceling {
    /// Asks a call to stop; the same request again is answered with the standing facts, also after the end.
    pub(super) async fn cancel(
        &self,
        caller: &Caller,
        request: v1::CancelInvocationRequest,
    ) -> Result<v1::CancelInvocationResponse, CallError> {
        check_request_id(&request.request_id)?;
        let abort_reason = abort_reason(&request.abort_reason)?;
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let command = |_: &Invocation| Command::RequestCancel {
            requested_by: short(caller.doer(&request.requested_by), 256),
            message: short(&request.reason, 1024),
            abort_reason,
        };
        let waited = record.status == InvocationStatus::AwaitingApproval;
        let record = match self.calls.command(&record.key(), command).await {
            Ok(record) => record,
            // A repeated request is answered with the standing facts.
            Err(RecordError::Refused { refusal, record }) if is_race(&refusal) => match refusal {
                Refusal::Terminal(_) if record.cancel.is_none() => {
                    let status = record.status;
                    return Err(CallError::Precondition(format!("the invocation has already ended: {status}")));
                }
                _ => record,
            },
            Err(error) => return Err(error.into()),
        };
        // A result that waits for an answer is waited for no longer.
        self.approvals.look_at_result(&record.key(), None).await;
        if waited && let Some(approval) = &record.approval_request_ref {
            self.approvals.withdraw(&record.tenant, approval, "the call was canceled").await;
        }
        Ok(v1::CancelInvocationResponse {
            cancel: record.cancel.as_ref().map(Into::into),
            invocation: Some((&*record).into()),
        })
    }
}

/// Why a caller may have a call stopped. What else stops calls the cluster says itself.
fn abort_reason(word: &str) -> Result<AbortReason, CallError> {
    match word {
        "" => Ok(AbortReason::UserInterruption),
        word if word == AbortReason::UserInterruption.as_str() => Ok(AbortReason::UserInterruption),
        word if word == AbortReason::Fallback.as_str() => Ok(AbortReason::Fallback),
        _ => Err(CallError::invalid("abort_reason", "must be `user_interruption` or `fallback`, or empty")),
    }
}

/// A request id is a UUID, or nothing.
pub(super) fn check_request_id(id: &str) -> Result<(), CallError> {
    match id.is_empty() || uuid::Uuid::try_parse(id).is_ok() {
        true => Ok(()),
        false => Err(CallError::invalid("request_id", "must be a UUID")),
    }
}

/// The first characters of a text people wrote.
pub(super) fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
