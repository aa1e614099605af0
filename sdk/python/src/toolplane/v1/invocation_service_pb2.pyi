import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import approval_pb2 as _approval_pb2
from toolplane.v1 import assurance_pb2 as _assurance_pb2
from toolplane.v1 import batch_pb2 as _batch_pb2
from toolplane.v1 import decision_pb2 as _decision_pb2
from toolplane.v1 import error_pb2 as _error_pb2
from toolplane.v1 import event_pb2 as _event_pb2
from toolplane.v1 import form_pb2 as _form_pb2
from toolplane.v1 import evidence_pb2 as _evidence_pb2
from toolplane.v1 import legal_hold_pb2 as _legal_hold_pb2
from toolplane.v1 import hook_pb2 as _hook_pb2
from toolplane.v1 import invocation_pb2 as _invocation_pb2
from toolplane.v1 import keeping_pb2 as _keeping_pb2
from toolplane.v1 import mutation_pb2 as _mutation_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import persistence_pb2 as _persistence_pb2
from toolplane.v1 import result_pb2 as _result_pb2
from toolplane.v1 import rule_pb2 as _rule_pb2
from toolplane.v1 import scheduler_policy_pb2 as _scheduler_policy_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from toolplane.v1 import worker_pb2 as _worker_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InvocationSpec(_message.Message):
    __slots__ = ("surface_id", "tool_name", "model_input", "idempotency_key", "invocation_id", "native_call_id", "actor_ref", "runtime_refs", "timeout_ms", "priority", "scheduler_policy_ref", "no_approver", "policy_refs", "permission_mode", "session_ref", "resource_locks", "lock_domain", "assurance", "declaration_digest", "background", "native_ids", "surface_moment")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    MODEL_INPUT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_REF_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_REFS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_POLICY_REF_FIELD_NUMBER: _ClassVar[int]
    NO_APPROVER_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_LOCKS_FIELD_NUMBER: _ClassVar[int]
    LOCK_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    ASSURANCE_FIELD_NUMBER: _ClassVar[int]
    DECLARATION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    NATIVE_IDS_FIELD_NUMBER: _ClassVar[int]
    SURFACE_MOMENT_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    tool_name: str
    model_input: _payload_pb2.JsonPayload
    idempotency_key: str
    invocation_id: str
    native_call_id: str
    actor_ref: str
    runtime_refs: _containers.RepeatedScalarFieldContainer[str]
    timeout_ms: int
    priority: str
    scheduler_policy_ref: str
    no_approver: bool
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    permission_mode: str
    session_ref: str
    resource_locks: _containers.RepeatedCompositeFieldContainer[_scheduler_policy_pb2.ResourceLock]
    lock_domain: str
    assurance: _assurance_pb2.CallAssurance
    declaration_digest: str
    background: bool
    native_ids: _evidence_pb2.NativeIds
    surface_moment: str
    def __init__(self, surface_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., model_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., invocation_id: _Optional[str] = ..., native_call_id: _Optional[str] = ..., actor_ref: _Optional[str] = ..., runtime_refs: _Optional[_Iterable[str]] = ..., timeout_ms: _Optional[int] = ..., priority: _Optional[str] = ..., scheduler_policy_ref: _Optional[str] = ..., no_approver: bool = ..., policy_refs: _Optional[_Iterable[str]] = ..., permission_mode: _Optional[str] = ..., session_ref: _Optional[str] = ..., resource_locks: _Optional[_Iterable[_Union[_scheduler_policy_pb2.ResourceLock, _Mapping]]] = ..., lock_domain: _Optional[str] = ..., assurance: _Optional[_Union[_assurance_pb2.CallAssurance, _Mapping]] = ..., declaration_digest: _Optional[str] = ..., background: bool = ..., native_ids: _Optional[_Union[_evidence_pb2.NativeIds, _Mapping]] = ..., surface_moment: _Optional[str] = ...) -> None: ...

class Acceptance(_message.Message):
    __slots__ = ("invocation_id", "durability", "durability_code", "duplicate")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    DURABILITY_FIELD_NUMBER: _ClassVar[int]
    DURABILITY_CODE_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    durability: str
    durability_code: _vocabulary_pb2.Durability
    duplicate: bool
    def __init__(self, invocation_id: _Optional[str] = ..., durability: _Optional[str] = ..., durability_code: _Optional[_Union[_vocabulary_pb2.Durability, str]] = ..., duplicate: bool = ...) -> None: ...

class CallRequest(_message.Message):
    __slots__ = ("spec", "wait_ms", "form")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    spec: InvocationSpec
    wait_ms: int
    form: _form_pb2.FormSpec
    def __init__(self, spec: _Optional[_Union[InvocationSpec, _Mapping]] = ..., wait_ms: _Optional[int] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ...) -> None: ...

class CutShort(_message.Message):
    __slots__ = ("reason", "retry_after_ms")
    REASON_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    reason: str
    retry_after_ms: int
    def __init__(self, reason: _Optional[str] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...

class CallResponse(_message.Message):
    __slots__ = ("accepted", "result", "invocation", "formed", "cut_short")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    CUT_SHORT_FIELD_NUMBER: _ClassVar[int]
    accepted: Acceptance
    result: _result_pb2.ToolResult
    invocation: _invocation_pb2.Invocation
    formed: _form_pb2.Formed
    cut_short: CutShort
    def __init__(self, accepted: _Optional[_Union[Acceptance, _Mapping]] = ..., result: _Optional[_Union[_result_pb2.ToolResult, _Mapping]] = ..., invocation: _Optional[_Union[_invocation_pb2.Invocation, _Mapping]] = ..., formed: _Optional[_Union[_form_pb2.Formed, _Mapping]] = ..., cut_short: _Optional[_Union[CutShort, _Mapping]] = ...) -> None: ...

class InvokeRequest(_message.Message):
    __slots__ = ("spec", "form")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    spec: InvocationSpec
    form: _form_pb2.FormSpec
    def __init__(self, spec: _Optional[_Union[InvocationSpec, _Mapping]] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ...) -> None: ...

class InvokeResponse(_message.Message):
    __slots__ = ("events", "accepted", "result", "formed")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    accepted: Acceptance
    result: _result_pb2.ToolResult
    formed: _containers.RepeatedCompositeFieldContainer[_form_pb2.Formed]
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., accepted: _Optional[_Union[Acceptance, _Mapping]] = ..., result: _Optional[_Union[_result_pb2.ToolResult, _Mapping]] = ..., formed: _Optional[_Iterable[_Union[_form_pb2.Formed, _Mapping]]] = ...) -> None: ...

class SubmitInvocationRequest(_message.Message):
    __slots__ = ("spec",)
    SPEC_FIELD_NUMBER: _ClassVar[int]
    spec: InvocationSpec
    def __init__(self, spec: _Optional[_Union[InvocationSpec, _Mapping]] = ...) -> None: ...

class SubmitInvocationResponse(_message.Message):
    __slots__ = ("invocation", "accepted")
    INVOCATION_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    invocation: _invocation_pb2.Invocation
    accepted: Acceptance
    def __init__(self, invocation: _Optional[_Union[_invocation_pb2.Invocation, _Mapping]] = ..., accepted: _Optional[_Union[Acceptance, _Mapping]] = ...) -> None: ...

class GetInvocationRequest(_message.Message):
    __slots__ = ("invocation_id", "view", "include_inputs", "form", "include_trail")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_INPUTS_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TRAIL_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    view: _vocabulary_pb2.RecordView
    include_inputs: bool
    form: _form_pb2.FormSpec
    include_trail: bool
    def __init__(self, invocation_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ..., include_inputs: bool = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ..., include_trail: bool = ...) -> None: ...

class GetInvocationResponse(_message.Message):
    __slots__ = ("invocation", "result", "json", "result_json", "formed", "trail")
    INVOCATION_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    invocation: _invocation_pb2.Invocation
    result: _result_pb2.ToolResult
    json: _payload_pb2.JsonPayload
    result_json: _payload_pb2.JsonPayload
    formed: _form_pb2.Formed
    trail: InvocationTrail
    def __init__(self, invocation: _Optional[_Union[_invocation_pb2.Invocation, _Mapping]] = ..., result: _Optional[_Union[_result_pb2.ToolResult, _Mapping]] = ..., json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., result_json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., formed: _Optional[_Union[_form_pb2.Formed, _Mapping]] = ..., trail: _Optional[_Union[InvocationTrail, _Mapping]] = ...) -> None: ...

class InvocationTrail(_message.Message):
    __slots__ = ("decisions", "mutations", "hooks", "executions", "persistence", "events", "cut", "kept_until")
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    MUTATIONS_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    KEPT_UNTIL_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[_decision_pb2.PermissionDecision]
    mutations: _containers.RepeatedCompositeFieldContainer[_mutation_pb2.InputMutation]
    hooks: _containers.RepeatedCompositeFieldContainer[_hook_pb2.ToolHook]
    executions: _containers.RepeatedCompositeFieldContainer[_evidence_pb2.ExecutionEvidence]
    persistence: _containers.RepeatedCompositeFieldContainer[_persistence_pb2.ResultPersistence]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    cut: _containers.RepeatedScalarFieldContainer[str]
    kept_until: _containers.RepeatedCompositeFieldContainer[_keeping_pb2.KeptUntil]
    def __init__(self, decisions: _Optional[_Iterable[_Union[_decision_pb2.PermissionDecision, _Mapping]]] = ..., mutations: _Optional[_Iterable[_Union[_mutation_pb2.InputMutation, _Mapping]]] = ..., hooks: _Optional[_Iterable[_Union[_hook_pb2.ToolHook, _Mapping]]] = ..., executions: _Optional[_Iterable[_Union[_evidence_pb2.ExecutionEvidence, _Mapping]]] = ..., persistence: _Optional[_Iterable[_Union[_persistence_pb2.ResultPersistence, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., cut: _Optional[_Iterable[str]] = ..., kept_until: _Optional[_Iterable[_Union[_keeping_pb2.KeptUntil, _Mapping]]] = ...) -> None: ...

class GetResultRequest(_message.Message):
    __slots__ = ("invocation_id", "view", "form")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    view: _vocabulary_pb2.RecordView
    form: _form_pb2.FormSpec
    def __init__(self, invocation_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ...) -> None: ...

class GetResultResponse(_message.Message):
    __slots__ = ("result", "json", "formed")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    result: _result_pb2.ToolResult
    json: _payload_pb2.JsonPayload
    formed: _form_pb2.Formed
    def __init__(self, result: _Optional[_Union[_result_pb2.ToolResult, _Mapping]] = ..., json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., formed: _Optional[_Union[_form_pb2.Formed, _Mapping]] = ...) -> None: ...

class WaitInvocationRequest(_message.Message):
    __slots__ = ("invocation_id", "timeout_ms", "form")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    timeout_ms: int
    form: _form_pb2.FormSpec
    def __init__(self, invocation_id: _Optional[str] = ..., timeout_ms: _Optional[int] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ...) -> None: ...

class WaitInvocationResponse(_message.Message):
    __slots__ = ("done", "invocation", "result", "formed", "cut_short")
    DONE_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    CUT_SHORT_FIELD_NUMBER: _ClassVar[int]
    done: bool
    invocation: _invocation_pb2.Invocation
    result: _result_pb2.ToolResult
    formed: _form_pb2.Formed
    cut_short: CutShort
    def __init__(self, done: bool = ..., invocation: _Optional[_Union[_invocation_pb2.Invocation, _Mapping]] = ..., result: _Optional[_Union[_result_pb2.ToolResult, _Mapping]] = ..., formed: _Optional[_Union[_form_pb2.Formed, _Mapping]] = ..., cut_short: _Optional[_Union[CutShort, _Mapping]] = ...) -> None: ...

class WatchInvocationRequest(_message.Message):
    __slots__ = ("invocation_id", "from_seq", "form")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    from_seq: int
    form: _form_pb2.FormSpec
    def __init__(self, invocation_id: _Optional[str] = ..., from_seq: _Optional[int] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ...) -> None: ...

class WatchInvocationResponse(_message.Message):
    __slots__ = ("events", "head_seq", "result", "formed")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEAD_SEQ_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    head_seq: int
    result: _result_pb2.ToolResult
    formed: _containers.RepeatedCompositeFieldContainer[_form_pb2.Formed]
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., head_seq: _Optional[int] = ..., result: _Optional[_Union[_result_pb2.ToolResult, _Mapping]] = ..., formed: _Optional[_Iterable[_Union[_form_pb2.Formed, _Mapping]]] = ...) -> None: ...

class CancelInvocationRequest(_message.Message):
    __slots__ = ("invocation_id", "reason", "requested_by", "request_id", "abort_reason")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ABORT_REASON_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    reason: str
    requested_by: str
    request_id: str
    abort_reason: str
    def __init__(self, invocation_id: _Optional[str] = ..., reason: _Optional[str] = ..., requested_by: _Optional[str] = ..., request_id: _Optional[str] = ..., abort_reason: _Optional[str] = ...) -> None: ...

class CancelInvocationResponse(_message.Message):
    __slots__ = ("invocation", "cancel")
    INVOCATION_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    invocation: _invocation_pb2.Invocation
    cancel: _invocation_pb2.CancelFacts
    def __init__(self, invocation: _Optional[_Union[_invocation_pb2.Invocation, _Mapping]] = ..., cancel: _Optional[_Union[_invocation_pb2.CancelFacts, _Mapping]] = ...) -> None: ...

class ListInvocationsRequest(_message.Message):
    __slots__ = ("status", "status_code", "tool_id", "surface_id", "created_after", "created_before", "page_size", "page_token", "batch_id", "session_ref", "queue_state", "idempotency_key")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AFTER_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    QUEUE_STATE_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    status: str
    status_code: _vocabulary_pb2.InvocationStatus
    tool_id: str
    surface_id: str
    created_after: _timestamp_pb2.Timestamp
    created_before: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    batch_id: str
    session_ref: str
    queue_state: _vocabulary_pb2.QueueState
    idempotency_key: str
    def __init__(self, status: _Optional[str] = ..., status_code: _Optional[_Union[_vocabulary_pb2.InvocationStatus, str]] = ..., tool_id: _Optional[str] = ..., surface_id: _Optional[str] = ..., created_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., batch_id: _Optional[str] = ..., session_ref: _Optional[str] = ..., queue_state: _Optional[_Union[_vocabulary_pb2.QueueState, str]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ListInvocationsResponse(_message.Message):
    __slots__ = ("invocations", "next_page_token", "damaged_ids")
    INVOCATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DAMAGED_IDS_FIELD_NUMBER: _ClassVar[int]
    invocations: _containers.RepeatedCompositeFieldContainer[_invocation_pb2.Invocation]
    next_page_token: str
    damaged_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, invocations: _Optional[_Iterable[_Union[_invocation_pb2.Invocation, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., damaged_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ReadPayloadRequest(_message.Message):
    __slots__ = ("invocation_id", "uri", "digest", "offset", "limit")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    uri: str
    digest: str
    offset: int
    limit: int
    def __init__(self, invocation_id: _Optional[str] = ..., uri: _Optional[str] = ..., digest: _Optional[str] = ..., offset: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class LinkPayloadRequest(_message.Message):
    __slots__ = ("invocation_id", "uri", "digest", "expires_seconds")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_SECONDS_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    uri: str
    digest: str
    expires_seconds: int
    def __init__(self, invocation_id: _Optional[str] = ..., uri: _Optional[str] = ..., digest: _Optional[str] = ..., expires_seconds: _Optional[int] = ...) -> None: ...

class LinkPayloadResponse(_message.Message):
    __slots__ = ("url", "expires_at", "payload")
    URL_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    url: str
    expires_at: _timestamp_pb2.Timestamp
    payload: _payload_pb2.PayloadRef
    def __init__(self, url: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., payload: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ...) -> None: ...

class ListOrphansRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class OrphanedPayload(_message.Message):
    __slots__ = ("uri", "size_bytes", "kept_at")
    URI_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    KEPT_AT_FIELD_NUMBER: _ClassVar[int]
    uri: str
    size_bytes: int
    kept_at: _timestamp_pb2.Timestamp
    def __init__(self, uri: _Optional[str] = ..., size_bytes: _Optional[int] = ..., kept_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListOrphansResponse(_message.Message):
    __slots__ = ("orphans", "more", "grace_seconds")
    ORPHANS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    GRACE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    orphans: _containers.RepeatedCompositeFieldContainer[OrphanedPayload]
    more: bool
    grace_seconds: int
    def __init__(self, orphans: _Optional[_Iterable[_Union[OrphanedPayload, _Mapping]]] = ..., more: bool = ..., grace_seconds: _Optional[int] = ...) -> None: ...

class ReadPayloadResponse(_message.Message):
    __slots__ = ("data", "offset", "total_size_bytes", "media_type", "sha256", "eof")
    DATA_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    EOF_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    offset: int
    total_size_bytes: int
    media_type: str
    sha256: bytes
    eof: bool
    def __init__(self, data: _Optional[bytes] = ..., offset: _Optional[int] = ..., total_size_bytes: _Optional[int] = ..., media_type: _Optional[str] = ..., sha256: _Optional[bytes] = ..., eof: bool = ...) -> None: ...

class GetPersistenceRequest(_message.Message):
    __slots__ = ("invocation_id", "decision_id", "view")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    decision_id: str
    view: _vocabulary_pb2.RecordView
    def __init__(self, invocation_id: _Optional[str] = ..., decision_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ...) -> None: ...

class GetPersistenceResponse(_message.Message):
    __slots__ = ("decisions", "jsons")
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    JSONS_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[_persistence_pb2.ResultPersistence]
    jsons: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    def __init__(self, decisions: _Optional[_Iterable[_Union[_persistence_pb2.ResultPersistence, _Mapping]]] = ..., jsons: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ...) -> None: ...

class ListMutationsRequest(_message.Message):
    __slots__ = ("invocation_id", "view", "page_size", "page_token")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    view: _vocabulary_pb2.RecordView
    page_size: int
    page_token: str
    def __init__(self, invocation_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMutationsResponse(_message.Message):
    __slots__ = ("mutations", "next_page_token", "jsons")
    MUTATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    JSONS_FIELD_NUMBER: _ClassVar[int]
    mutations: _containers.RepeatedCompositeFieldContainer[_mutation_pb2.InputMutation]
    next_page_token: str
    jsons: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    def __init__(self, mutations: _Optional[_Iterable[_Union[_mutation_pb2.InputMutation, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., jsons: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ...) -> None: ...

class ListDecisionsRequest(_message.Message):
    __slots__ = ("invocation_id", "view", "page_size", "page_token")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    view: _vocabulary_pb2.RecordView
    page_size: int
    page_token: str
    def __init__(self, invocation_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDecisionsResponse(_message.Message):
    __slots__ = ("decisions", "jsons", "next_page_token", "left_out")
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    JSONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[_decision_pb2.PermissionDecision]
    jsons: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    next_page_token: str
    left_out: int
    def __init__(self, decisions: _Optional[_Iterable[_Union[_decision_pb2.PermissionDecision, _Mapping]]] = ..., jsons: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., left_out: _Optional[int] = ...) -> None: ...

class ListWorkersRequest(_message.Message):
    __slots__ = ("state", "page_size", "page_token")
    STATE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    state: _worker_pb2.WorkerState
    page_size: int
    page_token: str
    def __init__(self, state: _Optional[_Union[_worker_pb2.WorkerState, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWorkersResponse(_message.Message):
    __slots__ = ("workers", "next_page_token", "scheduler")
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_FIELD_NUMBER: _ClassVar[int]
    workers: _containers.RepeatedCompositeFieldContainer[_worker_pb2.WorkerRecord]
    next_page_token: str
    scheduler: str
    def __init__(self, workers: _Optional[_Iterable[_Union[_worker_pb2.WorkerRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., scheduler: _Optional[str] = ...) -> None: ...

class ListSessionTaintsRequest(_message.Message):
    __slots__ = ("session_ref", "page_size", "page_token")
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_ref: str
    page_size: int
    page_token: str
    def __init__(self, session_ref: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSessionTaintsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[SessionTaints]
    next_page_token: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[SessionTaints, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SessionTaints(_message.Message):
    __slots__ = ("session_ref", "taints", "tainted_at", "kept_until", "cleared")
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    TAINTS_FIELD_NUMBER: _ClassVar[int]
    TAINTED_AT_FIELD_NUMBER: _ClassVar[int]
    KEPT_UNTIL_FIELD_NUMBER: _ClassVar[int]
    CLEARED_FIELD_NUMBER: _ClassVar[int]
    session_ref: str
    taints: _containers.RepeatedCompositeFieldContainer[_assurance_pb2.Taint]
    tainted_at: _timestamp_pb2.Timestamp
    kept_until: _timestamp_pb2.Timestamp
    cleared: _containers.RepeatedCompositeFieldContainer[ClearedTaints]
    def __init__(self, session_ref: _Optional[str] = ..., taints: _Optional[_Iterable[_Union[_assurance_pb2.Taint, _Mapping]]] = ..., tainted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kept_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cleared: _Optional[_Iterable[_Union[ClearedTaints, _Mapping]]] = ...) -> None: ...

class ClearedTaints(_message.Message):
    __slots__ = ("labels", "by", "at", "reason")
    LABELS_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.RepeatedScalarFieldContainer[str]
    by: str
    at: _timestamp_pb2.Timestamp
    reason: str
    def __init__(self, labels: _Optional[_Iterable[str]] = ..., by: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class ClearSessionTaintsRequest(_message.Message):
    __slots__ = ("session_ref", "labels", "reason")
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    session_ref: str
    labels: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    def __init__(self, session_ref: _Optional[str] = ..., labels: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ...) -> None: ...

class ClearSessionTaintsResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: SessionTaints
    def __init__(self, session: _Optional[_Union[SessionTaints, _Mapping]] = ...) -> None: ...

class ProvideInputRequest(_message.Message):
    __slots__ = ("invocation_id", "input_id", "input", "declined", "provided_by")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    DECLINED_FIELD_NUMBER: _ClassVar[int]
    PROVIDED_BY_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    input_id: str
    input: _payload_pb2.JsonPayload
    declined: bool
    provided_by: str
    def __init__(self, invocation_id: _Optional[str] = ..., input_id: _Optional[str] = ..., input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., declined: bool = ..., provided_by: _Optional[str] = ...) -> None: ...

class ProvideInputResponse(_message.Message):
    __slots__ = ("invocation",)
    INVOCATION_FIELD_NUMBER: _ClassVar[int]
    invocation: _invocation_pb2.Invocation
    def __init__(self, invocation: _Optional[_Union[_invocation_pb2.Invocation, _Mapping]] = ...) -> None: ...

class BatchCall(_message.Message):
    __slots__ = ("spec", "depends_on", "sibling_failure_policy")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    DEPENDS_ON_FIELD_NUMBER: _ClassVar[int]
    SIBLING_FAILURE_POLICY_FIELD_NUMBER: _ClassVar[int]
    spec: InvocationSpec
    depends_on: _containers.RepeatedScalarFieldContainer[int]
    sibling_failure_policy: _vocabulary_pb2.SiblingFailurePolicy
    def __init__(self, spec: _Optional[_Union[InvocationSpec, _Mapping]] = ..., depends_on: _Optional[_Iterable[int]] = ..., sibling_failure_policy: _Optional[_Union[_vocabulary_pb2.SiblingFailurePolicy, str]] = ...) -> None: ...

class BatchSpec(_message.Message):
    __slots__ = ("calls", "policy", "idempotency_key", "batch_id", "session_ref", "lock_domain")
    CALLS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    LOCK_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[BatchCall]
    policy: _scheduler_policy_pb2.SchedulerPolicy
    idempotency_key: str
    batch_id: str
    session_ref: str
    lock_domain: str
    def __init__(self, calls: _Optional[_Iterable[_Union[BatchCall, _Mapping]]] = ..., policy: _Optional[_Union[_scheduler_policy_pb2.SchedulerPolicy, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., batch_id: _Optional[str] = ..., session_ref: _Optional[str] = ..., lock_domain: _Optional[str] = ...) -> None: ...

class BatchAcceptance(_message.Message):
    __slots__ = ("batch_id", "durability", "durability_code", "duplicate")
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    DURABILITY_FIELD_NUMBER: _ClassVar[int]
    DURABILITY_CODE_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    batch_id: str
    durability: str
    durability_code: _vocabulary_pb2.Durability
    duplicate: bool
    def __init__(self, batch_id: _Optional[str] = ..., durability: _Optional[str] = ..., durability_code: _Optional[_Union[_vocabulary_pb2.Durability, str]] = ..., duplicate: bool = ...) -> None: ...

class SubmitBatchRequest(_message.Message):
    __slots__ = ("spec",)
    SPEC_FIELD_NUMBER: _ClassVar[int]
    spec: BatchSpec
    def __init__(self, spec: _Optional[_Union[BatchSpec, _Mapping]] = ...) -> None: ...

class SubmitBatchResponse(_message.Message):
    __slots__ = ("batch", "invocations", "accepted")
    BATCH_FIELD_NUMBER: _ClassVar[int]
    INVOCATIONS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    batch: _batch_pb2.Batch
    invocations: _containers.RepeatedCompositeFieldContainer[_invocation_pb2.Invocation]
    accepted: BatchAcceptance
    def __init__(self, batch: _Optional[_Union[_batch_pb2.Batch, _Mapping]] = ..., invocations: _Optional[_Iterable[_Union[_invocation_pb2.Invocation, _Mapping]]] = ..., accepted: _Optional[_Union[BatchAcceptance, _Mapping]] = ...) -> None: ...

class InvokeBatchRequest(_message.Message):
    __slots__ = ("spec", "form")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    spec: BatchSpec
    form: _form_pb2.FormSpec
    def __init__(self, spec: _Optional[_Union[BatchSpec, _Mapping]] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ...) -> None: ...

class InvokeBatchResponse(_message.Message):
    __slots__ = ("items", "accepted", "batch", "context_modifiers")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_MODIFIERS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[BatchItem]
    accepted: BatchAcceptance
    batch: _batch_pb2.Batch
    context_modifiers: _containers.RepeatedCompositeFieldContainer[BatchContextModifiers]
    def __init__(self, items: _Optional[_Iterable[_Union[BatchItem, _Mapping]]] = ..., accepted: _Optional[_Union[BatchAcceptance, _Mapping]] = ..., batch: _Optional[_Union[_batch_pb2.Batch, _Mapping]] = ..., context_modifiers: _Optional[_Iterable[_Union[BatchContextModifiers, _Mapping]]] = ...) -> None: ...

class BatchContextModifiers(_message.Message):
    __slots__ = ("index", "invocation_id", "context_modifiers")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_MODIFIERS_FIELD_NUMBER: _ClassVar[int]
    index: int
    invocation_id: str
    context_modifiers: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    def __init__(self, index: _Optional[int] = ..., invocation_id: _Optional[str] = ..., context_modifiers: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ...) -> None: ...

class BatchItem(_message.Message):
    __slots__ = ("index", "invocation_id", "events", "result", "yield_seq", "formed")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    YIELD_SEQ_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    index: int
    invocation_id: str
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    result: _result_pb2.ToolResult
    yield_seq: int
    formed: _containers.RepeatedCompositeFieldContainer[_form_pb2.Formed]
    def __init__(self, index: _Optional[int] = ..., invocation_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., result: _Optional[_Union[_result_pb2.ToolResult, _Mapping]] = ..., yield_seq: _Optional[int] = ..., formed: _Optional[_Iterable[_Union[_form_pb2.Formed, _Mapping]]] = ...) -> None: ...

class GetBatchRequest(_message.Message):
    __slots__ = ("batch_id", "view")
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    batch_id: str
    view: _vocabulary_pb2.RecordView
    def __init__(self, batch_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ...) -> None: ...

class GetBatchResponse(_message.Message):
    __slots__ = ("batch", "policy_json")
    BATCH_FIELD_NUMBER: _ClassVar[int]
    POLICY_JSON_FIELD_NUMBER: _ClassVar[int]
    batch: _batch_pb2.Batch
    policy_json: _payload_pb2.JsonPayload
    def __init__(self, batch: _Optional[_Union[_batch_pb2.Batch, _Mapping]] = ..., policy_json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class WatchBatchRequest(_message.Message):
    __slots__ = ("batch_id", "after_yield_seq", "form")
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    AFTER_YIELD_SEQ_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    batch_id: str
    after_yield_seq: int
    form: _form_pb2.FormSpec
    def __init__(self, batch_id: _Optional[str] = ..., after_yield_seq: _Optional[int] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ..., **kwargs) -> None: ...

class BatchCursor(_message.Message):
    __slots__ = ("index", "from_seq")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    index: int
    from_seq: int
    def __init__(self, index: _Optional[int] = ..., from_seq: _Optional[int] = ...) -> None: ...

class WatchBatchResponse(_message.Message):
    __slots__ = ("items", "batch", "context_modifiers")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_MODIFIERS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[BatchItem]
    batch: _batch_pb2.Batch
    context_modifiers: _containers.RepeatedCompositeFieldContainer[BatchContextModifiers]
    def __init__(self, items: _Optional[_Iterable[_Union[BatchItem, _Mapping]]] = ..., batch: _Optional[_Union[_batch_pb2.Batch, _Mapping]] = ..., context_modifiers: _Optional[_Iterable[_Union[BatchContextModifiers, _Mapping]]] = ...) -> None: ...

class CancelBatchRequest(_message.Message):
    __slots__ = ("batch_id", "reason", "requested_by", "request_id")
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    batch_id: str
    reason: str
    requested_by: str
    request_id: str
    def __init__(self, batch_id: _Optional[str] = ..., reason: _Optional[str] = ..., requested_by: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CancelBatchResponse(_message.Message):
    __slots__ = ("batch",)
    BATCH_FIELD_NUMBER: _ClassVar[int]
    batch: _batch_pb2.Batch
    def __init__(self, batch: _Optional[_Union[_batch_pb2.Batch, _Mapping]] = ...) -> None: ...

class ListBatchesRequest(_message.Message):
    __slots__ = ("session_ref", "idempotency_key", "created_after", "created_before", "page_size", "page_token")
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AFTER_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_ref: str
    idempotency_key: str
    created_after: _timestamp_pb2.Timestamp
    created_before: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    def __init__(self, session_ref: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., created_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListBatchesResponse(_message.Message):
    __slots__ = ("batches", "next_page_token", "damaged_ids")
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DAMAGED_IDS_FIELD_NUMBER: _ClassVar[int]
    batches: _containers.RepeatedCompositeFieldContainer[_batch_pb2.Batch]
    next_page_token: str
    damaged_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, batches: _Optional[_Iterable[_Union[_batch_pb2.Batch, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., damaged_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListHooksRequest(_message.Message):
    __slots__ = ("invocation_id", "page_size", "page_token", "view")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    page_size: int
    page_token: str
    view: _vocabulary_pb2.RecordView
    def __init__(self, invocation_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ...) -> None: ...

class ListHooksResponse(_message.Message):
    __slots__ = ("hooks", "next_page_token", "left_out", "jsons")
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    JSONS_FIELD_NUMBER: _ClassVar[int]
    hooks: _containers.RepeatedCompositeFieldContainer[_hook_pb2.ToolHook]
    next_page_token: str
    left_out: int
    jsons: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    def __init__(self, hooks: _Optional[_Iterable[_Union[_hook_pb2.ToolHook, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., left_out: _Optional[int] = ..., jsons: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ...) -> None: ...

class ExplainInvocationRequest(_message.Message):
    __slots__ = ("spec",)
    SPEC_FIELD_NUMBER: _ClassVar[int]
    spec: InvocationSpec
    def __init__(self, spec: _Optional[_Union[InvocationSpec, _Mapping]] = ...) -> None: ...

class ExplainInvocationResponse(_message.Message):
    __slots__ = ("decision", "explanation", "approval", "error", "hooks")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    decision: _decision_pb2.PermissionDecision
    explanation: _rule_pb2.DecisionExplanation
    approval: _approval_pb2.Approval
    error: _error_pb2.ToolError
    hooks: _containers.RepeatedCompositeFieldContainer[_hook_pb2.ToolHook]
    def __init__(self, decision: _Optional[_Union[_decision_pb2.PermissionDecision, _Mapping]] = ..., explanation: _Optional[_Union[_rule_pb2.DecisionExplanation, _Mapping]] = ..., approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ..., error: _Optional[_Union[_error_pb2.ToolError, _Mapping]] = ..., hooks: _Optional[_Iterable[_Union[_hook_pb2.ToolHook, _Mapping]]] = ...) -> None: ...

class ExportRecordsRequest(_message.Message):
    __slots__ = ("until", "session_ref", "invocation_id", "include_inputs", "tenant")
    FROM_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_INPUTS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    until: _timestamp_pb2.Timestamp
    session_ref: str
    invocation_id: str
    include_inputs: bool
    tenant: str
    def __init__(self, until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., session_ref: _Optional[str] = ..., invocation_id: _Optional[str] = ..., include_inputs: bool = ..., tenant: _Optional[str] = ..., **kwargs) -> None: ...

class ExportRecordsResponse(_message.Message):
    __slots__ = ("records", "tenant", "until", "complete")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ExportedRecord]
    tenant: str
    until: _timestamp_pb2.Timestamp
    complete: bool
    def __init__(self, records: _Optional[_Iterable[_Union[ExportedRecord, _Mapping]]] = ..., tenant: _Optional[str] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., complete: bool = ...) -> None: ...

class ExportedRecord(_message.Message):
    __slots__ = ("kind", "id", "json")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    kind: str
    id: str
    json: _payload_pb2.JsonPayload
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ..., json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class DeleteInvocationsRequest(_message.Message):
    __slots__ = ("invocation_id", "session_ref", "reason", "requested_by")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    session_ref: str
    reason: str
    requested_by: str
    def __init__(self, invocation_id: _Optional[str] = ..., session_ref: _Optional[str] = ..., reason: _Optional[str] = ..., requested_by: _Optional[str] = ...) -> None: ...

class DeleteInvocationsResponse(_message.Message):
    __slots__ = ("deleted", "held", "living", "more")
    DELETED_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    LIVING_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    deleted: int
    held: int
    living: int
    more: bool
    def __init__(self, deleted: _Optional[int] = ..., held: _Optional[int] = ..., living: _Optional[int] = ..., more: bool = ...) -> None: ...

class SetLegalHoldRequest(_message.Message):
    __slots__ = ("tenant", "session_ref", "invocation_id", "reason", "requested_by")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    tenant: bool
    session_ref: str
    invocation_id: str
    reason: str
    requested_by: str
    def __init__(self, tenant: bool = ..., session_ref: _Optional[str] = ..., invocation_id: _Optional[str] = ..., reason: _Optional[str] = ..., requested_by: _Optional[str] = ...) -> None: ...

class SetLegalHoldResponse(_message.Message):
    __slots__ = ("hold",)
    HOLD_FIELD_NUMBER: _ClassVar[int]
    hold: _legal_hold_pb2.LegalHold
    def __init__(self, hold: _Optional[_Union[_legal_hold_pb2.LegalHold, _Mapping]] = ...) -> None: ...

class ClearLegalHoldRequest(_message.Message):
    __slots__ = ("tenant", "session_ref", "invocation_id", "requested_by")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    tenant: bool
    session_ref: str
    invocation_id: str
    requested_by: str
    def __init__(self, tenant: bool = ..., session_ref: _Optional[str] = ..., invocation_id: _Optional[str] = ..., requested_by: _Optional[str] = ...) -> None: ...

class ClearLegalHoldResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListLegalHoldsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListLegalHoldsResponse(_message.Message):
    __slots__ = ("holds",)
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    holds: _containers.RepeatedCompositeFieldContainer[_legal_hold_pb2.LegalHold]
    def __init__(self, holds: _Optional[_Iterable[_Union[_legal_hold_pb2.LegalHold, _Mapping]]] = ...) -> None: ...

class ReadOriginalRequest(_message.Message):
    __slots__ = ("invocation_id", "reason", "requested_by")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    reason: str
    requested_by: str
    def __init__(self, invocation_id: _Optional[str] = ..., reason: _Optional[str] = ..., requested_by: _Optional[str] = ...) -> None: ...

class ReadOriginalResponse(_message.Message):
    __slots__ = ("output", "bytes")
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    output: OriginalOutput
    bytes: OriginalBytes
    def __init__(self, output: _Optional[_Union[OriginalOutput, _Mapping]] = ..., bytes: _Optional[_Union[OriginalBytes, _Mapping]] = ...) -> None: ...

class OriginalOutput(_message.Message):
    __slots__ = ("content", "structured_content", "error", "summary", "rules", "kept_at", "expires_at")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    KEPT_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    content: _containers.RepeatedCompositeFieldContainer[_result_pb2.ContentBlock]
    structured_content: _payload_pb2.JsonPayload
    error: _error_pb2.ToolError
    summary: str
    rules: _containers.RepeatedScalarFieldContainer[str]
    kept_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, content: _Optional[_Iterable[_Union[_result_pb2.ContentBlock, _Mapping]]] = ..., structured_content: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., error: _Optional[_Union[_error_pb2.ToolError, _Mapping]] = ..., summary: _Optional[str] = ..., rules: _Optional[_Iterable[str]] = ..., kept_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class OriginalBytes(_message.Message):
    __slots__ = ("uri", "media_type", "total_size_bytes", "offset", "data")
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    uri: str
    media_type: str
    total_size_bytes: int
    offset: int
    data: bytes
    def __init__(self, uri: _Optional[str] = ..., media_type: _Optional[str] = ..., total_size_bytes: _Optional[int] = ..., offset: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...
