//! Reading a caller's request: every wrong field is named, and nothing is accepted by halves.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use toolplane_faultpoint::{Mutant, mutant};
use toolplane_proto::v1;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::batch::BatchPlace;
use toolplane_records::ids::{InvocationId, InvocationKey, SurfaceId, TenantId};
use toolplane_records::json::JsonLimits;
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::vocabulary::{Band, ContextModifierPolicy, InterruptBehavior};
use toolplane_runtime::Caller;
use uuid::Uuid;

use super::fields::Fields;
use super::locks;
use super::resolve::ToolAddress;
use crate::error::CallError;

/// The namespace of ids made from idempotency keys.
const KEY_NAMESPACE: Uuid = Uuid::from_u128(0x7f0c_9a52_6d1b_4e0e_9f6e_2a1d_0b7c_51e4);

/// Bounds on a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpecLimits {
    /// Bounds on the arguments.
    pub json: JsonLimits,
    /// Longest time limit a caller may set for the whole call, milliseconds.
    pub max_deadline_ms: u64,
}

/// A request whose every field is well formed.
#[derive(Clone, Debug)]
pub(crate) struct CallSpec {
    /// Owner.
    pub tenant: TenantId,
    /// Who sent it.
    pub caller: Arc<Caller>,
    /// Id of the call: the caller's, or made from its idempotency key, or new.
    pub invocation_id: InvocationId,
    /// The surface to call in.
    pub surface_id: SurfaceId,
    /// The tool's name as the model gave it.
    pub tool_name: String,
    /// The arguments, exactly.
    pub model_input: JsonPayload,
    /// The declaration the arguments were made for, when the caller says so.
    pub declaration_digest: Option<Digest>,
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
    /// The caller's time limit for the whole call, milliseconds.
    pub timeout_ms: Option<u64>,
    /// The scheduler policy that applies.
    pub scheduler_policy_ref: Option<String>,
    /// There is a person who can answer an approval.
    pub can_ask: bool,
    /// Permission mode in force.
    pub permission_mode: Option<String>,
    /// What the agent says of its own certainty.
    pub assurance: Option<CallAssurance>,
    /// The session it belongs to.
    pub session_ref: Option<String>,
    /// How urgent it is.
    pub band: Band,
    /// Locks the caller asks for, each key once.
    pub resource_locks: Vec<ResourceLock>,
    /// Where the caller wants the locks to apply.
    pub lock_domain: Option<String>,
    /// Its place in a batch, and what the batch decided on it.
    pub member: Option<BatchPlacement>,
    /// Digest of everything that makes this request this request.
    pub digest: Digest,
    /// Whether a call with this id may exist already.
    pub may_exist: bool,
}

/// What a batch adds to one of its calls.
#[derive(Clone, Debug)]
pub(crate) struct BatchPlacement {
    /// The batch, and the call's position in it.
    pub place: BatchPlace,
    /// The interrupt behaviour of the call, when that is not the tool's own word.
    pub interrupt_behavior: Option<InterruptBehavior>,
    /// What happens to context modifiers; `None` leaves them alone.
    pub context_modifier_policy: Option<ContextModifierPolicy>,
}

impl CallSpec {
    /// Reads the `spec` `caller` sent, naming every field that is wrong.
    pub(crate) fn decode(
        spec: Option<v1::InvocationSpec>,
        caller: &Arc<Caller>,
        limits: &SpecLimits,
    ) -> Result<Self, CallError> {
        let mut fields = Fields::within("spec");
        let spec = Self::read(spec, caller, limits, &mut fields);
        fields.into_result()?;
        spec.ok_or_else(|| CallError::Internal("a missing field was not reported".to_owned()))
    }

    /// Reads `spec`; what is wrong with it is added to `fields`, and then there is no spec.
    pub(super) fn read(
        spec: Option<v1::InvocationSpec>,
        caller: &Arc<Caller>,
        limits: &SpecLimits,
        fields: &mut Fields,
    ) -> Option<Self> {
        let Some(spec) = spec else {
            fields.add("", "must be given");
            return None;
        };
        let surface_id = fields.take("surface_id", SurfaceId::parse(&spec.surface_id));
        let tool_name = fields.required_text("tool_name", spec.tool_name);
        let model_input = model_input(spec.model_input, limits, fields);
        let declaration_digest = match spec.declaration_digest.as_str() {
            "" => None,
            digest => fields.take("declaration_digest", digest.parse::<Digest>()),
        };
        let idempotency_key = fields.text("idempotency_key", spec.idempotency_key);
        let own_id = match spec.invocation_id.as_str() {
            "" => None,
            id => fields.take("invocation_id", InvocationId::given(id)),
        };
        let native_call_id = fields.text("native_call_id", spec.native_call_id);
        let actor_ref = fields.text("actor_ref", spec.actor_ref);
        let scheduler_policy_ref = fields.text("scheduler_policy_ref", spec.scheduler_policy_ref);
        let permission_mode = fields.text("permission_mode", spec.permission_mode).and_then(|word| {
            let known = Mode::parse(&word);
            if known.is_none() {
                fields.add("permission_mode", format!("must be {}", Mode::SHOWN));
            }
            known.map(|mode| mode.to_string())
        });
        let assurance = assurance(spec.assurance, fields);
        let runtime_refs = fields.texts("runtime_refs", spec.runtime_refs);
        let policy_refs = fields.texts("policy_refs", spec.policy_refs);
        if spec.timeout_ms > limits.max_deadline_ms {
            fields.add("timeout_ms", format!("must be at most {}", limits.max_deadline_ms));
        }
        let band = Band::from_input(&spec.priority).unwrap_or_else(|_| {
            fields.add("priority", "must be `interactive`, `normal` or `background`");
            Band::Normal
        });
        let session_ref = fields.short_text("session_ref", spec.session_ref, locks::MAX_NAME);
        let lock_domain = fields.short_text("lock_domain", spec.lock_domain, locks::MAX_NAME);
        let resource_locks = locks::read("resource_locks", spec.resource_locks, fields);
        let (Some(surface_id), Some(tool_name), Some(model_input)) = (surface_id, tool_name, model_input) else {
            return None;
        };
        let may_exist = own_id.is_some() || idempotency_key.is_some();
        let invocation_id = own_id.unwrap_or_else(|| new_id(&caller.tenant, idempotency_key.as_deref()));
        let mut spec = Self {
            tenant: caller.tenant.clone(),
            caller: Arc::clone(caller),
            invocation_id,
            surface_id,
            tool_name,
            model_input,
            declaration_digest,
            idempotency_key,
            native_call_id,
            actor_ref,
            runtime_refs,
            policy_refs,
            timeout_ms: (spec.timeout_ms > 0).then_some(spec.timeout_ms),
            scheduler_policy_ref,
            can_ask: !spec.no_approver,
            permission_mode,
            assurance,
            session_ref,
            band,
            resource_locks,
            lock_domain,
            member: None,
            digest: Digest::of(b""),
            may_exist,
        };
        spec.digest = spec.request_digest();
        Some(spec)
    }

    /// Which call it is among those of all tenants.
    pub(crate) fn key(&self) -> InvocationKey {
        InvocationKey::new(&self.tenant, &self.invocation_id)
    }

    /// Where the tool is looked up.
    pub(crate) fn place(&self) -> ToolAddress {
        ToolAddress { tenant: self.tenant.clone(), surface_id: self.surface_id.clone(), name: self.tool_name.clone() }
    }

    /// Digest of what the caller asked for.
    fn request_digest(&self) -> Digest {
        let text = |text: &Option<String>| text.clone().unwrap_or_default().into_bytes();
        let mut parts = vec![
            self.surface_id.as_str().as_bytes().to_vec(),
            self.tool_name.as_bytes().to_vec(),
            self.model_input.digest().as_bytes().to_vec(),
            self.timeout_ms.unwrap_or_default().to_be_bytes().to_vec(),
            text(&self.native_call_id),
            text(&self.actor_ref),
        ];
        // Later fields count only where they are used: calls accepted before there were any keep their digest.
        if self.session_ref.is_some() || self.lock_domain.is_some() || !self.resource_locks.is_empty() {
            parts.extend([text(&self.session_ref), text(&self.lock_domain)]);
            parts.extend(self.resource_locks.iter().map(|lock| format!("{}:{}", lock.mode, lock.key).into_bytes()));
        }
        if self.band != Band::Normal {
            parts.push(self.band.as_str().as_bytes().to_vec());
        }
        if let Some(assurance) = &self.assurance {
            parts.push(JsonPayload::of(assurance).bytes().to_vec());
        }
        digest_of(&parts)
    }
}

/// What the agent says of itself; saying nothing is the same as saying nothing of it.
fn assurance(given: Option<v1::CallAssurance>, fields: &mut Fields) -> Option<CallAssurance> {
    let given = given?;
    fields.texts("assurance.evidence_refs", given.evidence_refs.clone());
    fields.texts("assurance.missing_evidence", given.missing_evidence.clone());
    fields.texts("assurance.taints", given.taints.clone());
    fields.text("assurance.verdict", given.verdict.clone());
    let read: CallAssurance = match given.try_into() {
        Ok(read) => read,
        Err(error) => {
            let error: toolplane_proto::convert::ConvertError = error;
            let error = error.within("assurance");
            fields.add(&error.field, error.rule);
            return None;
        }
    };
    (read != CallAssurance::default()).then_some(read)
}

fn model_input(given: Option<v1::JsonPayload>, limits: &SpecLimits, fields: &mut Fields) -> Option<JsonPayload> {
    let Some(payload) = given else { return Some(JsonPayload::from_checked(&b"{}"[..])) };
    match toolplane_proto::convert::payload::ingest(payload, &limits.json) {
        Ok(input) => Some(input),
        Err(refusal) => {
            let refusal = refusal.within("model_input");
            fields.add(&refusal.field, refusal.rule);
            None
        }
    }
}

/// The id of a call without one of its own.
pub(crate) fn new_id(tenant: &TenantId, key: Option<&str>) -> InvocationId {
    let id = match key {
        Some(key) if !mutant(Mutant::SkipDedupe) => id_of(tenant, key),
        _ => Uuid::now_v7(),
    };
    InvocationId::from_trusted(format!("inv_{}", id.simple()))
}

/// An id made from a text: the same text of the same tenant, the same id.
pub(super) fn id_of(tenant: &TenantId, text: &str) -> Uuid {
    Uuid::new_v5(&KEY_NAMESPACE, format!("{tenant}\0{text}").as_bytes())
}

/// One digest over several parts; lengths keep neighbouring parts apart.
pub(super) fn digest_of(parts: &[impl AsRef<[u8]>]) -> Digest {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.as_ref().len() as u64).to_be_bytes());
        hash.update(part.as_ref());
    }
    Digest::from_bytes(hash.finalize().into())
}
