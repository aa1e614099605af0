import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LegalHold(_message.Message):
    __slots__ = ("tenant", "session_ref", "invocation_id", "reason", "set_by", "set_at")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SET_BY_FIELD_NUMBER: _ClassVar[int]
    SET_AT_FIELD_NUMBER: _ClassVar[int]
    tenant: bool
    session_ref: str
    invocation_id: str
    reason: str
    set_by: str
    set_at: _timestamp_pb2.Timestamp
    def __init__(self, tenant: bool = ..., session_ref: _Optional[str] = ..., invocation_id: _Optional[str] = ..., reason: _Optional[str] = ..., set_by: _Optional[str] = ..., set_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
