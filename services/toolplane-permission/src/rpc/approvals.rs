//! Listing, reading and withdrawing questions.

use prost::Message as _;
use tonic::Request;
use toolplane_proto::convert::{field, word};
use toolplane_proto::v1;
use toolplane_records::approval::Approval;
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::{ApiError, Caller, page};

use super::api::{MAX_TEXT_CHARS, PermissionApi, bounded};
use crate::approvals::{Filter, Place};
use crate::error::of_field;

/// An answer that is larger than this does not repeat the approval as JSON: clients take 4 MiB.
const ANSWER_BYTES: usize = 4 * 1024 * 1024 - 64 * 1024;

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
    let id = field::id("approval_id", &request.approval_id).map_err(of_field)?;
    let approval = api.book.get(&tenant, &id).await?;
    let message = v1::Approval::from(&approval);
    let json = (request.view() == v1::RecordView::Json).then(|| JsonPayload::of(&approval));
    let json = json.filter(|json| message.encoded_len() + json.text().len() < ANSWER_BYTES);
    Ok(v1::GetApprovalResponse { approval: Some(message), json: json.as_ref().map(Into::into) })
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
