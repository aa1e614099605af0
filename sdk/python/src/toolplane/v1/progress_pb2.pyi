import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import refs_pb2 as _refs_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolProgress(_message.Message):
    __slots__ = ("schema_version", "progress_id", "invocation_id", "sequence", "status", "status_code", "message", "percent", "current_step", "total_steps", "elapsed_ms", "bytes_read", "bytes_written", "line_count", "task_id", "partial_result_refs", "artifact_refs", "timestamp")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_ID_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    CURRENT_STEP_FIELD_NUMBER: _ClassVar[int]
    TOTAL_STEPS_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    BYTES_READ_FIELD_NUMBER: _ClassVar[int]
    BYTES_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_RESULT_REFS_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_REFS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    progress_id: str
    invocation_id: str
    sequence: int
    status: str
    status_code: _vocabulary_pb2.ProgressStatus
    message: str
    percent: float
    current_step: str
    total_steps: int
    elapsed_ms: int
    bytes_read: int
    bytes_written: int
    line_count: int
    task_id: str
    partial_result_refs: _containers.RepeatedScalarFieldContainer[str]
    artifact_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.ArtifactRef]
    timestamp: _timestamp_pb2.Timestamp
    def __init__(self, schema_version: _Optional[str] = ..., progress_id: _Optional[str] = ..., invocation_id: _Optional[str] = ..., sequence: _Optional[int] = ..., status: _Optional[str] = ..., status_code: _Optional[_Union[_vocabulary_pb2.ProgressStatus, str]] = ..., message: _Optional[str] = ..., percent: _Optional[float] = ..., current_step: _Optional[str] = ..., total_steps: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., bytes_read: _Optional[int] = ..., bytes_written: _Optional[int] = ..., line_count: _Optional[int] = ..., task_id: _Optional[str] = ..., partial_result_refs: _Optional[_Iterable[str]] = ..., artifact_refs: _Optional[_Iterable[_Union[_refs_pb2.ArtifactRef, _Mapping]]] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
