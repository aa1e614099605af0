//! Phases 1 to 7 of one call: how far it comes, and with what.

use std::borrow::Cow;
use std::sync::Arc;

use toolplane_catalog::{ScopeFacts, ScopeRules, said_above};
use toolplane_cleaning::sent;
use toolplane_lifecycle::{Acceptance, Preparation};
use toolplane_records::SmolStr;
use toolplane_records::codes;
use toolplane_records::decision_request::DecisionRequest;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::invocation::{InputRefs, InputSafety};
use toolplane_records::keeping::CallKeeping;
use toolplane_records::payload::JsonPayload;
use toolplane_records::refs::TelemetryRef;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ErrorClass};
use toolplane_runtime::caller::Role;

use super::asker::Asker;
use super::decide::{PermissionAnswer, denial};
use super::inputs::{Inputs, payload_ref};
use super::refusals::{no_background, no_executor, not_beside_others, out_of_scope, runtime_error, schema_error};
use super::request::{DecidedCall, actor, decision_request};
use super::resolve::{Resolved, Terms};
use super::spec::CallSpec;
use super::tool::CallableTool;
use super::{Preparer, defaults, hooks, locks};
use crate::dispatch::{Placement, gap_error, kept_out_error};
use crate::error::CallError;
use crate::plan::DispatchPlan;

/// How far a call came.
#[derive(Debug)]
pub(super) struct Assessed {
    pub(super) acceptance: Acceptance,
    pub(super) preparation: Preparation,
    /// The distinct input payloads.
    pub(super) payloads: Vec<JsonPayload>,
    /// The decision, when it came that far.
    pub(super) word: Option<PermissionAnswer>,
    pub(super) plan: Option<Arc<DispatchPlan>>,
    pub(super) asker: Asker,
    pub(super) terms: Terms,
}

/// The outcome of phases 2 to 7.
struct Judged {
    preparation: Preparation,
    word: Option<PermissionAnswer>,
}

impl From<Preparation> for Judged {
    fn from(preparation: Preparation) -> Self {
        Self { preparation, word: None }
    }
}

impl Preparer {
    /// Takes `spec` as far as it comes.
    pub(super) async fn assess(
        &self,
        spec: &CallSpec,
        telemetry_refs: Vec<TelemetryRef>,
        now: Timestamp,
        dry_run: bool,
    ) -> Result<Assessed, CallError> {
        let evidence = spec.context.assurance.as_ref().map_or(&[][..], |said| said.evidence_refs.as_slice());
        let session = spec.context.session_ref.as_deref();
        let carried = self.taints.carried(&spec.caller.tenant, session, evidence).await?;
        let mut inputs = Inputs::of_model(&spec.invocation_id, spec.model_input.clone());
        let (mut asker, mut own) = (Asker::of(spec), Terms::default());
        let resolved = self.surface.resolve(&spec.tool, &spec.caller, spec.declaration_digest).await?;
        let mut acceptance = acceptance(spec, tool_of(&resolved, spec), telemetry_refs, now);
        acceptance.inherited_taints = carried;
        let (judged, plan) = match resolved {
            Resolved::NotCallable { error, blocked, .. } => {
                (Preparation::Unresolved { error: *error, blocked }.into(), None)
            }
            Resolved::Callable(tool, terms) => {
                if let Some(error) = against(&terms, spec) {
                    (Preparation::Unresolved { error, blocked: true }.into(), None)
                } else {
                    acceptance.keeping = tool.facts.profile.as_ref().map(CallKeeping::of).unwrap_or_default();
                    own = terms;
                    let call = Judging { spec, tool: &tool, terms: &own, now, dry_run };
                    let judged = self.judge(&call, &mut acceptance, &mut inputs, &mut asker).await?;
                    (judged, tool.plan.clone())
                }
            }
        };
        let (payloads, mutations) = inputs.into_parts();
        acceptance.mutations = mutations;
        let mut judged = judged;
        error_of_mut(&mut judged.preparation).into_iter().for_each(without_credentials);
        Ok(Assessed {
            acceptance,
            preparation: judged.preparation,
            payloads,
            word: judged.word,
            plan,
            asker,
            terms: own,
        })
    }

    /// Phases 2 to 7 for a tool that exists.
    async fn judge(
        &self,
        call: &Judging<'_>,
        acceptance: &mut Acceptance,
        inputs: &mut Inputs,
        asker: &mut Asker,
    ) -> Result<Judged, CallError> {
        let Judging { spec, tool, now, .. } = *call;
        if let Err(violations) = tool.validator.validate(&spec.model_input) {
            return Ok(Preparation::SchemaRefused { error: schema_error(violations) }.into());
        }
        // Phase 5: the model's input stays as it is; everything after works on a copy with the declared defaults.
        if let Some((completed, added)) = defaults::apply(&tool.registration, &spec.model_input) {
            inputs.complete(completed, added, now);
        }
        // What no answer can satisfy is not asked: neither of hooks nor of people.
        if let Err(error) = tool.check_values(inputs.call()) {
            acceptance.inputs = inputs.refs(tool.sensitive());
            acceptance.safety = tool.evaluate(inputs.call()).safety;
            return Ok(Preparation::ValuesRefused { error: *error }.into());
        }
        if spec.scheduling.background && !tool.plan.as_ref().is_some_and(|plan| plan.declared.supports_background) {
            acceptance.inputs = inputs.refs(tool.sensitive());
            acceptance.safety = tool.evaluate(inputs.call()).safety;
            return Ok(Preparation::ValuesRefused { error: no_background(&spec.tool.name) }.into());
        }
        if let Some(error) = self.preflight(spec, tool) {
            acceptance.inputs = inputs.refs(tool.sensitive());
            acceptance.safety = tool.evaluate(inputs.call()).safety;
            return Ok(Preparation::Blocked { error }.into());
        }
        let hooked = hooks::run(&self.hooks, spec, tool, inputs, now).await;
        acceptance.inputs = inputs.refs(tool.sensitive());
        acceptance.hooks = hooked.records;
        if let Some(error) = hooked.ended {
            return Ok(Preparation::Stopped { error }.into());
        }
        if tool.validator.has_runtime_schema()
            && !hooked.checked
            && let Err(violations) = tool.validator.validate_call(inputs.call())
        {
            let error = runtime_error(violations);
            return Ok(match acceptance.hooks.is_empty() {
                true => Preparation::ValuesRefused { error }.into(),
                false => Preparation::Stopped { error }.into(),
            });
        }
        (asker.verdicts, asker.classifier) = (hooked.verdicts, hooked.classifier);
        self.decide(call, acceptance, inputs, asker, hooked.failed).await
    }

    /// Phase 7, and what phase 8 needs.
    async fn decide(
        &self,
        call: &Judging<'_>,
        acceptance: &mut Acceptance,
        inputs: &Inputs,
        asker: &Asker,
        hook_failed: bool,
    ) -> Result<Judged, CallError> {
        let Judging { spec, tool, terms, now, dry_run } = *call;
        let evaluation = tool.evaluate(inputs.call());
        acceptance.safety = evaluation.safety;
        let place = spec.member.as_ref().map(|member| &member.place);
        let (scheduling, session) = (&spec.scheduling, spec.context.session_ref.as_deref());
        let (locks, domain) = (&scheduling.resource_locks, scheduling.lock_domain.as_deref());
        (acceptance.resource_locks, acceptance.lock_domain) =
            locks::of_call(locks, domain, session, place, evaluation.safety);
        let (Some(plan_digest), Some(plan)) = (tool.plan_digest, &tool.plan) else {
            return Ok(Preparation::Blocked { error: no_executor(&spec.tool.name) }.into());
        };
        let idempotent = evaluation.safety.is_idempotent;
        let dispatch =
            tool.dispatch(&spec.caller.tenant, spec.member.as_ref(), plan, plan_digest, idempotent, inputs.call());
        if let Some(until) = dispatch.quarantine_key.and_then(|key| self.quarantine.until(&key)) {
            return Ok(Preparation::Blocked { error: kept_out_error(&spec.tool.name, until, now) }.into());
        }
        let request = decision_request(
            DecidedCall::new(spec, &acceptance.inherited_taints).on(terms),
            (&spec.caller, asker),
            tool,
            inputs,
            &evaluation,
        )?;
        let request = DecisionRequest { deadline_at: acceptance.deadline_at, dry_run, ..request };
        let mut word = self.permission.decide_new(&spec.caller, &request, now).await?;
        acceptance.hooks.append(&mut word.hooks);
        let decision = word.decision.clone();
        let preparation = match (decision.behavior, &word.approval) {
            (Behavior::Allow, _) => Preparation::Ready { decision, dispatch },
            (Behavior::Ask, Some(approval)) => Preparation::Asked {
                decision,
                approval_id: approval.approval_id.clone(),
                expires_at: approval.expires_at,
                dispatch,
            },
            // There is no further party that could decide.
            _ => {
                let mut error = denial(&decision);
                if hook_failed && error.error_class == ErrorClass::HookBlocked {
                    error.error_code = codes::HOOKS_FAILED.into();
                }
                Preparation::Denied { error, decision }
            }
        };
        Ok(Judged { preparation, word: Some(word) })
    }

    /// The reason against running the tool here, whatever the input.
    fn preflight(&self, spec: &CallSpec, tool: &CallableTool) -> Option<ToolError> {
        let Some(plan) = &tool.plan else { return Some(no_executor(&spec.tool.name)) };
        let pool = plan.execution.binding.pool();
        match self.workers.placement(&pool) {
            Placement::Gap(gap) => Some(gap_error(&pool, &gap.reason_code, &gap.message)),
            _ => None,
        }
    }
}

/// One call on its way.
#[derive(Clone, Copy)]
struct Judging<'a> {
    spec: &'a CallSpec,
    tool: &'a CallableTool,
    terms: &'a Terms,
    now: Timestamp,
    dry_run: bool,
}

/// What of the terms of its surface a call does not keep to.
pub(super) fn against(terms: &Terms, spec: &CallSpec) -> Option<ToolError> {
    if let Some(outside) = terms.scope.as_ref().and_then(|scope| scope.refuses(&scope_facts(spec))) {
        return Some(out_of_scope(&outside));
    }
    let outside = |(id, scope): &(SurfaceId, ScopeRules)| Some((id.clone(), scope.refuses(&scope_facts(spec))?));
    if let Some((above, outside)) = terms.above.iter().find_map(outside) {
        let refused = out_of_scope(&outside);
        return Some(ToolError { message: said_above(&refused.message, &above), ..refused });
    }
    (terms.one_at_a_time && spec.is_parallel()).then(|| not_beside_others(&spec.tool.name))
}

/// What is known of what a call belongs to.
fn scope_facts(spec: &CallSpec) -> ScopeFacts<'_> {
    let CallSpec { caller, context, .. } = spec;
    let agent = Some(actor(caller, context.actor_ref.as_deref())).filter(|agent| !agent.is_empty());
    ScopeFacts {
        session: context.session_ref.as_deref(),
        agent,
        is_proven: caller.authenticated,
        refs: context.runtime_refs.iter().map(SmolStr::as_str).collect(),
        roles: Role::ALL.map(|role| (role.as_str(), caller.is(role))).to_vec(),
    }
}

/// The tool a call is of.
fn tool_of(resolved: &Resolved, spec: &CallSpec) -> ToolId {
    match resolved {
        Resolved::NotCallable { tool_id, .. } => tool_id.clone().unwrap_or_else(|| unresolved_id(&spec.tool.name)),
        Resolved::Callable(tool, _) => tool.registration.declaration.tool_id.clone(),
    }
}

/// What is known of a call of this tool before anything else was looked at.
fn acceptance(spec: &CallSpec, tool_id: ToolId, telemetry_refs: Vec<TelemetryRef>, now: Timestamp) -> Acceptance {
    let CallSpec { caller, tool, context, scheduling, repeat, .. } = spec;
    let caller_ref = &caller.caller_ref;
    Acceptance {
        invocation_id: spec.invocation_id.clone(),
        tenant: caller.tenant.clone(),
        tool_id,
        tool_name: tool.name.clone(),
        surface_id: Some(tool.surface_id.clone()),
        surface_moment: tool.moment.map(|moment| SmolStr::new(moment.to_string())),
        native_call_id: context.native_call_id.clone(),
        native_ids: context.native_ids.clone(),
        inputs: InputRefs {
            model: payload_ref(&spec.invocation_id, &spec.model_input),
            observable: None,
            permission: None,
            call: None,
        },
        actor_ref: context.actor_ref.clone(),
        runtime_refs: context.runtime_refs.clone(),
        telemetry_refs,
        scheduler_policy_ref: scheduling.scheduler_policy_ref.clone(),
        idempotency_key: repeat.idempotency_key.clone(),
        request_digest: repeat.digest,
        deadline_at: scheduling.timeout_ms.map(|ms| now.plus_millis(i64::try_from(ms).unwrap_or(i64::MAX / 4))),
        safety: InputSafety::default(),
        mutations: Vec::new(),
        session_ref: context.session_ref.clone(),
        band: scheduling.band,
        resource_locks: Vec::new(),
        lock_domain: scheduling.lock_domain.clone(),
        batch: spec.member.as_ref().map(|member| member.place.clone()),
        caller_ref: (!caller_ref.is_empty()).then(|| caller_ref.as_str().into()),
        caller_actor: caller.actor.as_deref().filter(|_| caller.authenticated).map(SmolStr::from),
        keeping: CallKeeping::default(),
        assurance: context.assurance.clone(),
        inherited_taints: Vec::new(),
        permission_mode: context.permission_mode.clone(),
        background: scheduling.background,
        held_by_batch: spec.member.is_some(),
        hooks: Vec::new(),
    }
}

/// What is said of an input may quote it.
fn without_credentials(error: &mut ToolError) {
    let clean = |text: &mut String| {
        if let Cow::Owned(shown) = sent::shown_text(text) {
            *text = shown;
        }
    };
    clean(&mut error.message);
    error.blocked_path.iter_mut().for_each(clean);
    error.field_violations.iter_mut().for_each(|violation| clean(&mut violation.description));
}

/// The same as [`error_of`], to be changed.
fn error_of_mut(preparation: &mut Preparation) -> Option<&mut ToolError> {
    match preparation {
        Preparation::Unresolved { error, .. }
        | Preparation::SchemaRefused { error }
        | Preparation::ValuesRefused { error }
        | Preparation::Blocked { error }
        | Preparation::Stopped { error }
        | Preparation::Denied { error, .. } => Some(error),
        Preparation::Asked { .. } | Preparation::Ready { .. } => None,
    }
}

/// Why a call ends before it is decided about; nothing of one that goes on.
pub(super) fn error_of(preparation: &Preparation) -> Option<&ToolError> {
    match preparation {
        Preparation::Unresolved { error, .. }
        | Preparation::SchemaRefused { error }
        | Preparation::ValuesRefused { error }
        | Preparation::Blocked { error }
        | Preparation::Stopped { error }
        | Preparation::Denied { error, .. } => Some(error),
        Preparation::Asked { .. } | Preparation::Ready { .. } => None,
    }
}

/// The tool id of a call whose tool does not exist: the name, as far as it can be an id.
fn unresolved_id(name: &str) -> ToolId {
    let shown: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).take(128).collect();
    ToolId::from_trusted(format!("unknown:{shown}"))
}
