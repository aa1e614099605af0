import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResultPersistence(_message.Message):
    __slots__ = ("schema_version", "decision_id", "invocation_id", "result_id", "strategy", "threshold", "original_size_bytes", "preview_size_bytes", "persisted_ref", "redaction_state", "reason", "created_at", "output", "expires_at")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_ID_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PERSISTED_REF_FIELD_NUMBER: _ClassVar[int]
    REDACTION_STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    decision_id: str
    invocation_id: str
    result_id: str
    strategy: _vocabulary_pb2.PersistenceStrategy
    threshold: PersistenceThreshold
    original_size_bytes: int
    preview_size_bytes: int
    persisted_ref: _payload_pb2.PayloadRef
    redaction_state: _vocabulary_pb2.RedactionState
    reason: str
    created_at: _timestamp_pb2.Timestamp
    output: str
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, schema_version: _Optional[str] = ..., decision_id: _Optional[str] = ..., invocation_id: _Optional[str] = ..., result_id: _Optional[str] = ..., strategy: _Optional[_Union[_vocabulary_pb2.PersistenceStrategy, str]] = ..., threshold: _Optional[_Union[PersistenceThreshold, _Mapping]] = ..., original_size_bytes: _Optional[int] = ..., preview_size_bytes: _Optional[int] = ..., persisted_ref: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ..., redaction_state: _Optional[_Union[_vocabulary_pb2.RedactionState, str]] = ..., reason: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., output: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PersistenceThreshold(_message.Message):
    __slots__ = ("max_inline_chars", "max_inline_bytes")
    MAX_INLINE_CHARS_FIELD_NUMBER: _ClassVar[int]
    MAX_INLINE_BYTES_FIELD_NUMBER: _ClassVar[int]
    max_inline_chars: int
    max_inline_bytes: int
    def __init__(self, max_inline_chars: _Optional[int] = ..., max_inline_bytes: _Optional[int] = ...) -> None: ...
