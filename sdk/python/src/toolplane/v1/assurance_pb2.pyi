import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallAssurance(_message.Message):
    __slots__ = ("confidence", "verdict", "evidence_refs", "missing_evidence", "taints")
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_REFS_FIELD_NUMBER: _ClassVar[int]
    MISSING_EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    TAINTS_FIELD_NUMBER: _ClassVar[int]
    confidence: float
    verdict: str
    evidence_refs: _containers.RepeatedScalarFieldContainer[str]
    missing_evidence: _containers.RepeatedScalarFieldContainer[str]
    taints: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, confidence: _Optional[float] = ..., verdict: _Optional[str] = ..., evidence_refs: _Optional[_Iterable[str]] = ..., missing_evidence: _Optional[_Iterable[str]] = ..., taints: _Optional[_Iterable[str]] = ...) -> None: ...

class Taint(_message.Message):
    __slots__ = ("label", "invocation_ids", "since")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_IDS_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    label: str
    invocation_ids: _containers.RepeatedScalarFieldContainer[str]
    since: _timestamp_pb2.Timestamp
    def __init__(self, label: _Optional[str] = ..., invocation_ids: _Optional[_Iterable[str]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class KnownTaints(_message.Message):
    __slots__ = ("taints",)
    TAINTS_FIELD_NUMBER: _ClassVar[int]
    taints: _containers.RepeatedCompositeFieldContainer[Taint]
    def __init__(self, taints: _Optional[_Iterable[_Union[Taint, _Mapping]]] = ...) -> None: ...
