//! Listing, reading, answering and withdrawing questions.

use tonic::Request;
use toolplane_proto::convert::{field, word};
use toolplane_proto::v1;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::Behavior;
use toolplane_runtime::ApiError;
use uuid::Uuid;

use super::PermissionApi;
use crate::approvals::{Answer, Filter, Place};
use crate::error::of_field;
use toolplane_runtime::{page, tenant};

/// Longest text an answerer or withdrawer may leave, in characters.
const MAX_TEXT_CHARS: usize = 4_000;
/// Longest name of an answerer, in characters.
const MAX_NAME_CHARS: usize = 256;

pub(super) async fn list(
    api: &PermissionApi,
    request: Request<v1::ListApprovalsRequest>,
) -> Result<v1::ListApprovalsResponse, ApiError> {
    let tenant = tenant::named(request.metadata(), &request.get_ref().tenant)?;
    let request = request.into_inner();
    let size = page::size(request.page_size)?;
    let state = word::optional_closed("state", request.state).map_err(of_field)?;
    let scope = ("ListApprovals", &tenant, state);
    let after = page::position(&scope, &request.page_token)?.map(|place| read_place(&place)).transpose()?;
    let filter = Filter { tenant: tenant.clone(), state };
    let (approvals, next) = api.book.list(&filter, after, size).await?;
    Ok(v1::ListApprovalsResponse {
        approvals: approvals.iter().map(Into::into).collect(),
        next_page_token: next
            .map(|place| page::token(&scope, &format!("{} {}", place.asked_at, place.approval_id)))
            .unwrap_or_default(),
    })
}

fn read_place(text: &str) -> Result<Place, ApiError> {
    let place = text.split_once(' ').and_then(|(asked_at, approval_id)| {
        Some(Place { asked_at: asked_at.parse().ok()?, approval_id: approval_id.to_owned() })
    });
    place
        .ok_or_else(|| ApiError::invalid_argument("page_token", "is not a token of this list; start again without one"))
}

pub(super) async fn get(
    api: &PermissionApi,
    request: Request<v1::GetApprovalRequest>,
) -> Result<v1::GetApprovalResponse, ApiError> {
    let tenant = tenant::of(request.metadata());
    let request = request.into_inner();
    let id = field::id("approval_id", &request.approval_id).map_err(of_field)?;
    let approval = api.book.get(&tenant, &id).await?;
    let wants_json = request.view() == v1::RecordView::Json;
    Ok(v1::GetApprovalResponse {
        approval: Some((&approval).into()),
        json: wants_json.then(|| (&JsonPayload::of(&approval)).into()),
    })
}

pub(super) async fn resolve(
    api: &PermissionApi,
    request: Request<v1::ResolveApprovalRequest>,
) -> Result<v1::ResolveApprovalResponse, ApiError> {
    let tenant = tenant::of(request.metadata());
    let request = request.into_inner();
    let id = field::id("approval_id", &request.approval_id).map_err(of_field)?;
    let allow = match word::closed("behavior", request.behavior).map_err(of_field)? {
        Behavior::Allow => true,
        Behavior::Deny => false,
        Behavior::Ask | Behavior::Passthrough => {
            return Err(ApiError::invalid_argument("behavior", "must be ALLOW or DENY"));
        }
    };
    bounded("feedback", &request.feedback, MAX_TEXT_CHARS)?;
    bounded("resolved_by", &request.resolved_by, MAX_NAME_CHARS)?;
    let request_id = match request.request_id.as_str() {
        "" => None,
        text => Some(Uuid::parse_str(text).map_err(|_| ApiError::invalid_argument("request_id", "must be a UUID"))?),
    };
    let answer = Answer {
        allow,
        feedback: request.feedback,
        resolved_by: request.resolved_by,
        request_id: request_id.map(|id| id.to_string()),
    };
    let approval = api.book.answer(&tenant, &id, &answer).await?;
    Ok(v1::ResolveApprovalResponse { approval: Some((&approval).into()) })
}

pub(super) async fn withdraw(
    api: &PermissionApi,
    request: Request<v1::WithdrawApprovalRequest>,
) -> Result<v1::WithdrawApprovalResponse, ApiError> {
    let tenant = tenant::of(request.metadata());
    let request = request.into_inner();
    let id = field::id("approval_id", &request.approval_id).map_err(of_field)?;
    bounded("reason", &request.reason, MAX_TEXT_CHARS)?;
    let approval = api.book.withdraw(&tenant, &id, &request.reason).await?;
    Ok(v1::WithdrawApprovalResponse { approval: Some((&approval).into()) })
}

fn bounded(name: &'static str, text: &str, max: usize) -> Result<(), ApiError> {
    match text.chars().count() {
        length if length > max => {
            Err(ApiError::invalid_argument(name, format!("has {length} characters; at most {max} are allowed")))
        }
        _ => Ok(()),
    }
}
