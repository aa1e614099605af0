//! Pipeline phases 1 to 7: from a caller's request to an admission the engine can store.
//!
//! Nothing is written here. Until the engine has stored the admission, every failure is an error of the request; from
//! then on every ending is a result.

mod batch;
mod decide;
mod defaults;
mod fields;
mod locks;
mod resolve;
mod spec;
#[cfg(test)]
mod tests;
mod tool;

use toolplane_lifecycle::{Acceptance, Preparation, accept};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::{FieldViolation, ToolError};
use toolplane_records::ids::{InvocationId, ToolId};
use toolplane_records::invocation::{InputRefs, InputSafety};
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::refs::TelemetryRef;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, MutationSource, Recoverability};

use crate::engine::{Admission, Engine, Placement, gap_error, payload_uri};
use crate::error::CallError;

pub use batch::BatchSpec;
pub use decide::PermissionPeer;
pub use resolve::{SurfacePeer, follow_catalog};
pub use spec::{CallSpec, Member, SpecLimits};
pub use tool::ToolLimits;

pub(crate) use spec::new_id;

use resolve::Resolved;
use tool::CallableTool;

/// Prepares calls: knows the surface and permission services, and which pools workers serve.
#[derive(Clone, Debug)]
pub struct Preparer {
    surface: SurfacePeer,
    permission: PermissionPeer,
}

impl Preparer {
    /// A preparer that asks these two services.
    pub fn new(surface: SurfacePeer, permission: PermissionPeer) -> Self {
        Self { surface, permission }
    }

    /// Resolves, validates and decides `spec`.
    pub async fn prepare(
        &self,
        engine: &Engine,
        spec: CallSpec,
        telemetry_refs: Vec<TelemetryRef>,
    ) -> Result<Admission, CallError> {
        let now = engine.now().await?;
        let model = spec.model_input.clone();
        let mut acceptance = Acceptance {
            invocation_id: spec.invocation_id.clone(),
            tenant: spec.tenant.clone(),
            tool_id: unresolved_id(&spec.tool_name),
            tool_name: spec.tool_name.clone(),
            surface_id: Some(spec.surface_id.clone()),
            native_call_id: spec.native_call_id.clone(),
            inputs: InputRefs {
                model: payload_ref(&spec.invocation_id, &model),
                observable: None,
                permission: None,
                call: None,
            },
            actor_ref: spec.actor_ref.clone(),
            runtime_refs: spec.runtime_refs.clone(),
            telemetry_refs,
            scheduler_policy_ref: spec.scheduler_policy_ref.clone(),
            idempotency_key: spec.idempotency_key.clone(),
            request_digest: spec.digest,
            deadline_at: spec.timeout_ms.map(|ms| now.plus_millis(i64::try_from(ms).unwrap_or(i64::MAX / 4))),
            safety: InputSafety::default(),
            mutations: Vec::new(),
            session_ref: spec.session_ref.clone(),
            band: spec.band,
            resource_locks: Vec::new(),
            lock_domain: spec.lock_domain.clone(),
            batch: spec.member.as_ref().map(|member| member.place.clone()),
            held_by_batch: spec.member.is_some(),
        };
        let mut payloads = vec![model.clone()];
        let mut decisions = Vec::new();
        let mut plan = None;
        toolplane_faultpoint::point("scheduler.mid_prepare");
        let preparation = match self.surface.resolve(&spec).await? {
            Resolved::NotCallable { error, blocked, tool_id } => {
                let error = *error;
                if let Some(tool_id) = tool_id {
                    acceptance.tool_id = tool_id;
                }
                Preparation::Unresolved { error, blocked }
            }
            Resolved::Callable(tool) => {
                acceptance.tool_id = tool.registration.declaration.tool_id.clone();
                match self.judge(engine, &spec, &tool, &mut acceptance, &mut payloads, now).await? {
                    Judged::Refused(preparation) => *preparation,
                    Judged::Decided(decided) => {
                        let (preparation, decision) = *decided;
                        decisions.push(decision);
                        plan.clone_from(&tool.plan);
                        preparation
                    }
                }
            }
        };
        let mut transition = accept(acceptance, preparation, now)
            .map_err(|refusal| CallError::Internal(format!("acceptance refused: {refusal}")))?;
        transition.invocation.policy_refs.extend(spec.policy_refs);
        if transition.invocation.status.is_terminal() {
            plan = None;
        }
        Ok(Admission { transition, payloads, decisions, plan, traceparent: None })
    }

    /// Phases 2 to 7 for a tool that exists.
    async fn judge(
        &self,
        engine: &Engine,
        spec: &CallSpec,
        tool: &CallableTool,
        acceptance: &mut Acceptance,
        payloads: &mut Vec<JsonPayload>,
        now: Timestamp,
    ) -> Result<Judged, CallError> {
        if let Err(violations) = tool.validator.validate(&spec.model_input) {
            return Ok(Judged::refused(Preparation::SchemaRefused { error: schema_error(violations) }));
        }
        // Phase 5: the model's input stays as it is; everything after works on a copy with the declared defaults.
        let input = match defaults::apply(&tool.registration, &spec.model_input) {
            Some((completed, added)) => {
                payloads.push(completed.clone());
                acceptance.mutations.push(defaulted(spec, &completed, added, now));
                completed
            }
            None => spec.model_input.clone(),
        };
        let reference = payload_ref(&spec.invocation_id, &input);
        acceptance.inputs.observable = Some(reference.clone());
        acceptance.inputs.permission = Some(reference.clone());
        acceptance.inputs.call = Some(reference);
        let evaluation = tool.evaluate(&input);
        acceptance.safety = evaluation.safety;
        let place = spec.member.as_ref().map(|member| &member.place);
        let session = spec.session_ref.as_deref();
        (acceptance.resource_locks, acceptance.lock_domain) =
            locks::of_call(&spec.resource_locks, spec.lock_domain.as_deref(), session, place, evaluation.safety);
        let (Some(plan_digest), Some(plan)) = (tool.plan_digest, &tool.plan) else {
            return Ok(Judged::refused(Preparation::Blocked { error: no_executor(&spec.tool_name) }));
        };
        let dispatch = tool.dispatch(spec, plan, plan_digest, evaluation.safety.is_idempotent, &input);
        if let Some(until) = dispatch.quarantine_key.and_then(|key| engine.quarantined_until(&key)) {
            return Ok(Judged::refused(Preparation::Blocked { error: quarantined(&spec.tool_name, until, now) }));
        }
        if let Placement::Gap(gap) = engine.workers().placement(&dispatch.pool) {
            let error = gap_error(&dispatch.pool, &gap.reason_code, &gap.message);
            return Ok(Judged::refused(Preparation::Blocked { error }));
        }
        let (decision, preparation) =
            self.permission.decide(spec, tool, &input, &evaluation, acceptance.deadline_at, dispatch).await?;
        Ok(Judged::Decided(Box::new((preparation, decision))))
    }
}

/// What phases 2 to 7 came to.
enum Judged {
    Refused(Box<Preparation>),
    Decided(Box<(Preparation, PermissionDecision)>),
}

impl Judged {
    fn refused(preparation: Preparation) -> Self {
        Self::Refused(Box::new(preparation))
    }
}

fn payload_ref(id: &InvocationId, payload: &JsonPayload) -> PayloadRef {
    PayloadRef {
        uri: payload_uri(id, &payload.digest()),
        media_type: "application/json".to_owned(),
        digest: payload.digest(),
        size_bytes: payload.size(),
    }
}

/// The record of declared defaults having been added.
fn defaulted(spec: &CallSpec, completed: &JsonPayload, added: Vec<String>, now: Timestamp) -> InputMutation {
    let id = &spec.invocation_id;
    InputMutation {
        schema_version: toolplane_records::schema_version(),
        mutation_id: format!("{id}:m1"),
        invocation_id: id.clone(),
        source_type: MutationSource::Runtime,
        source_ref: "input_contract.defaults".to_owned(),
        from_input_ref: payload_uri(id, &spec.model_input.digest()),
        to_input_ref: payload_uri(id, &completed.digest()),
        changed_fields: added,
        reason: "declared defaults for fields the caller left out".to_owned(),
        created_at: now,
    }
}

/// The tool id of a call whose tool does not exist: the name, as far as it can be an id.
fn unresolved_id(name: &str) -> ToolId {
    let shown: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).take(128).collect();
    ToolId::from_trusted(format!("unknown:{shown}"))
}

fn schema_error(violations: Vec<FieldViolation>) -> ToolError {
    let first = violations.first().map(|fault| {
        let field = if fault.field.is_empty() { "the input" } else { &fault.field };
        format!("`{field}` {}", fault.description)
    });
    let mut error = ToolError::new(
        "input.schema_violation",
        ErrorClass::SchemaValidationFailed,
        Recoverability::ChangeArguments,
        format!("the arguments do not fit the tool's schema: {}", first.unwrap_or_default()),
    );
    error.side_effects = Some("none".to_owned());
    error.field_violations = violations;
    error
}

fn quarantined(name: &str, until: Timestamp, now: Timestamp) -> ToolError {
    let mut error = ToolError::new(
        toolplane_lifecycle::codes::POISON,
        ErrorClass::PolicyBlocked,
        Recoverability::RetryLater,
        format!("workers died of `{name}` with this very input, so it is not run again until {until}"),
    );
    error.side_effects = Some("none".to_owned());
    error.retry_after_ms = u64::try_from(until.since_millis(now)).ok();
    error
}

fn no_executor(name: &str) -> ToolError {
    let mut error = ToolError::new(
        "setup.no_execution_binding",
        ErrorClass::SetupRequired,
        Recoverability::CompleteSetup,
        format!("the tool `{name}` has no execution profile with a binding, so nothing can run it"),
    );
    error.side_effects = Some("none".to_owned());
    error
}
