//! Questions to the permission role.

use std::sync::Arc;

use bytes::Bytes;
use toolplane_records::decision_request as records;
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::tool_facts::ToolFacts;

use crate::convert::payload::{JSON, is_json};
use crate::convert::{ConvertError, field, word};
use crate::v1;
use crate::v1::json_payload::Body;

/// Most entries of one list of the request.
const MAX_LIST: usize = 1_024;

impl From<&records::DecisionRequest> for v1::DecideRequest {
    fn from(record: &records::DecisionRequest) -> Self {
        let records::DecisionRequest { caller, tool, input, safety, signals, .. } = record;
        let facts = &tool.facts;
        Self {
            invocation_id: record.invocation_id.to_string(),
            tenant: caller.tenant.to_string(),
            actor_ref: caller.actor_ref.to_string(),
            caller_ref: caller.caller_ref.to_string(),
            caller_roles: caller.roles.clone(),
            session_ref: caller.session_ref.to_string(),
            surface_id: field::text(&caller.surface_id),
            surface_policy_refs: field::texts(&caller.surface_policies),
            mode: caller.mode.map(|mode| mode.as_str().to_owned()).unwrap_or_default(),
            can_ask: caller.can_ask,
            tool_id: facts.tool_id.to_string(),
            tool_name: facts.full_name.clone(),
            namespace: facts.namespace.clone(),
            aliases: facts.aliases.clone(),
            tool_kind: word::optional_text(facts.kind),
            tool_kind_code: word::optional_number(facts.kind),
            permission_matcher: facts.permission_matcher.clone(),
            permission_profile: field::out(&facts.profile),
            declaration_digest: tool.declaration_digest.to_string(),
            tool_registration: tool.registration_json.as_ref().map(|json| registration_out(json, tool)),
            permission_input: Some((&input.shown).into()),
            redacted_fields: input.redacted.clone(),
            call_input_digest: input.call_digest.to_string(),
            safety: field::out(&safety.facts),
            unknown_facts: safety.unknown.clone(),
            trusted_facts: safety.trusted.clone(),
            hook_verdicts: field::outs(&signals.hooks),
            classifier: field::out(&signals.classifier),
            assurance: field::out(&signals.assurance),
            known_taints: signals.taints.as_ref().map(|known| v1::KnownTaints { taints: field::outs(known) }),
            request_time: record.asked_at.and_then(field::instant),
            deadline_at: record.deadline_at.and_then(field::instant),
            approval_ref: field::text(&record.approval_ref),
            dry_run: record.dry_run,
        }
    }
}

impl TryFrom<v1::DecideRequest> for records::DecisionRequest {
    type Error = ConvertError;

    /// An input that is said by its digest alone is the input that is shown. No more than 1024 entries of any list are taken.
    fn try_from(message: v1::DecideRequest) -> Result<Self, ConvertError> {
        bounded(&message)?;
        let asked_at = field::optional_time("request_time", message.request_time)?;
        let shown = input(message.permission_input).map_err(|error| error.within("permission_input"))?;
        let call_digest =
            field::optional_id("call_input_digest", &message.call_input_digest)?.unwrap_or_else(|| shown.digest());
        if message.tool_name.is_empty() {
            return Err(ConvertError::missing("tool_name"));
        }
        let facts = ToolFacts {
            tool_id: field::id("tool_id", &message.tool_id)?,
            full_name: message.tool_name,
            namespace: message.namespace,
            aliases: message.aliases,
            kind: word::optional_open("tool_kind", &message.tool_kind, message.tool_kind_code)?,
            permission_matcher: message.permission_matcher,
            profile: field::optional("permission_profile", message.permission_profile)?,
        };
        let invocation_id = field::id("invocation_id", &message.invocation_id)?;
        let caller = records::CallerContext {
            tenant: field::id("tenant", &message.tenant)?,
            actor_ref: message.actor_ref.into(),
            caller_ref: message.caller_ref.into(),
            roles: message.caller_roles,
            session_ref: message.session_ref.into(),
            surface_id: field::optional_id("surface_id", &message.surface_id)?,
            surface_policies: field::kept(message.surface_policy_refs),
            mode: mode(&message.mode)?,
            can_ask: message.can_ask,
        };
        let declaration_digest = field::id("declaration_digest", &message.declaration_digest)?;
        let tool = records::CalledTool {
            registration_json: message.tool_registration.and_then(|json| registration(json, &declaration_digest)),
            facts: Arc::new(facts),
            declaration_digest,
        };
        let safety = records::SafetyClaims {
            facts: field::optional("safety", message.safety)?,
            unknown: message.unknown_facts,
            trusted: message.trusted_facts,
        };
        let signals = records::CallSignals {
            hooks: field::list("hook_verdicts", message.hook_verdicts)?,
            classifier: field::optional("classifier", message.classifier)?,
            assurance: field::optional("assurance", message.assurance)?,
            taints: message.known_taints.map(|known| field::list("known_taints", known.taints)).transpose()?,
        };
        Ok(Self {
            invocation_id,
            caller,
            tool,
            input: records::DecidedInput { shown, redacted: message.redacted_fields, call_digest },
            safety,
            signals,
            asked_at,
            deadline_at: field::optional_time("deadline_at", message.deadline_at)?,
            approval_ref: field::optional_id("approval_ref", &message.approval_ref)?,
            dry_run: message.dry_run,
        })
    }
}

/// A registration that is sent is the one of the digest beside it, so nothing has to be hashed.
fn registration_out(json: &Bytes, tool: &records::CalledTool) -> v1::JsonPayload {
    v1::JsonPayload {
        body: Some(Body::Inline(json.clone())),
        sha256: Bytes::copy_from_slice(tool.declaration_digest.as_bytes()),
        size_bytes: json.len() as u64,
        media_type: JSON.to_owned(),
        redaction: v1::RedactionState::None.into(),
    }
}

/// The bytes of a registration, of which only that is looked at which costs nothing: whether they are JSON and what `digest` is
/// made over is found out when they are used. One that cannot be that is none.
fn registration(message: v1::JsonPayload, digest: &Digest) -> Option<Bytes> {
    let Some(Body::Inline(json)) = message.body else { return None };
    let sized = message.size_bytes == 0 || message.size_bytes == json.len() as u64;
    let named = message.sha256.is_empty() || message.sha256[..] == digest.as_bytes()[..];
    (sized && named && is_json(&message.media_type)).then_some(json)
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

fn bounded(message: &v1::DecideRequest) -> Result<(), ConvertError> {
    let lists = [
        ("unknown_facts", message.unknown_facts.len()),
        ("trusted_facts", message.trusted_facts.len()),
        ("aliases", message.aliases.len()),
        ("caller_roles", message.caller_roles.len()),
        ("hook_verdicts", message.hook_verdicts.len()),
        ("redacted_fields", message.redacted_fields.len()),
        ("surface_policy_refs", message.surface_policy_refs.len()),
    ];
    match lists.into_iter().find(|(_, length)| *length > MAX_LIST) {
        Some((name, length)) => {
            Err(ConvertError::new(name, format!("has {length} entries; at most {MAX_LIST} are allowed")))
        }
        None => Ok(()),
    }
}
