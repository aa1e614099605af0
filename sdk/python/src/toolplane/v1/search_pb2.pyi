from toolplane.v1 import deferred_tool_pb2 as _deferred_tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SearchResult(_message.Message):
    __slots__ = ("schema_version", "query", "query_type", "matches", "total_deferred_tools", "pending_providers", "missing_names", "next_action", "refs")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_TYPE_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_DEFERRED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    PENDING_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    MISSING_NAMES_FIELD_NUMBER: _ClassVar[int]
    NEXT_ACTION_FIELD_NUMBER: _ClassVar[int]
    REFS_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    query: str
    query_type: str
    matches: _containers.RepeatedScalarFieldContainer[str]
    total_deferred_tools: int
    pending_providers: _containers.RepeatedScalarFieldContainer[str]
    missing_names: _containers.RepeatedScalarFieldContainer[str]
    next_action: str
    refs: _containers.RepeatedCompositeFieldContainer[_deferred_tool_pb2.DeferredToolRef]
    def __init__(self, schema_version: _Optional[str] = ..., query: _Optional[str] = ..., query_type: _Optional[str] = ..., matches: _Optional[_Iterable[str]] = ..., total_deferred_tools: _Optional[int] = ..., pending_providers: _Optional[_Iterable[str]] = ..., missing_names: _Optional[_Iterable[str]] = ..., next_action: _Optional[str] = ..., refs: _Optional[_Iterable[_Union[_deferred_tool_pb2.DeferredToolRef, _Mapping]]] = ...) -> None: ...
