from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import worker_pb2 as _worker_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WorkRequest(_message.Message):
    __slots__ = ("reports",)
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[_worker_pb2.WorkerReport]
    def __init__(self, reports: _Optional[_Iterable[_Union[_worker_pb2.WorkerReport, _Mapping]]] = ...) -> None: ...

class WorkResponse(_message.Message):
    __slots__ = ("commands",)
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedCompositeFieldContainer[_worker_pb2.WorkerCommand]
    def __init__(self, commands: _Optional[_Iterable[_Union[_worker_pb2.WorkerCommand, _Mapping]]] = ...) -> None: ...

class HeartbeatRequest(_message.Message):
    __slots__ = ("worker_id", "incarnation", "leases", "previous_incarnation_dead")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_INCARNATION_DEAD_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    incarnation: str
    leases: _containers.RepeatedCompositeFieldContainer[_worker_pb2.LeaseRef]
    previous_incarnation_dead: bool
    def __init__(self, worker_id: _Optional[str] = ..., incarnation: _Optional[str] = ..., leases: _Optional[_Iterable[_Union[_worker_pb2.LeaseRef, _Mapping]]] = ..., previous_incarnation_dead: bool = ...) -> None: ...

class HeartbeatResponse(_message.Message):
    __slots__ = ("fenced", "cancels", "inputs", "unsure", "lease_ms")
    FENCED_FIELD_NUMBER: _ClassVar[int]
    CANCELS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    UNSURE_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    fenced: _containers.RepeatedCompositeFieldContainer[_worker_pb2.LeaseRef]
    cancels: _containers.RepeatedCompositeFieldContainer[_worker_pb2.CancelExecution]
    inputs: _containers.RepeatedCompositeFieldContainer[_worker_pb2.InputProvided]
    unsure: _containers.RepeatedCompositeFieldContainer[_worker_pb2.LeaseRef]
    lease_ms: int
    def __init__(self, fenced: _Optional[_Iterable[_Union[_worker_pb2.LeaseRef, _Mapping]]] = ..., cancels: _Optional[_Iterable[_Union[_worker_pb2.CancelExecution, _Mapping]]] = ..., inputs: _Optional[_Iterable[_Union[_worker_pb2.InputProvided, _Mapping]]] = ..., unsure: _Optional[_Iterable[_Union[_worker_pb2.LeaseRef, _Mapping]]] = ..., lease_ms: _Optional[int] = ...) -> None: ...

class UploadPayloadRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: UploadHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[UploadHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class UploadHeader(_message.Message):
    __slots__ = ("lease", "media_type", "name", "worker_id", "incarnation", "previous_incarnation_dead")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_INCARNATION_DEAD_FIELD_NUMBER: _ClassVar[int]
    lease: _worker_pb2.LeaseRef
    media_type: str
    name: str
    worker_id: str
    incarnation: str
    previous_incarnation_dead: bool
    def __init__(self, lease: _Optional[_Union[_worker_pb2.LeaseRef, _Mapping]] = ..., media_type: _Optional[str] = ..., name: _Optional[str] = ..., worker_id: _Optional[str] = ..., incarnation: _Optional[str] = ..., previous_incarnation_dead: bool = ...) -> None: ...

class UploadPayloadResponse(_message.Message):
    __slots__ = ("payload",)
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: _payload_pb2.PayloadRef
    def __init__(self, payload: _Optional[_Union[_payload_pb2.PayloadRef, _Mapping]] = ...) -> None: ...
