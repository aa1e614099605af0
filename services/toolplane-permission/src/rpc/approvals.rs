//! Listing, reading, withdrawing and removing questions.

use prost::Message;
use tonic::Request;
use toolplane_forms::{Asked, of_approval};
use toolplane_proto::convert::{field, form, word};
use toolplane_proto::v1;
use toolplane_records::approval::Approval;
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::{ApiError, Caller, page};

use super::api::{MAX_TEXT_CHARS, PermissionApi, bounded};
use crate::approvals::{Filter, Place};
use crate::error::of_field;

/// An answer that is larger than this does not repeat the approval as JSON: clients take 4 MiB.
const ANSWER_BYTES: usize = 4 * 1024 * 1024 - 64 * 1024;
/// Most calls, and most further approvals, whose questions are removed by one request.
const MOST_DELETED: (usize, usize) = (256, 1024);

pub(super) async fn list(
    api: &PermissionApi,
    request: Request<v1::ListApprovalsRequest>,
) -> Result<v1::ListApprovalsResponse, ApiError> {
    let tenant = Caller::of(&request).tenants_named(&request.get_ref().tenant)?;
    let request = request.into_inner();
    let size = page::size(request.page_size)?;
    let state = word::optional_closed("state", request.state).map_err(of_field)?;
    let queue = Some(request.queue).filter(|queue| !queue.is_empty());
    let filter = Filter { tenant, state, queue };
    let scope = ("ListApprovals", &filter);
    let after = page::position(&scope, &request.page_token)?.map(|place| read_place(&place)).transpose()?;
    let found = api.book.list(&filter, after, size).await?;
    Ok(v1::ListApprovalsResponse {
        approvals: found.approvals.iter().map(listed).collect(),
        damaged_ids: found.damaged,
        next_page_token: found
            .next
            .map(|place| page::token(&scope, &format!("{} {}", place.asked_at, place.member)))
            .unwrap_or_default(),
    })
}

/// An approval in a list or a stream: without what is about its tool, which the approval itself has.
pub(super) fn listed(approval: &Approval) -> v1::Approval {
    let mut shown = v1::Approval::from(approval);
    shown.tool_registration = None;
    shown.definition_changes.clear();
    shown
}

fn read_place(text: &str) -> Result<Place, ApiError> {
    let place = text
        .split_once(' ')
        .and_then(|(asked_at, member)| Some(Place { asked_at: asked_at.parse().ok()?, member: member.to_owned() }));
    place
        .ok_or_else(|| ApiError::invalid_argument("page_token", "is not a token of this list; start again without one"))
}

pub(super) async fn get(
    api: &PermissionApi,
    request: Request<v1::GetApprovalRequest>,
) -> Result<v1::GetApprovalResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let view = request.view();
    let asked = form::asked(request.form).map_err(of_field)?;
    let id = field::id("approval_id", &request.approval_id).map_err(of_field)?;
    let approval = api.book.get(&tenant, &id).await?;
    let message = v1::Approval::from(&approval);
    let formed = asked.map(|asked| formed(&approval, &asked, message.encoded_len())).transpose()?;
    let json = (view == v1::RecordView::Json).then(|| JsonPayload::of(&approval));
    let beside = message.encoded_len() + formed.as_ref().map_or(0, Message::encoded_len);
    let json = json.filter(|json| beside + json.text().len() < ANSWER_BYTES);
    Ok(v1::GetApprovalResponse { approval: Some(message), json: json.as_ref().map(Into::into), formed })
}

/// The question in a form. Refused are forms that have no questions, and one for which there is no room beside the question itself.
fn formed(approval: &Approval, asked: &Asked, beside: usize) -> Result<v1::Formed, ApiError> {
    let formed = of_approval(asked.view, approval, asked.reader());
    let formed = formed.map(v1::Formed::from).ok_or_else(|| {
        let rule = format!("must be record, acp or acp-terminal for a question, and is `{}`", asked.view);
        ApiError::invalid_argument("form.view", rule)
    })?;
    match beside + formed.encoded_len() < ANSWER_BYTES {
        true => Ok(formed),
        false => Err(ApiError::invalid_argument("form", "leaves no room for the question; ask for it without a form")),
    }
}

pub(super) async fn withdraw(
    api: &PermissionApi,
    request: Request<v1::WithdrawApprovalRequest>,
) -> Result<v1::WithdrawApprovalResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::id("approval_id", &request.approval_id).map_err(of_field)?;
    bounded("reason", &request.reason, MAX_TEXT_CHARS)?;
    let approval = api.book.withdraw(&tenant, &id, &request.reason).await?;
    Ok(v1::WithdrawApprovalResponse { approval: Some((&approval).into()) })
}

pub(super) async fn delete(
    api: &PermissionApi,
    request: Request<v1::DeleteApprovalsRequest>,
) -> Result<v1::DeleteApprovalsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    for (name, given, most) in [
        ("invocation_ids", request.invocation_ids.len(), MOST_DELETED.0),
        ("approval_ids", request.approval_ids.len(), MOST_DELETED.1),
    ] {
        if given > most {
            return Err(ApiError::invalid_argument(name, format!("has {given} ids; at most {most} are allowed")));
        }
    }
    let calls = field::ids("invocation_ids", &request.invocation_ids).map_err(of_field)?;
    let ids = field::ids("approval_ids", &request.approval_ids).map_err(of_field)?;
    let deleted = api.book.delete(&tenant, &calls, &ids).await?;
    tracing::info!(%tenant, calls = calls.len(), deleted, "questions about calls that are not kept any more were removed");
    Ok(v1::DeleteApprovalsResponse { deleted: u32::try_from(deleted).unwrap_or(u32::MAX) })
}
