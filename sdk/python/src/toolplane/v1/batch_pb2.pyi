import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import scheduler_policy_pb2 as _scheduler_policy_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Batch(_message.Message):
    __slots__ = ("schema_version", "batch_id", "tenant", "policy", "session_ref", "lock_domain", "request_digest", "idempotency_key", "created_at", "members", "next_yield", "yields", "ended_at")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    BATCH_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    LOCK_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_YIELD_FIELD_NUMBER: _ClassVar[int]
    YIELDS_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    batch_id: str
    tenant: str
    policy: _scheduler_policy_pb2.SchedulerPolicy
    session_ref: str
    lock_domain: str
    request_digest: str
    idempotency_key: str
    created_at: _timestamp_pb2.Timestamp
    members: _containers.RepeatedCompositeFieldContainer[BatchMember]
    next_yield: int
    yields: int
    ended_at: _timestamp_pb2.Timestamp
    def __init__(self, schema_version: _Optional[str] = ..., batch_id: _Optional[str] = ..., tenant: _Optional[str] = ..., policy: _Optional[_Union[_scheduler_policy_pb2.SchedulerPolicy, _Mapping]] = ..., session_ref: _Optional[str] = ..., lock_domain: _Optional[str] = ..., request_digest: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., members: _Optional[_Iterable[_Union[BatchMember, _Mapping]]] = ..., next_yield: _Optional[int] = ..., yields: _Optional[int] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BatchMember(_message.Message):
    __slots__ = ("invocation_id", "tool_name", "depends_on", "sibling_failure_policy", "interrupt_behavior", "released", "ended", "ended_code", "yield_seq", "canceled_by", "discarded", "background")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    DEPENDS_ON_FIELD_NUMBER: _ClassVar[int]
    SIBLING_FAILURE_POLICY_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    ENDED_CODE_FIELD_NUMBER: _ClassVar[int]
    YIELD_SEQ_FIELD_NUMBER: _ClassVar[int]
    CANCELED_BY_FIELD_NUMBER: _ClassVar[int]
    DISCARDED_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    tool_name: str
    depends_on: _containers.RepeatedScalarFieldContainer[int]
    sibling_failure_policy: _vocabulary_pb2.SiblingFailurePolicy
    interrupt_behavior: _vocabulary_pb2.InterruptBehavior
    released: bool
    ended: str
    ended_code: _vocabulary_pb2.InvocationStatus
    yield_seq: int
    canceled_by: int
    discarded: bool
    background: bool
    def __init__(self, invocation_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., depends_on: _Optional[_Iterable[int]] = ..., sibling_failure_policy: _Optional[_Union[_vocabulary_pb2.SiblingFailurePolicy, str]] = ..., interrupt_behavior: _Optional[_Union[_vocabulary_pb2.InterruptBehavior, str]] = ..., released: bool = ..., ended: _Optional[str] = ..., ended_code: _Optional[_Union[_vocabulary_pb2.InvocationStatus, str]] = ..., yield_seq: _Optional[int] = ..., canceled_by: _Optional[int] = ..., discarded: bool = ..., background: bool = ...) -> None: ...
