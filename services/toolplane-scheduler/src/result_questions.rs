//! Questions about results: whether one in which something was found is given out as it is.

use futures_util::future::BoxFuture;
use toolplane_lifecycle::ResultQuestion;
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_records::approval::Approval;
use toolplane_records::ids::{ApprovalId, InvocationKey, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::Behavior;
use toolplane_runtime::client::Peer;

use crate::error::CallError;
use crate::recheck::{CaseLookup, Rechecker};
use crate::storage::RecordError;

/// Results that wait for an answer.
pub(crate) trait WaitingResults: std::fmt::Debug + Send + Sync {
    /// Goes on with the call `id` where its result waits for the answer to `approval_id`, or to whatever question; says whether it does.
    fn answered<'a>(
        &'a self,
        id: &'a InvocationKey,
        approval_id: Option<&'a ApprovalId>,
    ) -> BoxFuture<'a, Result<bool, RecordError>>;
}

/// Puts questions about results to people, and hears what they say. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ResultQuestions {
    rechecker: Rechecker,
    client: PermissionServiceClient<Peer>,
}

impl ResultQuestions {
    pub(crate) fn new(rechecker: Rechecker, client: PermissionServiceClient<Peer>) -> Self {
        Self { rechecker, client }
    }

    /// Asks `text` about the result of `record`, which is known by the digest of its sealed original, until `until`. Gives a word that says
    /// why where nobody is asked.
    pub(crate) async fn ask(
        &self,
        record: &Invocation,
        (text, digest): (String, Digest),
        until: Option<Timestamp>,
    ) -> Result<Result<ResultQuestion, &'static str>, CallError> {
        let case = match self.rechecker.case(record.clone().into()).await? {
            CaseLookup::Callable(case) => case,
            CaseLookup::NotCallable(_) => return Ok(Err("tool_gone")),
        };
        let word = self.rechecker.ask_about_result(&case, text, digest, until).await?;
        Ok(match (word.decision.behavior, word.approval) {
            (Behavior::Ask, Some(approval)) => Ok(ResultQuestion {
                decision: word.decision,
                approval_id: approval.approval_id,
                expires_at: approval.expires_at,
            }),
            (Behavior::Deny, _) if word.decision.source.as_deref() == Some("no_approver") => Err("no_approver"),
            // An allow is about calls, and no answer to this.
            _ => Err("denied"),
        })
    }

    /// The question as it is now; nothing where it is gone.
    pub(crate) async fn get(&self, tenant: &TenantId, id: &ApprovalId) -> Result<Option<Approval>, CallError> {
        let request = v1::GetApprovalRequest { approval_id: id.to_string(), ..Default::default() };
        match self.client.clone().get_approval(Peer::for_tenant(tenant, request)).await {
            Ok(answer) => Ok(answer.into_inner().approval.map(TryInto::try_into).transpose()?),
            Err(status) if status.code() == tonic::Code::NotFound => Ok(None),
            Err(status) => Err(CallError::peer("permission")(status)),
        }
    }

    /// Takes a question back that nobody waits for any more. Best effort: an unanswered question expires by itself.
    pub(crate) async fn withdraw(&self, tenant: &TenantId, id: &ApprovalId, reason: &str) {
        let request = v1::WithdrawApprovalRequest { approval_id: id.to_string(), reason: reason.to_owned() };
        if let Err(status) = self.client.clone().withdraw_approval(Peer::for_tenant(tenant, request)).await {
            tracing::debug!(approval_id = %id, code = ?status.code(), "a question could not be withdrawn");
        }
    }
}
