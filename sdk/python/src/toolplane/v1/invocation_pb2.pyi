import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import assurance_pb2 as _assurance_pb2
from toolplane.v1 import decision_pb2 as _decision_pb2
from toolplane.v1 import evidence_pb2 as _evidence_pb2
from toolplane.v1 import interface_pb2 as _interface_pb2
from toolplane.v1 import keeping_pb2 as _keeping_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import refs_pb2 as _refs_pb2
from toolplane.v1 import scheduler_policy_pb2 as _scheduler_policy_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Invocation(_message.Message):
    __slots__ = ("schema_version", "invocation_id", "tenant", "tool_id", "tool_name", "surface_id", "native_call_id", "status", "status_code", "queue_state", "model_input", "model_input_ref", "observable_input", "observable_input_ref", "permission_input", "permission_input_ref", "call_input", "call_input_ref", "actor_ref", "runtime_refs", "policy_refs", "permission_decision_refs", "hook_refs", "evidence_refs", "telemetry_refs", "artifact_refs", "approval_request_ref", "scheduler_policy_ref", "status_transitions", "created_at", "started_at", "ended_at", "safety", "dispatch", "idempotency_key", "request_digest", "deadline_at", "lease", "lease_no", "attempt", "worker_losses", "cancel", "last_seq", "progress_seq", "result_id", "session_ref", "priority", "priority_code", "resource_locks", "lock_domain", "lock_fence", "batch", "holds", "yield_seq", "pending_input", "clock_stopped_at", "clock_paused_ms", "lost_workers", "late_reports", "last_fence", "caller_ref", "assurance", "permission_mode", "caller_actor", "post_hooks", "decisions_left_out", "hooks_left_out", "partial_seq", "resume_token", "background", "inherited_taints", "output_taints", "native_ids", "keeping", "surface_moment")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    QUEUE_STATE_FIELD_NUMBER: _ClassVar[int]
    MODEL_INPUT_FIELD_NUMBER: _ClassVar[int]
    MODEL_INPUT_REF_FIELD_NUMBER: _ClassVar[int]
    OBSERVABLE_INPUT_FIELD_NUMBER: _ClassVar[int]
    OBSERVABLE_INPUT_REF_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_INPUT_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_INPUT_REF_FIELD_NUMBER: _ClassVar[int]
    CALL_INPUT_FIELD_NUMBER: _ClassVar[int]
    CALL_INPUT_REF_FIELD_NUMBER: _ClassVar[int]
    ACTOR_REF_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_REFS_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_DECISION_REFS_FIELD_NUMBER: _ClassVar[int]
    HOOK_REFS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_REFS_FIELD_NUMBER: _ClassVar[int]
    TELEMETRY_REFS_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_REFS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_REQUEST_REF_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_POLICY_REF_FIELD_NUMBER: _ClassVar[int]
    STATUS_TRANSITIONS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    SAFETY_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_AT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    LEASE_NO_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WORKER_LOSSES_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQ_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_SEQ_FIELD_NUMBER: _ClassVar[int]
    RESULT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_CODE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_LOCKS_FIELD_NUMBER: _ClassVar[int]
    LOCK_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    LOCK_FENCE_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    YIELD_SEQ_FIELD_NUMBER: _ClassVar[int]
    PENDING_INPUT_FIELD_NUMBER: _ClassVar[int]
    CLOCK_STOPPED_AT_FIELD_NUMBER: _ClassVar[int]
    CLOCK_PAUSED_MS_FIELD_NUMBER: _ClassVar[int]
    LOST_WORKERS_FIELD_NUMBER: _ClassVar[int]
    LATE_REPORTS_FIELD_NUMBER: _ClassVar[int]
    LAST_FENCE_FIELD_NUMBER: _ClassVar[int]
    CALLER_REF_FIELD_NUMBER: _ClassVar[int]
    ASSURANCE_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    CALLER_ACTOR_FIELD_NUMBER: _ClassVar[int]
    POST_HOOKS_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    HOOKS_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_SEQ_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    INHERITED_TAINTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TAINTS_FIELD_NUMBER: _ClassVar[int]
    NATIVE_IDS_FIELD_NUMBER: _ClassVar[int]
    KEEPING_FIELD_NUMBER: _ClassVar[int]
    SURFACE_MOMENT_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    invocation_id: str
    tenant: str
    tool_id: str
    tool_name: str
    surface_id: str
    native_call_id: str
    status: str
    status_code: _vocabulary_pb2.InvocationStatus
    queue_state: _vocabulary_pb2.QueueState
    model_input: _payload_pb2.JsonPayload
    model_input_ref: _payload_pb2.PayloadRef
    observable_input: _payload_pb2.JsonPayload
    observable_input_ref: _payload_pb2.PayloadRef
    permission_input: _payload_pb2.JsonPayload
    permission_input_ref: _payload_pb2.PayloadRef
    call_input: _payload_pb2.JsonPayload
    call_input_ref: _payload_pb2.PayloadRef
    actor_ref: str
    runtime_refs: _containers.RepeatedScalarFieldContainer[str]
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    permission_decision_refs: _containers.RepeatedScalarFieldContainer[str]
    hook_refs: _containers.RepeatedScalarFieldContainer[str]
    evidence_refs: _containers.RepeatedScalarFieldContainer[str]
    telemetry_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.TelemetryRef]
    artifact_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.ArtifactRef]
    approval_request_ref: str
    scheduler_policy_ref: str
    status_transitions: _containers.RepeatedCompositeFieldContainer[StatusTransition]
    created_at: _timestamp_pb2.Timestamp
    started_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    safety: _interface_pb2.InputSafety
    dispatch: DispatchFacts
    idempotency_key: str
    request_digest: str
    deadline_at: _timestamp_pb2.Timestamp
    lease: LeaseFacts
    lease_no: int
    attempt: int
    worker_losses: int
    cancel: CancelFacts
    last_seq: int
    progress_seq: int
    result_id: str
    session_ref: str
    priority: str
    priority_code: _vocabulary_pb2.Band
    resource_locks: _containers.RepeatedCompositeFieldContainer[_scheduler_policy_pb2.ResourceLock]
    lock_domain: str
    lock_fence: int
    batch: BatchPlace
    holds: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.Hold]
    yield_seq: int
    pending_input: PendingInput
    clock_stopped_at: _timestamp_pb2.Timestamp
    clock_paused_ms: int
    lost_workers: _containers.RepeatedScalarFieldContainer[str]
    late_reports: int
    last_fence: int
    caller_ref: str
    assurance: _assurance_pb2.CallAssurance
    permission_mode: str
    caller_actor: str
    post_hooks: PostHooks
    decisions_left_out: int
    hooks_left_out: int
    partial_seq: int
    resume_token: str
    background: bool
    inherited_taints: _containers.RepeatedCompositeFieldContainer[_assurance_pb2.Taint]
    output_taints: _containers.RepeatedScalarFieldContainer[str]
    native_ids: _evidence_pb2.NativeIds
    keeping: _keeping_pb2.CallKeeping
    surface_moment: str
    def __init__(self, schema_version: _Optional[str] = ..., invocation_id: _Optional[str] = ..., tenant: _Optional[str] = ..., tool_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., surface_id: _Optional[str] = ..., native_call_id: _Optional[str] = ..., status: _Optional[str] = ..., status_code: _Optional[_Union[_vocabulary_pb2.InvocationStatus, str]] = ..., queue_state: _Optional[_Union[_vocabulary_pb2.QueueState, str]] = ..., model_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., model_input_ref: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., observable_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., observable_input_ref: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., permission_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., permission_input_ref: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., call_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., call_input_ref: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., actor_ref: _Optional[str] = ..., runtime_refs: _Optional[_Iterable[str]] = ..., policy_refs: _Optional[_Iterable[str]] = ..., permission_decision_refs: _Optional[_Iterable[str]] = ..., hook_refs: _Optional[_Iterable[str]] = ..., evidence_refs: _Optional[_Iterable[str]] = ..., telemetry_refs: _Optional[_Iterable[_Union[_refs_pb2.TelemetryRef, _Mapping]]] = ..., artifact_refs: _Optional[_Iterable[_Union[_refs_pb2.ArtifactRef, _Mapping]]] = ..., approval_request_ref: _Optional[str] = ..., scheduler_policy_ref: _Optional[str] = ..., status_transitions: _Optional[_Iterable[_Union[StatusTransition, _Mapping]]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., safety: _Optional[_Union[_interface_pb2.InputSafety, _Mapping]] = ..., dispatch: _Optional[_Union[DispatchFacts, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., request_digest: _Optional[str] = ..., deadline_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lease: _Optional[_Union[LeaseFacts, _Mapping]] = ..., lease_no: _Optional[int] = ..., attempt: _Optional[int] = ..., worker_losses: _Optional[int] = ..., cancel: _Optional[_Union[CancelFacts, _Mapping]] = ..., last_seq: _Optional[int] = ..., progress_seq: _Optional[int] = ..., result_id: _Optional[str] = ..., session_ref: _Optional[str] = ..., priority: _Optional[str] = ..., priority_code: _Optional[_Union[_vocabulary_pb2.Band, str]] = ..., resource_locks: _Optional[_Iterable[_Union[_scheduler_policy_pb2.ResourceLock, _Mapping]]] = ..., lock_domain: _Optional[str] = ..., lock_fence: _Optional[int] = ..., batch: _Optional[_Union[BatchPlace, _Mapping]] = ..., holds: _Optional[_Iterable[_Union[_vocabulary_pb2.Hold, str]]] = ..., yield_seq: _Optional[int] = ..., pending_input: _Optional[_Union[PendingInput, _Mapping]] = ..., clock_stopped_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., clock_paused_ms: _Optional[int] = ..., lost_workers: _Optional[_Iterable[str]] = ..., late_reports: _Optional[int] = ..., last_fence: _Optional[int] = ..., caller_ref: _Optional[str] = ..., assurance: _Optional[_Union[_assurance_pb2.CallAssurance, _Mapping]] = ..., permission_mode: _Optional[str] = ..., caller_actor: _Optional[str] = ..., post_hooks: _Optional[_Union[PostHooks, _Mapping]] = ..., decisions_left_out: _Optional[int] = ..., hooks_left_out: _Optional[int] = ..., partial_seq: _Optional[int] = ..., resume_token: _Optional[str] = ..., background: bool = ..., inherited_taints: _Optional[_Iterable[_Union[_assurance_pb2.Taint, _Mapping]]] = ..., output_taints: _Optional[_Iterable[str]] = ..., native_ids: _Optional[_Union[_evidence_pb2.NativeIds, _Mapping]] = ..., keeping: _Optional[_Union[_keeping_pb2.CallKeeping, _Mapping]] = ..., surface_moment: _Optional[str] = ...) -> None: ...

class BatchPlace(_message.Message):
    __slots__ = ("batch_id", "index")
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    batch_id: str
    index: int
    def __init__(self, batch_id: _Optional[str] = ..., index: _Optional[int] = ...) -> None: ...

class PendingInput(_message.Message):
    __slots__ = ("input_id", "prompt", "schema", "requested_at", "expires_at", "answer")
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    input_id: str
    prompt: str
    schema: _payload_pb2.JsonPayload
    requested_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    answer: InputAnswer
    def __init__(self, input_id: _Optional[str] = ..., prompt: _Optional[str] = ..., schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., requested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., answer: _Optional[_Union[InputAnswer, _Mapping]] = ...) -> None: ...

class PostHooks(_message.Message):
    __slots__ = ("due_at", "tries")
    DUE_AT_FIELD_NUMBER: _ClassVar[int]
    TRIES_FIELD_NUMBER: _ClassVar[int]
    due_at: _timestamp_pb2.Timestamp
    tries: int
    def __init__(self, due_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tries: _Optional[int] = ...) -> None: ...

class InputAnswer(_message.Message):
    __slots__ = ("input", "provided_by", "expired", "answered_at")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    PROVIDED_BY_FIELD_NUMBER: _ClassVar[int]
    EXPIRED_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_AT_FIELD_NUMBER: _ClassVar[int]
    input: _payload_pb2.JsonPayload
    provided_by: str
    expired: bool
    answered_at: _timestamp_pb2.Timestamp
    def __init__(self, input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., provided_by: _Optional[str] = ..., expired: bool = ..., answered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StatusTransition(_message.Message):
    __slots__ = ("seq", "from_code", "to", "to_code", "at", "cause", "attempt")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    FROM_CODE_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    TO_CODE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    seq: int
    from_code: _vocabulary_pb2.InvocationStatus
    to: str
    to_code: _vocabulary_pb2.InvocationStatus
    at: _timestamp_pb2.Timestamp
    cause: str
    attempt: int
    def __init__(self, seq: _Optional[int] = ..., from_code: _Optional[_Union[_vocabulary_pb2.InvocationStatus, str]] = ..., to: _Optional[str] = ..., to_code: _Optional[_Union[_vocabulary_pb2.InvocationStatus, str]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cause: _Optional[str] = ..., attempt: _Optional[int] = ..., **kwargs) -> None: ...

class DispatchFacts(_message.Message):
    __slots__ = ("pool", "plan_digest", "timeout_ms", "supports_cancel", "interrupt_behavior", "max_attempts", "start_guard", "retry_on_timeout", "quarantine_key", "context_modifier_policy", "policy_digest", "permit_until", "denied_paths")
    POOL_FIELD_NUMBER: _ClassVar[int]
    PLAN_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_CANCEL_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    START_GUARD_FIELD_NUMBER: _ClassVar[int]
    RETRY_ON_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_KEY_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_MODIFIER_POLICY_FIELD_NUMBER: _ClassVar[int]
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PERMIT_UNTIL_FIELD_NUMBER: _ClassVar[int]
    DENIED_PATHS_FIELD_NUMBER: _ClassVar[int]
    pool: str
    plan_digest: str
    timeout_ms: int
    supports_cancel: bool
    interrupt_behavior: _vocabulary_pb2.InterruptBehavior
    max_attempts: int
    start_guard: _vocabulary_pb2.StartGuard
    retry_on_timeout: bool
    quarantine_key: str
    context_modifier_policy: _vocabulary_pb2.ContextModifierPolicy
    policy_digest: str
    permit_until: _timestamp_pb2.Timestamp
    denied_paths: _decision_pb2.DeniedPaths
    def __init__(self, pool: _Optional[str] = ..., plan_digest: _Optional[str] = ..., timeout_ms: _Optional[int] = ..., supports_cancel: bool = ..., interrupt_behavior: _Optional[_Union[_vocabulary_pb2.InterruptBehavior, str]] = ..., max_attempts: _Optional[int] = ..., start_guard: _Optional[_Union[_vocabulary_pb2.StartGuard, str]] = ..., retry_on_timeout: bool = ..., quarantine_key: _Optional[str] = ..., context_modifier_policy: _Optional[_Union[_vocabulary_pb2.ContextModifierPolicy, str]] = ..., policy_digest: _Optional[str] = ..., permit_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., denied_paths: _Optional[_Union[_decision_pb2.DeniedPaths, _Mapping]] = ...) -> None: ...

class LeaseFacts(_message.Message):
    __slots__ = ("lease_no", "fence", "worker_id", "incarnation", "expires_at", "confirmed")
    LEASE_NO_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    CONFIRMED_FIELD_NUMBER: _ClassVar[int]
    lease_no: int
    fence: int
    worker_id: str
    incarnation: str
    expires_at: _timestamp_pb2.Timestamp
    confirmed: bool
    def __init__(self, lease_no: _Optional[int] = ..., fence: _Optional[int] = ..., worker_id: _Optional[str] = ..., incarnation: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., confirmed: bool = ...) -> None: ...

class CancelFacts(_message.Message):
    __slots__ = ("requested_at", "requested_by", "message", "abort_reason", "abort_reason_code", "acknowledged_at", "failed")
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ABORT_REASON_FIELD_NUMBER: _ClassVar[int]
    ABORT_REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGED_AT_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    requested_at: _timestamp_pb2.Timestamp
    requested_by: str
    message: str
    abort_reason: str
    abort_reason_code: _vocabulary_pb2.AbortReason
    acknowledged_at: _timestamp_pb2.Timestamp
    failed: str
    def __init__(self, requested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., requested_by: _Optional[str] = ..., message: _Optional[str] = ..., abort_reason: _Optional[str] = ..., abort_reason_code: _Optional[_Union[_vocabulary_pb2.AbortReason, str]] = ..., acknowledged_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., failed: _Optional[str] = ...) -> None: ...
