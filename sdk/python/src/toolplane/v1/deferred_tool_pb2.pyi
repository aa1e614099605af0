from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DeferredToolRef(_message.Message):
    __slots__ = ("schema_version", "tool_id", "name", "namespace", "search_hint", "source", "schema_visibility", "loading_state", "reason", "pending_provider_or_server", "selection_ref", "native_ref")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SEARCH_HINT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    LOADING_STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PENDING_PROVIDER_OR_SERVER_FIELD_NUMBER: _ClassVar[int]
    SELECTION_REF_FIELD_NUMBER: _ClassVar[int]
    NATIVE_REF_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    tool_id: str
    name: str
    namespace: str
    search_hint: str
    source: str
    schema_visibility: _vocabulary_pb2.SchemaVisibility
    loading_state: _vocabulary_pb2.LoadingState
    reason: str
    pending_provider_or_server: str
    selection_ref: str
    native_ref: _payload_pb2.JsonPayload
    def __init__(self, schema_version: _Optional[str] = ..., tool_id: _Optional[str] = ..., name: _Optional[str] = ..., namespace: _Optional[str] = ..., search_hint: _Optional[str] = ..., source: _Optional[str] = ..., schema_visibility: _Optional[_Union[_vocabulary_pb2.SchemaVisibility, str]] = ..., loading_state: _Optional[_Union[_vocabulary_pb2.LoadingState, str]] = ..., reason: _Optional[str] = ..., pending_provider_or_server: _Optional[str] = ..., selection_ref: _Optional[str] = ..., native_ref: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...
