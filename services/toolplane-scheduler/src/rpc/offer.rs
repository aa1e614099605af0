//! A leased call as its worker gets it.

use toolplane_proto::convert::denied_paths;
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;

use crate::plan::DispatchPlan;

/// The offer of `record`, which holds a lease.
pub(crate) fn offer(
    record: &Invocation,
    plan: &DispatchPlan,
    input: &JsonPayload,
    shown: Option<&JsonPayload>,
    traceparent: Option<String>,
    queued_ms: u64,
    asked: bool,
) -> v1::Offer {
    let lease = record.lease.as_ref();
    v1::Offer {
        lease: lease.map(|lease| v1::LeaseRef {
            invocation_id: record.invocation_id.to_string(),
            lease_no: lease.lease_no,
            lease_id: lease.lease_id.to_string(),
        }),
        dispatch: Some(Box::new(v1::Dispatch {
            invocation_id: record.invocation_id.to_string(),
            tenant: record.tenant.to_string(),
            tool_id: plan.tool.tool_id.to_string(),
            tool_name: plan.tool.full_name.clone(),
            pool: plan.execution.binding.pool().into_owned(),
            execution_kind: plan.execution.kind.as_str().to_owned(),
            execution_kind_code: v1::ExecutionKind::from(plan.execution.kind).into(),
            binding: Some((&plan.execution.binding).into()),
            sandboxed: plan.execution.sandboxed,
            sandbox_profile: plan.execution.sandbox_profile.clone().unwrap_or_default(),
            call_input: Some(input.into()),
            timeout_ms: plan.execution.timeout_ms,
            output_limits: Some(v1::OutputLimits {
                max_inline_chars: Some(plan.inline.max_chars),
                max_inline_bytes: Some(plan.inline.max_bytes),
                max_output_bytes: None,
            }),
            supports_cancel: plan.supports_cancel,
            requires_start_grant: !record.safety.is_idempotent,
            // Stable over attempts, so that a tool can pass it on to whatever it changes; what it changes knows no tenants.
            idempotency_key: record.key().to_string(),
            fence: lease.map_or(0, |lease| lease.fence),
            attempt: record.attempt.max(1),
            traceparent: traceparent.unwrap_or_default(),
            tracestate: String::new(),
            surface_id: record.surface_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            actor_ref: record.actor_ref.as_deref().unwrap_or_default().to_owned(),
            queued_ms,
            exclusive_lock: record
                .resource_locks
                .iter()
                .any(|lock| lock.mode == toolplane_records::vocabulary::LockMode::Exclusive),
            lock_fence: record.lock_fence.unwrap_or_default(),
            supports_context_modifiers: plan.supports_context_modifiers,
            session_ref: record.session_ref.as_deref().unwrap_or_default().to_owned(),
            permission_mode: record.permission_mode.as_deref().unwrap_or_default().to_owned(),
            native_call_id: record.native_call_id.as_deref().unwrap_or_default().to_owned(),
            observable_input: shown.map(Into::into),
            aliases: plan.matching.aliases.clone(),
            denied_paths: record.dispatch.as_ref().and_then(|dispatch| denied_paths(&dispatch.denied_paths)),
            tool_kind: plan.matching.tool_kind.map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
            hooks_follow: asked,
            tool_namespace: plan.matching.namespace.clone(),
            supports_partial_results: plan.declared.supports_partial_results,
            resume_token: record.resume_token.as_deref().map(str::to_owned),
            artifact_expectations: plan.declared.artifact_expectations.clone(),
            supports_artifacts: plan.declared.supports_artifacts,
        })),
    }
}
