import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolHook(_message.Message):
    __slots__ = ("schema_version", "hook_id", "hook_event", "invocation_id", "tool_id", "matcher", "outputs", "permission_result", "updated_input", "additional_context", "stop", "updated_output", "started_at", "ended_at")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_EVENT_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_RESULT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_INPUT_FIELD_NUMBER: _ClassVar[int]
    ADDITIONAL_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    UPDATED_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    hook_id: str
    hook_event: _vocabulary_pb2.HookEvent
    invocation_id: str
    tool_id: str
    matcher: _payload_pb2.JsonPayload
    outputs: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    permission_result: HookPermission
    updated_input: _payload_pb2.JsonPayload
    additional_context: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    stop: HookStop
    updated_output: _payload_pb2.JsonPayload
    started_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    def __init__(self, schema_version: _Optional[str] = ..., hook_id: _Optional[str] = ..., hook_event: _Optional[_Union[_vocabulary_pb2.HookEvent, str]] = ..., invocation_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., matcher: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., outputs: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., permission_result: _Optional[_Union[HookPermission, _Mapping]] = ..., updated_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., additional_context: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., stop: _Optional[_Union[HookStop, _Mapping]] = ..., updated_output: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class HookPermission(_message.Message):
    __slots__ = ("behavior", "message")
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    behavior: _vocabulary_pb2.Behavior
    message: str
    def __init__(self, behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., message: _Optional[str] = ...) -> None: ...

class HookStop(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
