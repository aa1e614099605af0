//! From the request to the question.

use std::sync::Arc;

use toolplane_proto::convert::{ConvertError, field, word};
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::ids::TenantId;
use toolplane_records::mode::Mode;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;

use crate::decide::{Question, Tool};

/// Most entries of one list of the request.
const MAX_LIST: usize = 1_024;

/// The question of a request, and when the caller asked.
pub(super) fn question(
    tenant: TenantId,
    request: v1::DecideRequest,
) -> Result<(Question, Option<Timestamp>), ConvertError> {
    bounded(&request)?;
    let asked_at = field::optional_time("request_time", request.request_time)?;
    let input = input(request.permission_input).map_err(|error| error.within("permission_input"))?;
    let call_input_digest =
        field::optional_id("call_input_digest", &request.call_input_digest)?.unwrap_or_else(|| input.digest());
    if request.tool_name.is_empty() {
        return Err(ConvertError::missing("tool_name"));
    }
    let tool = Tool {
        tool_id: field::id("tool_id", &request.tool_id)?,
        name: request.tool_name,
        namespace: request.namespace,
        aliases: request.aliases,
        kind: word::optional_open("tool_kind", &request.tool_kind, request.tool_kind_code)?,
        permission_matcher: request.permission_matcher,
        profile: field::optional("permission_profile", request.permission_profile)?,
    };
    let question = Question {
        invocation_id: field::id("invocation_id", &request.invocation_id)?,
        tenant,
        actor_ref: request.actor_ref,
        caller_ref: request.caller_ref,
        roles: request.caller_roles,
        session_ref: request.session_ref,
        surface_id: field::optional_id("surface_id", &request.surface_id)?,
        tool: Arc::new(tool),
        declaration_digest: field::id("declaration_digest", &request.declaration_digest)?,
        registration: request.tool_registration,
        input,
        redacted: request.redacted_fields,
        call_input_digest,
        safety: field::optional("safety", request.safety)?,
        unknown_facts: request.unknown_facts,
        trusted_facts: request.trusted_facts,
        hooks: field::list("hook_verdicts", request.hook_verdicts)?,
        classifier: field::optional("classifier", request.classifier)?,
        assurance: field::optional("assurance", request.assurance)?,
        can_ask: request.can_ask,
        mode: mode(&request.mode)?,
        deadline_at: field::optional_time("deadline_at", request.deadline_at)?,
        approval_ref: field::optional_id("approval_ref", &request.approval_ref)?,
    };
    Ok((question, asked_at))
}

fn mode(name: &str) -> Result<Option<Mode>, ConvertError> {
    if name.is_empty() {
        return Ok(None);
    }
    let unknown = || ConvertError::new("mode", format!("must be one of {}", Mode::WORDS.join(", ")));
    Mode::parse(name).map(Some).ok_or_else(unknown)
}

fn input(message: Option<v1::JsonPayload>) -> Result<JsonPayload, ConvertError> {
    let message = message.ok_or_else(|| ConvertError::missing(""))?;
    if let Some(Body::Ref(_)) = &message.body {
        return Err(ConvertError::new("", "must be inline: rules look into it"));
    }
    JsonPayload::try_from(message)
}

fn bounded(request: &v1::DecideRequest) -> Result<(), ConvertError> {
    let lists = [
        ("unknown_facts", request.unknown_facts.len()),
        ("trusted_facts", request.trusted_facts.len()),
        ("aliases", request.aliases.len()),
        ("caller_roles", request.caller_roles.len()),
        ("hook_verdicts", request.hook_verdicts.len()),
        ("redacted_fields", request.redacted_fields.len()),
    ];
    match lists.into_iter().find(|(_, length)| *length > MAX_LIST) {
        Some((name, length)) => {
            Err(ConvertError::new(name, format!("has {length} entries; at most {MAX_LIST} are allowed")))
        }
        None => Ok(()),
    }
}
