import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RerankRequest(_message.Message):
    __slots__ = ("tenant", "query", "candidates", "deadline_at")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_AT_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    query: str
    candidates: _containers.RepeatedCompositeFieldContainer[RerankCandidate]
    deadline_at: _timestamp_pb2.Timestamp
    def __init__(self, tenant: _Optional[str] = ..., query: _Optional[str] = ..., candidates: _Optional[_Iterable[_Union[RerankCandidate, _Mapping]]] = ..., deadline_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RerankCandidate(_message.Message):
    __slots__ = ("tool_id", "name", "title", "description", "hint")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    title: str
    description: str
    hint: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., hint: _Optional[str] = ...) -> None: ...

class RerankResponse(_message.Message):
    __slots__ = ("ranked",)
    RANKED_FIELD_NUMBER: _ClassVar[int]
    ranked: _containers.RepeatedCompositeFieldContainer[RankedTool]
    def __init__(self, ranked: _Optional[_Iterable[_Union[RankedTool, _Mapping]]] = ...) -> None: ...

class RankedTool(_message.Message):
    __slots__ = ("tool_id", "score")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    score: float
    def __init__(self, tool_id: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...
