//! The ends of a question: an answer, its expiry, its withdrawal.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_records::SmolStr;
use toolplane_records::approval::Approval;
use toolplane_records::decision::{DecisionReason, PermissionDecision};
use toolplane_records::ids::{ApprovalId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior, ReasonType};
use toolplane_store::ScoreRange;

use super::{Answer, Book, BookError, Settlement, Step, accepted_rules, keys};
use toolplane_records::decision::decision_id;

/// Most questions ended by one look at the expiry index.
const EXPIRY_PAGE: usize = 256;

/// What is remembered of a repeatable answer.
#[derive(Serialize, Deserialize)]
struct Remembered {
    approval_id: ApprovalId,
    body: Digest,
}

impl Book {
    /// Answers a question; an `always` brings its rules into force in the same commit. The same answer again finds it
    /// answered; another answer is refused with the one that counts.
    pub async fn answer(&self, tenant: &TenantId, id: &ApprovalId, answer: &Answer) -> Result<Approval, BookError> {
        if let Some(repeated) = self.repeated(tenant, id, answer).await? {
            return Ok(repeated);
        }
        let asked = self.get(tenant, id).await?;
        if !answer.by.may_be_the_caller && answer.by.is_the_caller_of(&asked) {
            return Err(BookError::SelfApproval);
        }
        if answer.updated_input.is_some() && !answer.option.allows() {
            let rule = "goes only with an `allow` option".to_owned();
            return Err(BookError::NotOffered { field: "updated_input", rule });
        }
        // Its call has run with the input it has: a yes to another one would be a yes to nothing.
        if answer.updated_input.is_some() && asked.is_about_result() {
            let rule = "is not allowed here: the question is about the result of a call that has run; answer without another input";
            return Err(BookError::NotOffered { field: "updated_input", rule: rule.to_owned() });
        }
        // The suggested rules are about the input as it was asked, which a person who edits it does not want.
        if answer.updated_input.is_some() && answer.option.is_always() {
            let rule = "is allowed only with an answer for once: a rule would be about the original input".to_owned();
            return Err(BookError::NotOffered { field: "updated_input", rule });
        }
        let rules = accepted_rules(&asked, answer, self.now().await?)?;
        let remember = match &answer.request_id {
            Some(request_id) => {
                let body = Remembered { approval_id: id.clone(), body: answer.digest(id) };
                Some((keys::request(tenant, request_id), Bytes::from(serde_json::to_vec(&body)?)))
            }
            None => None,
        };
        let key = keys::record(tenant, id);
        let changed = self.change(&key, |approval, now| match approval.state.is_final() {
            true => Step::Keep,
            false if approval.expires_at <= now => Step::settle(expired(approval, now)),
            false => Step::Settle(Box::new(Settlement {
                approval: self.answered(approval, answer, &rules, now),
                remember: remember.clone(),
                rules: rules.clone(),
            })),
        });
        let settled = changed.await?.ok_or_else(|| BookError::NotFound(id.clone()))?;
        if answer.agrees_with(&settled, &rules) { Ok(settled) } else { Err(standing(&settled)) }
    }

    async fn repeated(
        &self,
        tenant: &TenantId,
        id: &ApprovalId,
        answer: &Answer,
    ) -> Result<Option<Approval>, BookError> {
        let Some(request_id) = &answer.request_id else { return Ok(None) };
        let Some(found) = self.ledger.get(&keys::request(tenant, request_id)).await? else { return Ok(None) };
        let remembered: Remembered = serde_json::from_slice(&found.bytes)?;
        if remembered.body != answer.digest(id) {
            return Err(BookError::RequestIdReused(request_id.clone()));
        }
        self.get(tenant, &remembered.approval_id).await.map(Some)
    }

    /// Takes a pending question back because its call ended; a settled one stays as it is.
    ///
    /// Fails with [`BookError::NotFound`] when `tenant` has no such approval, with [`BookError::Store`] when the store
    /// does not answer, the record is damaged or other writers get in between 64 times, and with
    /// [`BookError::Unreadable`] when it is not an approval.
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
            Step::settle(withdrawn)
        });
        changed.await?.ok_or_else(|| BookError::NotFound(id.clone()))
    }

    /// Turns every question whose time is over into a refusal; says how many there were.
    pub async fn expire_due(&self) -> Result<usize, BookError> {
        let now = self.ledger.now().await?;
        let due = ScoreRange::up_to(keys::score_of(now));
        let due = self.ledger.store().scan(keys::EXPIRY, due, EXPIRY_PAGE).await?;
        for entry in &due {
            self.change(&keys::record_of_member(&entry.member), |approval, now| {
                if approval.state.is_final() || approval.expires_at > now {
                    return Step::Keep;
                }
                Step::settle(expired(approval, now))
            })
            .await?;
        }
        Ok(due.len())
    }

    fn answered(&self, approval: &Approval, answer: &Answer, rules: &[PermissionRule], now: Timestamp) -> Approval {
        let who = if answer.by.name.is_empty() { "a person" } else { answer.by.name.as_str() };
        let verb = if answer.option.allows() { "approved" } else { "rejected" };
        let message = match answer.feedback.as_str() {
            "" => format!("{verb} by {who}"),
            said => format!("{verb} by {who}: {said}"),
        };
        let behavior = if answer.option.allows() { Behavior::Allow } else { Behavior::Deny };
        let mut decision = resolution(approval, behavior, ReasonType::PermissionPromptTool, message, now);
        decision.content_blocks.clone_from(&answer.content_blocks);
        decision.rule_refs.extend(rules.iter().map(|rule| SmolStr::from(rule.rule_id.as_str())));
        if answer.option.allows() {
            decision.accept_feedback = (!answer.feedback.is_empty()).then(|| answer.feedback.clone());
            decision.updated_input.clone_from(&answer.updated_input);
            decision.user_modified = answer.updated_input.is_some().then_some(true);
            let holds = i64::try_from(self.limits.holds_ms).unwrap_or(i64::MAX);
            decision.expires_at = Some(now.plus_millis(holds));
        }
        Approval {
            state: answer.state(),
            resolution: Some(decision),
            resolved_by: answer.by.name.clone(),
            feedback: answer.feedback.clone(),
            resolved_at: Some(now),
            chosen_option: Some(answer.option),
            updated_input: answer.updated_input.clone(),
            ..approval.clone()
        }
    }
}

impl Step {
    fn settle(approval: Approval) -> Self {
        Self::Settle(Box::new(Settlement { approval, remember: None, rules: Vec::new() }))
    }
}

fn expired(approval: &Approval, now: Timestamp) -> Approval {
    let message = "no person answered the approval request in time".to_owned();
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
        source: Some("approval".into()),
        reason: Some(DecisionReason { reason_type, rule_ref: None, message: message.into() }),
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
