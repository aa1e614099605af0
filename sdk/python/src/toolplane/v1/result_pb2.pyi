import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import error_pb2 as _error_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import refs_pb2 as _refs_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolResult(_message.Message):
    __slots__ = ("schema_version", "result_id", "invocation_id", "status", "status_code", "is_error", "content", "structured_content", "model_facing_content", "ui_facing_summary", "resource_refs", "artifact_refs", "evidence_refs", "policy_refs", "telemetry_refs", "persistence_refs", "summary", "redaction_state", "error", "created_at", "context_modifiers", "ui_facing_rendering", "transcript_search_text")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    RESULT_ID_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FACING_CONTENT_FIELD_NUMBER: _ClassVar[int]
    UI_FACING_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_REFS_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_REFS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_REFS_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    TELEMETRY_REFS_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_REFS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    REDACTION_STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_MODIFIERS_FIELD_NUMBER: _ClassVar[int]
    UI_FACING_RENDERING_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_SEARCH_TEXT_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    result_id: str
    invocation_id: str
    status: str
    status_code: _vocabulary_pb2.ResultStatus
    is_error: bool
    content: _containers.RepeatedCompositeFieldContainer[ContentBlock]
    structured_content: _payload_pb2.JsonPayload
    model_facing_content: _containers.RepeatedCompositeFieldContainer[ContentBlock]
    ui_facing_summary: str
    resource_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.ResourceRef]
    artifact_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.ArtifactRef]
    evidence_refs: _containers.RepeatedScalarFieldContainer[str]
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    telemetry_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.TelemetryRef]
    persistence_refs: _containers.RepeatedScalarFieldContainer[str]
    summary: str
    redaction_state: _vocabulary_pb2.RedactionState
    error: _error_pb2.ToolError
    created_at: _timestamp_pb2.Timestamp
    context_modifiers: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    ui_facing_rendering: _payload_pb2.JsonPayload
    transcript_search_text: str
    def __init__(self, schema_version: _Optional[str] = ..., result_id: _Optional[str] = ..., invocation_id: _Optional[str] = ..., status: _Optional[str] = ..., status_code: _Optional[_Union[_vocabulary_pb2.ResultStatus, str]] = ..., is_error: bool = ..., content: _Optional[_Iterable[_Union[ContentBlock, _Mapping]]] = ..., structured_content: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., model_facing_content: _Optional[_Iterable[_Union[ContentBlock, _Mapping]]] = ..., ui_facing_summary: _Optional[str] = ..., resource_refs: _Optional[_Iterable[_Union[_refs_pb2.ResourceRef, _Mapping]]] = ..., artifact_refs: _Optional[_Iterable[_Union[_refs_pb2.ArtifactRef, _Mapping]]] = ..., evidence_refs: _Optional[_Iterable[str]] = ..., policy_refs: _Optional[_Iterable[str]] = ..., telemetry_refs: _Optional[_Iterable[_Union[_refs_pb2.TelemetryRef, _Mapping]]] = ..., persistence_refs: _Optional[_Iterable[str]] = ..., summary: _Optional[str] = ..., redaction_state: _Optional[_Union[_vocabulary_pb2.RedactionState, str]] = ..., error: _Optional[_Union[_error_pb2.ToolError, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., context_modifiers: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., ui_facing_rendering: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., transcript_search_text: _Optional[str] = ...) -> None: ...

class ContentBlock(_message.Message):
    __slots__ = ("text", "log", "diff", "file", "resource_link", "artifact_ref", "persisted_output_ref", "empty", "image", "audio", "video", "embedded_resource", "handoff_ref")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    DIFF_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_LINK_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_REF_FIELD_NUMBER: _ClassVar[int]
    PERSISTED_OUTPUT_REF_FIELD_NUMBER: _ClassVar[int]
    EMPTY_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    VIDEO_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_RESOURCE_FIELD_NUMBER: _ClassVar[int]
    HANDOFF_REF_FIELD_NUMBER: _ClassVar[int]
    text: TextBlock
    log: LogBlock
    diff: DiffBlock
    file: _payload_pb2.PayloadRef
    resource_link: _refs_pb2.ResourceRef
    artifact_ref: _refs_pb2.ArtifactRef
    persisted_output_ref: _payload_pb2.PayloadRef
    empty: EmptyBlock
    image: MediaBlock
    audio: MediaBlock
    video: MediaBlock
    embedded_resource: EmbeddedResource
    handoff_ref: HandoffRef
    def __init__(self, text: _Optional[_Union[TextBlock, _Mapping]] = ..., log: _Optional[_Union[LogBlock, _Mapping]] = ..., diff: _Optional[_Union[DiffBlock, _Mapping]] = ..., file: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., resource_link: _Optional[_Union[_refs_pb2.ResourceRef, _Mapping]] = ..., artifact_ref: _Optional[_Union[_refs_pb2.ArtifactRef, _Mapping]] = ..., persisted_output_ref: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., empty: _Optional[_Union[EmptyBlock, _Mapping]] = ..., image: _Optional[_Union[MediaBlock, _Mapping]] = ..., audio: _Optional[_Union[MediaBlock, _Mapping]] = ..., video: _Optional[_Union[MediaBlock, _Mapping]] = ..., embedded_resource: _Optional[_Union[EmbeddedResource, _Mapping]] = ..., handoff_ref: _Optional[_Union[HandoffRef, _Mapping]] = ...) -> None: ...

class TextBlock(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class LogBlock(_message.Message):
    __slots__ = ("text", "stream")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    text: str
    stream: str
    def __init__(self, text: _Optional[str] = ..., stream: _Optional[str] = ...) -> None: ...

class DiffBlock(_message.Message):
    __slots__ = ("text", "path", "lines", "old_text", "new_text")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    OLD_TEXT_FIELD_NUMBER: _ClassVar[int]
    NEW_TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    path: str
    lines: _containers.RepeatedScalarFieldContainer[int]
    old_text: str
    new_text: str
    def __init__(self, text: _Optional[str] = ..., path: _Optional[str] = ..., lines: _Optional[_Iterable[int]] = ..., old_text: _Optional[str] = ..., new_text: _Optional[str] = ...) -> None: ...

class MediaBlock(_message.Message):
    __slots__ = ("payload", "description")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    payload: _payload_pb2.PayloadRef
    description: str
    def __init__(self, payload: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., description: _Optional[str] = ...) -> None: ...

class EmbeddedResource(_message.Message):
    __slots__ = ("uri", "media_type", "text", "payload")
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    uri: str
    media_type: str
    text: str
    payload: _payload_pb2.PayloadRef
    def __init__(self, uri: _Optional[str] = ..., media_type: _Optional[str] = ..., text: _Optional[str] = ..., payload: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ...) -> None: ...

class HandoffRef(_message.Message):
    __slots__ = ("handoff_id", "target", "uri", "reason")
    HANDOFF_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    handoff_id: str
    target: str
    uri: str
    reason: str
    def __init__(self, handoff_id: _Optional[str] = ..., target: _Optional[str] = ..., uri: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class EmptyBlock(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
