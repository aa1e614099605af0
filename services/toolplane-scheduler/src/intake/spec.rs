//! Reading a caller's request: every wrong field is named, and nothing is accepted by halves.

use std::borrow::Cow;
use std::sync::Arc;

use toolplane_catalog::Moment;
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::batch::BatchPlace;
use toolplane_records::evidence::NativeIds;
use toolplane_records::ids::{InvocationId, InvocationKey, SurfaceId};
use toolplane_records::json::JsonLimits;
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::vocabulary::{Band, ContextModifierPolicy, InterruptBehavior};
use toolplane_runtime::Caller;

use super::fields::Fields;
use super::locks;
use super::resolve::ToolAddress;
use crate::calls::Asked;
use crate::error::CallError;
use crate::identity::{self, digest_of};
use crate::storage::Shards;

/// Bounds on a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpecLimits {
    /// Bounds on the arguments.
    pub json: JsonLimits,
    /// Longest time limit a caller may set for the whole call, milliseconds.
    pub max_deadline_ms: u64,
    /// The shards of the store: a call's id says in which of them it lies.
    pub shards: Shards,
}

/// A request whose every field is well formed.
#[derive(Clone, Debug)]
pub(crate) struct CallSpec {
    /// Who sent it, and owns the call.
    pub caller: Arc<Caller>,
    /// Id of the call: the caller's, or made from its idempotency key, or new.
    pub invocation_id: InvocationId,
    /// The tool's name as the model gave it, and the surface to call it in.
    pub tool: ToolAddress,
    /// The declaration the arguments were made for, when the caller says so.
    pub declaration_digest: Option<Digest>,
    /// The arguments, exactly.
    pub model_input: JsonPayload,
    /// What the caller says of itself and of the call.
    pub context: CallContext,
    /// When it may run, and for how long.
    pub scheduling: CallScheduling,
    /// Its place in a batch, and what the batch decided on it.
    pub member: Option<BatchPlacement>,
    /// What tells whether it was asked for before.
    pub repeat: CallRepeat,
}

/// What a caller says of itself and of its call.
#[derive(Clone, Debug)]
pub(crate) struct CallContext {
    /// Who calls.
    pub actor_ref: Option<SmolStr>,
    /// The provider's id of the call.
    pub native_call_id: Option<SmolStr>,
    /// What the protocol it came by calls it.
    pub native_ids: NativeIds,
    /// The session it belongs to.
    pub session_ref: Option<SmolStr>,
    /// Runtime refs.
    pub runtime_refs: Vec<SmolStr>,
    /// Adjacent policies.
    pub policy_refs: Vec<SmolStr>,
    /// There is a person who can answer an approval.
    pub can_ask: bool,
    /// Permission mode in force.
    pub permission_mode: Option<SmolStr>,
    /// What the agent says of its own certainty.
    pub assurance: Option<CallAssurance>,
}

/// When a call may run, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct CallScheduling {
    /// The caller's time limit for the whole call, milliseconds.
    pub timeout_ms: Option<u64>,
    /// The scheduler policy that applies.
    pub scheduler_policy_ref: Option<SmolStr>,
    /// How urgent it is.
    pub band: Band,
    /// Locks the caller asks for, each key once.
    pub resource_locks: Vec<ResourceLock>,
    /// Where the caller wants the locks to apply.
    pub lock_domain: Option<SmolStr>,
    /// The caller does not wait for it.
    pub background: bool,
}

/// What tells whether a call was asked for before.
#[derive(Clone, Debug)]
pub(crate) struct CallRepeat {
    /// The caller's key.
    pub idempotency_key: Option<SmolStr>,
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
    /// Other calls of the batch may run beside it.
    pub parallel: bool,
}

impl CallSpec {
    /// Whether other calls of its batch may run beside it.
    pub(super) fn is_parallel(&self) -> bool {
        self.member.as_ref().is_some_and(|member| member.parallel)
    }

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
        let surface_id = fields.take("surface_id", SurfaceId::named(&spec.surface_id));
        let tool_name = fields.required_text("tool_name", spec.tool_name);
        let moment = moment(&spec.surface_moment, fields);
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
        let native_ids = native_ids(spec.native_ids, fields);
        let actor_ref = fields.text("actor_ref", spec.actor_ref);
        let scheduler_policy_ref = fields.text("scheduler_policy_ref", spec.scheduler_policy_ref);
        let permission_mode = permission_mode(spec.permission_mode, fields);
        let assurance = assurance(spec.assurance, fields);
        let runtime_refs = fields.texts("runtime_refs", spec.runtime_refs);
        let policy_refs = fields.texts("policy_refs", spec.policy_refs);
        if spec.timeout_ms > limits.max_deadline_ms {
            fields.add("timeout_ms", format!("must be at most {}", limits.max_deadline_ms));
        }
        let band = band(&spec.priority, fields);
        let session_ref = fields.short_text("session_ref", spec.session_ref, locks::MAX_NAME);
        let lock_domain = fields.short_text("lock_domain", spec.lock_domain, locks::MAX_NAME);
        let resource_locks = locks::read("resource_locks", spec.resource_locks, fields);
        let (Some(surface_id), Some(tool_name), Some(model_input)) = (surface_id, tool_name, model_input) else {
            return None;
        };
        let may_exist = own_id.is_some() || idempotency_key.is_some();
        let domain = locks::domain_of_call(lock_domain.as_deref(), session_ref.as_deref(), &resource_locks);
        let home = identity::Home::of(limits.shards, &caller.tenant, domain.as_deref());
        let invocation_id = match own_id {
            Some(id) => home.call_of_own(id, idempotency_key.as_deref()),
            None => home.new_call(idempotency_key.as_deref()),
        };
        let can_ask = !spec.no_approver;
        let timeout_ms = (spec.timeout_ms > 0).then_some(spec.timeout_ms);
        let tool = ToolAddress { tenant: caller.tenant.clone(), surface_id, name: tool_name, moment };
        let context = CallContext {
            actor_ref,
            native_call_id,
            native_ids,
            session_ref,
            runtime_refs,
            policy_refs,
            can_ask,
            permission_mode,
            assurance,
        };
        let scheduling = CallScheduling {
            timeout_ms,
            scheduler_policy_ref,
            band,
            resource_locks,
            lock_domain,
            background: spec.background,
        };
        let digest = request_digest(&tool, &model_input, &context, &scheduling);
        let repeat = CallRepeat { idempotency_key, digest, may_exist };
        let caller = Arc::clone(caller);
        let member = None;
        Some(Self { caller, invocation_id, tool, declaration_digest, model_input, context, scheduling, member, repeat })
    }

    /// Which call it is among those of all tenants.
    pub(crate) fn key(&self) -> InvocationKey {
        InvocationKey::new(&self.caller.tenant, &self.invocation_id)
    }

    /// What it asks for, where calls lie in `shards`.
    pub(crate) fn asked(&self, shards: Shards) -> Asked {
        let call = self.key();
        let key = self.repeat.idempotency_key.as_deref().and_then(|key| identity::id_of_key(shards, &call, key));
        Asked { call, key, digest: self.repeat.digest }
    }
}

/// The bytes of a text that may be absent.
fn bytes_of(text: &Option<SmolStr>) -> Cow<'_, [u8]> {
    text.as_deref().unwrap_or_default().as_bytes().into()
}

/// Digest of what the caller asked for.
fn request_digest(
    tool: &ToolAddress,
    model_input: &JsonPayload,
    context: &CallContext,
    scheduling: &CallScheduling,
) -> Digest {
    let model_input = model_input.digest();
    let timeout = scheduling.timeout_ms.unwrap_or_default().to_be_bytes();
    let mut parts: Vec<Cow<'_, [u8]>> = vec![
        tool.surface_id.as_str().as_bytes().into(),
        tool.name.as_bytes().into(),
        model_input.as_bytes()[..].into(),
        timeout[..].into(),
        bytes_of(&context.native_call_id),
        bytes_of(&context.actor_ref),
    ];
    // Later fields count only where they are used: calls accepted before there were any keep their digest.
    let (domain, locks) = (&scheduling.lock_domain, &scheduling.resource_locks);
    if context.session_ref.is_some() || domain.is_some() || !locks.is_empty() {
        parts.extend([bytes_of(&context.session_ref), bytes_of(domain)]);
        parts.extend(locks.iter().map(|lock| format!("{}:{}", lock.mode, lock.key).into_bytes().into()));
    }
    if scheduling.band != Band::Normal {
        parts.push(scheduling.band.as_str().as_bytes().into());
    }
    if scheduling.background {
        parts.push(b"in the background"[..].into());
    }
    if let Some(assurance) = &context.assurance {
        parts.push(JsonPayload::of(assurance).bytes().to_vec().into());
    }
    digest_of(&parts)
}

/// The moment of its surface that a caller goes by.
fn moment(given: &str, fields: &mut Fields) -> Option<Moment> {
    let read = (!given.is_empty()).then(|| given.parse().ok());
    if read == Some(None) {
        fields.add("surface_moment", "is no moment of a surface; take it from an answer that holds one");
    }
    read.flatten()
}

/// What the protocol the call came by calls it: names within their bounds.
fn native_ids(given: Option<v1::NativeIds>, fields: &mut Fields) -> NativeIds {
    let ids = NativeIds::from(given.unwrap_or_default());
    let plain = ids.clone().plain();
    for ((name, id), (_, kept)) in ids.named().into_iter().zip(plain.named()) {
        if id != kept {
            let rule = format!("must be at most {} printed ASCII characters", NativeIds::MAX_BYTES);
            fields.add(&format!("native_ids.{name}"), rule);
        }
    }
    plain
}

fn band(priority: &str, fields: &mut Fields) -> Band {
    Band::from_input(priority).unwrap_or_else(|_| {
        fields.add("priority", "must be `interactive`, `normal` or `background`");
        Band::Normal
    })
}

/// What the agent says of itself; saying nothing is the same as saying nothing of it.
fn permission_mode(given: String, fields: &mut Fields) -> Option<SmolStr> {
    let word = fields.text("permission_mode", given)?;
    let known = Mode::parse(&word);
    if known.is_none() {
        fields.add("permission_mode", format!("must be {}", Mode::SHOWN));
    }
    known.map(|mode| SmolStr::new_static(mode.as_str()))
}

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
