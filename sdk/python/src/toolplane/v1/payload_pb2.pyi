from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JsonPayload(_message.Message):
    __slots__ = ("inline", "ref", "sha256", "size_bytes", "media_type", "redaction")
    INLINE_FIELD_NUMBER: _ClassVar[int]
    REF_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    REDACTION_FIELD_NUMBER: _ClassVar[int]
    inline: bytes
    ref: str
    sha256: bytes
    size_bytes: int
    media_type: str
    redaction: _vocabulary_pb2.RedactionState
    def __init__(self, inline: _Optional[bytes] = ..., ref: _Optional[str] = ..., sha256: _Optional[bytes] = ..., size_bytes: _Optional[int] = ..., media_type: _Optional[str] = ..., redaction: _Optional[_Union[_vocabulary_pb2.RedactionState, str]] = ...) -> None: ...

class PayloadRef(_message.Message):
    __slots__ = ("uri", "media_type", "digest", "size_bytes")
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    uri: str
    media_type: str
    digest: str
    size_bytes: int
    def __init__(self, uri: _Optional[str] = ..., media_type: _Optional[str] = ..., digest: _Optional[str] = ..., size_bytes: _Optional[int] = ...) -> None: ...
