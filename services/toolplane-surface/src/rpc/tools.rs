//! Registering, reading, listing and retiring tools.

use prost::Message as _;
use serde::Serialize;
use tonic::Request;
use toolplane_catalog::{ChangeKind, Registration};
use toolplane_proto::convert::{field, registration, word};
use toolplane_proto::v1;
use toolplane_proto::v1::get_tool_request::Tool;
use toolplane_providers::names::of_tool_id;
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::ApiError;

use super::api::SurfaceApi;
use super::encode;
use crate::declarations;
use crate::error::of_field;
use crate::registry::ToolFilter;
use toolplane_runtime::{Caller, page};

/// Most tools of one request.
const MAX_TOOLS: usize = 1000;
/// Longest reason for a retirement, in characters.
const MAX_REASON_CHARS: usize = 1_000;

pub(super) async fn register(
    api: &SurfaceApi,
    request: Request<v1::RegisterToolsRequest>,
) -> Result<v1::RegisterToolsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    if request.tools.is_empty() || request.tools.len() > MAX_TOOLS {
        let rule = format!("has {} tools; 1 to {MAX_TOOLS} are allowed", request.tools.len());
        return Err(ApiError::invalid_argument("tools", rule));
    }
    let changes = api.parts.registry.register(tenant, read(request.tools)?, request.validate_only).await?;
    let outcome = |kind| match kind {
        ChangeKind::Created => v1::RegistrationOutcome::Created,
        ChangeKind::Updated | ChangeKind::Retired => v1::RegistrationOutcome::Updated,
        ChangeKind::Unchanged => v1::RegistrationOutcome::Unchanged,
    };
    let tools = changes.iter().map(|change| v1::RegisteredTool {
        tool_id: change.tool.registration().declaration.tool_id.to_string(),
        digest: change.tool.digest().to_string(),
        revision: change.revision,
        outcome: outcome(change.kind).into(),
    });
    Ok(v1::RegisterToolsResponse { tools: tools.collect() })
}

/// Reads every registration, so that all that is wrong is told at once.
fn read(messages: Vec<v1::ToolRegistration>) -> Result<Vec<Registration>, ApiError> {
    let mut wrong = Vec::new();
    let mut registrations = Vec::with_capacity(messages.len());
    for (index, message) in messages.into_iter().enumerate() {
        match registration::parts(message) {
            Ok(parts) => registrations.push(Registration {
                declaration: parts.declaration,
                interface: parts.interface.map(Box::new),
                execution_profile: parts.execution_profile.map(Box::new),
                permission_profile: parts.permission_profile.map(Box::new),
            }),
            Err(faults) => {
                let named = faults.into_iter().map(|fault| fault.within(&format!("tools[{index}]")));
                wrong.extend(named.map(|fault| (fault.field, fault.rule)));
            }
        }
    }
    for (index, registration) in registrations.iter().enumerate() {
        if of_tool_id(&registration.declaration.tool_id).is_some() {
            let rule = "is the id of a provider's tool: such tools are not registered by hand".to_owned();
            wrong.push((format!("tools[{index}].declaration.tool_id"), rule));
        }
    }
    if wrong.is_empty() { Ok(registrations) } else { Err(ApiError::invalid_arguments(wrong)) }
}

pub(super) fn get(api: &SurfaceApi, request: Request<v1::GetToolRequest>) -> Result<v1::GetToolResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let wants_json = request.view() == v1::RecordView::Json;
    let entry = match request.tool {
        Some(Tool::ToolId(id)) => api.parts.registry.tool(&tenant, &field::id("tool_id", &id).map_err(of_field)?)?,
        Some(Tool::Name(name)) => api.parts.registry.tool_named(&tenant, &name)?,
        None => return Err(ApiError::invalid_argument("tool_id", "is required, or `name`")),
    };
    let registration = entry.tool.registration();
    Ok(v1::GetToolResponse {
        registration: Some(declarations::message(registration)),
        digest: entry.tool.digest().to_string(),
        revision: entry.revision,
        declaration_json: json(wants_json, Some(&registration.declaration)),
        interface_json: json(wants_json, registration.interface.as_ref()),
        execution_profile_json: json(wants_json, registration.execution_profile.as_ref()),
        permission_profile_json: json(wants_json, registration.permission_profile.as_ref()),
    })
}

fn json(wanted: bool, record: Option<&impl Serialize>) -> Option<v1::JsonPayload> {
    record.filter(|_| wanted).map(|record| (&JsonPayload::of(record)).into())
}

pub(super) fn list(
    api: &SurfaceApi,
    request: Request<v1::ListToolsRequest>,
) -> Result<v1::ListToolsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let size = page::size(request.page_size)?;
    let lifecycle = word::optional_closed("lifecycle", request.lifecycle).map_err(of_field)?;
    let filter = ToolFilter { namespace: request.namespace, lifecycle, text: request.text };
    let scope = ("ListTools", &tenant, format!("{filter:?}"));
    let after = page::position(&scope, &request.page_token)?;
    let (entries, more) = api.parts.registry.tools(&tenant, &filter, after.as_deref(), size);
    let tools = page::fill(entries.iter().map(encode::summary), size, v1::ToolSummary::encoded_len);
    let last = tools.last().filter(|_| more || tools.len() < entries.len());
    let next_page_token = last.map(|tool| page::token(&scope, &tool.full_name)).unwrap_or_default();
    Ok(v1::ListToolsResponse { tools, next_page_token })
}

pub(super) async fn retire(
    api: &SurfaceApi,
    request: Request<v1::RetireToolRequest>,
) -> Result<v1::RetireToolResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::id("tool_id", &request.tool_id).map_err(of_field)?;
    if request.reason.chars().count() > MAX_REASON_CHARS {
        return Err(ApiError::invalid_argument("reason", format!("may have at most {MAX_REASON_CHARS} characters")));
    }
    let entry = api.parts.registry.retire(tenant, id, request.reason).await?;
    let declaration = &entry.tool.registration().declaration;
    Ok(v1::RetireToolResponse { declaration: Some(declaration.into()), revision: entry.revision })
}
