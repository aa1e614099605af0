//! The standard's JSON of an invocation: what leaves the cluster, without lease secrets.

use serde::Serialize;
use smol_str::SmolStr;

use super::is_zero;
use crate::assurance::CallAssurance;
use crate::batch::BatchPlace;
use crate::evidence::NativeIds;
use crate::ids::{ApprovalId, DecisionId, InvocationId, InvocationKey, ResultId, SurfaceId, TenantId, ToolId};
use crate::invocation::{CancelFacts, InputSafety, Invocation, PendingInput, StatusTransition};
use crate::keeping::CallKeeping;
use crate::payload::{JsonPayload, PayloadRef};
use crate::refs::{ArtifactRef, TelemetryRef};
use crate::scheduling::ResourceLock;
use crate::taint::Taint;
use crate::time::Timestamp;
use crate::vocabulary::{Band, InvocationStatus, QueueState};

/// The bytes of the four inputs, for a reader who may see them.
#[derive(Clone, Debug, Default)]
pub struct InputBodies {
    /// What the model emitted.
    pub model: Option<JsonPayload>,
    /// What hooks, prompts and transcripts see.
    pub observable: Option<JsonPayload>,
    /// What rules evaluated.
    pub permission: Option<JsonPayload>,
    /// What the executor gets.
    pub call: Option<JsonPayload>,
}

impl Invocation {
    /// Which call this is among those of all tenants.
    pub fn key(&self) -> InvocationKey {
        InvocationKey::new(&self.tenant, &self.invocation_id)
    }

    /// The standard's JSON of this record: inputs by value where `bodies` has them and by reference always; no lease secrets.
    pub fn to_json(&self, bodies: &InputBodies) -> JsonPayload {
        JsonPayload::of(&InvocationFields {
            schema_version: &self.schema_version,
            invocation_id: &self.invocation_id,
            tenant: &self.tenant,
            tool_id: &self.tool_id,
            tool_name: &self.tool_name,
            surface_id: self.surface_id.as_ref(),
            surface_moment: self.surface_moment.as_deref(),
            native_call_id: self.native_call_id.as_deref(),
            native_ids: &self.native_ids,
            status: self.status,
            queue_state: self.queue_state,
            model_input: bodies.model.as_ref(),
            model_input_ref: &self.inputs.model.uri,
            observable_input: bodies.observable.as_ref(),
            observable_input_ref: uri(&self.inputs.observable),
            permission_input: bodies.permission.as_ref(),
            permission_input_ref: uri(&self.inputs.permission),
            call_input: bodies.call.as_ref(),
            call_input_ref: uri(&self.inputs.call),
            actor_ref: self.actor_ref.as_deref(),
            caller_ref: self.caller_ref.as_deref(),
            caller_actor: self.caller_actor.as_deref(),
            permission_mode: self.permission_mode.as_deref(),
            assurance: self.assurance.as_ref(),
            inherited_taints: &self.inherited_taints,
            output_taints: &self.output_taints,
            keeping: &self.keeping,
            runtime_refs: &self.runtime_refs,
            policy_refs: &self.policy_refs,
            permission_decision_refs: &self.permission_decision_refs,
            decisions_left_out: self.decisions_left_out,
            hook_refs: &self.hook_refs,
            hooks_left_out: self.hooks_left_out,
            evidence_refs: &self.evidence_refs,
            telemetry_refs: &self.telemetry_refs,
            artifact_refs: &self.artifact_refs,
            approval_request_ref: self.approval_request_ref.as_ref(),
            scheduler_policy_ref: self.scheduler_policy_ref.as_deref(),
            status_transitions: &self.status_transitions,
            created_at: self.created_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
            safety: self.safety,
            cancel: self.cancel.as_ref(),
            session_ref: self.session_ref.as_deref(),
            band: self.band,
            resource_locks: &self.resource_locks,
            lock_domain: self.lock_domain.as_deref(),
            batch: self.batch.as_ref(),
            yield_seq: self.yield_seq,
            pending_input: self.pending_input.as_ref(),
            attempt: self.attempt,
            last_seq: self.last_seq,
            result_id: self.result_id.as_ref(),
        })
    }
}

/// The standard's JSON of an invocation, field by field.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct InvocationFields<'a> {
    schema_version: &'a str,
    invocation_id: &'a InvocationId,
    tenant: &'a TenantId,
    tool_id: &'a ToolId,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    surface_id: Option<&'a SurfaceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surface_moment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    native_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "NativeIds::is_empty")]
    native_ids: &'a NativeIds,
    status: InvocationStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_state: Option<QueueState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_input: Option<&'a JsonPayload>,
    model_input_ref: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    observable_input: Option<&'a JsonPayload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observable_input_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_input: Option<&'a JsonPayload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_input_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_input: Option<&'a JsonPayload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_input_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller_actor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assurance: Option<&'a CallAssurance>,
    #[serde(skip_serializing_if = "<[Taint]>::is_empty")]
    inherited_taints: &'a [Taint],
    #[serde(skip_serializing_if = "<[SmolStr]>::is_empty")]
    output_taints: &'a [SmolStr],
    #[serde(skip_serializing_if = "CallKeeping::is_empty")]
    keeping: &'a CallKeeping,
    runtime_refs: &'a [SmolStr],
    policy_refs: &'a [SmolStr],
    permission_decision_refs: &'a [DecisionId],
    #[serde(skip_serializing_if = "is_zero")]
    decisions_left_out: u64,
    hook_refs: &'a [SmolStr],
    #[serde(skip_serializing_if = "is_zero")]
    hooks_left_out: u64,
    evidence_refs: &'a [SmolStr],
    telemetry_refs: &'a [TelemetryRef],
    artifact_refs: &'a [ArtifactRef],
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_request_ref: Option<&'a ApprovalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduler_policy_ref: Option<&'a str>,
    status_transitions: &'a [StatusTransition],
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    safety: InputSafety,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel: Option<&'a CancelFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_ref: Option<&'a str>,
    band: Band,
    #[serde(skip_serializing_if = "<[ResourceLock]>::is_empty")]
    resource_locks: &'a [ResourceLock],
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_domain: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<&'a BatchPlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    yield_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_input: Option<&'a PendingInput>,
    attempt: u32,
    last_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_id: Option<&'a ResultId>,
}

fn uri(payload: &Option<PayloadRef>) -> Option<&str> {
    payload.as_ref().map(|payload| payload.uri.as_str())
}

/// The JSON Schema of what [`Invocation::to_json`] writes.
#[cfg(feature = "schema")]
pub(crate) fn invocation_schema() -> String {
    crate::schema::of::<InvocationFields<'static>>("invocation")
}
