//! Answering a question.

use tonic::Request;
use toolplane_forms::acp::{self, BadOutcome, Outcome};
use toolplane_proto::convert::{field, word};
use toolplane_proto::v1;
use toolplane_records::approval::Approval;
use toolplane_records::error::FieldViolation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{Behavior, PermissionOption};
use toolplane_runtime::{ApiError, Caller};
use uuid::Uuid;

use super::api::{MAX_NAME_CHARS, MAX_TEXT_CHARS, PermissionApi, bounded};
use crate::approvals::{Answer, Resolver, edit};
use crate::error::of_field;

/// Largest input an answerer may put in place, in bytes.
const MAX_EDIT_BYTES: u64 = 1024 * 1024;
/// Most blocks of content an answerer may add.
const MAX_BLOCKS: usize = 16;
/// Most bytes of all of them.
const MAX_BLOCKS_BYTES: u64 = 64 * 1024;

pub(super) async fn resolve(
    api: &PermissionApi,
    request: Request<v1::ResolveApprovalRequest>,
) -> Result<v1::ResolveApprovalResponse, ApiError> {
    let caller = Caller::of(&request);
    let mut request = request.into_inner();
    let id = field::id("approval_id", &request.approval_id).map_err(of_field)?;
    if let Some(outcome) = request.acp_outcome.take() {
        let approval = api.book.get(&caller.tenant, &id).await?;
        chosen(&approval, outcome, &mut request)?;
    }
    let answer = read(&caller, request, api.rules.active().allow_self_approval())?;
    if let Some(edited) = &answer.updated_input {
        let approval = api.book.get(&caller.tenant, &id).await?;
        // Of a question about a result the book refuses every edit.
        if !approval.state.is_final() && !approval.is_about_result() {
            refuse_misfit(&approval, edited)?;
            refuse_denied(api, &approval, edited).await?;
        }
    }
    let approval = api.book.answer(&caller.tenant, &id, &answer).await?;
    if answer.option.is_always() {
        // Stored with the answer; a service that hears of the answer may rely on the rule.
        api.rules.refresh().await?;
    }
    Ok(v1::ResolveApprovalResponse { approval: Some((&approval).into()) })
}

/// Puts the option an outcome of ACP chooses into the request, as if it had named it. What is no outcome chooses nothing.
fn chosen(
    approval: &Approval,
    outcome: v1::JsonPayload,
    request: &mut v1::ResolveApprovalRequest,
) -> Result<(), ApiError> {
    for (field, is_said) in [
        ("option", request.option != 0),
        ("behavior", request.behavior != 0),
        ("suggestion_id", !request.suggestion_id.is_empty()),
    ] {
        if is_said {
            return Err(ApiError::invalid_argument(
                field,
                "must be left out where `acp_outcome` says what is answered",
            ));
        }
    }
    let outcome = JsonPayload::try_from(outcome).map_err(|wrong| of_field(wrong.within("acp_outcome")))?;
    let bad = |bad: BadOutcome| ApiError::invalid_argument("acp_outcome", bad.to_string());
    let outcome = Outcome::read(outcome.text()).map_err(bad)?;
    let option = acp::answer(approval, &outcome).map_err(bad)?;
    request.option = v1::PermissionOption::from(option.kind).into();
    request.suggestion_id.clone_from(&option.suggestion_id);
    Ok(())
}

/// Refuses an edit that a rule denies: the question stays open, and can be answered again.
async fn refuse_denied(api: &PermissionApi, approval: &Approval, edited: &JsonPayload) -> Result<(), ApiError> {
    let active = api.rules.current().await?;
    match edit::denied(approval, edited, active.policy(), api.book.now().await?) {
        Some(why) => Err(ApiError::invalid_argument("updated_input", format!("is denied: {why}"))),
        None => Ok(()),
    }
}

/// Refuses an edit that the tool cannot take: the question stays open, and can be answered again.
fn refuse_misfit(approval: &Approval, edited: &JsonPayload) -> Result<(), ApiError> {
    let faults = edit::faults(approval, edited);
    if faults.is_empty() {
        return Ok(());
    }
    let named = |fault: FieldViolation| {
        let slash = if fault.field.is_empty() || fault.field.starts_with('/') { "" } else { "/" };
        (format!("updated_input{slash}{}", fault.field), fault.description)
    };
    Err(ApiError::invalid_arguments(faults.into_iter().map(named)))
}

fn read(caller: &Caller, request: v1::ResolveApprovalRequest, self_approval: bool) -> Result<Answer, ApiError> {
    let option = option(&request)?;
    bounded("feedback", &request.feedback, MAX_TEXT_CHARS)?;
    bounded("resolved_by", &request.resolved_by, MAX_NAME_CHARS)?;
    bounded("suggestion_id", &request.suggestion_id, MAX_NAME_CHARS)?;
    let request_id = match request.request_id.as_str() {
        "" => None,
        text => Some(Uuid::parse_str(text).map_err(|_| ApiError::invalid_argument("request_id", "must be a UUID"))?),
    };
    let updated_input: Option<JsonPayload> =
        field::optional("updated_input", request.updated_input).map_err(of_field)?;
    if let Some(input) = &updated_input {
        check_edit(input)?;
    }
    let content_blocks: Vec<JsonPayload> = field::list("content_blocks", request.content_blocks).map_err(of_field)?;
    check_blocks(&content_blocks)?;
    Ok(Answer {
        option,
        suggestion_id: request.suggestion_id,
        updated_input,
        content_blocks,
        feedback: request.feedback,
        by: resolver(caller, request.resolved_by, self_approval),
        request_id: request_id.map(|id| id.to_string()),
    })
}

/// The option, or the one-time form of the behaviour where only that is given.
fn option(request: &v1::ResolveApprovalRequest) -> Result<PermissionOption, ApiError> {
    let option: Option<PermissionOption> = word::optional_closed("option", request.option).map_err(of_field)?;
    let behavior = word::optional_closed("behavior", request.behavior).map_err(of_field)?;
    let once = match behavior {
        Some(Behavior::Allow) => Some(PermissionOption::AllowOnce),
        Some(Behavior::Deny) => Some(PermissionOption::RejectOnce),
        Some(Behavior::Ask | Behavior::Passthrough) => {
            return Err(ApiError::invalid_argument("behavior", "must be ALLOW or DENY"));
        }
        None => None,
    };
    match (option, once) {
        (Some(option), Some(once)) if option.allows() != once.allows() => {
            Err(ApiError::invalid_argument("behavior", "says the opposite of `option`; leave it out"))
        }
        (Some(option), _) | (None, Some(option)) => Ok(option),
        (None, None) => Err(ApiError::invalid_argument("option", "is required")),
    }
}

/// Who answers: what authentication says, and only without it what the request says.
fn resolver(caller: &Caller, claimed: String, may_be_the_caller: bool) -> Resolver {
    if !caller.authenticated {
        return Resolver { name: claimed, may_be_the_caller, ..Resolver::default() };
    }
    Resolver {
        name: caller.doer("").to_owned(),
        actor: caller.actor.clone(),
        caller_ref: caller.caller_ref.clone(),
        may_be_the_caller,
    }
}

fn check_edit(input: &JsonPayload) -> Result<(), ApiError> {
    if input.size() > MAX_EDIT_BYTES {
        let rule = format!("has {} bytes; at most {MAX_EDIT_BYTES} are allowed", input.size());
        return Err(ApiError::invalid_argument("updated_input", rule));
    }
    is_object(input).then_some(()).ok_or_else(|| ApiError::invalid_argument("updated_input", "must be a JSON object"))
}

fn check_blocks(blocks: &[JsonPayload]) -> Result<(), ApiError> {
    let bytes: u64 = blocks.iter().map(JsonPayload::size).sum();
    if blocks.len() > MAX_BLOCKS || bytes > MAX_BLOCKS_BYTES {
        let rule = format!("may be at most {MAX_BLOCKS} of together {MAX_BLOCKS_BYTES} bytes");
        return Err(ApiError::invalid_argument("content_blocks", rule));
    }
    match blocks.iter().position(|block| !is_object(block)) {
        Some(index) => Err(ApiError::invalid_argument(format!("content_blocks[{index}]"), "must be a JSON object")),
        None => Ok(()),
    }
}

fn is_object(payload: &JsonPayload) -> bool {
    payload.text().trim_start().starts_with('{')
}
