from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SchedulerPolicy(_message.Message):
    __slots__ = ("schema_version", "scheduler_policy_id", "scope", "max_parallel", "ordering_policy", "yield_policy", "interrupt_behavior", "sibling_failure_policy", "context_modifier_policy", "resource_locks")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    MAX_PARALLEL_FIELD_NUMBER: _ClassVar[int]
    ORDERING_POLICY_FIELD_NUMBER: _ClassVar[int]
    YIELD_POLICY_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    SIBLING_FAILURE_POLICY_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_MODIFIER_POLICY_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_LOCKS_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    scheduler_policy_id: str
    scope: str
    max_parallel: int
    ordering_policy: _vocabulary_pb2.OrderingPolicy
    yield_policy: _vocabulary_pb2.YieldPolicy
    interrupt_behavior: _vocabulary_pb2.InterruptBehavior
    sibling_failure_policy: _vocabulary_pb2.SiblingFailurePolicy
    context_modifier_policy: _vocabulary_pb2.ContextModifierPolicy
    resource_locks: _containers.RepeatedCompositeFieldContainer[ResourceLock]
    def __init__(self, schema_version: _Optional[str] = ..., scheduler_policy_id: _Optional[str] = ..., scope: _Optional[str] = ..., max_parallel: _Optional[int] = ..., ordering_policy: _Optional[_Union[_vocabulary_pb2.OrderingPolicy, str]] = ..., yield_policy: _Optional[_Union[_vocabulary_pb2.YieldPolicy, str]] = ..., interrupt_behavior: _Optional[_Union[_vocabulary_pb2.InterruptBehavior, str]] = ..., sibling_failure_policy: _Optional[_Union[_vocabulary_pb2.SiblingFailurePolicy, str]] = ..., context_modifier_policy: _Optional[_Union[_vocabulary_pb2.ContextModifierPolicy, str]] = ..., resource_locks: _Optional[_Iterable[_Union[ResourceLock, _Mapping]]] = ...) -> None: ...

class ResourceLock(_message.Message):
    __slots__ = ("key", "mode", "mode_code")
    KEY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MODE_CODE_FIELD_NUMBER: _ClassVar[int]
    key: str
    mode: str
    mode_code: _vocabulary_pb2.LockMode
    def __init__(self, key: _Optional[str] = ..., mode: _Optional[str] = ..., mode_code: _Optional[_Union[_vocabulary_pb2.LockMode, str]] = ...) -> None: ...
