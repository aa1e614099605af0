import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallKeeping(_message.Message):
    __slots__ = ("risk_level", "data_sensitivity", "retention_hint", "removed")
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    DATA_SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    RETENTION_HINT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    risk_level: _vocabulary_pb2.RiskLevel
    data_sensitivity: str
    retention_hint: str
    removed: _containers.RepeatedCompositeFieldContainer[RemovedRecords]
    def __init__(self, risk_level: _Optional[_Union[_vocabulary_pb2.RiskLevel, str]] = ..., data_sensitivity: _Optional[str] = ..., retention_hint: _Optional[str] = ..., removed: _Optional[_Iterable[_Union[RemovedRecords, _Mapping]]] = ...) -> None: ...

class RemovedRecords(_message.Message):
    __slots__ = ("at",)
    CLASS_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., **kwargs) -> None: ...

class KeptUntil(_message.Message):
    __slots__ = ("until", "rule", "removed_at", "held")
    CLASS_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    REMOVED_AT_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    until: _timestamp_pb2.Timestamp
    rule: str
    removed_at: _timestamp_pb2.Timestamp
    held: str
    def __init__(self, until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., rule: _Optional[str] = ..., removed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., held: _Optional[str] = ..., **kwargs) -> None: ...
