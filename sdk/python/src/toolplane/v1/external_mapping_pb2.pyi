from toolplane.v1 import payload_pb2 as _payload_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExternalMapping(_message.Message):
    __slots__ = ("source", "native_id", "fields")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    NATIVE_ID_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    source: str
    native_id: str
    fields: _payload_pb2.JsonPayload
    def __init__(self, source: _Optional[str] = ..., native_id: _Optional[str] = ..., fields: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...
