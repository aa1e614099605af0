from toolplane.v1 import payload_pb2 as _payload_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResourceRef(_message.Message):
    __slots__ = ("resource_id", "uri", "media_type", "digest", "size_bytes", "access", "relation")
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    resource_id: str
    uri: str
    media_type: str
    digest: str
    size_bytes: int
    access: str
    relation: str
    def __init__(self, resource_id: _Optional[str] = ..., uri: _Optional[str] = ..., media_type: _Optional[str] = ..., digest: _Optional[str] = ..., size_bytes: _Optional[int] = ..., access: _Optional[str] = ..., relation: _Optional[str] = ...) -> None: ...

class ArtifactRef(_message.Message):
    __slots__ = ("artifact_id", "uri", "media_type", "digest", "version", "relation", "payload")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    uri: str
    media_type: str
    digest: str
    version: str
    relation: str
    payload: _payload_pb2.PayloadRef
    def __init__(self, artifact_id: _Optional[str] = ..., uri: _Optional[str] = ..., media_type: _Optional[str] = ..., digest: _Optional[str] = ..., version: _Optional[str] = ..., relation: _Optional[str] = ..., payload: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ...) -> None: ...

class TelemetryRef(_message.Message):
    __slots__ = ("trace_id", "span_id")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    span_id: str
    def __init__(self, trace_id: _Optional[str] = ..., span_id: _Optional[str] = ...) -> None: ...
