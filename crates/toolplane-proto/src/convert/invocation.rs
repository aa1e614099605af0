//! Invocations with everything the scheduler keeps beside them.
//!
//! The secret name of a lease never leaves the scheduler in this message, so a record read back from it has no lease.

use toolplane_records::invocation as records;

use crate::convert::decision::denied_paths;
use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::StatusTransition> for v1::StatusTransition {
    fn from(record: &records::StatusTransition) -> Self {
        Self {
            seq: record.seq,
            from: word::optional_text(record.from),
            from_code: word::optional_number(record.from),
            to: record.to.as_str().to_owned(),
            to_code: record.to.number(),
            at: field::instant(record.at),
            cause: record.cause.to_string(),
            attempt: record.attempt,
        }
    }
}

impl TryFrom<v1::StatusTransition> for records::StatusTransition {
    type Error = ConvertError;

    fn try_from(message: v1::StatusTransition) -> Result<Self, ConvertError> {
        Ok(Self {
            seq: message.seq,
            from: word::optional_open("from", &message.from, message.from_code)?,
            to: word::open("to", &message.to, message.to_code)?,
            at: field::time("at", message.at)?,
            cause: message.cause.into(),
            attempt: message.attempt,
        })
    }
}

impl From<&records::InputSafety> for v1::InputSafety {
    fn from(record: &records::InputSafety) -> Self {
        Self {
            is_read_only: record.is_read_only,
            is_concurrency_safe: record.is_concurrency_safe,
            is_destructive: record.is_destructive,
            is_open_world: record.is_open_world,
            is_idempotent: record.is_idempotent,
            requires_exclusive_context: record.requires_exclusive_context,
        }
    }
}

impl TryFrom<v1::InputSafety> for records::InputSafety {
    type Error = ConvertError;

    fn try_from(message: v1::InputSafety) -> Result<Self, ConvertError> {
        Ok(Self {
            is_read_only: message.is_read_only,
            is_concurrency_safe: message.is_concurrency_safe,
            is_destructive: message.is_destructive,
            is_open_world: message.is_open_world,
            is_idempotent: message.is_idempotent,
            requires_exclusive_context: message.requires_exclusive_context,
        })
    }
}

impl From<&records::DispatchFacts> for v1::DispatchFacts {
    fn from(record: &records::DispatchFacts) -> Self {
        Self {
            pool: record.pool.to_string(),
            plan_digest: record.plan_digest.to_string(),
            timeout_ms: record.timeout_ms,
            supports_cancel: record.supports_cancel,
            interrupt_behavior: record.interrupt_behavior.number(),
            max_attempts: record.max_attempts,
            start_guard: record.start_guard.number(),
            retry_on_timeout: record.retry_on_timeout,
            quarantine_key: field::text(&record.quarantine_key),
            context_modifier_policy: word::optional_number(record.context_modifier_policy),
            policy_digest: record.policy_digest.to_string(),
            permit_until: record.permit_until.and_then(field::instant),
            denied_paths: denied_paths(&record.denied_paths),
        }
    }
}

impl TryFrom<v1::DispatchFacts> for records::DispatchFacts {
    type Error = ConvertError;

    fn try_from(message: v1::DispatchFacts) -> Result<Self, ConvertError> {
        Ok(Self {
            pool: message.pool.into(),
            plan_digest: field::id("plan_digest", &message.plan_digest)?,
            timeout_ms: message.timeout_ms,
            supports_cancel: message.supports_cancel,
            interrupt_behavior: word::closed("interrupt_behavior", message.interrupt_behavior)?,
            max_attempts: message.max_attempts,
            start_guard: word::optional_closed("start_guard", message.start_guard)?.unwrap_or_default(),
            retry_on_timeout: message.retry_on_timeout,
            quarantine_key: field::optional_id("quarantine_key", &message.quarantine_key)?,
            context_modifier_policy: word::optional_closed("context_modifier_policy", message.context_modifier_policy)?,
            policy_digest: message.policy_digest.into(),
            permit_until: field::optional_time("permit_until", message.permit_until)?,
            denied_paths: message.denied_paths.unwrap_or_default().into(),
        })
    }
}

impl From<&records::Invocation> for v1::Invocation {
    fn from(record: &records::Invocation) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            invocation_id: record.invocation_id.to_string(),
            tenant: record.tenant.to_string(),
            tool_id: record.tool_id.to_string(),
            tool_name: record.tool_name.to_string(),
            surface_id: field::text(&record.surface_id),
            surface_moment: field::maybe(&record.surface_moment),
            native_call_id: field::maybe(&record.native_call_id),
            native_ids: super::evidence::native_ids(&record.native_ids),
            status: record.status.as_str().to_owned(),
            status_code: record.status.number(),
            queue_state: word::optional_number(record.queue_state),
            model_input: None,
            model_input_ref: Some((&record.inputs.model).into()),
            observable_input: None,
            observable_input_ref: field::out(&record.inputs.observable),
            permission_input: None,
            permission_input_ref: field::out(&record.inputs.permission),
            call_input: None,
            call_input_ref: field::out(&record.inputs.call),
            actor_ref: field::maybe(&record.actor_ref),
            runtime_refs: field::texts(&record.runtime_refs),
            policy_refs: field::texts(&record.policy_refs),
            permission_decision_refs: field::texts(&record.permission_decision_refs),
            decisions_left_out: record.decisions_left_out,
            hook_refs: field::texts(&record.hook_refs),
            hooks_left_out: record.hooks_left_out,
            evidence_refs: field::texts(&record.evidence_refs),
            telemetry_refs: field::outs(&record.telemetry_refs),
            artifact_refs: field::outs(&record.artifact_refs),
            approval_request_ref: field::text(&record.approval_request_ref),
            scheduler_policy_ref: field::maybe(&record.scheduler_policy_ref),
            status_transitions: field::outs(&record.status_transitions),
            created_at: field::instant(record.created_at),
            started_at: record.started_at.and_then(field::instant),
            ended_at: record.ended_at.and_then(field::instant),
            safety: Some((&record.safety).into()),
            dispatch: field::out(&record.dispatch),
            idempotency_key: field::maybe(&record.idempotency_key),
            request_digest: record.request_digest.to_string(),
            deadline_at: record.deadline_at.and_then(field::instant),
            lease: field::out(&record.lease),
            lease_no: record.lease_no,
            attempt: record.attempt,
            worker_losses: record.worker_losses,
            cancel: field::out(&record.cancel),
            last_seq: record.last_seq,
            progress_seq: record.progress_seq,
            partial_seq: record.partial_seq,
            resume_token: field::maybe(&record.resume_token),
            background: record.background,
            result_id: field::text(&record.result_id),
            session_ref: field::maybe(&record.session_ref),
            priority: record.band.as_str().to_owned(),
            priority_code: record.band.number(),
            resource_locks: field::outs(&record.resource_locks),
            lock_domain: field::maybe(&record.lock_domain),
            lock_fence: record.lock_fence,
            batch: field::out(&record.batch),
            holds: word::numbers(&record.holds),
            yield_seq: record.yield_seq,
            pending_input: field::out(&record.pending_input),
            clock_stopped_at: record.clock_stopped_at.and_then(field::instant),
            clock_paused_ms: record.clock_paused_ms,
            lost_workers: field::texts(&record.lost_workers),
            late_reports: record.late_reports,
            last_fence: record.last_fence,
            caller_ref: field::maybe(&record.caller_ref),
            assurance: field::out(&record.assurance),
            inherited_taints: field::outs(&record.inherited_taints),
            output_taints: field::texts(&record.output_taints),
            permission_mode: field::maybe(&record.permission_mode),
            caller_actor: field::maybe(&record.caller_actor),
            keeping: (!record.keeping.is_empty()).then(|| (&record.keeping).into()),
            post_hooks: field::out(&record.post_hooks),
        }
    }
}

impl TryFrom<v1::Invocation> for records::Invocation {
    type Error = ConvertError;

    fn try_from(message: v1::Invocation) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            tenant: field::id("tenant", &message.tenant)?,
            tool_id: field::id("tool_id", &message.tool_id)?,
            tool_name: message.tool_name.into(),
            surface_id: field::optional_id("surface_id", &message.surface_id)?,
            surface_moment: message.surface_moment.map(Into::into),
            native_call_id: message.native_call_id.map(Into::into),
            native_ids: message.native_ids.unwrap_or_default().into(),
            status: word::open("status", &message.status, message.status_code)?,
            queue_state: word::optional_closed("queue_state", message.queue_state)?,
            inputs: records::InputRefs {
                model: field::required("model_input_ref", message.model_input_ref)?,
                observable: field::optional("observable_input_ref", message.observable_input_ref)?,
                permission: field::optional("permission_input_ref", message.permission_input_ref)?,
                call: field::optional("call_input_ref", message.call_input_ref)?,
            },
            actor_ref: message.actor_ref.map(Into::into),
            runtime_refs: field::kept(message.runtime_refs),
            policy_refs: field::kept(message.policy_refs),
            permission_decision_refs: field::ids("permission_decision_refs", &message.permission_decision_refs)?,
            decisions_left_out: message.decisions_left_out,
            hook_refs: field::kept(message.hook_refs),
            hooks_left_out: message.hooks_left_out,
            evidence_refs: field::kept(message.evidence_refs),
            telemetry_refs: field::list("telemetry_refs", message.telemetry_refs)?,
            artifact_refs: field::list("artifact_refs", message.artifact_refs)?,
            approval_request_ref: field::optional_id("approval_request_ref", &message.approval_request_ref)?,
            scheduler_policy_ref: message.scheduler_policy_ref.map(Into::into),
            status_transitions: field::list("status_transitions", message.status_transitions)?,
            created_at: field::time("created_at", message.created_at)?,
            started_at: field::optional_time("started_at", message.started_at)?,
            ended_at: field::optional_time("ended_at", message.ended_at)?,
            safety: field::required("safety", message.safety)?,
            dispatch: field::optional("dispatch", message.dispatch)?,
            idempotency_key: message.idempotency_key.map(Into::into),
            request_digest: field::id("request_digest", &message.request_digest)?,
            deadline_at: field::optional_time("deadline_at", message.deadline_at)?,
            lease: None,
            lease_no: message.lease_no,
            last_fence: message.last_fence,
            attempt: message.attempt,
            worker_losses: message.worker_losses,
            cancel: field::optional("cancel", message.cancel)?,
            last_seq: message.last_seq,
            progress_seq: message.progress_seq,
            partial_seq: message.partial_seq,
            resume_token: message.resume_token.map(Into::into),
            background: message.background,
            result_id: field::optional_id("result_id", &message.result_id)?,
            session_ref: message.session_ref.map(Into::into),
            band: word::optional_open("priority", &message.priority, message.priority_code)?.unwrap_or_default(),
            resource_locks: field::list("resource_locks", message.resource_locks)?,
            lock_domain: message.lock_domain.map(Into::into),
            lock_fence: message.lock_fence,
            batch: field::optional("batch", message.batch)?,
            holds: word::open_list("holds", &[], &message.holds)?,
            yield_seq: message.yield_seq,
            pending_input: field::optional("pending_input", message.pending_input)?,
            clock_stopped_at: field::optional_time("clock_stopped_at", message.clock_stopped_at)?,
            clock_paused_ms: message.clock_paused_ms,
            lost_workers: field::ids("lost_workers", &message.lost_workers)?,
            late_reports: message.late_reports,
            caller_ref: message.caller_ref.map(Into::into),
            assurance: field::optional("assurance", message.assurance)?,
            inherited_taints: field::list("inherited_taints", message.inherited_taints)?,
            output_taints: field::kept(message.output_taints),
            permission_mode: message.permission_mode.map(Into::into),
            caller_actor: message.caller_actor.map(Into::into),
            keeping: field::optional("keeping", message.keeping)?.unwrap_or_default(),
            post_hooks: field::optional("post_hooks", message.post_hooks)?,
            // Told apart from the call, as one of its executions.
            last_execution: None,
        })
    }
}

/// The message of a call with those of its inputs that a reader may see.
pub fn with_inputs(record: &records::Invocation, bodies: &records::InputBodies) -> v1::Invocation {
    v1::Invocation {
        model_input: field::out(&bodies.model),
        observable_input: field::out(&bodies.observable),
        permission_input: field::out(&bodies.permission),
        call_input: field::out(&bodies.call),
        ..record.into()
    }
}
