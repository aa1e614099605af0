//! A callable tool with everything that is the same for all its calls, worked out once per version.

use std::sync::Arc;

use toolplane_catalog::{
    CatalogLimits, InputValidator, MutableBy, Registration, SafetyEvaluation, SensitiveFields, evaluate_safety, values,
};
use toolplane_matching::ToolFacts;
use toolplane_records::SmolStr;
use toolplane_records::decision::DeniedPaths;
use toolplane_records::error::ToolError;
use toolplane_records::ids::TenantId;
use toolplane_records::invocation::DispatchFacts;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::vocabulary::InterruptBehavior;

use super::spec::BatchPlacement;
use crate::error::CallError;
use crate::identity::digest_of;
use crate::plan::{DispatchPlan, InlineLimits, PlannedExecution, PlannedMatching, PlannedOutput, PlannedTool};

/// Executions of an idempotent call, the first included.
const IDEMPOTENT_ATTEMPTS: u32 = 3;
/// Largest registration that is sent with a question, in bytes.
const MAX_TOLD_BYTES: u64 = 32 * 1024;
/// Characters kept inline when a tool does not say.
const DEFAULT_INLINE_CHARS: u64 = 30_000;

/// What the operator allows a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolLimits {
    /// Execution time of a tool that does not say, milliseconds.
    pub default_timeout_ms: u64,
    /// Longest execution time, milliseconds.
    pub max_timeout_ms: u64,
    /// Most bytes of a result kept inline.
    pub max_inline_bytes: u64,
}

/// One version of one tool, ready to be called.
#[derive(Debug)]
pub(crate) struct CallableTool {
    pub(crate) registration: Registration,
    pub(crate) digest: Digest,
    pub(crate) validator: InputValidator,
    /// Absent when the tool has no executor.
    pub(crate) plan: Option<Arc<DispatchPlan>>,
    pub(crate) plan_digest: Option<Digest>,
    /// The tool as matchers know it, with every other name that leads to it.
    pub(crate) facts: Arc<ToolFacts>,
    /// Its registration as JSON, the bytes its digest is made over, for those who ask people about its calls; absent when it is
    /// too large for that.
    pub(crate) told: Option<JsonPayload>,
    /// Who may change its inputs.
    pub(crate) mutable: MutableBy,
    interrupt_behavior: InterruptBehavior,
    supports_retries: bool,
}

impl CallableTool {
    pub(crate) fn new(registration: Registration, limits: &ToolLimits) -> Result<Self, CallError> {
        let json = JsonPayload::of(&registration);
        let digest = json.digest();
        let validator = InputValidator::for_registration(&registration, &CatalogLimits::default())
            .map_err(|faults| CallError::Internal(format!("a registered schema does not compile: {faults:?}")))?;
        let facts = Arc::new(registration.tool_facts());
        let plan = plan(&registration, &facts, digest, limits).map(Arc::new);
        let plan_digest = match &plan {
            Some(plan) => Some(plan.encode().map_err(|error| CallError::Internal(error.to_string()))?.1),
            None => None,
        };
        let interface = registration.interface.as_ref();
        Ok(Self {
            facts,
            mutable: registration.mutable_by(),
            told: (json.size() <= MAX_TOLD_BYTES).then_some(json),
            interrupt_behavior: interface
                .and_then(|interface| interface.interrupt_behavior)
                .unwrap_or(InterruptBehavior::Block),
            supports_retries: registration.execution_profile.as_ref().is_some_and(|profile| profile.supports_retries),
            digest,
            validator,
            plan,
            plan_digest,
            registration,
        })
    }

    /// The fields that only the executor may see.
    pub(crate) fn sensitive(&self) -> &SensitiveFields {
        self.validator.sensitive()
    }

    /// Refuses an input that fits the schema and that the tool cannot take all the same, even if a person says yes to
    /// it. Of a sensitive field only the rule is told.
    pub(crate) fn check_values(&self, input: &JsonPayload) -> Result<(), Box<ToolError>> {
        let Some(plan) = &self.plan else { return Ok(()) };
        values::check(&plan.execution.binding, input).map_err(|mut error| {
            let hidden = |field: &str| self.sensitive().covering(&format!("/{field}")).is_some();
            if let Some(wrong) = error.field_violations.first().filter(|wrong| hidden(&wrong.field)) {
                error.message = format!("`{}` {}", wrong.field, wrong.description);
                error.blocked_path = None;
            }
            error
        })
    }

    /// Safety facts of this input.
    pub(crate) fn evaluate(&self, input: &JsonPayload) -> SafetyEvaluation {
        evaluate_safety(&self.registration, input)
    }

    /// How a call of `tenant` with `input` is dispatched. `member` is what its batch adds.
    pub(crate) fn dispatch(
        &self,
        tenant: &TenantId,
        member: Option<&BatchPlacement>,
        plan: &DispatchPlan,
        plan_digest: Digest,
        idempotent: bool,
        input: &JsonPayload,
    ) -> DispatchFacts {
        let profile = self.registration.execution_profile.as_ref();
        DispatchFacts {
            pool: plan.execution.binding.pool().into(),
            plan_digest,
            timeout_ms: plan.execution.timeout_ms,
            supports_cancel: plan.supports_cancel,
            interrupt_behavior: member.and_then(|member| member.interrupt_behavior).unwrap_or(self.interrupt_behavior),
            // An idempotent call survives a lost worker in any case; whether failures are repeated is up to the
            // profile.
            max_attempts: if idempotent || self.supports_retries { IDEMPOTENT_ATTEMPTS } else { 1 },
            start_guard: profile.map(|profile| profile.start_guard).unwrap_or_default(),
            retry_on_timeout: profile.is_some_and(|profile| profile.retry_on_timeout),
            quarantine_key: Some(self.quarantine_key(tenant, input)),
            context_modifier_policy: member.and_then(|member| member.context_modifier_policy),
            policy_digest: SmolStr::default(),
            permit_until: None,
            denied_paths: DeniedPaths::default(),
        }
    }
}

impl CallableTool {
    /// What is put under quarantine when workers keep dying of a call with `input`: what one tenant's calls do keeps no
    /// other's out.
    fn quarantine_key(&self, tenant: &TenantId, input: &JsonPayload) -> Digest {
        let owner = if tenant.is_unauthenticated() { None } else { Some(tenant.as_str().as_bytes()) };
        let input = input.digest();
        let parts = [&self.digest.as_bytes()[..], &input.as_bytes()[..]].into_iter().chain(owner);
        digest_of(&parts.collect::<Vec<_>>())
    }
}

fn plan(registration: &Registration, facts: &ToolFacts, digest: Digest, limits: &ToolLimits) -> Option<DispatchPlan> {
    let profile = registration.execution_profile.as_ref()?;
    let interface = registration.interface.as_ref();
    let contract = registration.declaration.output_contract.as_ref();
    let max_inline_chars = interface
        .and_then(|interface| interface.max_inline_chars)
        .or_else(|| contract.and_then(|contract| contract.max_inline_chars));
    let max_inline_bytes = contract.and_then(|contract| contract.max_inline_bytes);
    Some(DispatchPlan {
        tool: PlannedTool {
            tool_id: facts.tool_id.clone(),
            full_name: facts.full_name.clone(),
            declaration_digest: digest,
        },
        execution: PlannedExecution {
            kind: profile.execution_kind,
            binding: profile.binding.clone()?,
            sandboxed: profile.sandboxed,
            sandbox_profile: profile.sandbox_profile.clone(),
            timeout_ms: profile.timeout_ms.unwrap_or(limits.default_timeout_ms).min(limits.max_timeout_ms).max(1),
        },
        inline: InlineLimits {
            max_chars: max_inline_chars.unwrap_or(DEFAULT_INLINE_CHARS),
            max_bytes: max_inline_bytes.unwrap_or(u64::MAX).min(limits.max_inline_bytes),
        },
        supports_cancel: profile.supports_cancel,
        supports_context_modifiers: profile.supports_context_modifiers,
        matching: PlannedMatching::of(facts),
        output_schema: registration.output_schema().cloned(),
        declared: PlannedOutput::of(registration),
    })
}
