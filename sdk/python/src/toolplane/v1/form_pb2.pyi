from toolplane.v1 import payload_pb2 as _payload_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FormSpec(_message.Message):
    __slots__ = ("view", "session_id", "workspace_root", "call_id")
    VIEW_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ROOT_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    view: str
    session_id: str
    workspace_root: str
    call_id: str
    def __init__(self, view: _Optional[str] = ..., session_id: _Optional[str] = ..., workspace_root: _Optional[str] = ..., call_id: _Optional[str] = ...) -> None: ...

class Formed(_message.Message):
    __slots__ = ("media_type", "json", "binary")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    BINARY_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    json: _payload_pb2.JsonPayload
    binary: bytes
    def __init__(self, media_type: _Optional[str] = ..., json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., binary: _Optional[bytes] = ...) -> None: ...
