import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import refs_pb2 as _refs_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Event(_message.Message):
    __slots__ = ("schema_version", "event_id", "event_type", "event_class", "source", "subject", "time", "invocation_id", "tool_id", "data", "trace_refs", "sequence")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EVENT_CLASS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    TRACE_REFS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    event_id: str
    event_type: str
    event_class: _vocabulary_pb2.EventClass
    source: str
    subject: str
    time: _timestamp_pb2.Timestamp
    invocation_id: str
    tool_id: str
    data: _payload_pb2.JsonPayload
    trace_refs: _containers.RepeatedCompositeFieldContainer[_refs_pb2.TelemetryRef]
    sequence: int
    def __init__(self, schema_version: _Optional[str] = ..., event_id: _Optional[str] = ..., event_type: _Optional[str] = ..., event_class: _Optional[_Union[_vocabulary_pb2.EventClass, str]] = ..., source: _Optional[str] = ..., subject: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., invocation_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., data: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., trace_refs: _Optional[_Iterable[_Union[_refs_pb2.TelemetryRef, _Mapping]]] = ..., sequence: _Optional[int] = ...) -> None: ...
