//! Questions nobody waits for: of calls that were never accepted or have ended, and about results that were never stored.
//!
//! A question is asked before what it is about is stored, and taken back once that does not need it. A scheduler that dies in between, or
//! a permission service that is away, leaves one that stands for nothing. So all that are open are held against their calls every now and
//! then. What was asked about calls that were never accepted is removed when such calls would be.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tonic::Status;
use toolplane_lifecycle::RESULT_QUESTION;
use toolplane_proto::v1;
use toolplane_records::approval::Approval;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_runtime::caller::EVERY_TENANT;

use super::approvals::Approvals;
use super::edit::call_of;
use crate::keeping::{Questions, Stays};
use crate::storage::RecordError;

/// For how long what a question is about may be on its way into the store.
const GRACE_MS: i64 = 5 * 60 * 1000;
/// Most questions that are asked for at once.
const PAGE: i32 = 1000;
/// How often all questions that were ever asked are gone through.
const ROUND: Duration = Duration::from_secs(60 * 60);

/// Why nobody waits for an open question about `call`; nothing where somebody does, or may yet.
fn forsaken(approval: &Approval, call: Option<&Invocation>, now: Timestamp) -> Option<&'static str> {
    let is_old = approval.created_at.plus_millis(GRACE_MS) <= now;
    let Some(call) = call else { return is_old.then_some("its call was never accepted") };
    if call.status.is_terminal() {
        return Some("the call has ended");
    }
    if !approval.is_about_result() {
        return None;
    }
    let named: Vec<&str> = call.evidence_refs.iter().filter_map(|said| said.strip_prefix(RESULT_QUESTION)).collect();
    match named.contains(&approval.approval_id.as_str()) {
        true => None,
        // It may be on its way, also where an earlier attempt was asked about.
        false if !is_old => None,
        // The report came again, and was asked about again.
        false if !named.is_empty() => Some("another question was put about the result"),
        false => Some("the result was never stored"),
    }
}

/// Whether a question without a call is as old as a call that goes after `keep_ms`.
fn is_over(approval: &Approval, keep_ms: i64, now: Timestamp) -> bool {
    approval.state.is_final() && approval.created_at.plus_millis(keep_ms.max(GRACE_MS)) <= now
}

impl Approvals {
    /// Takes back all open questions nobody waits for.
    pub(crate) async fn withdraw_strays(&self) -> Result<(), Status> {
        let mut place = String::new();
        loop {
            let (page, next) = self.page(v1::ApprovalState::Pending, place).await?;
            for approval in page {
                let Ok(call) = self.call(&approval).await else { continue };
                let Ok(now) = self.calls.now().await else { continue };
                if let Some(why) = forsaken(&approval, call.as_deref(), now) {
                    self.withdraw(&approval.tenant, &approval.approval_id, why).await;
                }
            }
            match next {
                Some(next) => place = next,
                None => return Ok(()),
            }
        }
    }

    /// Removes what was asked about calls that were never accepted, again and again until `stop`.
    pub(crate) async fn remove_strays(self, stays: Stays, questions: impl Questions, stop: CancellationToken) {
        let mut rounds = tokio::time::interval(ROUND);
        let run = async {
            loop {
                rounds.tick().await;
                if let Err(status) = self.remove_once(&stays, &questions).await {
                    tracing::warn!(code = ?status.code(), "questions without a call could not be looked for; trying again later");
                }
            }
        };
        stop.run_until_cancelled(run).await.unwrap_or(());
    }

    /// One round of that.
    pub(crate) async fn remove_once(&self, stays: &Stays, questions: &impl Questions) -> Result<(), Status> {
        let mut place = String::new();
        loop {
            let (page, next) = self.page(v1::ApprovalState::Unspecified, place).await?;
            for approval in page {
                if let Err(error) = self.remove_stray(stays, questions, &approval).await {
                    let approval_id = &approval.approval_id;
                    tracing::warn!(%approval_id, error, "a question without a call stays; trying again later");
                }
            }
            match next {
                Some(next) => place = next,
                None => return Ok(()),
            }
        }
    }

    async fn remove_stray(&self, stays: &Stays, questions: &impl Questions, approval: &Approval) -> Result<(), String> {
        let told = |error: RecordError| error.to_string();
        let Some(keep_ms) = stays.without_a_call(&approval.tenant).await.map_err(told)? else { return Ok(()) };
        let now = self.calls.now().await.map_err(told)?;
        if !is_over(approval, keep_ms, now) || self.call(approval).await.map_err(told)?.is_some() {
            return Ok(());
        }
        let ids = std::slice::from_ref(&approval.approval_id);
        questions.forget(&approval.tenant, &approval.invocation_id, ids).await
    }

    /// A page of the questions in one state or in any, and where the next one begins. What cannot be read is left out.
    async fn page(&self, state: v1::ApprovalState, place: String) -> Result<(Vec<Approval>, Option<String>), Status> {
        let request = v1::ListApprovalsRequest {
            state: state.into(),
            page_size: PAGE,
            page_token: place,
            tenant: EVERY_TENANT.to_owned(),
            ..Default::default()
        };
        let page = self.client.clone().list_approvals(request).await?.into_inner();
        let read = page.approvals.into_iter().filter_map(|approval| Approval::try_from(approval).ok()).collect();
        Ok((read, Some(page.next_page_token).filter(|next| !next.is_empty())))
    }

    /// The call of a question; `None` when there is none. An error means that it is not known.
    async fn call(&self, approval: &Approval) -> Result<Option<Arc<Invocation>>, RecordError> {
        match self.calls.records().get(&call_of(approval)).await {
            Ok(record) => Ok(Some(record)),
            Err(RecordError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
