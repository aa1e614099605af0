import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import deferred_tool_pb2 as _deferred_tool_pb2
from toolplane.v1 import provider_pb2 as _provider_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SynonymOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SYNONYM_ORIGIN_UNSPECIFIED: _ClassVar[SynonymOrigin]
    SYNONYM_ORIGIN_CONFIGURED_FOR_ALL: _ClassVar[SynonymOrigin]
    SYNONYM_ORIGIN_CONFIGURED: _ClassVar[SynonymOrigin]
    SYNONYM_ORIGIN_ADDED: _ClassVar[SynonymOrigin]
SYNONYM_ORIGIN_UNSPECIFIED: SynonymOrigin
SYNONYM_ORIGIN_CONFIGURED_FOR_ALL: SynonymOrigin
SYNONYM_ORIGIN_CONFIGURED: SynonymOrigin
SYNONYM_ORIGIN_ADDED: SynonymOrigin

class SearchResult(_message.Message):
    __slots__ = ("schema_version", "query", "query_type", "matches", "total_deferred_tools", "pending_providers", "missing_names", "next_action", "refs", "found", "ambiguous_names", "total_matches", "more_matches", "next_page_token", "provider_states", "meaning", "reranked")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_TYPE_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_DEFERRED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    PENDING_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    MISSING_NAMES_FIELD_NUMBER: _ClassVar[int]
    NEXT_ACTION_FIELD_NUMBER: _ClassVar[int]
    REFS_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    AMBIGUOUS_NAMES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MATCHES_FIELD_NUMBER: _ClassVar[int]
    MORE_MATCHES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_STATES_FIELD_NUMBER: _ClassVar[int]
    MEANING_FIELD_NUMBER: _ClassVar[int]
    RERANKED_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    query: str
    query_type: str
    matches: _containers.RepeatedScalarFieldContainer[str]
    total_deferred_tools: int
    pending_providers: _containers.RepeatedScalarFieldContainer[str]
    missing_names: _containers.RepeatedScalarFieldContainer[str]
    next_action: str
    refs: _containers.RepeatedCompositeFieldContainer[_deferred_tool_pb2.DeferredToolRef]
    found: _containers.RepeatedCompositeFieldContainer[FoundTool]
    ambiguous_names: _containers.RepeatedCompositeFieldContainer[AmbiguousName]
    total_matches: int
    more_matches: bool
    next_page_token: str
    provider_states: _containers.RepeatedCompositeFieldContainer[ProviderStanding]
    meaning: str
    reranked: str
    def __init__(self, schema_version: _Optional[str] = ..., query: _Optional[str] = ..., query_type: _Optional[str] = ..., matches: _Optional[_Iterable[str]] = ..., total_deferred_tools: _Optional[int] = ..., pending_providers: _Optional[_Iterable[str]] = ..., missing_names: _Optional[_Iterable[str]] = ..., next_action: _Optional[str] = ..., refs: _Optional[_Iterable[_Union[_deferred_tool_pb2.DeferredToolRef, _Mapping]]] = ..., found: _Optional[_Iterable[_Union[FoundTool, _Mapping]]] = ..., ambiguous_names: _Optional[_Iterable[_Union[AmbiguousName, _Mapping]]] = ..., total_matches: _Optional[int] = ..., more_matches: bool = ..., next_page_token: _Optional[str] = ..., provider_states: _Optional[_Iterable[_Union[ProviderStanding, _Mapping]]] = ..., meaning: _Optional[str] = ..., reranked: _Optional[str] = ...) -> None: ...

class FoundTool(_message.Message):
    __slots__ = ("tool_id", "name", "title", "description", "score", "why", "loading_state", "next_action")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    LOADING_STATE_FIELD_NUMBER: _ClassVar[int]
    NEXT_ACTION_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    title: str
    description: str
    score: int
    why: _containers.RepeatedCompositeFieldContainer[MatchReason]
    loading_state: _vocabulary_pb2.LoadingState
    next_action: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., score: _Optional[int] = ..., why: _Optional[_Iterable[_Union[MatchReason, _Mapping]]] = ..., loading_state: _Optional[_Union[_vocabulary_pb2.LoadingState, str]] = ..., next_action: _Optional[str] = ...) -> None: ...

class MatchReason(_message.Message):
    __slots__ = ("asked", "found", "how", "fields", "times", "score")
    ASKED_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    HOW_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    asked: str
    found: str
    how: str
    fields: _containers.RepeatedScalarFieldContainer[str]
    times: int
    score: int
    def __init__(self, asked: _Optional[str] = ..., found: _Optional[str] = ..., how: _Optional[str] = ..., fields: _Optional[_Iterable[str]] = ..., times: _Optional[int] = ..., score: _Optional[int] = ...) -> None: ...

class AmbiguousName(_message.Message):
    __slots__ = ("name", "candidates")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    name: str
    candidates: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., candidates: _Optional[_Iterable[str]] = ...) -> None: ...

class ProviderStanding(_message.Message):
    __slots__ = ("provider_id", "state")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    state: _provider_pb2.ProviderState
    def __init__(self, provider_id: _Optional[str] = ..., state: _Optional[_Union[_provider_pb2.ProviderState, str]] = ...) -> None: ...

class SynonymGroup(_message.Message):
    __slots__ = ("words", "origin", "added_at", "added_by")
    WORDS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ADDED_AT_FIELD_NUMBER: _ClassVar[int]
    ADDED_BY_FIELD_NUMBER: _ClassVar[int]
    words: _containers.RepeatedScalarFieldContainer[str]
    origin: SynonymOrigin
    added_at: _timestamp_pb2.Timestamp
    added_by: str
    def __init__(self, words: _Optional[_Iterable[str]] = ..., origin: _Optional[_Union[SynonymOrigin, str]] = ..., added_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., added_by: _Optional[str] = ...) -> None: ...
