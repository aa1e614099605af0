//! Reading a caller's request: every wrong field is named, and nothing is accepted by halves.

use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::{InvocationId, SurfaceId, TenantId};
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::{Digest, JsonPayload};
use uuid::Uuid;

use crate::error::CallError;

/// The namespace of ids made from idempotency keys.
const KEY_NAMESPACE: Uuid = Uuid::from_u128(0x7f0c_9a52_6d1b_4e0e_9f6e_2a1d_0b7c_51e4);
/// Longest name, key or reference of a request, in bytes.
const MAX_TEXT: usize = 256;
/// Most references of one kind.
const MAX_REFS: usize = 64;

/// Bounds on a request.
#[derive(Clone, Copy, Debug)]
pub struct SpecLimits {
    /// Bounds on the arguments.
    pub json: JsonLimits,
    /// Longest patience a caller may ask for, milliseconds.
    pub max_deadline_ms: u64,
}

/// A request whose every field is well formed.
#[derive(Clone, Debug)]
pub struct CallSpec {
    /// Owner.
    pub tenant: TenantId,
    /// Id of the call: the caller's, or made from its idempotency key, or new.
    pub invocation_id: InvocationId,
    /// The surface to call in.
    pub surface_id: SurfaceId,
    /// The tool's name as the model gave it.
    pub tool_name: String,
    /// The arguments, exactly.
    pub model_input: JsonPayload,
    /// The caller's key.
    pub idempotency_key: Option<String>,
    /// The provider's id of the call.
    pub native_call_id: Option<String>,
    /// Who calls.
    pub actor_ref: Option<String>,
    /// Runtime refs.
    pub runtime_refs: Vec<String>,
    /// Adjacent policies.
    pub policy_refs: Vec<String>,
    /// The caller's patience, milliseconds.
    pub timeout_ms: Option<u64>,
    /// The scheduler policy that applies.
    pub scheduler_policy_ref: Option<String>,
    /// Somebody can answer an approval.
    pub can_ask: bool,
    /// Permission mode in force.
    pub permission_mode: Option<String>,
    /// Digest of everything that makes this request this request.
    pub digest: Digest,
    /// Whether a call with this id may exist already.
    pub may_exist: bool,
}

impl CallSpec {
    /// Reads `spec` of `tenant`, naming every field that is wrong.
    pub fn decode(spec: Option<v1::InvocationSpec>, tenant: TenantId, limits: &SpecLimits) -> Result<Self, CallError> {
        let Some(spec) = spec else { return Err(CallError::invalid("spec", "must be given")) };
        let mut faults = Faults::default();
        let surface_id = faults.take("spec.surface_id", SurfaceId::parse(&spec.surface_id));
        let tool_name = faults.text("spec.tool_name", spec.tool_name);
        if tool_name.is_none() {
            faults.add("spec.tool_name", "must be given");
        }
        let model_input = match spec.model_input {
            None => Some(JsonPayload::from_checked(&b"{}"[..])),
            Some(payload) => match toolplane_proto::convert::payload::ingest(payload, &limits.json) {
                Ok(input) => Some(input),
                Err(refusal) => {
                    let refusal = refusal.within("spec.model_input");
                    faults.add(&refusal.field, refusal.rule);
                    None
                }
            },
        };
        let idempotency_key = faults.text("spec.idempotency_key", spec.idempotency_key);
        let own_id = match spec.invocation_id.as_str() {
            "" => None,
            id => faults.take("spec.invocation_id", InvocationId::parse(id)),
        };
        let native_call_id = faults.text("spec.native_call_id", spec.native_call_id);
        let actor_ref = faults.text("spec.actor_ref", spec.actor_ref);
        let scheduler_policy_ref = faults.text("spec.scheduler_policy_ref", spec.scheduler_policy_ref);
        let permission_mode = faults.text("spec.permission_mode", spec.permission_mode);
        let runtime_refs = faults.texts("spec.runtime_refs", spec.runtime_refs);
        let policy_refs = faults.texts("spec.policy_refs", spec.policy_refs);
        if spec.timeout_ms > limits.max_deadline_ms {
            faults.add("spec.timeout_ms", format!("must be at most {}", limits.max_deadline_ms));
        }
        if !matches!(spec.priority.as_str(), "" | "interactive" | "normal" | "background") {
            faults.add("spec.priority", "must be `interactive`, `normal` or `background`");
        }
        faults.into_result()?;
        let (Some(surface_id), Some(tool_name), Some(model_input)) = (surface_id, tool_name, model_input) else {
            return Err(CallError::Internal("a missing field was not reported".to_owned()));
        };
        let may_exist = own_id.is_some() || idempotency_key.is_some();
        let invocation_id = own_id.unwrap_or_else(|| new_id(&tenant, idempotency_key.as_deref()));
        let digest = request_digest(&[
            surface_id.as_str().as_bytes(),
            tool_name.as_bytes(),
            model_input.digest().as_bytes(),
            &spec.timeout_ms.to_be_bytes(),
            native_call_id.as_deref().unwrap_or_default().as_bytes(),
            actor_ref.as_deref().unwrap_or_default().as_bytes(),
        ]);
        Ok(Self {
            tenant,
            invocation_id,
            surface_id,
            tool_name,
            model_input,
            idempotency_key,
            native_call_id,
            actor_ref,
            runtime_refs,
            policy_refs,
            timeout_ms: (spec.timeout_ms > 0).then_some(spec.timeout_ms),
            scheduler_policy_ref,
            can_ask: !spec.no_approver,
            permission_mode,
            digest,
            may_exist,
        })
    }
}

fn new_id(tenant: &TenantId, key: Option<&str>) -> InvocationId {
    let id = match key {
        Some(key) => Uuid::new_v5(&KEY_NAMESPACE, format!("{tenant}\0{key}").as_bytes()),
        None => Uuid::now_v7(),
    };
    InvocationId::from_trusted(format!("inv_{}", id.simple()))
}

/// One digest over several parts; lengths keep neighbouring parts apart.
fn request_digest(parts: &[&[u8]]) -> Digest {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    Digest::from_bytes(hash.finalize().into())
}

/// Collects what is wrong with a request.
#[derive(Default)]
struct Faults(Vec<FieldViolation>);

impl Faults {
    fn add(&mut self, field: &str, rule: impl Into<String>) {
        self.0.push(FieldViolation { field: field.to_owned(), description: rule.into() });
    }

    fn take<T, E: std::fmt::Display>(&mut self, field: &str, value: Result<T, E>) -> Option<T> {
        value.map_err(|rule| self.add(field, rule.to_string())).ok()
    }

    /// A short printable text; `None` when empty or refused.
    fn text(&mut self, field: &str, text: String) -> Option<String> {
        if text.len() > MAX_TEXT {
            self.add(field, format!("must be at most {MAX_TEXT} bytes"));
            return None;
        }
        if text.chars().any(char::is_control) {
            self.add(field, "must not contain control characters");
            return None;
        }
        (!text.is_empty()).then_some(text)
    }

    fn texts(&mut self, field: &str, texts: Vec<String>) -> Vec<String> {
        if texts.len() > MAX_REFS {
            self.add(field, format!("must have at most {MAX_REFS} entries"));
            return Vec::new();
        }
        let texts = texts.into_iter().enumerate();
        texts.filter_map(|(index, text)| self.text(&format!("{field}[{index}]"), text)).collect()
    }

    fn into_result(self) -> Result<(), CallError> {
        if self.0.is_empty() { Ok(()) } else { Err(CallError::Invalid(self.0)) }
    }
}
