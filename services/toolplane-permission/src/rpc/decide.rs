//! Deciding about one call.

use serde_json::json;
use tonic::Request;
use toolplane_proto::convert::{ConvertError, field};
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::Behavior;
use toolplane_runtime::ApiError;

use super::PermissionApi;
use crate::decide::{Decider, Question};
use crate::error::of_field;
use toolplane_runtime::tenant;

pub(super) async fn decide(
    api: &PermissionApi,
    request: Request<v1::DecideRequest>,
) -> Result<v1::DecideResponse, ApiError> {
    let tenant = tenant::named(request.metadata(), &request.get_ref().tenant)?;
    let (question, asked_at) = read(tenant, request.into_inner()).map_err(of_field)?;
    let now = api.book.now().await?;
    let decision = api.decider.decide(&question, asked_at.unwrap_or(now));
    if decision.behavior != Behavior::Ask {
        return Ok(v1::DecideResponse { decision: Some((&decision).into()), approval: None });
    }
    // A question is the one outcome that must outlive this process before anyone hears of it.
    let approval = api.book.ask(Decider::park(question, decision, now, api.approval_ttl_ms)).await?;
    Ok(v1::DecideResponse { decision: Some((&approval.request).into()), approval: Some((&approval).into()) })
}

fn read(tenant: TenantId, request: v1::DecideRequest) -> Result<(Question, Option<Timestamp>), ConvertError> {
    let (shown_input, input_digest) =
        input(request.permission_input).map_err(|error| error.within("permission_input"))?;
    if request.tool_name.is_empty() {
        return Err(ConvertError::missing("tool_name"));
    }
    let asked_at = field::optional_time("request_time", request.request_time)?;
    let question = Question {
        invocation_id: field::id("invocation_id", &request.invocation_id)?,
        tenant,
        actor_ref: request.actor_ref,
        tool_id: field::id("tool_id", &request.tool_id)?,
        tool_name: request.tool_name,
        namespace: request.namespace,
        declaration_digest: field::id("declaration_digest", &request.declaration_digest)?,
        surface_id: field::optional_id("surface_id", &request.surface_id)?,
        shown_input,
        input_digest,
        profile: field::optional("permission_profile", request.permission_profile)?,
        safety: field::optional("safety", request.safety)?,
        unknown_facts: request.unknown_facts,
        can_ask: request.can_ask,
        mode: request.mode,
        deadline_at: field::optional_time("deadline_at", request.deadline_at)?,
    };
    Ok((question, asked_at))
}

/// What people are shown, and the digest of what is decided about. A large input comes as a reference with its digest.
fn input(message: Option<v1::JsonPayload>) -> Result<(JsonPayload, Digest), ConvertError> {
    let message = message.ok_or_else(|| ConvertError::missing(""))?;
    let Some(Body::Ref(uri)) = &message.body else {
        let payload = JsonPayload::try_from(message)?;
        let digest = payload.digest();
        return Ok((payload, digest));
    };
    let digest = Digest::try_from(&message.sha256[..]).map_err(|error| ConvertError::new("sha256", error))?;
    let pointer = json!({ "ref": uri, "digest": digest, "size_bytes": message.size_bytes });
    Ok((JsonPayload::of(&pointer), digest))
}
