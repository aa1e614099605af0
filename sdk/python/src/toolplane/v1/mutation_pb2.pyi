import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InputMutation(_message.Message):
    __slots__ = ("schema_version", "mutation_id", "invocation_id", "source_type", "source_ref", "from_input_ref", "to_input_ref", "changed_fields", "reason", "created_at")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    MUTATION_ID_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_REF_FIELD_NUMBER: _ClassVar[int]
    FROM_INPUT_REF_FIELD_NUMBER: _ClassVar[int]
    TO_INPUT_REF_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELDS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    mutation_id: str
    invocation_id: str
    source_type: _vocabulary_pb2.MutationSource
    source_ref: str
    from_input_ref: str
    to_input_ref: str
    changed_fields: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, schema_version: _Optional[str] = ..., mutation_id: _Optional[str] = ..., invocation_id: _Optional[str] = ..., source_type: _Optional[_Union[_vocabulary_pb2.MutationSource, str]] = ..., source_ref: _Optional[str] = ..., from_input_ref: _Optional[str] = ..., to_input_ref: _Optional[str] = ..., changed_fields: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
