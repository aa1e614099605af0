from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

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
