import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import decision_pb2 as _decision_pb2
from toolplane.v1 import error_pb2 as _error_pb2
from toolplane.v1 import evidence_pb2 as _evidence_pb2
from toolplane.v1 import execution_profile_pb2 as _execution_profile_pb2
from toolplane.v1 import hook_pb2 as _hook_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import persistence_pb2 as _persistence_pb2
from toolplane.v1 import progress_pb2 as _progress_pb2
from toolplane.v1 import refs_pb2 as _refs_pb2
from toolplane.v1 import result_pb2 as _result_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WorkerState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKER_STATE_UNSPECIFIED: _ClassVar[WorkerState]
    WORKER_STATE_READY: _ClassVar[WorkerState]
    WORKER_STATE_DRAINING: _ClassVar[WorkerState]
    WORKER_STATE_LOST: _ClassVar[WorkerState]
WORKER_STATE_UNSPECIFIED: WorkerState
WORKER_STATE_READY: WorkerState
WORKER_STATE_DRAINING: WorkerState
WORKER_STATE_LOST: WorkerState

class LeaseRef(_message.Message):
    __slots__ = ("invocation_id", "lease_no", "lease_id")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_NO_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    lease_no: int
    lease_id: str
    def __init__(self, invocation_id: _Optional[str] = ..., lease_no: _Optional[int] = ..., lease_id: _Optional[str] = ...) -> None: ...

class PoolGap(_message.Message):
    __slots__ = ("pool", "reason_code", "message")
    POOL_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    pool: str
    reason_code: str
    message: str
    def __init__(self, pool: _Optional[str] = ..., reason_code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class WorkerRecord(_message.Message):
    __slots__ = ("worker_id", "incarnation", "version", "state", "slots", "free_slots", "pools", "gaps", "posture", "connected_at", "last_seen_at", "invocation_ids", "native_tools", "scheduler", "scheduler_endpoint", "credentials")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    FREE_SLOTS_FIELD_NUMBER: _ClassVar[int]
    POOLS_FIELD_NUMBER: _ClassVar[int]
    GAPS_FIELD_NUMBER: _ClassVar[int]
    POSTURE_FIELD_NUMBER: _ClassVar[int]
    CONNECTED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_IDS_FIELD_NUMBER: _ClassVar[int]
    NATIVE_TOOLS_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    incarnation: str
    version: str
    state: WorkerState
    slots: int
    free_slots: int
    pools: _containers.RepeatedScalarFieldContainer[str]
    gaps: _containers.RepeatedCompositeFieldContainer[PoolGap]
    posture: _payload_pb2.JsonPayload
    connected_at: _timestamp_pb2.Timestamp
    last_seen_at: _timestamp_pb2.Timestamp
    invocation_ids: _containers.RepeatedScalarFieldContainer[str]
    native_tools: _containers.RepeatedScalarFieldContainer[str]
    scheduler: str
    scheduler_endpoint: str
    credentials: WorkerCredentials
    def __init__(self, worker_id: _Optional[str] = ..., incarnation: _Optional[str] = ..., version: _Optional[str] = ..., state: _Optional[_Union[WorkerState, str]] = ..., slots: _Optional[int] = ..., free_slots: _Optional[int] = ..., pools: _Optional[_Iterable[str]] = ..., gaps: _Optional[_Iterable[_Union[PoolGap, _Mapping]]] = ..., posture: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., connected_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_seen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., invocation_ids: _Optional[_Iterable[str]] = ..., native_tools: _Optional[_Iterable[str]] = ..., scheduler: _Optional[str] = ..., scheduler_endpoint: _Optional[str] = ..., credentials: _Optional[_Union[WorkerCredentials, _Mapping]] = ...) -> None: ...

class WorkerCredentials(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class WorkerReport(_message.Message):
    __slots__ = ("hello", "ready", "received", "start_requested", "progress", "done", "cancel_acknowledged", "heartbeat", "released", "goodbye", "input_requested", "provider_changed", "credentials", "partial")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    START_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    CANCEL_ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    INPUT_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_CHANGED_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    hello: WorkerHello
    ready: WorkerReady
    received: LeaseReceived
    start_requested: StartRequested
    progress: ProgressReported
    done: ExecutionDone
    cancel_acknowledged: CancelAcknowledged
    heartbeat: WorkerHeartbeat
    released: LeaseReleased
    goodbye: WorkerGoodbye
    input_requested: InputRequested
    provider_changed: ProviderChanged
    credentials: WorkerCredentials
    partial: PartialReported
    def __init__(self, hello: _Optional[_Union[WorkerHello, _Mapping]] = ..., ready: _Optional[_Union[WorkerReady, _Mapping]] = ..., received: _Optional[_Union[LeaseReceived, _Mapping]] = ..., start_requested: _Optional[_Union[StartRequested, _Mapping]] = ..., progress: _Optional[_Union[ProgressReported, _Mapping]] = ..., done: _Optional[_Union[ExecutionDone, _Mapping]] = ..., cancel_acknowledged: _Optional[_Union[CancelAcknowledged, _Mapping]] = ..., heartbeat: _Optional[_Union[WorkerHeartbeat, _Mapping]] = ..., released: _Optional[_Union[LeaseReleased, _Mapping]] = ..., goodbye: _Optional[_Union[WorkerGoodbye, _Mapping]] = ..., input_requested: _Optional[_Union[InputRequested, _Mapping]] = ..., provider_changed: _Optional[_Union[ProviderChanged, _Mapping]] = ..., credentials: _Optional[_Union[WorkerCredentials, _Mapping]] = ..., partial: _Optional[_Union[PartialReported, _Mapping]] = ...) -> None: ...

class ProviderChanged(_message.Message):
    __slots__ = ("tenant", "provider_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    provider_id: str
    def __init__(self, tenant: _Optional[str] = ..., provider_id: _Optional[str] = ...) -> None: ...

class WorkerHello(_message.Message):
    __slots__ = ("worker_id", "incarnation", "version", "slots", "pools", "gaps", "posture", "held", "previous_incarnation_dead", "finished", "kept_endings_follow", "native_tools", "credentials", "image")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    POOLS_FIELD_NUMBER: _ClassVar[int]
    GAPS_FIELD_NUMBER: _ClassVar[int]
    POSTURE_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_INCARNATION_DEAD_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    KEPT_ENDINGS_FOLLOW_FIELD_NUMBER: _ClassVar[int]
    NATIVE_TOOLS_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    incarnation: str
    version: str
    slots: int
    pools: _containers.RepeatedScalarFieldContainer[str]
    gaps: _containers.RepeatedCompositeFieldContainer[PoolGap]
    posture: _payload_pb2.JsonPayload
    held: _containers.RepeatedCompositeFieldContainer[LeaseRef]
    previous_incarnation_dead: bool
    finished: _containers.RepeatedCompositeFieldContainer[ExecutionDone]
    kept_endings_follow: bool
    native_tools: _containers.RepeatedScalarFieldContainer[str]
    credentials: WorkerCredentials
    image: str
    def __init__(self, worker_id: _Optional[str] = ..., incarnation: _Optional[str] = ..., version: _Optional[str] = ..., slots: _Optional[int] = ..., pools: _Optional[_Iterable[str]] = ..., gaps: _Optional[_Iterable[_Union[PoolGap, _Mapping]]] = ..., posture: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., held: _Optional[_Iterable[_Union[LeaseRef, _Mapping]]] = ..., previous_incarnation_dead: bool = ..., finished: _Optional[_Iterable[_Union[ExecutionDone, _Mapping]]] = ..., kept_endings_follow: bool = ..., native_tools: _Optional[_Iterable[str]] = ..., credentials: _Optional[_Union[WorkerCredentials, _Mapping]] = ..., image: _Optional[str] = ...) -> None: ...

class WorkerReady(_message.Message):
    __slots__ = ("free_slots",)
    FREE_SLOTS_FIELD_NUMBER: _ClassVar[int]
    free_slots: int
    def __init__(self, free_slots: _Optional[int] = ...) -> None: ...

class LeaseReceived(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ...) -> None: ...

class StartRequested(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ...) -> None: ...

class ProgressReported(_message.Message):
    __slots__ = ("lease", "progress")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    progress: _progress_pb2.ToolProgress
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., progress: _Optional[_Union[_progress_pb2.ToolProgress, _Mapping]] = ...) -> None: ...

class PartialReported(_message.Message):
    __slots__ = ("lease", "content", "append", "resume_token")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    APPEND_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    content: _containers.RepeatedCompositeFieldContainer[_result_pb2.ContentBlock]
    append: bool
    resume_token: str
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., content: _Optional[_Iterable[_Union[_result_pb2.ContentBlock, _Mapping]]] = ..., append: bool = ..., resume_token: _Optional[str] = ...) -> None: ...

class ExecutionDone(_message.Message):
    __slots__ = ("lease", "outcome")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    outcome: ExecutionOutcome
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., outcome: _Optional[_Union[ExecutionOutcome, _Mapping]] = ...) -> None: ...

class CancelAcknowledged(_message.Message):
    __slots__ = ("lease", "supported")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    supported: bool
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., supported: bool = ...) -> None: ...

class WorkerHeartbeat(_message.Message):
    __slots__ = ("leases", "free_slots")
    LEASES_FIELD_NUMBER: _ClassVar[int]
    FREE_SLOTS_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[LeaseRef]
    free_slots: int
    def __init__(self, leases: _Optional[_Iterable[_Union[LeaseRef, _Mapping]]] = ..., free_slots: _Optional[int] = ...) -> None: ...

class LeaseReleased(_message.Message):
    __slots__ = ("lease", "reason")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    reason: str
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class WorkerGoodbye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InputRequested(_message.Message):
    __slots__ = ("lease", "input_id", "prompt", "schema", "ttl_ms")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    TTL_MS_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    input_id: str
    prompt: str
    schema: _payload_pb2.JsonPayload
    ttl_ms: int
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., input_id: _Optional[str] = ..., prompt: _Optional[str] = ..., schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., ttl_ms: _Optional[int] = ...) -> None: ...

class ExecutionOutcome(_message.Message):
    __slots__ = ("status", "status_code", "is_error", "content", "structured_content", "model_facing_content", "ui_facing_summary", "summary", "error", "persisted", "output_bytes", "started_at", "duration_ms", "evidence", "resource_refs", "artifact_refs", "redaction_state", "context_modifiers", "hooks", "site")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FACING_CONTENT_FIELD_NUMBER: _ClassVar[int]
    UI_FACING_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PERSISTED_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_REFS_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_REFS_FIELD_NUMBER: _ClassVar[int]
    REDACTION_STATE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_MODIFIERS_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    status: str
    status_code: _vocabulary_pb2.ResultStatus
    is_error: bool
    content: _containers.RepeatedCompositeFieldContainer[_result_pb2.ContentBlock]
    structured_content: _payload_pb2.JsonPayload
    model_facing_content: _containers.RepeatedCompositeFieldContainer[_result_pb2.ContentBlock]
    ui_facing_summary: str
    summary: str
    error: _error_pb2.ToolError
    persisted: _containers.RepeatedCompositeFieldContainer[PersistedOutput]
    output_bytes: int
    started_at: _timestamp_pb2.Timestamp
    duration_ms: int
    evidence: _payload_pb2.JsonPayload
    resource_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.ResourceRef]
    artifact_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.ArtifactRef]
    redaction_state: _vocabulary_pb2.RedactionState
    context_modifiers: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    hooks: _containers.RepeatedCompositeFieldContainer[_hook_pb2.ToolHook]
    site: _evidence_pb2.ExecutionSite
    def __init__(self, status: _Optional[str] = ..., status_code: _Optional[_Union[_vocabulary_pb2.ResultStatus, str]] = ..., is_error: bool = ..., content: _Optional[_Iterable[_Union[_result_pb2.ContentBlock, _Mapping]]] = ..., structured_content: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., model_facing_content: _Optional[_Iterable[_Union[_result_pb2.ContentBlock, _Mapping]]] = ..., ui_facing_summary: _Optional[str] = ..., summary: _Optional[str] = ..., error: _Optional[_Union[_error_pb2.ToolError, _Mapping]] = ..., persisted: _Optional[_Iterable[_Union[PersistedOutput, _Mapping]]] = ..., output_bytes: _Optional[int] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., duration_ms: _Optional[int] = ..., evidence: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., resource_refs: _Optional[_Iterable[_Union[_refs_pb2.ResourceRef, _Mapping]]] = ..., artifact_refs: _Optional[_Iterable[_Union[_refs_pb2.ArtifactRef, _Mapping]]] = ..., redaction_state: _Optional[_Union[_vocabulary_pb2.RedactionState, str]] = ..., context_modifiers: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., hooks: _Optional[_Iterable[_Union[_hook_pb2.ToolHook, _Mapping]]] = ..., site: _Optional[_Union[_evidence_pb2.ExecutionSite, _Mapping]] = ...) -> None: ...

class PersistedOutput(_message.Message):
    __slots__ = ("name", "strategy", "threshold", "original_size_bytes", "preview_size_bytes", "payload", "redaction_state", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    REDACTION_STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    strategy: _vocabulary_pb2.PersistenceStrategy
    threshold: _persistence_pb2.PersistenceThreshold
    original_size_bytes: int
    preview_size_bytes: int
    payload: _payload_pb2.PayloadRef
    redaction_state: _vocabulary_pb2.RedactionState
    reason: str
    def __init__(self, name: _Optional[str] = ..., strategy: _Optional[_Union[_vocabulary_pb2.PersistenceStrategy, str]] = ..., threshold: _Optional[_Union[_persistence_pb2.PersistenceThreshold, _Mapping]] = ..., original_size_bytes: _Optional[int] = ..., preview_size_bytes: _Optional[int] = ..., payload: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., redaction_state: _Optional[_Union[_vocabulary_pb2.RedactionState, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class WorkerCommand(_message.Message):
    __slots__ = ("welcome", "offer", "start_granted", "start_refused", "cancel", "fenced", "done_acknowledged", "go_away", "input_provided", "report_refused")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    OFFER_FIELD_NUMBER: _ClassVar[int]
    START_GRANTED_FIELD_NUMBER: _ClassVar[int]
    START_REFUSED_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    FENCED_FIELD_NUMBER: _ClassVar[int]
    DONE_ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    GO_AWAY_FIELD_NUMBER: _ClassVar[int]
    INPUT_PROVIDED_FIELD_NUMBER: _ClassVar[int]
    REPORT_REFUSED_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    offer: Offer
    start_granted: StartGranted
    start_refused: StartRefused
    cancel: CancelExecution
    fenced: LeaseFenced
    done_acknowledged: DoneAcknowledged
    go_away: GoAway
    input_provided: InputProvided
    report_refused: ReportRefused
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., offer: _Optional[_Union[Offer, _Mapping]] = ..., start_granted: _Optional[_Union[StartGranted, _Mapping]] = ..., start_refused: _Optional[_Union[StartRefused, _Mapping]] = ..., cancel: _Optional[_Union[CancelExecution, _Mapping]] = ..., fenced: _Optional[_Union[LeaseFenced, _Mapping]] = ..., done_acknowledged: _Optional[_Union[DoneAcknowledged, _Mapping]] = ..., go_away: _Optional[_Union[GoAway, _Mapping]] = ..., input_provided: _Optional[_Union[InputProvided, _Mapping]] = ..., report_refused: _Optional[_Union[ReportRefused, _Mapping]] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("heartbeat_ms", "lease_ms", "max_inline_bytes")
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_INLINE_BYTES_FIELD_NUMBER: _ClassVar[int]
    heartbeat_ms: int
    lease_ms: int
    max_inline_bytes: int
    def __init__(self, heartbeat_ms: _Optional[int] = ..., lease_ms: _Optional[int] = ..., max_inline_bytes: _Optional[int] = ...) -> None: ...

class Offer(_message.Message):
    __slots__ = ("lease", "dispatch")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    dispatch: Dispatch
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., dispatch: _Optional[_Union[Dispatch, _Mapping]] = ...) -> None: ...

class Dispatch(_message.Message):
    __slots__ = ("invocation_id", "tenant", "tool_id", "tool_name", "pool", "execution_kind", "execution_kind_code", "binding", "sandboxed", "sandbox_profile", "call_input", "timeout_ms", "output_limits", "supports_cancel", "requires_start_grant", "idempotency_key", "fence", "attempt", "traceparent", "tracestate", "surface_id", "actor_ref", "queued_ms", "exclusive_lock", "lock_fence", "supports_context_modifiers", "session_ref", "permission_mode", "native_call_id", "observable_input", "aliases", "tool_kind", "denied_paths", "hooks_follow", "tool_namespace", "supports_partial_results", "resume_token", "artifact_expectations", "supports_artifacts")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_CODE_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    SANDBOXED_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_PROFILE_FIELD_NUMBER: _ClassVar[int]
    CALL_INPUT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LIMITS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_CANCEL_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_START_GRANT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    TRACESTATE_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_REF_FIELD_NUMBER: _ClassVar[int]
    QUEUED_MS_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIVE_LOCK_FIELD_NUMBER: _ClassVar[int]
    LOCK_FENCE_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_CONTEXT_MODIFIERS_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    NATIVE_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    OBSERVABLE_INPUT_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    TOOL_KIND_FIELD_NUMBER: _ClassVar[int]
    DENIED_PATHS_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FOLLOW_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_PARTIAL_RESULTS_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_EXPECTATIONS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    tenant: str
    tool_id: str
    tool_name: str
    pool: str
    execution_kind: str
    execution_kind_code: _vocabulary_pb2.ExecutionKind
    binding: _execution_profile_pb2.ExecutionBinding
    sandboxed: bool
    sandbox_profile: str
    call_input: _payload_pb2.JsonPayload
    timeout_ms: int
    output_limits: OutputLimits
    supports_cancel: bool
    requires_start_grant: bool
    idempotency_key: str
    fence: int
    attempt: int
    traceparent: str
    tracestate: str
    surface_id: str
    actor_ref: str
    queued_ms: int
    exclusive_lock: bool
    lock_fence: int
    supports_context_modifiers: bool
    session_ref: str
    permission_mode: str
    native_call_id: str
    observable_input: _payload_pb2.JsonPayload
    aliases: _containers.RepeatedScalarFieldContainer[str]
    tool_kind: str
    denied_paths: _decision_pb2.DeniedPaths
    hooks_follow: bool
    tool_namespace: str
    supports_partial_results: bool
    resume_token: str
    artifact_expectations: _containers.RepeatedScalarFieldContainer[str]
    supports_artifacts: bool
    def __init__(self, invocation_id: _Optional[str] = ..., tenant: _Optional[str] = ..., tool_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., pool: _Optional[str] = ..., execution_kind: _Optional[str] = ..., execution_kind_code: _Optional[_Union[_vocabulary_pb2.ExecutionKind, str]] = ..., binding: _Optional[_Union[_execution_profile_pb2.ExecutionBinding, _Mapping]] = ..., sandboxed: bool = ..., sandbox_profile: _Optional[str] = ..., call_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., timeout_ms: _Optional[int] = ..., output_limits: _Optional[_Union[OutputLimits, _Mapping]] = ..., supports_cancel: bool = ..., requires_start_grant: bool = ..., idempotency_key: _Optional[str] = ..., fence: _Optional[int] = ..., attempt: _Optional[int] = ..., traceparent: _Optional[str] = ..., tracestate: _Optional[str] = ..., surface_id: _Optional[str] = ..., actor_ref: _Optional[str] = ..., queued_ms: _Optional[int] = ..., exclusive_lock: bool = ..., lock_fence: _Optional[int] = ..., supports_context_modifiers: bool = ..., session_ref: _Optional[str] = ..., permission_mode: _Optional[str] = ..., native_call_id: _Optional[str] = ..., observable_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., aliases: _Optional[_Iterable[str]] = ..., tool_kind: _Optional[str] = ..., denied_paths: _Optional[_Union[_decision_pb2.DeniedPaths, _Mapping]] = ..., hooks_follow: bool = ..., tool_namespace: _Optional[str] = ..., supports_partial_results: bool = ..., resume_token: _Optional[str] = ..., artifact_expectations: _Optional[_Iterable[str]] = ..., supports_artifacts: bool = ...) -> None: ...

class OutputLimits(_message.Message):
    __slots__ = ("max_inline_chars", "max_inline_bytes", "max_output_bytes")
    MAX_INLINE_CHARS_FIELD_NUMBER: _ClassVar[int]
    MAX_INLINE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    max_inline_chars: int
    max_inline_bytes: int
    max_output_bytes: int
    def __init__(self, max_inline_chars: _Optional[int] = ..., max_inline_bytes: _Optional[int] = ..., max_output_bytes: _Optional[int] = ...) -> None: ...

class StartGranted(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ...) -> None: ...

class ReportRefused(_message.Message):
    __slots__ = ("lease", "report", "field", "rule")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    report: str
    field: str
    rule: str
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., report: _Optional[str] = ..., field: _Optional[str] = ..., rule: _Optional[str] = ...) -> None: ...

class StartRefused(_message.Message):
    __slots__ = ("lease", "reason")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    reason: str
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class CancelExecution(_message.Message):
    __slots__ = ("lease", "abort_reason", "abort_reason_code", "message")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    ABORT_REASON_FIELD_NUMBER: _ClassVar[int]
    ABORT_REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    abort_reason: str
    abort_reason_code: _vocabulary_pb2.AbortReason
    message: str
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., abort_reason: _Optional[str] = ..., abort_reason_code: _Optional[_Union[_vocabulary_pb2.AbortReason, str]] = ..., message: _Optional[str] = ...) -> None: ...

class LeaseFenced(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ...) -> None: ...

class DoneAcknowledged(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ...) -> None: ...

class GoAway(_message.Message):
    __slots__ = ("reason", "schedulers")
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCHEDULERS_FIELD_NUMBER: _ClassVar[int]
    reason: str
    schedulers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[str] = ..., schedulers: _Optional[_Iterable[str]] = ...) -> None: ...

class InputProvided(_message.Message):
    __slots__ = ("lease", "input_id", "input", "declined", "expired")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    DECLINED_FIELD_NUMBER: _ClassVar[int]
    EXPIRED_FIELD_NUMBER: _ClassVar[int]
    lease: LeaseRef
    input_id: str
    input: _payload_pb2.JsonPayload
    declined: bool
    expired: bool
    def __init__(self, lease: _Optional[_Union[LeaseRef, _Mapping]] = ..., input_id: _Optional[str] = ..., input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., declined: bool = ..., expired: bool = ...) -> None: ...
