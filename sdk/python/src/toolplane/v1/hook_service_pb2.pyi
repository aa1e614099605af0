import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import decision_pb2 as _decision_pb2
from toolplane.v1 import error_pb2 as _error_pb2
from toolplane.v1 import hook_pb2 as _hook_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import result_pb2 as _result_pb2
from toolplane.v1 import rule_pb2 as _rule_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunHookRequest(_message.Message):
    __slots__ = ("hook_id", "hook_event", "hook_event_code", "tenant", "invocation_id", "native_call_id", "tool_id", "tool_name", "session_ref", "surface_id", "actor_ref", "permission_mode", "observable_input", "decision", "content", "structured_content", "error", "duration_ms", "deadline_at")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_EVENT_FIELD_NUMBER: _ClassVar[int]
    HOOK_EVENT_CODE_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_REF_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MODE_FIELD_NUMBER: _ClassVar[int]
    OBSERVABLE_INPUT_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_AT_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    hook_event: str
    hook_event_code: _vocabulary_pb2.HookEvent
    tenant: str
    invocation_id: str
    native_call_id: str
    tool_id: str
    tool_name: str
    session_ref: str
    surface_id: str
    actor_ref: str
    permission_mode: str
    observable_input: _payload_pb2.JsonPayload
    decision: _decision_pb2.PermissionDecision
    content: _containers.RepeatedCompositeFieldContainer[_result_pb2.ContentBlock]
    structured_content: _payload_pb2.JsonPayload
    error: _error_pb2.ToolError
    duration_ms: int
    deadline_at: _timestamp_pb2.Timestamp
    def __init__(self, hook_id: _Optional[str] = ..., hook_event: _Optional[str] = ..., hook_event_code: _Optional[_Union[_vocabulary_pb2.HookEvent, str]] = ..., tenant: _Optional[str] = ..., invocation_id: _Optional[str] = ..., native_call_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., session_ref: _Optional[str] = ..., surface_id: _Optional[str] = ..., actor_ref: _Optional[str] = ..., permission_mode: _Optional[str] = ..., observable_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., decision: _Optional[_Union[_decision_pb2.PermissionDecision, _Mapping]] = ..., content: _Optional[_Iterable[_Union[_result_pb2.ContentBlock, _Mapping]]] = ..., structured_content: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., error: _Optional[_Union[_error_pb2.ToolError, _Mapping]] = ..., duration_ms: _Optional[int] = ..., deadline_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RunHookResponse(_message.Message):
    __slots__ = ("output",)
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    output: HookOutput
    def __init__(self, output: _Optional[_Union[HookOutput, _Mapping]] = ...) -> None: ...

class HookOutput(_message.Message):
    __slots__ = ("message", "progress", "updated_input", "permission_result", "additional_context", "stop", "updated_output", "classifier", "persistence", "block")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    UPDATED_INPUT_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_RESULT_FIELD_NUMBER: _ClassVar[int]
    ADDITIONAL_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    UPDATED_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    CLASSIFIER_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    message: str
    progress: _containers.RepeatedScalarFieldContainer[str]
    updated_input: _payload_pb2.JsonPayload
    permission_result: _hook_pb2.HookPermission
    additional_context: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    stop: _hook_pb2.HookStop
    updated_output: _payload_pb2.JsonPayload
    classifier: _rule_pb2.ClassifierCheck
    persistence: _vocabulary_pb2.PersistenceStrategy
    block: str
    def __init__(self, message: _Optional[str] = ..., progress: _Optional[_Iterable[str]] = ..., updated_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., permission_result: _Optional[_Union[_hook_pb2.HookPermission, _Mapping]] = ..., additional_context: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., stop: _Optional[_Union[_hook_pb2.HookStop, _Mapping]] = ..., updated_output: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., classifier: _Optional[_Union[_rule_pb2.ClassifierCheck, _Mapping]] = ..., persistence: _Optional[_Union[_vocabulary_pb2.PersistenceStrategy, str]] = ..., block: _Optional[str] = ...) -> None: ...
