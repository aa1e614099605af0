//! Deciding about one call.

use tonic::Request;
use toolplane_hooks::Folded;
use toolplane_policy::{LookedAt, explain};
use toolplane_proto::v1;
use toolplane_records::approval::Approval;
use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::decision_request::DecisionRequest;
use toolplane_records::explanation::{DecisionExplanation, HookVerdict};
use toolplane_records::hook::ToolHook;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior, HookEvent};
use toolplane_runtime::{ApiError, Caller};

use super::api::PermissionApi;
use crate::approvals::BookError;
use crate::decide::{Deciding, Outcome, Standing};
use crate::error::of_field;

/// How often one question may end without an answer and be put again.
const MAX_UNANSWERED: usize = 64;

pub(super) async fn decide(
    api: &PermissionApi,
    request: Request<v1::DecideRequest>,
) -> Result<v1::DecideResponse, ApiError> {
    let tenant = Caller::of(&request).tenant_named(&request.get_ref().tenant)?;
    // A caller may leave its own tenant out.
    let request = v1::DecideRequest { tenant: tenant.to_string(), ..request.into_inner() };
    let request = DecisionRequest::try_from(request).map_err(of_field)?;
    let (dry_run, asked_at) = (request.dry_run, request.asked_at);
    let active = api.rules.current().await?;
    let now = api.book.now().await?;
    let deciding = Deciding::new(active, request, now);
    let decided_at = asked_at.unwrap_or(now);
    if dry_run { Ok(rehearse(api, &deciding, decided_at, now)) } else { settle(api, deciding, decided_at).await }
}

/// What would be decided and why, leaving nothing behind: no hook is asked, no question is parked.
fn rehearse(api: &PermissionApi, deciding: &Deciding, decided_at: Timestamp, now: Timestamp) -> v1::DecideResponse {
    let (_, told) = explain(deciding.active().policy(), deciding.facts(), now);
    let explanation = DecisionExplanation { policy_digest: deciding.active().digest().to_owned(), ..told };
    let explanation = Some((&explanation).into());
    match deciding.outcome(decided_at, api.approval_ttl_ms) {
        Outcome::Decided(decision) => {
            v1::DecideResponse { decision: Some((&*decision).into()), explanation, ..Default::default() }
        }
        Outcome::Ask(approval) => v1::DecideResponse { explanation, ..asking(&approval, &[]) },
    }
}

async fn settle(
    api: &PermissionApi,
    mut deciding: Deciding,
    decided_at: Timestamp,
) -> Result<v1::DecideResponse, ApiError> {
    let mut hooks = Vec::new();
    let held = approval_of(api, &deciding).await?;
    let mut standing = held.as_ref().map_or(Standing::No, |approval| deciding.stands(approval));
    let hooked = |event| api.hooks.applies(event, &deciding.request().tool.facts);
    let (before, after) = (hooked(HookEvent::PermissionRequest), hooked(HookEvent::PermissionDecision));
    // The hooks of a question were asked when it was put; an answer to it needs them no more.
    if before && standing == Standing::No && deciding.wants_a_person() {
        let so_far = decision(api, &deciding, None, decided_at);
        hooks.extend(ask_hooks(api, &mut deciding, HookEvent::PermissionRequest, so_far).await);
    }
    if after {
        let so_far = decision(api, &deciding, held.as_ref().filter(|_| standing == Standing::Yes), decided_at);
        hooks.extend(ask_hooks(api, &mut deciding, HookEvent::PermissionDecision, so_far).await);
    }
    if let Some(approval) = &held {
        standing = deciding.stands(approval);
    }
    api.shadow.watch(&deciding);
    match (standing, held) {
        (Standing::Yes, Some(approval)) => {
            let decision = deciding.approved(&approval, decided_at);
            let hooks = hooks.iter().map(Into::into).collect();
            return Ok(v1::DecideResponse { decision: Some((&decision).into()), hooks, ..Default::default() });
        }
        (Standing::Waiting, Some(approval)) => return Ok(asking(&approval, &hooks)),
        (_, Some(approval)) if deciding.supersedes(&approval) => {
            // No caller waits for its answer any more.
            api.book.withdraw(&approval.tenant, &approval.approval_id, "superseded").await?;
        }
        _ => {}
    }
    match deciding.outcome(decided_at, api.approval_ttl_ms) {
        Outcome::Decided(decision) => Ok(v1::DecideResponse {
            decision: Some((&*decision).into()),
            hooks: hooks.iter().map(Into::into).collect(),
            reach: deciding.reach().map(told),
            ..Default::default()
        }),
        Outcome::Ask(question) => Ok(asking(&park(api, &mut deciding, *question, decided_at).await?, &hooks)),
    }
}

/// A question is the one outcome that must outlive this process before it is told. One that ended without an answer is
/// put again, as another question.
async fn park(
    api: &PermissionApi,
    deciding: &mut Deciding,
    mut question: Approval,
    decided_at: Timestamp,
) -> Result<Approval, ApiError> {
    for _ in 0..MAX_UNANSWERED {
        let standing = api.book.ask(question.clone()).await?;
        if !matches!(standing.state, ApprovalState::Expired | ApprovalState::Withdrawn) {
            return Ok(standing);
        }
        deciding.ask_after(standing.approval_id);
        question = match deciding.outcome(decided_at, api.approval_ttl_ms) {
            Outcome::Ask(question) => *question,
            Outcome::Decided(_) => break,
        };
    }
    let message = "the same question was put too often without an answer".to_owned();
    Err(ApiError::FailedPrecondition {
        reason: codes::UNANSWERED,
        subject: format!("approval/{}", question.approval_id),
        message,
    })
}

fn asking(approval: &Approval, hooks: &[ToolHook]) -> v1::DecideResponse {
    v1::DecideResponse {
        decision: Some((&approval.request).into()),
        approval: Some(super::approvals::listed(approval)),
        hooks: hooks.iter().map(Into::into).collect(),
        ..Default::default()
    }
}

fn told(looked_at: LookedAt) -> v1::DecisionReach {
    let LookedAt { input, session, surface, time: _ } = looked_at;
    v1::DecisionReach { input, session, surface }
}

/// The approval the call says it has. One that does not exist is none: the call is asked about anew.
async fn approval_of(api: &PermissionApi, deciding: &Deciding) -> Result<Option<Approval>, ApiError> {
    let request = deciding.request();
    let Some(id) = &request.approval_ref else { return Ok(None) };
    match api.book.get(&request.caller.tenant, id).await {
        Ok(approval) => Ok(Some(approval)),
        Err(BookError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The decision as it is now, under the approval that stands for it.
fn decision(
    api: &PermissionApi,
    deciding: &Deciding,
    approval: Option<&Approval>,
    decided_at: Timestamp,
) -> PermissionDecision {
    match (approval, deciding.outcome(decided_at, api.approval_ttl_ms)) {
        (Some(approval), _) => deciding.approved(approval, decided_at),
        (None, Outcome::Decided(decision)) => *decision,
        (None, Outcome::Ask(question)) => question.request,
    }
}

/// Asks the hooks of one point and lets the policy hear what they say. After the decision they can only tighten it.
async fn ask_hooks(
    api: &PermissionApi,
    deciding: &mut Deciding,
    event: HookEvent,
    so_far: PermissionDecision,
) -> Vec<ToolHook> {
    let mut input = deciding.hook_input();
    input.decision = Some(so_far);
    let folded = api.hooks.run(event, &input).await;
    if !folded.updates.is_empty() {
        // A service that changes an input does so before the decision, where it is checked and decided again.
        tracing::warn!(invocation_id = %deciding.request().invocation_id, %event, "a new input of a hook is not used at this point");
    }
    let records = folded.records.clone();
    let (verdicts, classifier) = said(folded, event);
    deciding.hear(verdicts, classifier);
    records
}

fn said(
    folded: Folded,
    event: HookEvent,
) -> (Vec<HookVerdict>, Option<toolplane_records::explanation::ClassifierCheck>) {
    let mut verdicts = folded.verdicts;
    if let Some(stop) = folded.stop {
        verdicts.push(HookVerdict {
            hook_id: stop.hook_id,
            behavior: Behavior::Deny,
            message: stop.text,
            authoritative: false,
        });
    }
    if event == HookEvent::PermissionDecision {
        verdicts.retain(|verdict| matches!(verdict.behavior, Behavior::Deny | Behavior::Ask));
        return (verdicts, None);
    }
    (verdicts, folded.classifier)
}
