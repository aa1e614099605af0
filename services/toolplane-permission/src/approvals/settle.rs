//! The ends of a question: an answer, its expiry, its withdrawal.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_records::approval::Approval;
use toolplane_records::decision::{DecisionReason, PermissionDecision};
use toolplane_records::ids::{ApprovalId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior, ReasonType};
use toolplane_store::ScoreRange;

use super::{Book, BookError, Step, keys};
use crate::decision::decision_id;

/// How long an approved call may wait for its start, milliseconds; later it has to be asked again.
const APPROVAL_HOLDS_MS: i64 = 60 * 60 * 1000;

/// Most questions ended by one look at the expiry index.
const EXPIRY_PAGE: usize = 256;

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether the call may run.
    pub allow: bool,
    /// What the person says about it; may be empty.
    pub feedback: String,
    /// Who the person is; may be empty.
    pub resolved_by: String,
    /// Makes the answer repeatable.
    pub request_id: Option<String>,
}

impl Answer {
    fn state(&self) -> ApprovalState {
        if self.allow { ApprovalState::Approved } else { ApprovalState::Rejected }
    }

    fn digest(&self, id: &ApprovalId) -> Digest {
        let Self { allow, feedback, resolved_by, request_id: _ } = self;
        Digest::of(format!("{:?}", (id, allow, feedback, resolved_by)).as_bytes())
    }
}

/// What is remembered of a repeatable answer.
#[derive(Serialize, Deserialize)]
struct Remembered {
    approval_id: ApprovalId,
    body: Digest,
}

impl Book {
    /// Answers a question. The same answer again finds it answered; another answer is refused with the one that stands.
    pub async fn answer(&self, tenant: &TenantId, id: &ApprovalId, answer: &Answer) -> Result<Approval, BookError> {
        if let Some(repeated) = self.repeated(tenant, id, answer).await? {
            return Ok(repeated);
        }
        let remember = match &answer.request_id {
            Some(request_id) => {
                let body = Remembered { approval_id: id.clone(), body: answer.digest(id) };
                Some((keys::request(tenant, request_id), Bytes::from(serde_json::to_vec(&body)?)))
            }
            None => None,
        };
        let settled = self
            .change(&keys::record(tenant, id), |approval, now| match approval.state.is_final() {
                true => Step::Keep,
                false if approval.expires_at <= now => Step::Settle(Box::new(expired(approval, now)), None),
                false => Step::Settle(Box::new(answered(approval, answer, now)), remember.clone()),
            })
            .await?
            .ok_or_else(|| BookError::NotFound(id.clone()))?;
        if settled.state == answer.state() { Ok(settled) } else { Err(standing(&settled)) }
    }

    async fn repeated(
        &self,
        tenant: &TenantId,
        id: &ApprovalId,
        answer: &Answer,
    ) -> Result<Option<Approval>, BookError> {
        let Some(request_id) = &answer.request_id else { return Ok(None) };
        let Some(found) = self.store.get(&keys::request(tenant, request_id)).await? else { return Ok(None) };
        let remembered: Remembered = serde_json::from_slice(&found.bytes)?;
        if remembered.body != answer.digest(id) {
            return Err(BookError::RequestIdReused(request_id.clone()));
        }
        self.get(tenant, &remembered.approval_id).await.map(Some)
    }

    /// Takes a pending question back because its call ended; a settled one stays as it is.
    pub async fn withdraw(&self, tenant: &TenantId, id: &ApprovalId, reason: &str) -> Result<Approval, BookError> {
        let key = keys::record(tenant, id);
        let changed = self.change(&key, |approval, now| {
            if approval.state.is_final() {
                return Step::Keep;
            }
            let mut withdrawn = approval.clone();
            withdrawn.state = ApprovalState::Withdrawn;
            withdrawn.feedback = reason.to_owned();
            withdrawn.resolved_at = Some(now);
            Step::Settle(Box::new(withdrawn), None)
        });
        changed.await?.ok_or_else(|| BookError::NotFound(id.clone()))
    }

    /// Turns every question whose time is over into a refusal; says how many there were.
    pub async fn expire_due(&self) -> Result<usize, BookError> {
        let now = self.store.now().await?;
        let due = self.store.scan(keys::EXPIRY, ScoreRange::up_to(keys::score(now)), EXPIRY_PAGE).await?;
        for entry in &due {
            self.change(&keys::record_of_member(&entry.member), |approval, now| {
                if approval.state.is_final() || approval.expires_at > now {
                    return Step::Keep;
                }
                Step::Settle(Box::new(expired(approval, now)), None)
            })
            .await?;
        }
        Ok(due.len())
    }
}

fn answered(approval: &Approval, answer: &Answer, now: Timestamp) -> Approval {
    let who = if answer.resolved_by.is_empty() { "a person" } else { answer.resolved_by.as_str() };
    let verb = if answer.allow { "approved" } else { "rejected" };
    let message = match answer.feedback.as_str() {
        "" => format!("{verb} by {who}"),
        said => format!("{verb} by {who}: {said}"),
    };
    let behavior = if answer.allow { Behavior::Allow } else { Behavior::Deny };
    let mut decision = resolution(approval, behavior, ReasonType::PermissionPromptTool, message, now);
    if answer.allow {
        decision.accept_feedback = (!answer.feedback.is_empty()).then(|| answer.feedback.clone());
        decision.expires_at = Some(now.plus_millis(APPROVAL_HOLDS_MS));
    }
    Approval {
        state: answer.state(),
        resolution: Some(decision),
        resolved_by: answer.resolved_by.clone(),
        feedback: answer.feedback.clone(),
        resolved_at: Some(now),
        ..approval.clone()
    }
}

fn expired(approval: &Approval, now: Timestamp) -> Approval {
    let message = "nobody answered the approval request in time".to_owned();
    let decision = resolution(approval, Behavior::Deny, ReasonType::Other, message, now);
    Approval { state: ApprovalState::Expired, resolution: Some(decision), resolved_at: Some(now), ..approval.clone() }
}

fn resolution(
    approval: &Approval,
    behavior: Behavior,
    reason_type: ReasonType,
    message: String,
    now: Timestamp,
) -> PermissionDecision {
    let asked = &approval.request;
    PermissionDecision {
        decision_id: decision_id(&asked.invocation_id, &["resolution", approval.approval_id.as_str()]),
        behavior,
        source: Some("approval".to_owned()),
        reason: Some(DecisionReason { reason_type, rule_ref: None, message }),
        suggested_updates: Vec::new(),
        decided_at: now,
        expires_at: None,
        approval_request_ref: Some(approval.approval_id.clone()),
        ..asked.clone()
    }
}

fn standing(approval: &Approval) -> BookError {
    let decision = approval.resolution.as_ref().map_or("none", |decision| decision.decision_id.as_str());
    BookError::Settled {
        approval_id: approval.approval_id.clone(),
        state: approval.state,
        decision: decision.to_owned(),
    }
}
